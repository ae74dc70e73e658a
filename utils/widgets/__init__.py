"""Moves pictures: one widget a file, one base class. Arrows point to pictures and graph only."""

from utils.widgets.cut_the_graph import cut_the_graph
from utils.widgets.hook_timeline import hook_timeline
from utils.widgets.leaf_lab import leaf_lab
from utils.widgets.microscope import gradient_microscope
from utils.widgets.predict import predict
from utils.widgets.pull_push import pull_back_push_forward
from utils.widgets.show import show_graph
from utils.widgets.stepper import step_backward
from utils.widgets.weights import weights_on_outputs

__all__ = [
    "cut_the_graph",
    "gradient_microscope",
    "hook_timeline",
    "leaf_lab",
    "predict",
    "pull_back_push_forward",
    "show_graph",
    "step_backward",
    "weights_on_outputs",
]
