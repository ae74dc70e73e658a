import re
from dataclasses import replace

from tests.pictures import builders
from tests.pictures.builders import value
from tests.pictures.test_tape_picture import of_learners
from utils.graph.data import Step
from utils.pictures.flow_picture import THICK, THIN, FlowPicture


def scaled(tape, factor):
    """The same backward from a vector so many times as long."""

    def times(v):
        entries = [factor * entry for entry in v.entries]
        return replace(value(*entries, shape=v.shape), norm=sum(e * e for e in entries) ** 0.5)

    steps = []
    for step in tape.steps:
        arrived = tuple(times(v) for v in step.arrived)
        sent = tuple(None if v is None else times(v) for v in step.sent)
        change = step.change and replace(step.change, after=times(step.change.after))
        steps.append(Step(step.node, arrived, sent, change))
    return replace(tape, steps=tuple(steps))


def rectangles(picture):
    return re.findall(r"<rect [^>]*>", picture.svg)


def widths(picture):
    return [float(w) for w in re.findall(r'stroke="#D55E00" stroke-width="([0-9.]+)"', picture.svg)]


def test_the_text_tells_what_came_and_went_in_the_order_of_backward():
    tape = of_learners()
    text = FlowPicture([tape]).draw(tape, "o.backward()").text
    assert text.splitlines() == [
        "o.backward()",
        "o = z.mean() (MeanBackward0): in 1; out 0.25 ×4 to z",
        "z = q * 3 (MulBackward0): in 0.25 ×4; out 0.75 ×4 to q",
        "q = y * y (MulBackward0): in 0.75 ×4; out 2.25 ×4 to y; 2.25 ×4 to y",
        "y = x + 2 (AddBackward0): in 4.5 ×4; out 4.5 ×4 to x",
        "x, leaf (AccumulateGrad): .grad 4.5 ×4",
    ]


def test_every_box_and_line_has_its_number():
    tape = of_learners()
    svg = FlowPicture([tape]).draw(tape, "o.backward()").svg
    for words in ("in: 1", "in: 0.25 ×4", ".grad 4.5 ×4", "2.25 ×4"):
        assert f">{words}</text>" in svg
    assert "not yet" not in svg and ">now" not in svg


def test_nothing_moves_from_one_vector_to_the_next():
    tape = of_learners()
    flow = FlowPicture([tape, scaled(tape, -97.3)])
    one, two = flow.draw(tape, "v"), flow.draw(scaled(tape, 3.0), "v")
    assert one.svg != two.svg and rectangles(one) == rectangles(two)


def test_boxes_get_room_for_the_widest_sample():
    tape = of_learners()
    wide = scaled(tape, -1234.567)

    def total(flow):
        return float(re.search(r'viewBox="0 0 ([0-9.]+)', flow.draw(tape, "v").svg)[1])

    assert total(FlowPicture([tape, wide])) > total(FlowPicture([tape]))


def test_the_largest_gradient_has_the_thickest_line_and_zero_the_thinnest():
    tape = scaled(of_learners(), 1.0)
    seen = widths(FlowPicture([tape]).draw(tape, "v"))
    assert max(seen) == THICK and THIN < min(seen) < THICK
    still = scaled(tape, 0.0)
    assert set(widths(FlowPicture([tape]).draw(still, "v"))) == {THIN}


def test_what_never_ran_is_said():
    tape = of_learners()
    half = replace(tape, steps=tape.steps[:2])
    assert "never ran" in FlowPicture([tape]).draw(half, "v").svg


def test_a_large_graph_is_folded_and_summed_up():
    tape = builders.tape(builders.chain(300))
    picture = FlowPicture([tape]).draw(tape, "v")
    assert "302 nodes ran" in picture.text and len(picture.text) < 1000
