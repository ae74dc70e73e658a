import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.pictures import builders
from tests.pictures.builders import value
from utils.graph.data import Graph, Node, Root, Saved
from utils.pictures import svg
from utils.pictures.graph_picture import draw_graph


def words(picture):
    """The drawn words, with the tooltips and the description taken out."""
    root = ElementTree.fromstring(picture.svg)
    texts = [e for e in root.iter() if e.tag.endswith("}text")]
    return ["".join(text.itertext()) for text in texts]


def test_a_box_says_the_learners_words_first_then_torchs():
    drawn = words(draw_graph(builders.learners()))
    at = drawn.index("q = y * y")
    assert drawn[at : at + 6] == [
        "q = y * y",
        "MulBackward0",
        "(2, 2)",
        "value 9 ×4",
        "self held, 16 bytes",
        "other held, 16 bytes",
    ]
    assert '<tspan font-weight="700" fill="#111827">q</tspan> = y * y' in (
        draw_graph(builders.learners()).svg
    )


def test_the_text_twin_states_every_fact():
    assert draw_graph(builders.learners()).text.splitlines() == [
        "Graph: 5 nodes, 5 edges, 32 bytes saved for backward",
        "Values were computed left to right, gradients flow right to left.",
        "o = z.mean() (MeanBackward0), root, scalar (), value 27, line 5 of cell 2; sends to z.",
        "z = q * 3 (MulBackward0), (2, 2), value 27 ×4, line 4 of cell 2; sends to q; "
        "1 input is constant.",
        "q = y * y (MulBackward0), (2, 2), value 9 ×4, line 3 of cell 2; sends to y, y; "
        "keeps self (2, 2) held, 16 bytes, other (2, 2) held, 16 bytes.",
        "y = x + 2 (AddBackward0), (2, 2), value 3 ×4, line 2 of cell 2; sends to x; "
        "1 input is constant.",
        "x, leaf (AccumulateGrad), (2, 2).",
    ]


def test_a_large_graphs_text_sums_up():
    text = draw_graph(builders.residual(8)).text
    assert "Nodes: " in text and "18 ConvolutionBackward0" not in text
    assert "17 ConvolutionBackward0" in text and "8 AddBackward0" in text
    assert len(text.splitlines()) < 12


STATES = ("held", "packed", "overwritten", "freed", "none", "unknown")


def saving(state):
    """A picture of one node that saved one tensor."""
    saved = Saved("self", state, value(shape=(3,)) if state == "held" else None)
    node = Node(0, "ExpBackward0", "op", (value(shape=(3,)),), (saved,))
    return draw_graph(Graph((node,), (), (Root("", "y", 0, 0),)))


@pytest.mark.parametrize("state", STATES)
def test_a_saved_tensor_says_its_state_in_words(state):
    assert f"self {state}" in words(saving(state))
    assert f"keeps self{' (3,)' if state == 'held' else ''} {state}" in saving(state).text


def test_each_state_has_a_sign_of_its_own():
    def shapes(state):
        drawn = saving(state).svg.partition(f">self {state}<")[0]
        sign = drawn.rpartition("</text>")[2].partition("<text")[0]
        return re.sub(r"M?[0-9.]+ [0-9.]+m|c[xy]=\"[0-9.]+\"", "", sign)

    assert len({shapes(state) for state in STATES}) == len(STATES)
    assert all(shapes(state) for state in STATES)


def test_many_saved_tensors_are_counted():
    saved = tuple(Saved(f"w{k}", "held", value(shape=(2,)), 8) for k in range(9))
    node = Node(0, "LstmBackward0", "op", (value(shape=(3,)),), saved)
    picture = draw_graph(Graph((node,), (), (Root("", "y", 0, 0),)))
    assert "and 7 held" in words(picture)
    assert "w8" in picture.text


def test_custom_functions_and_module_hooks_are_marked_in_words():
    nodes = (
        Node(0, "SquareBackward", "custom", (value(shape=(2,)),)),
        Node(1, "BackwardHookFunctionBackward", "hook", (value(shape=(2,)),)),
        builders.leaf(2, "x"),
    )
    graph = builders.graph(nodes, [(0, 1), (1, 2)])
    drawn = words(draw_graph(graph))
    assert "custom Function" in drawn and "module hook" in drawn
    text = draw_graph(graph).text
    assert "SquareBackward, custom Function" in text
    assert "module hook (BackwardHookFunctionBackward)" in text


def test_leaves_are_round_and_blue_and_say_so():
    svg = draw_graph(builders.learners()).svg
    assert svg.count('stroke="#0072B2"') == 1
    assert 'rx="26"' in svg or 'rx="33"' in svg
    assert "x leaf" in words(draw_graph(builders.learners()))


