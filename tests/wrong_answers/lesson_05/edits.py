"""Answers about the version counter."""

from __future__ import annotations

import torch
from torch.autograd.graph import increment_version


def loudly(h):
    h.mul_(2)


def silently(h):
    h.data *= 2


def pair(loud, silent):
    """The answer that gives these two functions."""

    def two_edits():
        return loud, silent

    return two_edits


def rebinds(h):
    h = h * 2
    return h


def doubles_a_copy(h):
    with torch.no_grad():
        h.clone().mul_(2)


def in_place_under_no_grad(h):
    with torch.no_grad():
        h *= 2


def in_place_on_the_detached(h):
    h.detach().mul_(2)


def through_numpy(h):
    h.detach().numpy()[...] *= 2


def by_another_tensor(h):
    h.data = h.data * 2


def adds_two(h):
    h.data += 2


def gives_the_results():
    h = torch.ones(3)
    return h.mul_(2), h.data.mul_(2)


def gives_one():
    return loudly


def watches_the_same_memory(t, edit):
    version, before = t._version, t.detach()
    edit(t)
    if t._version > version:
        return "counted"
    if torch.equal(before, t):
        return "untouched"
    increment_version(t)
    return "silent"


def trusts_the_counter(t, edit):
    version = t._version
    edit(t)
    return "counted" if t._version != version else "untouched"


def looks_at_values_only(t, edit):
    before = t.detach().clone()
    edit(t)
    return "untouched" if torch.equal(before, t) else "counted"


def values_have_the_first_word(t, edit):
    version, before = t._version, t.detach().clone()
    edit(t)
    if torch.equal(before, t):
        return "untouched"
    if t._version != version:
        return "counted"
    increment_version(t)
    return "silent"


def compares_with_zero(t, edit):
    before = t.detach().clone()
    edit(t)
    if t._version > 0:
        return "counted"
    if torch.equal(before, t):
        return "untouched"
    increment_version(t)
    return "silent"


def reads_the_counter_of_data(t, edit):
    version, before = t.data._version, t.detach().clone()
    edit(t)
    if t.data._version != version:
        return "counted"
    if torch.equal(before, t):
        return "untouched"
    increment_version(t)
    return "silent"


def reads_the_counter_too_late(t, edit):
    before = t.detach().clone()
    edit(t)
    version = t._version
    if t._version != version:
        return "counted"
    if torch.equal(before, t):
        return "untouched"
    increment_version(t)
    return "silent"


def compares_sums(t, edit):
    version, before = t._version, t.sum().item()
    edit(t)
    if t._version != version:
        return "counted"
    if t.sum().item() == before:
        return "untouched"
    increment_version(t)
    return "silent"


def compares_roughly(t, edit):
    version, before = t._version, t.detach().clone()
    edit(t)
    if t._version != version:
        return "counted"
    if torch.allclose(before, t):
        return "untouched"
    increment_version(t)
    return "silent"


def swaps_the_words(t, edit):
    words = {"counted": "silent", "silent": "counted", "untouched": "untouched"}
    return words[in_full(t, edit)]


def only_reports(t, edit):
    version, before = t._version, t.detach().clone()
    edit(t)
    if t._version != version:
        return "counted"
    return "untouched" if torch.equal(before, t) else "silent"


def always_tells(t, edit):
    version, before = t._version, t.detach().clone()
    edit(t)
    if t._version != version:
        return "counted"
    increment_version(t)
    return "untouched" if torch.equal(before, t) else "silent"


def adds_zero(t, edit):
    version, before = t._version, t.detach().clone()
    edit(t)
    if t._version != version:
        return "counted"
    if torch.equal(before, t):
        return "untouched"
    t += 0
    return "silent"


def runs_it_twice(t, edit):
    edit(t)
    return in_full(t, edit)


def never_runs_it(t, edit):
    version, before = t._version, t.detach().clone()
    if t._version != version:
        return "counted"
    return "untouched" if torch.equal(before, t) else "silent"


def puts_it_back(t, edit):
    version, before = t._version, t.detach().clone()
    edit(t)
    if t._version != version:
        return "counted"
    if torch.equal(before, t):
        return "untouched"
    with torch.no_grad():
        t.copy_(before)
    return "silent"


def answers_yes_or_no(t, edit):
    version = t._version
    edit(t)
    return t._version != version


def in_full(t, edit):
    count, before = t._version, t.clone()
    edit(t)
    if t._version == count and not bool((t == before).all()):
        increment_version([t])
        return "silent"
    return "untouched" if t._version == count else "counted"


def adds_zero_unrecorded(t, edit):
    count, before = t._version, t.tolist()
    edit(t)
    if t._version > count:
        return "counted"
    if t.tolist() == before:
        return "untouched"
    with torch.no_grad():
        t.add_(0)
    return "silent"


WRONG = {
    "two_edits": {
        "silent_was_counted": [
            pair(loudly, in_place_under_no_grad),
            pair(loudly, in_place_on_the_detached),
        ],
        "loud_was_not_counted": pair(silently, through_numpy),
        "nothing_edited": [pair(rebinds, silently), pair(loudly, doubles_a_copy)],
        "order_swapped": pair(silently, loudly),
        "not_doubled": pair(loudly, adds_two),
        "not_two_functions": [gives_the_results, gives_one],
    },
    "audit_edit": {
        "compared_with_itself": [watches_the_same_memory, trusts_the_counter],
        "counter_not_read": looks_at_values_only,
        "same_values_are_counted": values_have_the_first_word,
        "counter_not_read_before": [reads_the_counter_too_late, reads_the_counter_of_data],
        "counter_started_higher": compares_with_zero,
        "compared_sums": compares_sums,
        "compared_roughly": compares_roughly,
        "words_swapped": swaps_the_words,
        "not_told": only_reports,
        "false_alarm": always_tells,
        "in_place_on_leaf": adds_zero,
        "edit_not_run_once": [runs_it_twice, never_runs_it],
        "changed_input": puts_it_back,
        "strange_word": answers_yes_or_no,
    },
}
RIGHT = {
    "two_edits": [
        pair(in_place_under_no_grad, through_numpy),
        pair(in_place_on_the_detached, silently),
        pair(loudly, by_another_tensor),
    ],
    "audit_edit": [in_full, adds_zero_unrecorded],
}
