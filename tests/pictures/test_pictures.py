"""What holds for every picture: of graphs and backwards, of bars and planes."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import utils.pictures
from tests.pictures import builders
from utils.graph.data import Graph, Root
from utils.pictures import svg
from utils.pictures.bars import draw_bars
from utils.pictures.flow_picture import FlowPicture
from utils.pictures.graph_picture import draw_graph
from utils.pictures.planes import draw_planes
from utils.pictures.tape_picture import TapePicture

GRAPHS = {
    "learners": builders.learners(),
    "mlp": builders.mlp(2),
    "residual": builders.residual(3),
    "recurrent": builders.recurrent(4),
    "folded": builders.chain(300),
    "hidden": builders.tangled(300, 3),
}
REASON = Root("", "y", None, 0, "no_grad", "y was made under torch.no_grad(), so it has no graph.")


def pictures():
    for name, graph in GRAPHS.items():
        yield f"{name}, graph", draw_graph(graph)
        tape = TapePicture(builders.tape(graph))
        for k in {0, 1, tape.steps // 2, tape.steps}:
            yield f"{name}, step {k}", tape.draw(k)
        yield f"{name}, flow", FlowPicture([tape.tape]).draw(tape.tape, "y.backward(v)")
    yield "bars", draw_bars((0.5, -120.0, 0.0, float("nan")), ("x₀", "x₁", "x₂", "x₃"), "x.grad")
    for name, local in builders.around_points().items():
        yield f"planes, {name}", draw_planes(local, "a map")
    yield "none", draw_graph(Graph((), (), (REASON,)))


ALL = dict(pictures())


@pytest.mark.parametrize("name", ALL)
def test_a_picture_is_one_accessible_self_contained_element(name):
    picture = ALL[name]
    root = ElementTree.fromstring(picture.svg)
    assert root.tag.endswith("svg") and root.attrib["role"] == "img"
    assert root[0].tag.endswith("title") and root[0].text == picture.title
    assert root[1].tag.endswith("desc") and root[1].text == picture.text
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "rect", "g", "text", "tspan", "path", "circle"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not any(n == "id" or n.startswith("on") or n.endswith("href") for n in names)
    assert "url(" not in picture.svg


@pytest.mark.parametrize("name", ALL)
def test_text_is_never_below_eleven_pixels_even_when_shrunk(name):
    root = ElementTree.fromstring(ALL[name].svg)
    width = float(root.attrib["viewBox"].split()[2])
    least = float(re.search(r"min-width:([0-9.]+)px", root.attrib["style"])[1])
    sizes = [float(e.attrib["font-size"]) for e in root.iter() if "font-size" in e.attrib]
    assert min(sizes) * least / width >= 10.99
    assert "width:100%" in root.attrib["style"]
    assert float(re.search(r"min-width:([0-9.]+)px", ALL[name].img)[1]) >= least - 1


@pytest.mark.parametrize("name", ALL)
def test_text_stays_inside_the_picture(name):
    root = ElementTree.fromstring(ALL[name].svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for element in root.iter():
        if not element.tag.endswith("text"):
            continue
        words = "".join(element.itertext())
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        span = svg.text_width(words, float(element.attrib.get("font-size", 12)))
        left = x - {"start": 0.0, "end": 1.0}.get(element.attrib.get("text-anchor"), 0.5) * span
        assert left >= 0 and left + span <= width, words
        assert 11 <= y <= height - 3, words


@pytest.mark.parametrize("name", ALL)
def test_the_picture_is_opaque_with_dark_text_on_light(name):
    root = ElementTree.fromstring(ALL[name].svg)
    ground = root[2]
    assert ground.tag.endswith("rect") and ground.attrib["fill"] == svg.PANEL
    assert ground.attrib["width"] == ground.attrib["height"] == "100%"
    fills = {e.attrib["fill"] for e in root.iter() if e.tag.endswith(("text", "tspan"))}
    for fill in fills:
        for behind in (svg.PANEL, svg.BOX_FILL, svg.WAIT_FILL, svg.LEAF_FILL, svg.GRADIENT_FILL):
            assert contrast(fill, behind) >= 4.5, (fill, behind)


def contrast(a, b):
    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


PROGRAM = """
import hashlib
from tests.pictures import builders
from utils.pictures.bars import draw_bars
from utils.pictures.flow_picture import FlowPicture
from utils.pictures.graph_picture import draw_graph
from utils.pictures.planes import draw_planes
from utils.pictures.tape_picture import TapePicture
seen = hashlib.sha256()
pictures = [draw_planes(local, "a map") for local in builders.around_points().values()]
pictures.append(draw_bars((1 / 3, -2.0), ("x₀", "x₁"), "x.grad"))
for graph in (builders.learners(), builders.recurrent(30), builders.tangled(300, 3)):
    tape = TapePicture(builders.tape(graph))
    pictures += [draw_graph(graph), tape.draw(0), tape.draw(3), tape.draw(tape.steps)]
    pictures.append(FlowPicture([tape.tape]).draw(tape.tape, "y.backward(v)"))
