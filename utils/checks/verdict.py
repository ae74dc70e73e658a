"""What a check has to say about an answer: plain data."""

from __future__ import annotations

from dataclasses import dataclass

RIGHT = "right"
NOT_YET = "not yet"
NOT_ATTEMPTED = "not attempted"
CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of four outcomes, with the one message that helps most.

    Attributes:
        outcome: "right", "not yet", "not attempted" or "crashed".
        message: a full sentence in the second person. Never holds the reference value.
        mistake: the slug of the usual mistake that the answer looks like; "" if none is known.
        points: what the answer earns.
        of: what a right answer earns.
    """

    outcome: str
    message: str
    mistake: str = ""
    points: int = 0
    of: int = 0


def right(message: str = "") -> Verdict:
    """The answer does what was asked."""
    return Verdict(RIGHT, message)


def not_yet(mistake: str, message: str) -> Verdict:
    """The answer runs, but is not there; `mistake` names what it looks like ("" if unknown)."""
    return Verdict(NOT_YET, message, mistake)
