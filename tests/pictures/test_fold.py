import re

import pytest

from tests.pictures import builders
from utils.pictures.fold import CAP, fold
from utils.pictures.graph_picture import draw_graph


def numbers(text):
    return [int(found) for found in re.findall(r"\d+", text)]


@pytest.mark.parametrize(
    "graph",
    [
        builders.learners(),
        builders.chain(20_000),
        builders.recurrent(20),
        builders.recurrent(240),
        builders.residual(32),
        builders.tangled(400, 1),
    ],
    ids=["learners", "chain", "recurrent", "2,900 nodes", "residual", "tangled"],
)
def test_every_node_and_edge_is_drawn_or_counted(graph):
    scene = fold(graph)
    drawn = {node for box in scene.boxes for node in box.nodes}
    assert len(drawn) + scene.hidden == len(graph.nodes)
    assert len(scene.boxes) <= CAP

    # Each edge is a line, a counted stub, inside a box, or behind the hidden part.
    shown = [edge for line in scene.lines for edge in line.edges]
    assert len(shown) == len(set(shown))
    inside = {pair for box in scene.boxes for pair in zip(box.nodes, box.nodes[1:], strict=False)}
    for k, edge in enumerate(graph.edges):
        if k not in shown:
            assert edge.source not in drawn or (edge.source, edge.target) in inside
    for line in scene.lines:
        if line.word:
            assert line.target is None
            assert numbers(line.word) in ([], [len(line.edges)])
        else:
            assert len(line.edges) == 1 and line.target is not None


def test_a_small_graph_is_drawn_as_it_is():
    graph = builders.mlp(3)
    scene = fold(graph)
    assert [box.nodes for box in scene.boxes] == [(k,) for k in range(len(graph.nodes))]
    assert scene.notes == ()


def test_a_run_becomes_one_box_with_counts_by_name():
    graph = builders.chain(20_000)
    scene = fold(graph)
    assert [len(box.nodes) for box in scene.boxes] == [1, 20_000, 1]
    assert scene.notes == ("20000 nodes in 1 run folded: 20000 MulBackward0.",)
    picture = draw_graph(graph)
    assert "20000 more" in picture.svg and "20000 MulBackward0" in picture.svg
    assert scene.notes[0] in picture.text and len(picture.svg) < 10_000


def test_roots_leaves_and_short_runs_are_not_folded():
    graph = builders.graph(
        ["SumBackward0", "MulBackward0", "ExpBackward0", "AddBackward0", "AccumulateGrad"],
        [(0, 1), (1, 2), (2, 3), (3, 4)],
        roots=[0, 2],
    )
    assert all(len(box.nodes) == 1 for box in fold(graph, cap=1, repeat=99).boxes)


def test_transposes_are_folded_into_their_parameters_only_when_needed():
    graph = builders.mlp(3)
    assert len(fold(graph).boxes) == len(graph.nodes)
    scene = fold(graph, cap=14)
    both = [box.nodes for box in scene.boxes if len(box.nodes) == 2]
    assert len(both) == 3
    for transpose, leaf in both:
        assert graph.nodes[transpose].name == "TBackward0"
        assert graph.nodes[leaf].kind == "leaf"
    assert any("3 TBackward0" in note for note in scene.notes)
    assert "TBackward0 + AccumulateGrad" in draw_graph(graph, cap=14).svg


@pytest.mark.parametrize("uses", [2, 3, 20])
def test_a_leaf_with_three_uses_or_more_is_drawn_next_to_each(uses):
    names = ["SumBackward0"] + ["MulBackward0"] * uses + ["AccumulateGrad"]
    edges = [(k, k + 1) for k in range(uses)] + [(k, uses + 1) for k in range(1, uses + 1)]
    graph = builders.graph(names, edges)
    scene = fold(graph)
    copies = [k for k, box in enumerate(scene.boxes) if uses + 1 in box.nodes]
    assert len(copies) == (1 if uses < 3 else uses)
    if uses >= 3:
        picture = draw_graph(graph)
        assert picture.svg.count(f">used {uses} times<") == uses
        assert f"used {uses} times" in picture.text
        for copy in copies:
            assert len({line.source for line in scene.lines if line.target == copy}) == 1


def test_parallel_uses_by_one_node_share_a_copy():
    graph = builders.graph(
        ["MulBackward0", "MulBackward0", "AccumulateGrad"], [(0, 1), (0, 2), (1, 2), (1, 2)]
    )
    scene = fold(graph)
    copies = [k for k, box in enumerate(scene.boxes) if box.nodes == (2,)]
    assert len(copies) == 2
    assert sorted(sum(line.target == copy for line in scene.lines) for copy in copies) == [1, 2]
    assert all(scene.boxes[copy].uses == 3 for copy in copies)


def test_a_huge_graph_shows_the_part_nearest_the_root_and_says_so():
    graph = builders.recurrent(240)
    assert len(graph.nodes) > 2_800
    scene = fold(graph)
    assert any(0 in box.nodes for box in scene.boxes)
    note = f"{scene.hidden} of {len(graph.nodes)} nodes are hidden"
    picture = draw_graph(graph)
    assert scene.hidden > 0 and note in picture.svg and note in picture.text
    assert re.search(r">\d+ hidden<", picture.svg), "cut lines say what they lead to"
    # What is drawn is closed: whatever sends to a drawn box is drawn too.
    owner = {node for box in scene.boxes for node in box.nodes if graph.nodes[node].kind != "leaf"}
    for edge in graph.edges:
        if edge.target in owner:
            assert edge.source in owner


def test_constants_become_one_counted_stub():
    graph = builders.graph(
        ["MulBackward0", "AccumulateGrad"], [(0, None), (0, 1), (0, None), (0, None)]
    )
    (stub,) = [line for line in fold(graph).lines if line.target is None]
    assert stub.word == "3 constants" and len(stub.edges) == 3
    assert ">3 constants<" in draw_graph(graph).svg
