"""One notebook file: read it, bring it into its one normal form, write it.

The normal form depends on nothing but what the notebook says and shows, so the same notebook
executed twice gives the same bytes: ids are readable slugs, metadata is what the course needs,
outputs hold no time, address, path of this machine or random model id.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from utils.syllabus import ROOT

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}
SANITIZE = Path(__file__).with_name("sanitize.cfg")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
RAISES = "raises-exception"

_KEPT_OF_A_CELL = ("deletable", "editable", "jupyter", "nbgrader", "tags")
_SLUG = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_RANDOM = re.compile(r"[0-9a-f]{8}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|cell-[0-9a-f]{6,}")


def read(path: Path) -> NotebookNode:
    """Read a notebook as it stands; unlike ``nbformat.read`` this invents no ids.

    Raises:
        ValueError: the file is no notebook of format 4.
    """
    try:
        notebook = nbformat.v4.reads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not a notebook: {error}") from error
    if notebook.get("nbformat") != 4:
        raise ValueError(f"{path} is not in notebook format 4: open it in JupyterLab and save it")
    return notebook


def dumps(notebook: NotebookNode) -> str:
    """Return the file's text: sorted keys, one space per level, a newline at the end."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook, indent=1, sort_keys=True, ensure_ascii=False).rstrip() + "\n"


def write(path: Path, text: str) -> bool:
    """Write ``text`` whole or not at all; return whether the file changed."""
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.chmod(partial, 0o644)
    os.replace(partial, path)
    return True


def normalise(notebook: NotebookNode) -> None:
    """Bring ``notebook`` into its normal form, in place."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in _KEPT_OF_A_CELL if key in cell.metadata}
        if is_check(cell):
            kept["tags"] = [*kept.get("tags", ()), RAISES]  # so that Run All goes on
        if is_prediction(cell):
            kept["jupyter"] = {"source_hidden": True}  # it holds the replies
        kept["tags"] = sorted(set(kept.get("tags", ())))
        if not kept["tags"]:
            del kept["tags"]
        cell.metadata = nbformat.from_dict(kept)
        cell.source = cell.source.rstrip()
        if cell.cell_type == "code":
            cell.outputs = [_normal_output(output) for output in _merged(cell.get("outputs", []))]
    name_cells(notebook)


def is_check(cell: NotebookNode) -> bool:
    """Whether nbgrader gives points for running this cell."""
    nbgrader = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and nbgrader.get("grade", False)


def is_prediction(cell: NotebookNode) -> bool:
    """Whether this cell asks the learner to predict; its source tells which choice is right."""
    return cell.cell_type == "code" and cell.source.startswith("predict(")


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell."""
    return cell.metadata.get("tags", [])


def is_slug(name: str) -> bool:
    """Whether a cell's id is one that a person chose: ``leaf-lab``, not ``3f0c9a1e``."""
    return bool(_SLUG.fullmatch(name)) and len(name) <= 64 and not _RANDOM.fullmatch(name)


def name_cells(notebook: NotebookNode) -> None:
    """Give each cell whose id is missing, random or taken a slug from what it says."""
    taken: set[str] = set()
    unnamed = []
    for cell in notebook.cells:
        if is_slug(cell.get("id", "")) and cell.id not in taken:
            taken.add(cell.id)
        else:
            unnamed.append(cell)
    for cell in unnamed:
        slug = name = _slug_of(cell)
        number = 2
        while name in taken:
            name, number = f"{slug}-{number}", number + 1
        cell.id = name
        taken.add(name)


def _slug_of(cell: NotebookNode) -> str:
    """Return a slug from the first heading, the first words or the first line of code of a cell."""
    lines = [line for line in cell.source.splitlines() if line.strip(" #%`>*-")]
    headings = [line for line in lines if line.startswith("#")]
    if cell.cell_type == "code":
        dull = ("#", "%", "import", "from")
        lines = [line for line in lines if not line.lstrip().startswith(dull)] or lines
    elif headings:
        lines = headings
    words = re.findall(r"[a-z0-9]+", lines[0].lower())[:5] if lines else []
    slug = "-".join(words)[:40].strip("-")
    return slug if is_slug(slug) else f"cell-{slug}".rstrip("-")


def _merged(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Join the streams of one name: into how many pieces they fall depends on the clock."""
    streams: dict[str, NotebookNode] = {}
    for output in outputs:
        if output.output_type != "stream":
            yield output
        elif output.name not in streams:
            streams[output.name] = stream = nbformat.from_dict(output)
            stream.text = "".join(o.text for o in outputs if o.get("name") == output.name)
            yield stream


def _normal_output(output: NotebookNode) -> NotebookNode:
    output = nbformat.from_dict(output)
    output.pop("transient", None)
    if "metadata" in output:
        output.metadata.pop(WIDGET_VIEW, None)
    if output.output_type == "stream":
        output.text = sanitised(output.text)
    elif output.output_type == "error":
        output.evalue = sanitised(output.evalue)
        output.traceback = [without_paths(sanitised(line)) for line in output.traceback]
    else:
        # A live widget's model id is random and dies with its kernel; its twins, in HTML and in
        # plain text, stay. nbval compares the twins and skips the id.
        output.data.pop(WIDGET_VIEW, None)
        for kind, text in output.data.items():
            if kind.startswith("text/"):
                output.data[kind] = sanitised(text if isinstance(text, str) else "".join(text))
    return output


def sanitised(text: str) -> str:
    """Replace what differs between two runs, by the patterns that nbval uses too."""
    for pattern, replacement in re.findall(
        r"^regex: (.*)\nreplace: (.*)$", SANITIZE.read_text(encoding="utf-8"), re.MULTILINE
    ):
        text = re.sub(pattern, replacement, text)
    return text


def without_paths(text: str) -> str:
    """Cut this machine's folders from a line of a traceback."""
    colour, path = r"(\x1b\[[\d;]*m)?", r"[^\s\"'\x1b]*[/\\]"
    text = re.sub(rf"{colour}{path}(site-packages[/\\])", r"\1\2", text)
    text = re.sub(rf"{colour}{path}lib[/\\](python3\.\d+[/\\])", r"\1\2", text)
    home = Path.home()
    short = f"~/{ROOT.relative_to(home).as_posix()}" if ROOT.is_relative_to(home) else str(ROOT)
    for folder in (str(ROOT), short):  # IPython writes ~ for the home folder
        text = text.replace(folder + "/", "").replace(folder + "\\", "")
    return text
