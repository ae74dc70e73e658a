"""Named wrong answers and other right ones: one module a lesson, with `WRONG` and `RIGHT`.

WRONG: {exercise id: {slug of the mistake that the verdict must name: answer}}, three or more each;
a list of answers where people make the same mistake in several ways.
RIGHT: {exercise id: [answer, ...]}, two or more each, written differently from the solution.
"""
