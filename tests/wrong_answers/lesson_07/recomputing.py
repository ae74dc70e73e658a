"""Answers about checkpoints and what runs again."""

from __future__ import annotations

import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def counting(counts, number):
    def hook(module, args, *out):
        counts[number] += 1

    return hook


def registers(blocks, kind="register_forward_pre_hook"):
    counts = [0] * len(blocks)
    handles = [getattr(b, kind)(counting(counts, i)) for i, b in enumerate(blocks)]
    return counts, handles


def no_checkpoint(blocks, x):
    counts, _ = registers(blocks)
    for block in blocks:
        x = block(x)
    return x, counts


def reentrant(blocks, x):
    counts, _ = registers(blocks)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=True)
    return x, counts


def by_forward_hooks(blocks, x):
    counts, _ = registers(blocks, "register_forward_hook")
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x, counts


def removes_too_early(blocks, x):
    counts, handles = registers(blocks)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    for handle in handles:
        handle.remove()
    return x, counts


def other_dropout(blocks, x):
    counts, _ = registers(blocks)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
    return x, counts


def counts_by_running(blocks, x):
    counts, _ = registers(blocks)
    for block in blocks:
        block(x.detach())
    counts[:] = [0] * len(blocks)
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x, counts


def skips_the_second_time(blocks, x):
    counts = [0] * len(blocks)

    def counted(number):
        def run(t):
            counts[number] += 1
            return blocks[number](t) if counts[number] == 1 else t * 1

        return run

    for number in range(len(blocks)):
        x = checkpoint(counted(number), x, use_reentrant=False)
    return x, counts


def counts_the_calls(blocks, x):
    counts = []
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
        counts.append(1)
    return x, counts


def guesses(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x, [2] * len(blocks)


def late_binding(blocks, x):
    counts = [0] * len(blocks)
    for i, block in enumerate(blocks):
        block.register_forward_pre_hook(lambda m, a: counts.__setitem__(i, counts[i] + 1))  # noqa: B023
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x, counts


def nested(blocks, x):
    counts, _ = registers(blocks)

    def run(x):
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x

    return checkpoint(run, x, use_reentrant=False), counts


def one_around_all(blocks, x):
    counts, _ = registers(blocks)
    return checkpoint(torch.nn.Sequential(*blocks), x, use_reentrant=False), counts


def late_bound_functions(blocks, x):
    counts, _ = registers(blocks)
    for block in blocks:
        x = checkpoint(lambda t: block(t), x, use_reentrant=False)  # noqa: B023
    return x, counts


def only_output(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


def by_sequential(blocks, x):
    counts, _ = registers(blocks)
    out = checkpoint_sequential(blocks, len(blocks), x, use_reentrant=False)
    return out, counts


def by_wrapping(blocks, x):
    counts = [0] * len(blocks)

    def counted(number):
        def run(t):
            counts[number] += 1
            return blocks[number](t)

        return run

    for number in range(len(blocks)):
        x = checkpoint(counted(number), x, use_reentrant=False)
    return [x, counts]


def without_early_stop(blocks, x):
    counts, _ = registers(blocks, "register_forward_hook")
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, early_stop=False)
    return x, counts


WRONG = {
    "count_recomputation": {
        "nothing_recomputed": no_checkpoint,
        "reentrant": reentrant,
        "second_run_not_counted": [by_forward_hooks, removes_too_early, counts_the_calls],
        "other_noise": other_dropout,
        "miscounted": [guesses, late_binding],
        "recomputed_differently": skips_the_second_time,
        "ran_too_often": counts_by_running,
        "not_a_pair": only_output,
        "some_not_checkpointed": nested,
        "one_checkpoint": one_around_all,
        "late_binding": late_bound_functions,
    },
}
RIGHT = {"count_recomputation": [by_wrapping, without_early_stop]}
