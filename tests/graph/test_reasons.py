"""Something without a graph gets the reason, and a sentence in the learner's own names."""

import time

import numpy as np
import pytest
import torch

from tests.graph.learner import Notebook, run
from utils.graph.reasons import why_no_graph
from utils.graph.walk import walk

CASES = {
    "leaf": (
        "x = torch.ones(2, requires_grad=True)\nr = walk(x)",
        "leaf",
        ["`x` is a leaf", "`x.grad`"],
    ),
    "a leaf after the fact": (
        """
        x = torch.ones(2)
        y = x * 2
        y.requires_grad_()
        r = walk(y)
        """,
        "leaf",
        ["`y` is a leaf", "line 3", "after it was computed"],
    ),
    "a leaf by assignment": (
        """
        x = torch.ones(2)
        y = x * 2
        y.requires_grad = True
        r = walk(y)
        """,
        "leaf",
        ["line 3", "after it was computed"],
    ),
    "a detached copy made a leaf": (
        """
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        z = y.detach().requires_grad_()
        r = walk(z)
        """,
        "leaf",
        ["`z` is a leaf"],
    ),
    "detach": (
        """
        x = torch.ones(2, requires_grad=True)
        z = (x * 2).detach()
        r = walk(z)
        """,
        "detached",
        ["`z` has no graph", "`(x * 2).detach()` (lesson.py, line 2)"],
    ),
    "detach further up": (
        """
        x = torch.ones(2, requires_grad=True)
        d = x.detach()
        z = d * 3
        r = walk(z)
        """,
        "detached",
        ["made from `d` (lesson.py, line 3)", "`x.detach()` (lesson.py, line 2)"],
    ),
    "detach in place": (
        """
        x = torch.ones(2, requires_grad=True)
        z = x * 3
        z.detach_()
        r = walk(z)
        """,
        "detached",
        ["`z.detach_()` (lesson.py, line 3)"],
    ),
    "data": (
        "x = torch.ones(2, requires_grad=True)\nz = x.data * 2\nr = walk(z)",
        "detached",
        ["`x.data`", "line 2"],
    ),
    "a tensor copied with torch.tensor": (
        """
        x = torch.ones(2, requires_grad=True)
        z = torch.tensor(x)
        r = walk(z)
        """,
        "detached",
        ["`torch.tensor(x)`", "line 2"],
    ),
    "no_grad block": (
        """
        x = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            y = x * 2
            z = y.sum()
        r = walk(z)
        """,
        "no_grad",
        ["`z` has no graph", "`torch.no_grad()` (lesson.py, line 4)", "outside"],
    ),
    "computed from something made under no_grad": (
        """
        x = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            y = x * 2
        z = y.sum()
        r = walk(z)
        """,
        "no_grad",
        ["made from `y` (lesson.py, line 4)", "`torch.no_grad()` (lesson.py, line 3)"],
    ),
    "enable_grad inside no_grad is not no_grad": (
        """
        x = torch.ones(2)
        with torch.no_grad():
            with torch.enable_grad():
                z = x * 2
        r = walk(z)
        """,
        "untracked",
        ["`x`"],
    ),
    "set_grad_enabled": (
        """
        x = torch.ones(2, requires_grad=True)
        torch.set_grad_enabled(False)
        z = x * 2
        torch.set_grad_enabled(True)
        r = walk(z)
        """,
        "no_grad",
        ["`torch.set_grad_enabled(False)` (lesson.py, line 2)"],
    ),
    "a decorated function": (
        """
        @torch.no_grad()
        def evaluate(x):
            return x * 2

        z = evaluate(torch.ones(2, requires_grad=True))
        r = walk(z)
        """,
        "no_grad",
        ["`evaluate` is decorated with `@torch.no_grad()`"],
    ),
    "inside a decorated function": (
        """
        @torch.no_grad()
        def evaluate(x):
            y = x * 2
            return walk(y)

        r = evaluate(torch.ones(2, requires_grad=True))
        """,
        "no_grad",
        ["`y` has no graph", "`evaluate` is decorated"],
    ),
    "inputs tracked only later": (
        """
        x = torch.ones(2)
        z = x * 2
        x.requires_grad_()
        r = walk(z)
        """,
        "no_grad",
        ["made from `x` (lesson.py, line 2)", "either", "later"],
    ),
    "inference_mode": (
        """
        x = torch.ones(2, requires_grad=True)
        with torch.inference_mode():
            z = x * 2
        r = walk(z)
        """,
        "inference_mode",
        ["`torch.inference_mode()` (lesson.py, line 3)"],
    ),
    "integers": (
        "k = torch.tensor([1, 2])\nr = walk(k)",
        "dtype",
        ["`k` has no graph", "int64", "decimal"],
    ),
    "booleans": ("k = torch.ones(2) > 0\nr = walk(k)", "dtype", ["bool"]),
    "nobody asked": (
        "x = torch.ones(2)\nr = walk(x)",
        "untracked",
        ["`x` has no graph", "`requires_grad=True` (lesson.py, line 1)"],
    ),
    "nobody asked for the inputs": (
        "x = torch.ones(2)\ny = x * 2\nr = walk(y)",
        "untracked",
        ["made from `x` (lesson.py, line 2)", "(lesson.py, line 1)"],
    ),
    "no evidence": ("r = walk(torch.ones(2))", "untracked", ["This tensor", "either", "or"]),
    "item": (
        """
        x = torch.ones(2, requires_grad=True)
        loss = x.sum().item()
        r = walk(loss)
        """,
        "number",
        ["`loss` is a Python number", "`x.sum().item()` (lesson.py, line 2)"],
    ),
    "float": (
        "x = torch.ones(2, requires_grad=True)\nloss = float(x.sum())\nr = walk(loss)",
        "number",
        ["`float(x.sum())`"],
    ),
    "a small integer has many names": (
        "a = 1\nb = 1\nr = walk(b)",
        "number",
        ["`b` is a Python number"],
    ),
    "a method": (
        "y = torch.ones(2, requires_grad=True)\nr = walk(y.sum)",
        "method",
        ["`y.sum` is a method", "`y.sum()`"],
    ),
    "forward not called": (
        "net = nn.Linear(2, 1)\nr = walk(net.forward)",
        "method",
        ["`net.forward`", "`net(x)`"],
    ),
    "a function": (
        "def f():\n    return 1\nr = walk(f)",
        "method",
        ["`f` is a function", "`f(...)`"],
    ),
    "a module": (
        "net = nn.Linear(2, 1)\nr = walk(net)",
        "module",
        ["`net` is a module", "`net(x)`"],
    ),
    "what backward returns": (
        """
        x = torch.ones(2, requires_grad=True)
        out = x.sum().backward()
        r = walk(out)
        """,
        "not_a_tensor",
        ["`out` is None", "`x.sum().backward()` (lesson.py, line 2)"],
    ),
    "a gradient that has not come": (
        "x = torch.ones(2, requires_grad=True)\nr = walk(x.grad)",
        "not_a_tensor",
        ["`x.grad` is None", "backward"],
    ),
    "numpy": (
        """
        x = torch.ones(2, requires_grad=True)
        a = (x * 2).detach().numpy()
        r = walk(a)
        """,
        "not_a_tensor",
        ["`a` is from NumPy", "line 2"],
    ),
    "a string": ("s = 'loss'\nr = walk(s)", "not_a_tensor", ["`s` is a str"]),
    "a class": ("r = walk(nn.ReLU)", "not_a_tensor", ["a class (ReLU)"]),
}


