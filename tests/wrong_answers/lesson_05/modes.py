"""Answers about what each mode does to a line."""

from __future__ import annotations

import torch

from utils.checks.lesson_05.modes import GIVEN, LINES


def tried() -> dict[int, bool | str]:
    """Finds out by running each line."""
    found = {}
    for number, line in LINES.items():
        scope = {"torch": torch}
        exec(GIVEN, scope)
        try:
            exec(line, scope)
            found[number] = scope["y"].requires_grad
        except Exception:
            found[number] = "raises"
    return found


def believing(beliefs: dict[int, bool | str]):
    """Right predictions but for some, by the number of the line."""

    def predictions():
        return {**tried(), **beliefs}

    return predictions


def with_words_for_keys():
    print("thinking")
    return {str(number): word for number, word in reversed(tried().items())}


def half_of_them():
    return {number: word for number, word in tried().items() if number < 10}


def as_a_list():
    return list(tried().values())


def with_other_words():
    return {number: str(word) for number, word in tried().items()}


WRONG = {
    "predict_modes": {
        "not_a_prediction": [as_a_list, with_other_words],
        "missing_lines": half_of_them,
        "no_grad_is_overlooked": believing({1: True}),
        "no_grad_cuts_what_exists": [believing({2: False}), believing({2: False, 3: False})],
        "no_grad_forbids_the_flag": [believing({3: False}), believing({3: "raises"})],
        "outer_mode_wins": believing({4: False}),
        "enable_grad_wakes_inference_mode": believing({5: True}),
        "eval_is_a_grad_mode": believing({6: False}),
        "detach_spreads": believing({7: False}),
        "data_keeps_watching": believing({8: True}),
        "leaf_in_place": [believing({9: True}), believing({9: False})],
        "no_grad_takes_the_flag": [believing({10: False}), believing({10: "raises"})],
        "any_view_can_be_detached": believing({11: False}),
        "inference_tensors_are_useless": believing({12: "raises"}),
        "inference_mode_is_a_faster_no_grad": believing({13: True, 14: False}),
        "inference_tensors_can_be_edited": believing({14: False}),
        "inference_tensors_can_be_revived": believing({15: True}),
        "parameters_are_born_anywhere": believing({16: True}),
        "no_grad_without_parentheses": believing({17: False}),
    },
}
RIGHT = {"predict_modes": [tried, with_words_for_keys]}
