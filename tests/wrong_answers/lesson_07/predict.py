"""Answers about who is called, and what comes of it."""

from __future__ import annotations

import torch

from utils.checks.lesson_07.predict import GIVEN, PROGRAMS


def tried() -> dict[int, object]:
    """Finds out by running each program."""
    found = {}
    for number, program in PROGRAMS.items():
        scope = {"torch": torch}
        exec(GIVEN, scope)
        try:
            exec(program, scope)
            found[number] = scope["seen"]
        except Exception:
            found[number] = "raises"
    return found


def believing(beliefs: dict[int, object]):
    """Right predictions but for some, by the number of the program."""

    def predictions():
        return {**tried(), **beliefs}

    return predictions


def with_tuples_and_words():
    found = {str(n): tuple(s) if isinstance(s, list) else s for n, s in tried().items()}
    return {**found, "3": 4, "9": torch.tensor(10.0)}


def half_of_them():
    return {number: seen for number, seen in tried().items() if number < 9}


def as_a_list():
    return list(tried().values())


ORDER = ["tensor hook", "node prehook", "node hook", "post-accumulate"]
WRONG = {
    "predict_hooks": {
        "not_a_prediction": as_a_list,
        "missing_programs": half_of_them,
        "wrong_order": [
            believing({1: ["node prehook", "tensor hook", "node hook", "post-accumulate"]}),
            believing({1: ["node prehook", "node hook", "tensor hook", "post-accumulate"]}),
            believing({1: ORDER[::-1]}),
        ],
        "rebinding_changes_the_gradient": believing({2: 10.0}),
        "second_replaces_the_first": believing({3: 2.0}),
        "once_for_each_use": [believing({4: [2.0, 3.0]}), believing({4: [3.0, 2.0]})],
        "hook_sees_accumulated": believing({5: [3.0, 6.0]}),
        "post_accumulate_sees_one_pass": believing({6: [3.0, 3.0]}),
        "grad_accumulates": [
            believing({7: ["tensor hook", "post-accumulate"]}),
            believing({7: []}),
        ],
        "inner_tensors_accumulate": believing({8: []}),
        "retain_grad_comes_first": believing({9: 1.0}),
        "backward_hook_runs_forward": believing({10: ["called"]}),
        "grad_output_is_the_activation": believing({11: [3.0]}),
        "weight_grad_is_there": believing({12: [False]}),
        "none_in_a_tuple_means_unchanged": [believing({13: 3.0}), believing({13: 0.0})],
        "data_gets_a_gradient": believing({14: []}),
        "full_hooks_change_nothing_forward": believing({15: []}),
        "hook_sees_any_output": believing({16: ["called"]}),
        "old_hook_sees_the_input": believing({17: [3.0]}),
        "old_and_new_mix": believing({18: []}),
    },
}
RIGHT = {"predict_hooks": [tried, with_tuples_and_words]}
