"""The boxes carry the learner's own names, and looking at names keeps nothing alive."""

import time
import weakref

import torch
from torch import nn

from tests.graph.learner import Notebook, no_collector, run, variables
from utils.graph.names import annotate, caller_namespace, find_names, name_of
from utils.graph.walk import walk


def names_of(code: str) -> list[str]:
    """The names in the boxes of `g` after running `code`; boxes without a name are left out."""
    return [name for name in variables(run(code).g) if name]


def test_every_variable_names_its_box():
    code = """
        x = torch.ones(2, 2, requires_grad=True)
        y = x + 2
        z = y * y * 3
        o = z.mean()
        g = walk(o)
    """
    assert variables(run(code).g) == ["o", "z", "", "y", "x"]


def test_a_reused_name_stands_for_the_tensor_it_holds_now():
    code = """
        x = torch.ones(2, requires_grad=True)
        for _ in range(3):
            x = x * 2
        g = walk(x)
    """
    assert variables(run(code).g) == ["x", "", "", ""]


def test_parameters_go_by_their_module_even_after_a_loop_over_them():
    code = """
        net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        for p in net.parameters():
            p.grad = None
        g = walk(net(torch.ones(1, 2)))
    """
    expected = {"net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"}
    assert set(names_of(code)) == expected


