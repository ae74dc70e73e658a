"""Moves pictures: one widget a file, one base class. Arrows point to pictures and graph only."""

from utils.widgets.leaf_lab import leaf_lab
from utils.widgets.predict import predict
from utils.widgets.show import show_graph
from utils.widgets.stepper import step_backward

__all__ = ["leaf_lab", "predict", "show_graph", "step_backward"]