for picture in pictures:
    seen.update((picture.svg + picture.text).encode())
print(seen.hexdigest())
"""


def test_the_same_bytes_in_every_process():
    root = Path(__file__).parents[2]
    seen = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "77")
    }
    assert len(seen) == 1


def test_pictures_import_neither_torch_nor_ipywidgets():
    for path in Path(utils.pictures.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                top = name.split(".")[0]
                assert top not in ("torch", "ipywidgets"), path.name
                if top == "utils":
                    assert name.startswith(("utils.pictures", "utils.graph.data")), path.name


def test_a_deep_graph_stands_upright_and_the_picture_says_which_way_it_reads():
    graph = builders.learners()
    level, upright = draw_graph(graph), draw_graph(graph, upright=True)
    assert "values were computed left to right, gradients flow right to left" in level.svg
    assert "values were computed top to bottom, gradients flow bottom to top" in upright.svg
    deep = draw_graph(builders.residual(3))
    assert "top to bottom" in deep.svg and "top to bottom" in deep.text


@pytest.mark.parametrize("name", ALL)
def test_words_lie_in_their_box_or_clear_of_all_boxes_and_of_each_other(name):
    root = ElementTree.fromstring(ALL[name].svg)
    parents = {child: parent for parent in root.iter() for child in parent}
    boxes, owner = [], {}
    for element in root.iter():
        if element.tag.endswith("rect") and parents[element].tag.endswith("}g"):
            x, y, w, h = (float(element.attrib[k]) for k in ("x", "y", "width", "height"))
            boxes.append((x, y, x + w, y + h))
            owner[parents[element]] = boxes[-1]  # the last one, before any outline behind it
    spans = []
    for element in root.iter():
        if not element.tag.endswith("text"):
            continue
        words = "".join(element.itertext())
        size = float(element.attrib.get("font-size", 12))
        span = svg.text_width(words, size) / 1.06
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        x -= {"start": 0.0, "end": 1.0}.get(element.attrib.get("text-anchor"), 0.5) * span
        spans.append((words, (x, y - 0.72 * size, x + span, y), owner.get(parents[element])))
    for k, (words, span, own) in enumerate(spans):
        if own and meet(span, own):
            assert own[0] < span[0] and span[2] < own[2], words
            assert own[1] < span[1] and span[3] < own[3], words
        assert not any(meet(span, box) for box in boxes if box != own and not near(box, own)), words
        for other, there, _ in spans[:k]:
            assert not meet(span, there), (words, other)


def meet(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def near(a, b):
    """Whether `a` is the outline that stands behind the box `b`."""
    return b is not None and all(abs(p - q) <= 4.1 for p, q in zip(a, b, strict=True))