def test_inside_a_method_the_module_is_self():
    code = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 1)
                self.scales = [torch.ones(1, requires_grad=True)]

            def forward(self, x):
                self.hidden = self.fc(x)
                return walk(self.hidden * self.scales[0])

        g = Net()(torch.ones(1, 2))
    """
    names = ["self.hidden", "self.scales[0]", "self.fc.bias", "self.fc.weight"]
    assert names_of(code) == names


def test_a_hand_made_model_need_not_be_a_module():
    code = """
        class Model:
            def __init__(self):
                self.w = torch.ones(1, requires_grad=True)

        model = Model()
        g = walk(model.w * 2)
    """
    assert names_of(code) == ["model.w"]


def test_lists_tuples_and_dicts_are_searched():
    code = """
        ws = [torch.ones(1, requires_grad=True) for _ in range(2)]
        params = {"w": torch.ones(1, requires_grad=True), 3: (torch.ones(1, requires_grad=True),)}
        g = walk(ws[0] + ws[1] + params["w"] + params[3][0])
    """
    assert set(names_of(code)) == {"ws[0]", "ws[1]", "params['w']", "params[3][0]"}


def test_a_variable_of_its_own_goes_before_a_place_in_a_list():
    code = """
        ws = [torch.ones(1, requires_grad=True)]
        w = ws[0]
        g = walk(w * 2)
    """
    assert names_of(code) == ["w"]


def test_underscores_and_the_notebook_s_own_names_come_last_or_not_at_all():
    code = """
        _x = torch.ones(1, requires_grad=True)
        x = _x
        _hidden = torch.ones(1, requires_grad=True)
        g = walk(x * _hidden)
    """
    assert names_of(code) == ["x", "_hidden"]
    notebook = Notebook()
    notebook.run("x = torch.ones(1, requires_grad=True)")
    notebook.run("x * 2")
    assert variables(notebook.run("g = walk(_)").g) == ["", "x"]


def test_a_function_sees_its_locals_before_the_globals():
    code = """
        x = torch.ones(1, requires_grad=True)
        w = torch.ones(2, requires_grad=True)

        def inspect(a):
            x = a * w
            return walk(x)

        g = inspect(torch.ones(2, requires_grad=True))
    """
    assert names_of(code) == ["x", "a", "w"]


def test_a_closure_sees_the_variables_around_it():
    code = """
        def outer():
            w = torch.ones(1, requires_grad=True)

            def inner():
                return walk(w * 2)

            return inner()

        g = outer()
    """
    assert names_of(code) == ["w"]


def test_a_comprehension_sees_the_function_around_it():
    code = """
        def every(w):
            return [walk(w * s + n) for n, s in enumerate([torch.ones(1, requires_grad=True)])]

        (g,) = every(torch.ones(1, requires_grad=True))
    """
    assert names_of(code) == ["w", "s"]


def test_a_lambda_has_names_and_claims_nothing():
    code = """
        y = torch.ones(1, requires_grad=True)
        z = y * 3
        g = (lambda z: walk(z))(y * 2)
    """
    lesson = run(code)
    assert variables(lesson.g) == ["z", "y"]
    assert lesson.g.nodes[0].expression == ""


def test_depth_counts_frames_outside_the_package():
    def learner(deep):
        here = 1  # noqa: F841
        return caller_namespace(deep).variables

    there = 2
    assert "here" in learner(1) and "there" not in learner(1)
    assert learner(2)["there"] == there


def test_a_custom_function_is_named_like_any_other():
    code = """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * x

            @staticmethod
            def backward(ctx, g):
                return g

        x = torch.ones(2, requires_grad=True)
        sq = Square.apply(x)
        g = walk(sq)
    """
    lesson = run(code)
    assert variables(lesson.g) == ["sq", "x"]
    assert lesson.g.nodes[0].kind == "custom"


def test_of_several_outputs_each_gets_its_entries():
    code = """
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        a, b = x.unbind()
        g = walk([a, b])
    """
    lesson = run(code)
    node = lesson.g.nodes[0]
    assert node.variable == "a"
    assert [value.entries for value in node.outputs] == [(1.0, 2.0), (3.0, 4.0)]
    assert [root.variable for root in lesson.g.roots] == ["a", "b"]


def test_named_outputs_have_entries_and_big_ones_do_not():
    code = """
        x = torch.ones(2, requires_grad=True)
        y = x * 3
        big = y.expand(100, 2)
        g = walk(big * 2)
    """
    outputs = {node.variable: node.outputs[0].entries for node in run(code).g.nodes}
    assert outputs["y"] == (3.0, 3.0)
    assert outputs["big"] is None and outputs[""] is None


def test_a_plain_dict_of_names_will_do():
    w = torch.ones(1, requires_grad=True)
    graph = walk(w * 2, names={"weight": w})
    assert variables(graph) == ["", "weight"]
    assert name_of(w, {"weight": w}) == "weight"
    assert name_of(w, {}) == ""


def test_containers_that_hold_themselves_or_answer_strangely_do_no_harm():
    class Rude:
        def __getattribute__(self, name):
            raise RuntimeError("do not look at me")

        def __eq__(self, other):
            raise RuntimeError("do not compare me")

        __hash__ = None

    w = torch.ones(1, requires_grad=True)
    ring = [w]
    ring.append(ring)
    half_made = nn.Module.__new__(nn.Module)
    found = find_names({"ring": ring, "rude": Rude(), "half": half_made})
    assert [names for _, names in found] == [["ring[0]"]]


def test_a_view_whose_history_torch_forbids_is_passed_over():
    code = """
        x = torch.ones(2, 2, requires_grad=True)
        base = x * 1
        forbidden = base.unbind()[0]
        base.mul_(2)
        g = walk([base, forbidden])
    """
    assert names_of(code) == ["base", "x"]


def test_huge_namespaces_are_bounded():
    variables_ = {f"v{k}": [float(k)] * 10 for k in range(5_000)}
    variables_["huge"] = list(range(1_000_000))
    variables_["deep"] = deep = []
    for _ in range(10_000):
        deep.append([])
        deep = deep[0]
    variables_["w"] = w = torch.ones(1, requires_grad=True)
    start = time.perf_counter()
    assert name_of(w, variables_) == "w"
    assert time.perf_counter() - start < 0.5  # some 10 ms; generous for a busy machine


def test_no_tensor_outlives_its_owner():
    with no_collector():
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        graph = walk(y)
        gone = [weakref.ref(x), weakref.ref(y)]
        del x, y
        assert [ref() for ref in gone] == [None, None]
    assert variables(graph) == ["y", "x"]


def test_somebody_s_own_locals_are_left_alone():
    x = torch.ones(3, requires_grad=True)
    mine = locals()
    walk(x)
    assert mine["x"] is x


def test_a_500_node_net_is_annotated_fast():
    net = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(100)])
    out = net(torch.ones(1, 4))
    names = caller_namespace()
    graph = walk(out, names={})
    live, todo = [], [out.grad_fn]
    while todo:
        node = todo.pop(0)
        if node not in live:
            live.append(node)
            todo += [parent for parent, _ in node.next_functions if parent is not None]
    assert len(live) == len(graph.nodes) == 500
    took = []
    for _ in range(5):
        start = time.perf_counter()
        annotated = annotate(graph, live, names)
        took.append(time.perf_counter() - start)
    assert {node.variable for node in annotated.leaves} >= {"net.0.0.weight", "net.99.0.bias"}
    assert min(took) < 0.05  # some 5 ms; generous for a busy machine
