"""`check`, `hint`, `solution` and `progress`, as a notebook uses them."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from utils.checks import progress as memory
from utils.checks.grade import grade
from utils.checks.registry import exercises, find
from utils.checks.verdict import CRASHED, NOT_ATTEMPTED, NOT_YET, RIGHT, Verdict

COURSE = Path(__file__).resolve().parents[2]
REGION = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)
LOOKS = {  # a sign, a word and a colour: never the colour alone
    RIGHT: ("✓", "Right", "#00694d"),
    NOT_YET: ("○", "Not yet", "#8a4b00"),
    NOT_ATTEMPTED: ("–", "Not attempted", "#555555"),
    CRASHED: ("!", "Crashed", "#a3123f"),
}


class NotRight(Exception):
    """Ends a check cell, so that nbgrader counts it; a notebook shows only its message."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(words(verdict))

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Note:
    """A few lines for a notebook: plain text, and the same as HTML on its own background."""

    text: str
    body: str
    colour: str = "#555555"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        box = (
            f'<div style="background:#fbfbf8;color:#1f2328;border-left:4px solid {self.colour};'
            f'padding:8px 12px;max-width:60em">{self.body}</div>'
        )
        return {"text/html": box, "text/plain": self.text}


def words(verdict: Verdict) -> str:
    """The verdict as one line of text."""
    sign, name, _ = LOOKS[verdict.outcome]
    return f"{sign} {name}. {verdict.message} ({verdict.points} of {verdict.of} points)"


def check(id: str, answer: Any, *, seed: int | None = None) -> Note:
    """Judges an answer and says which mistake it looks like.

    Args:
        id: the exercise's id, as its check cell has it.
        answer: what you wrote.
        seed: draws the same cases again; fresh ones each time when None.

    Raises:
        NotRight: unless the answer is right; a notebook shows its message only.
        KeyError: there is no such exercise.
    """
    exercise = find(id)
    verdict = grade(exercise, answer, seed)
    if verdict.outcome != NOT_ATTEMPTED:
        tries = memory.load().get(id, {}).get("tries", 0) + 1
        memory.note(id, outcome=verdict.outcome, mistake=verdict.mistake, tries=tries)
    if verdict.outcome != RIGHT:
        raise NotRight(verdict)
    text = words(verdict)
    return Note(text, f"<b>{html.escape(text)}</b>", LOOKS[RIGHT][2])


def hint(id: str) -> Note:
    """The next hint: from a question to nearly there. It costs nothing.

    Where the last check named a mistake that has a hint of its own, that one comes first.
    """
    exercise = find(id)
    known = memory.load().get(id, {})
    mistake, told = known.get("mistake", ""), known.get("told", [])
    if mistake in exercise.symptom_hints and mistake not in told:
        memory.note(id, told=[*told, mistake])
        text = f"Hint on what the last check saw: {exercise.symptom_hints[mistake]}"
        return Note(text, _inline(text))
    number = min(known.get("hints", 0) + 1, len(exercise.hints))
    memory.note(id, hints=number)
    text = f"Hint {number} of {len(exercise.hints)}: {exercise.hints[number - 1]}"
    if number == len(exercise.hints):
        text += f' That was the last one; `solution("{id}")` shows a full answer.'
    return Note(text, _inline(text))


def solution(id: str) -> Note:
    """A full answer with its reasons, where the solutions are at hand.

    Raises:
        FileNotFoundError: the solutions are not on this machine (a class hand-out has none).
    """
    import nbformat

    exercise = find(id)
    file = COURSE / "solutions" / exercise.lesson / f"{exercise.lesson}.ipynb"
    if not file.exists():
        raise FileNotFoundError(
            f"the solution of {id!r} is not on this machine ({file.parent.name}/{file.name} is "
            "missing from solutions/). Ask who gave you the course, or use hint()."
        )
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == id:
            source = REGION.sub("", cell.source).rstrip()
            return Note(source, f"<pre style='color:#1f2328'>{html.escape(source)}</pre>")
    raise LookupError(f"{file.name} has no cell for {id!r}")


def progress() -> Note:
    """What you have done so far, lesson by lesson."""
    known = memory.load()
    lines, rows = [], []
    for lesson in dict.fromkeys(e.lesson for e in exercises().values()):
        todo = [e for e in exercises().values() if e.lesson == lesson]
        done = [e for e in todo if known.get(e.id, {}).get("outcome") == RIGHT]
        points = sum(e.points for e in done)
        line = (
            f"{lesson}: {len(done)} of {len(todo)} exercises right, "
            f"{points} of {sum(e.points for e in todo)} points"
        )
        nxt = next((e for e in todo if e not in done), None)
        if nxt is not None:
            line += f"; next: {nxt.title}"
        lines.append(line)
        rows.append(f"<li>{html.escape(line)}</li>")
    return Note("\n".join(lines), f"<ul>{''.join(rows)}</ul>")


def _inline(text: str) -> str:
    """Backticks as code, the rest escaped."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
