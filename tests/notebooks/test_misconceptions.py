"""Where the course meets what people believe: each place that the map names is there.

`misconceptions.json` holds, under "topics", every id of the topics that are to be met as a whole,
and under "entries" a belief each, with "met" (cells of lessons and named wrong answers) or with
"left_out" (why it is not met). A cell is a deliberate failure, a prediction with the belief among
its choices, or a fact that is shown.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.wrong_answers.test_answers import WRONG
from utils import notebooks
from utils.checks.registry import exercises
from utils.syllabus import ROOT, lessons

MAP = json.loads((Path(__file__).parent / "misconceptions.json").read_text(encoding="utf-8"))
CELL = re.compile(r"(notebooks/\w+\.ipynb)#([a-z0-9-]+)")
ANSWER = re.compile(r"exercise:(\w+)/(\w+)")
WORDS_OF_A_REASON = 12


@cache
def code_cells() -> dict[str, set[str]]:
    """The ids of the code cells of each lesson, by the notebook's path in the repository."""
    return {
        lesson.notebook.relative_to(ROOT).as_posix(): {
            cell.id for cell in notebooks.read(lesson.notebook).cells if cell.cell_type == "code"
        }
        for lesson in lessons()
    }


def complaint(pointer: str) -> str | None:
    """Why this place is not there; None if it is."""
    if found := CELL.fullmatch(pointer):
        path, cell = found.groups()
        if path not in code_cells():
            return f"{pointer}: no lesson is stored at {path}"
        return None if cell in code_cells()[path] else f"{pointer}: it has no code cell {cell}"
    if found := ANSWER.fullmatch(pointer):
        exercise, slug = found.groups()
        if exercise not in exercises():
            return f"{pointer}: there is no exercise {exercise}"
        named = WRONG.get(exercise, {})
        return None if slug in named else f"{pointer}: no wrong answer there is named {slug}"
    return f"{pointer}: neither notebooks/<lesson>.ipynb#<cell> nor exercise:<id>/<mistake>"


def complaints(beliefs: dict[str, Any]) -> list[str]:
    """What is wrong with a map of misconceptions; empty if nothing is."""
    entries, topics = beliefs["entries"], beliefs["topics"]
    found = [
        f"{id} is there {n} times" for id, n in Counter(e["id"] for e in entries).items() if n > 1
    ]
    for topic, ids in topics.items():
        listed = {entry["id"] for entry in entries if entry["topic"] == topic}
        found += [f"{topic} lacks {id}" for id in ids if id not in listed]
        found += [f"{topic} does not know {id}" for id in sorted(listed - set(ids))]
    for entry in entries:
        id, met, reason = entry["id"], entry.get("met", []), entry.get("left_out", "")
        if not re.fullmatch(r"\S.*[^.]\.", entry["belief"]):
            found.append(f"{id}: the belief is no sentence: {entry['belief']!r}")
        if bool(met) == bool(reason):
            found.append(f"{id} is to be either met or left out")
        if reason and entry["topic"] not in topics:
            found.append(f"{id}: {entry['topic']} is not to be met as a whole, so leave it off")
        if reason and len(reason.split()) < WORDS_OF_A_REASON:
            found.append(f"{id}: {reason!r} is no reason yet")
        if len(set(met)) < len(met):
            found.append(f"{id} names a place twice")
        found += [f"{id} at {missing}" for pointer in met if (missing := complaint(pointer))]
    return found


def test_every_belief_is_met_where_the_map_says_or_left_out_for_a_reason() -> None:
    assert complaints(MAP) == []


def test_nine_in_ten_beliefs_of_the_whole_topics_are_met() -> None:
    met = {entry["id"] for entry in MAP["entries"] if "met" in entry}
    ids = {id for ids in MAP["topics"].values() for id in ids}
    assert len(ids & met) >= 0.9 * len(ids), f"not met: {sorted(ids - met)}"


LESSON = "notebooks/03_backward_with_a_vector.ipynb"
FIRST = MAP["entries"][0]
FAULTS = {
    "is there 2 times": [FIRST, FIRST],
    "backward lacks": [],
    "does not know new": [FIRST | {"id": "new"}],
    "either met or left out": [FIRST | {"met": []}],
    "to be either met": [FIRST | {"left_out": "why " * WORDS_OF_A_REASON}],
    "is no reason yet": [FIRST | {"met": [], "left_out": "No time."}],
    "so leave it off": [FIRST | {"topic": "training-loop", "met": [], "left_out": "why " * 20}],
    "is no sentence": [FIRST | {"belief": ""}],
    "names a place twice": [FIRST | {"met": 2 * FIRST["met"]}],
    "no lesson is stored": [FIRST | {"met": ["notebooks/99_none.ipynb#why"]}],
    "no code cell nowhere": [FIRST | {"met": [f"{LESSON}#nowhere"]}],
    "no code cell title": [FIRST | {"met": [f"{LESSON}#title"]}],
    "no exercise nothing": [FIRST | {"met": ["exercise:nothing/none"]}],
    "is named perfect": [FIRST | {"met": ["exercise:row_of_j/perfect"]}],
    "neither notebooks": [FIRST | {"met": ["exercise:row_of_j"]}],
}


@pytest.mark.parametrize("said", FAULTS)
def test_a_fault_is_complained_of(said: str) -> None:
    faulty = MAP | {"entries": [*FAULTS[said], *MAP["entries"][1:]]}
    assert not any(said in line for line in complaints(MAP))
    assert any(said in line for line in complaints(faulty))
