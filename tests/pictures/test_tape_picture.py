import re
import time
from dataclasses import replace

import pytest

from tests.pictures import builders
from tests.pictures.builders import value
from tests.pictures.test_graph_picture import words
from utils.graph.data import GradChange, Root, Step, Tape
from utils.pictures.tape_picture import TapePicture


def of_learners():
    """The backward of the mean of 3 * (x + 2) ** 2 at x = 1, as torch runs it."""

    def four(x):
        return value(x, x, x, x, shape=(2, 2))

    steps = (
        Step(0, (value(1.0),), (four(0.25),)),
        Step(1, (four(0.25),), (four(0.75), None)),
        Step(2, (four(0.75),), (four(2.25), four(2.25))),
        Step(3, (four(4.5),), (four(4.5), None)),
        Step(4, (four(4.5),), (), GradChange(4, "x", None, four(4.5))),
    )
    return Tape(builders.learners(), (value(1.0),), steps, "", True)


def test_the_words_of_each_step():
    picture = TapePicture(of_learners())
    assert picture.steps == 5
    assert picture.draw(0).text.splitlines() == [
        "Backward, before step 1 of 5",
        "starts at o with 1",
        "ready: o",
        "waiting: z, q, y (waits for 2 gradients), x",
    ]
    assert picture.draw(3).text.splitlines() == [
        "Backward, step 3 of 5: q = y * y (MulBackward0)",
        "came in: 0.75 ×4",
        "goes out to y: 2.25 ×4",
        "goes out to y: 2.25 ×4",
        "done: o, z",
        "ready: y",
        "waiting: x",
    ]
    assert picture.draw(5).text.splitlines() == [
        "Backward, step 5 of 5: x, leaf (AccumulateGrad)",
        "came in: 4.5 ×4",
        ".grad of x: none → 4.5 ×4",
        "done: o, z, q, y",
    ]


def test_what_is_drawn_at_each_step():
    picture = TapePicture(of_learners())
    before = words(picture.draw(0))
    assert before.count("not yet") == 4 and "waits for 2 gradients" in before
    assert "ready" in before and "now" not in before
    assert "root, starts with 1" in before

    third = words(picture.draw(3))
    assert third.count("now") == 1 and third.count("2.25 ×4") == 2 and "in: 0.75 ×4" in third
    assert third.count("not yet") == 1 and third.count("ready") == 1
    assert third.count("0.75 ×4") == 1 and third.count("0.25 ×4") == 1

    last = words(picture.draw(5))
    assert ".grad none → 4.5 ×4" in last and "not yet" not in last and "ready" not in last


def test_states_differ_by_line_as_well_as_by_colour():
    svg = TapePicture(of_learners()).draw(3).svg
    boxes = re.findall(r"<rect x[^>]*>", svg)
    assert sum('stroke-width="3"' in box for box in boxes) == 1  # now
    assert sum('stroke-dasharray="10 3"' in box for box in boxes) == 1  # ready
    assert sum('stroke-dasharray="5 4"' in box for box in boxes) == 1  # waiting
    assert sum("dasharray" not in box for box in boxes) == 3  # done, and now
    assert svg.count('stroke-dasharray="4 4"') == 1  # the edge that has sent nothing yet


@pytest.mark.parametrize("k", range(6))
def test_what_waits_never_shows_a_number(k):
    tape = of_learners()
    picture = TapePicture(tape).draw(k)
    for group in re.findall(r"<g>.*?</g>", picture.svg):
        if "not yet" in group or ">ready<" in group:
            assert "in: " not in group and ".grad" not in group
    labels = sum(len(step.sent) - step.sent.count(None) for step in tape.steps[:k])
    drawn = [w for w in words(picture) if re.fullmatch(r"[\d.]+ ×4", w)]
    assert len(drawn) == labels, "an edge carries its gradient only once that was sent"


@pytest.mark.parametrize(
    "graph",
    [builders.mlp(3), builders.recurrent(4), builders.tangled(40, 5)],
    ids=["mlp", "recurrent", "tangled"],
)
def test_every_step_differs_and_no_box_moves(graph):
    picture = TapePicture(builders.tape(graph))
    drawn = [picture.draw(k) for k in range(picture.steps + 1)]
    assert len({each.svg for each in drawn}) == len({each.text for each in drawn}) == len(drawn)
    places = {
        tuple(re.findall(r'<rect (x="[^"]+" y="[^"]+" width="[^"]+" height="[^"]+")', each.svg))
        for each in drawn
    }
    assert len(places) == 1
    assert len({re.search(r'viewBox="[^"]+"', each.svg)[0] for each in drawn}) == 1


def test_what_waits_agrees_with_the_tape():
    tape = builders.tape(builders.mlp(2))
    picture = TapePicture(tape)
    for k in range(picture.steps):
        waiting = tape.waiting(k)
        drawn = words(picture.draw(k))
        assert drawn.count("ready") == sum(count == 0 for count in waiting.values())
        assert drawn.count("not yet") == sum(count > 0 for count in waiting.values())


