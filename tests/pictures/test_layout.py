import time

import pytest

from tests.pictures import builders
from tests.pictures.geometry import boxes_that_overlap, crossings, lines_through_boxes, sampled
from utils.pictures.layout import layered

GRAPHS = {
    "learners": builders.learners(),
    "mlp": builders.mlp(4),
    "residual": builders.residual(6),
    "recurrent": builders.recurrent(6),
    **{f"tangled {seed}": builders.tangled(60, seed) for seed in range(8)},
}


def plan(graph, vertical=False):
    """Sizes that differ, edges, and labels on every other edge."""
    sizes = [(80.0 + 17 * (k % 5), 40.0 + 11 * (k % 4)) for k in range(len(graph.nodes))]
    edges = [(edge.source, edge.target) for edge in graph.edges]
    leaving = [0] * len(sizes)
    for source, target in edges:
        leaving[source] += 1 if target is not None else 2
    if vertical:
        sizes = [(max(w, 60.0 * n), h) for (w, h), n in zip(sizes, leaving, strict=True)]
    else:
        sizes = [(w, max(h, 20.0 * n)) for (w, h), n in zip(sizes, leaving, strict=True)]
    labels = [(55.0, 20.0) if k % 2 else None for k in range(len(edges))]
    return sizes, edges, labels


@pytest.fixture(params=[False, True], ids=["level", "upright"])
def vertical(request):
    return request.param


@pytest.mark.parametrize("name", GRAPHS)
def test_boxes_lines_and_labels_keep_clear_of_each_other(name, vertical):
    sizes, edges, labels = plan(GRAPHS[name], vertical)
    layout = layered(sizes, edges, labels, vertical)
    lines = [sampled(route) for route in layout.routes]
    assert boxes_that_overlap(layout.centres, sizes) == []
    assert lines_through_boxes(layout.centres, sizes, edges, lines) == []

    # A label stands above its line, or, upright, on it.
    spots = [
        (x, y if vertical else y - 10)
        for (x, y), label in zip(layout.labels, labels, strict=True)
        if label
    ]
    shapes = [(label[0], label[1] - 1) for label in labels if label]
    assert boxes_that_overlap(spots, shapes) == []
    assert boxes_that_overlap([*layout.centres, *spots], [*sizes, *shapes]) == []
    own = [k for k, label in enumerate(labels) if label]
    for line, spot in lines_through_boxes(spots, shapes, [(None, None)] * len(edges), lines):
        assert own[spot] == line, "a line runs through the label of another"


@pytest.mark.parametrize("name", GRAPHS)
def test_everything_is_inside_and_lines_reach_from_box_to_box(name, vertical):
    sizes, edges, labels = plan(GRAPHS[name], vertical)
    layout = layered(sizes, edges, labels, vertical)
    for (x, y), (w, h) in zip(layout.centres, sizes, strict=True):
        assert x - w / 2 >= -0.01 and x + w / 2 <= layout.width + 0.01
        assert y - h / 2 >= -0.01 and y + h / 2 <= layout.height + 0.01
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert touches(route[0], layout.centres[source], sizes[source])
        if target is not None:
            assert touches(route[-1], layout.centres[target], sizes[target])


def touches(point, centre, size):
    dx, dy = abs(point[0] - centre[0]), abs(point[1] - centre[1])
    inside = dx <= size[0] / 2 + 0.01 and dy <= size[1] / 2 + 0.01
    return inside and (dx >= size[0] / 2 - 0.01 or dy >= size[1] / 2 - 0.01)


def test_values_run_left_to_right_or_top_to_bottom():
    sizes, edges = [(60.0, 30.0)] * 3, [(0, 1), (1, 2)]
    level = layered(sizes, edges).centres
    assert level[0][0] > level[1][0] > level[2][0]
    assert len({y for _, y in level}) == 1
    upright = layered(sizes, edges, vertical=True).centres
    assert upright[0][1] > upright[1][1] > upright[2][1]
    assert len({x for x, _ in upright}) == 1


def test_parallel_lines_are_apart_all_the_way(vertical):
    layout = layered([(60.0, 60.0)] * 2, [(0, 1)] * 3, vertical=vertical)
    across = 0 if vertical else 1
    for a, b in ((0, 1), (1, 2)):
        pairs = zip(sampled(layout.routes[a]), sampled(layout.routes[b]), strict=True)
        assert all(q[across] - p[across] >= 10 for p, q in pairs)