def test_every_root_is_marked_with_where_it_stood():
    graph = replace(
        builders.learners(),
        roots=(Root("['loss']", "o", 0, 0), Root("['q']", "q", 2, 0), Root("['raw']", "q", 2, 0)),
    )
    picture = draw_graph(graph)
    drawn = words(picture)
    assert "root ['loss']" in drawn and "root ['q'], root ['raw']" in drawn
    assert "root ['q'], root ['raw']" in picture.text
    assert picture.title.startswith("Graph of o, q, q:")


def test_a_root_without_a_graph_says_why_below_the_others():
    reason = "n is an integer tensor, and gradients need floating point."
    graph = replace(
        builders.learners(),
        roots=(Root("[0]", "o", 0, 0), Root("[1]", "n", None, 0, "dtype", reason)),
    )
    picture = draw_graph(graph)
    assert reason in picture.text and reason in words(picture)


def test_no_graph_at_all_gives_a_picture_of_the_reasons():
    reasons = ("y was made under torch.no_grad().", "n is a Python number.")
    roots = (
        Root("[0]", "y", None, 0, "no_grad", reasons[0]),
        Root("[1]", "", None, 0, "number", reasons[1]),
    )
    picture = draw_graph(Graph((), (), roots))
    for path, reason in zip(("[0]", "[1]"), reasons, strict=True):
        assert f"{path}: {reason}" in words(picture)
        assert f"{path}: {reason}" in picture.text
    assert draw_graph(Graph((), (), ())).text


def test_long_words_are_cut_in_the_box_and_whole_in_its_tooltip():
    wrote = " + ".join(f"alpha_{k} * beta_{k}" for k in range(9))
    nodes = (
        Node(0, "AddBackward0", "op", (value(shape=()),), (), {}, "total", wrote),
        builders.leaf(1),
    )
    svg = draw_graph(builders.graph(nodes, [(0, 1)])).svg
    assert f"<title>total = {wrote} (AddBackward0)" in svg
    assert f">{wrote}<" not in svg and "…</text>" in svg


def test_parallel_edges_are_two_lines():
    lines = re.findall(
        r'<path d="([^"]+)" fill="none" stroke="#8a929e" stroke-width="1.5"',
        (draw_graph(builders.learners()).svg),
    )
    assert len(lines) == 5 and len(set(lines)) == 5


def test_a_real_graph_before_and_after_backward():
    import torch

    from utils.graph import walk

    x = torch.ones(3, requires_grad=True)
    y = x.exp().sum()
    before = draw_graph(walk(y))
    y.backward()
    after = draw_graph(walk(y))
    assert "result held, 12 bytes" in words(before)
    assert "result freed" in words(after) and "result freed" in after.text


def test_a_real_doubling_graph_has_two_lines_a_step():
    import torch

    from utils.graph import walk

    a = torch.ones((), requires_grad=True)
    for _ in range(60):
        a = a + a
    picture = draw_graph(walk(a))
    assert picture.title.endswith("61 nodes, 120 edges")
    assert picture.svg.count('stroke-width="1.5"') == 120


def test_a_root_with_a_long_path_is_marked_inside_the_picture():
    graph = replace(builders.learners(), roots=(Root("['a long name']['of an output']", "", 0, 0),))
    picture = draw_graph(graph)
    assert "root ['a long name']['of an output']" in picture.text
    mark = next(line for line in words(picture) if line.startswith("root ['a long"))
    assert svg.text_width(mark, bold=True) <= box_of(picture, "o = z.mean()")


def box_of(picture, heading):
    """The width of the box with this heading."""
    for group in ElementTree.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}g"):
        if any("".join(text.itertext()) == heading for text in group):
            return float(group.find("{http://www.w3.org/2000/svg}rect").attrib["width"])
    raise AssertionError(f"no box {heading}")


def test_a_module_hook_is_explained():
    nodes = (
        Node(0, "BackwardHookFunctionBackward", "hook", (value(shape=(2,)),)),
        builders.leaf(1, "x"),
    )
    picture = draw_graph(builders.graph(nodes, [(0, 1)]))
    assert "register_full_backward_hook" in picture.text
    assert any("register_full_backward_hook" in line for line in words(picture))
    assert "register_full_backward_hook" not in draw_graph(builders.learners()).text


@pytest.mark.parametrize("upright", [False, True])
def test_the_root_is_marked_where_no_line_runs(upright):
    picture = draw_graph(builders.learners(), upright=upright)
    root = ElementTree.fromstring(picture.svg)
    (mark,) = [e for e in root.iter() if e.text == "root" and e.tag.endswith("text")]
    y = float(mark.attrib["y"])
    boxes = [e for e in root.iter() if e.tag.endswith("rect")][1:]
    ends = [float(box.attrib["y"]) + float(box.attrib["height"]) for box in boxes]
    assert y > max(ends) if upright else y < max(float(box.attrib["y"]) for box in boxes)