def test_a_node_with_some_gradients_waits_for_the_rest():
    names = ["AddBackward0", "ExpBackward0", "SinBackward0", "AccumulateGrad"]
    graph = builders.graph(names, [(0, 1), (0, 2), (1, 3), (2, 3)])
    picture = TapePicture(builders.tape(graph))
    assert "waits for 2 gradients" in words(picture.draw(1))
    assert "waits for 1 more" in words(picture.draw(2))
    assert "(waits for 1 more)" in picture.draw(2).text
    assert "waits for" not in picture.draw(3).text


def test_none_arrived_is_said_in_words():
    graph = builders.graph(["SkipBackward", "ExpBackward0", "AccumulateGrad"], [(0, 1), (1, 2)])
    steps = (
        Step(0, (value(1.0),), (None,)),
        Step(1, (None,), (None,)),
        Step(2, (None,), (), GradChange(2, "", None, None)),
    )
    picture = TapePicture(Tape(graph, (value(1.0),), steps))
    drawn = words(picture.draw(3))
    assert drawn.count("none arrived") == 2
    assert drawn.count("none") == 2  # on the two edges
    assert "came in: none arrived" in picture.draw(2).text
    assert "goes out to a leaf: none" in picture.draw(2).text


def test_several_slots_are_told_apart():
    graph = builders.graph(["UnbindBackward0", "AccumulateGrad"], [(0, 1)])
    steps = (Step(0, (None, value(2.0), value(3.0)), (value(2.0, 3.0),)),)
    picture = TapePicture(Tape(graph, (value(1.0),), steps)).draw(1)
    assert {"in 0: none", "in 1: 2", "in 2: 3"} <= set(words(picture))
    assert "came in at slot 0: none arrived" in picture.text
    assert "came in at slot 1: 2" in picture.text


def test_an_error_is_shown_at_the_end():
    error = "Trying to backward through the graph a second time."
    picture = TapePicture(builders.tape(builders.learners(), error, stop=2))
    end = picture.draw(2)
    assert error in end.text and any(error in line for line in words(end))
    assert words(end).count("never ran") == 3
    assert "never ran: q, y, x" in end.text
    assert error not in picture.draw(1).text


def test_nothing_ran_at_all():
    picture = TapePicture(builders.tape(builders.learners(), "No way.", stop=0))
    assert picture.steps == 0
    assert "No way." in picture.draw(0).text and picture.draw(0).title == "Backward, no step ran"


def test_several_roots_each_start_with_their_own_vector():
    graph = replace(builders.learners(), roots=(Root("['a']", "o", 0, 0), Root("['b']", "q", 2, 0)))
    tape = replace(builders.tape(graph), seeds=(value(1.0), value(0.5, 2.0)))
    picture = TapePicture(tape).draw(0)
    assert "root ['a'], starts with 1" in words(picture)
    assert "root ['b'], starts with [0.5, 2]" in words(picture)
    assert "starts at o with 1" in picture.text and "starts at q with [0.5, 2]" in picture.text


def test_long_values_give_way_to_shape_and_norm():
    graph = builders.graph(["ExpBackward0", "AccumulateGrad"], [(0, 1)])
    long = replace(value(*(0.12345 * k for k in range(1, 6))), norm=0.9155)
    steps = (Step(0, (long,), (long,)), Step(1, (long,), (), GradChange(1, "w", None, long)))
    drawn = words(TapePicture(Tape(graph, (long,), steps)).draw(2))
    assert "(5,), norm 0.915" in drawn or "(5,), norm 0.916" in drawn
    assert not any("[" in line for line in drawn)


def test_a_folded_run_counts_what_is_done():
    picture = TapePicture(builders.tape(builders.chain(300)))
    assert "not yet" in words(picture.draw(1))
    middle = words(picture.draw(101))
    assert "100 of 300 done" in middle and "now" in middle
    assert "300 of 300 done" in words(picture.draw(302))
    assert "300 nodes in 1 run folded" in picture.draw(1).text


def test_a_large_tapes_text_counts_instead_of_naming():
    picture = TapePicture(builders.tape(builders.residual(3)))
    text = picture.draw(10).text
    assert "done: 9" in text and re.search(r"waiting: \d+", text)
    assert len(text.splitlines()) < 10


@pytest.mark.parametrize("k", [-1, 6])
def test_a_step_that_does_not_exist_is_refused(k):
    with pytest.raises(ValueError, match=r"expected 0 \(before\) to 5"):
        TapePicture(of_learners()).draw(k)


def test_a_step_of_a_hundred_nodes_is_drawn_in_a_few_milliseconds():
    picture = TapePicture(builders.tape(builders.residual(6)))
    assert picture.steps >= 95
    times = []
    for k in range(picture.steps + 1):
        start = time.perf_counter()
        picture.draw(k)
        times.append(time.perf_counter() - start)
    assert sorted(times)[len(times) // 2] < 0.010


def test_a_real_backward():
    import torch

    from utils.graph import record

    x = torch.ones(2, 2, requires_grad=True)
    y = x + 2
    z = 3 * y * y
    picture = TapePicture(record(z.mean()))
    text = "\n".join(picture.draw(k).text for k in range(picture.steps + 1))
    assert "4.5 ×4" in picture.draw(picture.steps).svg
    assert re.search(r"\.grad of .*: none → 4\.5 ×4", text)