def test_parallel_lines_past_other_boxes_are_apart():
    layout = layered([(60.0, 60.0)] * 3, [(0, 1), (1, 2), (0, 2), (0, 2)])
    starts_and_ends = [(layout.routes[k][0], layout.routes[k][-1]) for k in (2, 3)]
    assert starts_and_ends[0][0] != starts_and_ends[1][0]
    assert starts_and_ends[0][1] != starts_and_ends[1][1]


def test_a_chain_stays_straight_beside_its_parameters():
    graph = builders.mlp(12)
    sizes, edges, _ = plan(graph)
    layout = layered(sizes, edges)
    chain = [node.index for node in graph.nodes if node.name.startswith(("Relu", "Addmm"))]
    assert len({round(layout.centres[k][1]) for k in chain}) == 1


def test_a_deep_residual_net_does_not_drift():
    short, long = (builders.residual(blocks) for blocks in (2, 32))
    heights = [layered([(90.0, 40.0)] * len(g.nodes), pairs(g)).height for g in (short, long)]
    assert heights[1] <= 1.2 * heights[0]


def pairs(graph):
    return [(edge.source, edge.target) for edge in graph.edges]


def test_a_long_line_turns_at_most_twice():
    length = 30
    edges = [(k, k + 1) for k in range(length)] + [(0, length)]
    route = layered([(60.0, 30.0)] * (length + 1), edges).routes[-1]
    bent = [k for k in range(1, len(route), 3) if abs(route[k - 1][1] - route[k + 2][1]) > 0.5]
    assert len(bent) == 2


def test_a_tree_has_no_crossing_and_a_small_tangle_few():
    graph = builders.mlp(6)
    layout = layered([(90.0, 40.0)] * len(graph.nodes), pairs(graph))
    assert crossings(pairs(graph), [sampled(route) for route in layout.routes]) == 0
    # Two pairs whose ends are given in swapped order: a good order needs no crossing.
    edges = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (1, 5), (2, 6)]
    layout = layered([(60.0, 30.0)] * 7, edges)
    assert crossings(edges, [sampled(route) for route in layout.routes]) == 0


def test_a_cycle_is_refused_with_a_reason():
    with pytest.raises(ValueError, match="cycle"):
        layered([(60.0, 30.0)] * 3, [(0, 1), (1, 2), (2, 1)])


def test_nothing_and_one_box():
    assert layered([], []).centres == ()
    assert layered([(60.0, 30.0)], []).centres == ((30.0, 15.0),)


def test_big_graphs_are_laid_out_quickly():
    graph = builders.residual(32)
    start = time.perf_counter()
    layered([(90.0, 40.0)] * len(graph.nodes), pairs(graph))
    net = time.perf_counter() - start
    graph = builders.chain(20_000)
    start = time.perf_counter()
    layered([(90.0, 40.0)] * len(graph.nodes), pairs(graph))
    chain = time.perf_counter() - start
    assert net < 0.3 and chain < 6  # about ten times what they take on a quiet machine


def test_a_box_stands_in_the_middle_of_what_it_feeds():
    for children in (2, 3, 4):
        edges = [(0, k) for k in range(1, children + 1)]
        centres = layered([(60.0, 30.0)] * (children + 1), edges).centres
        heights = sorted(y for _, y in centres[1:])
        assert centres[0][1] == pytest.approx((heights[0] + heights[-1]) / 2)


def test_sorting_the_layers_removes_most_crossings():
    before = after = 0
    for seed in range(8):
        graph = builders.tangled(60, seed)
        sizes, edges, _ = plan(graph)
        layout = layered(sizes, edges)
        after += crossings(edges, [sampled(route, 6) for route in layout.routes])
        # The same boxes and lines where each layer is in the order of the boxes' numbers.
        columns = {}
        for k, (x, _) in enumerate(layout.centres):
            columns.setdefault(x, []).append(k)
        place = {k: (x, 60.0 * n) for x, column in columns.items() for n, k in enumerate(column)}
        before += crossings(edges, [[place[a], place[b]] for a, b in edges])
    assert after < 0.6 * before
