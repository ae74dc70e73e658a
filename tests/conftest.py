"""What holds for every test."""

from __future__ import annotations

import os

os.environ["AUTOGRAD_PROGRESS"] = "off"  # no test writes into a learner's progress
