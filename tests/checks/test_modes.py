"""Watching operations must not cost the learner the start of torch's compiler."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import torch
from utils.checks.observers import call_watching_backward

def answer(x):
    x = x.clone().requires_grad_()
    (x * x).sum().backward()
    return x.grad

seen = call_watching_backward(answer, {"args": [torch.ones(2)]})
assert "MulBackward0" in seen["nodes_run"], seen
print("torch._dynamo" in sys.modules)
"""


def test_a_first_check_does_not_load_the_compiler() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "False"