@pytest.mark.parametrize("case", CASES)
def test_reason_and_sentence(case):
    code, reason, words = CASES[case]
    (root,) = run(code).r.roots
    assert root.reason == reason, root
    for word in words:
        assert word in root.sentence


def test_what_has_a_graph_has_no_reason():
    x = torch.ones(2, requires_grad=True)
    assert why_no_graph(x * 2, {}) == ("", "")
    assert why_no_graph((x * 2).grad_fn, {}) == ("", "")


def test_without_sources_shared_memory_is_evidence_and_says_either():
    y = torch.ones(2, requires_grad=True) * 2
    reason, sentence = why_no_graph(y.detach(), {"y": y})
    assert reason == "detached"
    assert "shares its memory with `y`" in sentence and "either" in sentence


def test_recording_switched_off_right_now_is_evidence():
    with torch.no_grad():
        reason, sentence = why_no_graph(torch.ones(2) * 2, {})
    assert reason == "no_grad" and "either" in sentence


def test_two_branches_that_disagree_are_no_evidence():
    code = """
        x = torch.ones(2, requires_grad=True)
        if len(x) == 2:
            z = x.detach()
        else:
            z = torch.zeros(2)
        x = None
        r = walk(z)
    """
    (root,) = run(code).r.roots
    assert root.reason == "untracked" and "either" in root.sentence


def test_a_statement_further_down_is_no_evidence():
    code = """
        x = torch.ones(2)
        z = x
        r = walk(z)
        z = x.detach()
    """
    (root,) = run(code).r.roots
    assert root.reason == "untracked"


def test_odd_tensors_raise_nothing():
    odd = [
        torch.ones(2, device="meta"),
        torch.eye(2).to_sparse(),
        torch.nested.nested_tensor([torch.ones(2)]),
        torch.ones(0),
        np.float64(1.0),
        ...,
    ]
    for thing in odd:
        reason, sentence = why_no_graph(thing, {"x": torch.ones(2, requires_grad=True)})
        assert reason in {"untracked", "not_a_tensor"} and sentence.endswith(".")


def test_a_notebook_cell_is_named():
    notebook = Notebook()
    notebook.run("x = torch.ones(2, requires_grad=True)")
    notebook.run("with torch.no_grad():\n    z = x * 2")
    (root,) = notebook.run("r = walk(z)").r.roots
    assert root.reason == "no_grad"
    assert "`torch.no_grad()` (cell 3, line 2)" in root.sentence


def test_under_a_timing_magic_lines_are_counted_as_seen():
    notebook = Notebook()
    notebook.run("x = torch.ones(2, requires_grad=True)")
    cell = "%%capture\nwith torch.no_grad():\n    z = x * 2\nr = walk(z)"
    (root,) = notebook.run(cell).r.roots
    assert "(cell 3, line 3)" in root.sentence


def test_a_thousand_roots_are_no_slower_than_they_must_be():
    many = [torch.ones(2) for _ in range(1_000)] + [torch.ones(2, requires_grad=True)] * 500
    start = time.perf_counter()
    roots = walk(many).roots
    assert {root.reason for root in roots} == {"untracked", "leaf"}
    assert time.perf_counter() - start < 5  # about 0.1 s; a search per root would take minutes
