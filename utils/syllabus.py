"""The lessons: their order, what each asks, and where its files are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Lesson:
    """One lesson of the plan. ``here`` tells whether it is written yet.

    ``minutes`` is for the lesson alone; its exercises take about as long again. Paths are absolute;
    ``exercise``, ``solution`` and ``work`` are those of the exercise notebook as handed out, as
    answered, and of the learner's own copy.
    """

    number: int
    slug: str
    title: str
    question: str
    minutes: int

    @property
    def name(self) -> str:
        """The name its files share, for example ``01_requires_grad``."""
        return f"{self.number:02d}_{self.slug}"

    @property
    def notebook(self) -> Path:
        """The lesson's notebook."""
        return ROOT / "notebooks" / f"{self.name}.ipynb"

    @property
    def exercise(self) -> Path:
        """The exercise notebook, without answers."""
        return self._in("exercises")

    @property
    def solution(self) -> Path:
        """The exercise notebook, with answers: the one source."""
        return self._in("solutions")

    @property
    def work(self) -> Path:
        """The learner's copy of the exercise notebook."""
        return self._in("work")

    @property
    def here(self) -> bool:
        """Whether the lesson is part of the course today."""
        return self.notebook.exists()

    def _in(self, folder: str) -> Path:
        return ROOT / folder / self.name / f"{self.name}.ipynb"


_PLAN = (
    Lesson(
        0,
        "start_here",
        "Start here",
        "Does everything work, and what will I be able to do?",
        15,
    ),
    Lesson(
        1,
        "requires_grad",
        "requires_grad",
        "Which tensors does autograd watch, and where do gradients land?",
        40,
    ),
    Lesson(2, "grad_fn", "grad_fn", "What is recorded while I compute?", 45),
    Lesson(
        3,
        "backward_with_a_vector",
        "backward with a vector",
        "What does the argument of backward mean?",
        40,
    ),
    Lesson(
        4,
        "vjps_and_jacobians",
        "VJPs and Jacobians",
        "Why does torch never build J, and how do I get it when I want it?",
        45,
    ),
    Lesson(
        5,
        "no_grad_and_detach",
        "no_grad, detach, and friends",
        "How do I keep autograd out, and what does that cost me?",
        40,
    ),
    Lesson(
        6,
        "custom_functions",
        "Custom Functions",
        "How do I teach autograd a new operation?",
        45,
    ),
    Lesson(7, "hooks", "Hooks", "How do I watch or change gradients in flight?", 40),
    Lesson(8, "repair_clinic", "Repair clinic", "Can I find the fault in somebody's code?", 45),
)


def plan() -> tuple[Lesson, ...]:
    """Return every lesson of the course as planned, in order, written or not."""
    return _PLAN


def lessons() -> tuple[Lesson, ...]:
    """Return the lessons that are here today, in order.

    Example: ``[lesson.name for lesson in lessons()]`` starts with ``"00_start_here"``.
    """
    return tuple(lesson for lesson in _PLAN if lesson.here)


def following(lesson: Lesson) -> Lesson | None:
    """Return the lesson here that comes after ``lesson``, or None after the last one."""
    return next((other for other in lessons() if other.number > lesson.number), None)
