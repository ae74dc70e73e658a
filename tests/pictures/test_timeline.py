import re
from xml.etree import ElementTree

import pytest

from utils.graph.data import Value
from utils.pictures import svg
from utils.pictures.timeline import WIDTH, Event, draw_timeline

SEEN = Value((2,), "float32", (1.0, -3.0), 3.16)
BIG = Value((3, 2), "float32", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), 9.54)
STEP = Event("forward", "step", "h = first(x)", saw=(("h", SEEN),))
LOOKED = Event(
    "forward", "hook", "forward hook", "act", (("input", SEEN), ("output", BIG)), "looked", "(may)"
)
NODE = Event("backward", "step", "TanhBackward0", "a = act(h)", (("gradient", SEEN),))
CHANGED = Event(
    "backward", "hook", "tensor hook", "a", (("gradient", SEEN),), "halved", "to [0.5, -1.5]", True
)
WRITE = Event("backward", "write", "first.weight.grad", saw=(("is now", BIG),))
ALL = (STEP, LOOKED, NODE, CHANGED, WRITE)


def words(picture):
    """The texts from top to bottom, then left to right."""
    found = re.findall(r'<text x="([0-9.]+)" y="([0-9.]+)"[^>]*>([^<]*)</text>', picture.svg)
    return [text for _, _, text in sorted((float(y), float(x), text) for x, y, text in found)]


def test_the_text_tells_all_in_order():
    assert draw_timeline(ALL, "a step", "a network").text.splitlines() == [
        "a step",
        "a network",
        "forward",
        "  h = first(x): h [1, -3]",
        "  1. forward hook on act: saw input [1, -3], output (3, 2), norm 9.54; looked (may)",
        "backward",
        "  TanhBackward0 (a = act(h)): gradient [1, -3]",
        "  2. tensor hook on a: saw gradient [1, -3]; halved to [0.5, -1.5]",
        "  first.weight.grad: is now (3, 2), norm 9.54",
    ]


def test_the_picture_tells_the_same_in_order_from_top_to_bottom():
    drawn = words(draw_timeline(ALL, "a step", "a network"))
    told = ["a step", "a network", "forward: values", "h = first(x)", "1", "forward hook", "act"]
    told += ["input ", "output ", "backward: gradients", "TanhBackward0", "2", "tensor hook"]
    told += ["halved", "to [0.5, -1.5]", "first.weight.grad", "(3, 2), norm 9.54"]
    places = iter(drawn)
    for each in told:
        assert each in places, f"{each!r} is missing, or out of order, in {drawn}"


def test_hooks_are_numbered_through_both_parts():
    text = draw_timeline((LOOKED, LOOKED, CHANGED), "a step").text
    assert re.findall(r"^  (\d)\. (\w+) hook", text, re.M) == [
        ("1", "forward"),
        ("2", "forward"),
        ("3", "tensor"),
    ]


def test_who_looks_and_who_changes_differ_by_shape_and_word_as_well():
    ring = draw_timeline((LOOKED,), "a step").svg
    diamond = draw_timeline((CHANGED,), "a step").svg
    disc = draw_timeline((WRITE,), "a step").svg
    is_diamond = "l13 13l-13 13l-13-13z"
    assert "<circle" in ring and is_diamond not in ring and ">looked</text>" in ring
    assert is_diamond in diamond and "<circle" not in diamond and ">halved</text>" in diamond
    assert f'r="6" fill="{svg.LEAF}"' in disc and is_diamond not in disc


def test_gradients_are_orange_and_values_are_not():
    forward = draw_timeline((STEP, LOOKED), "a step").svg
    backward = draw_timeline((NODE, CHANGED), "a step").svg
    assert svg.GRADIENT not in forward and svg.GRADIENT_INK not in forward
    assert svg.GRADIENT in backward and svg.GRADIENT_INK in backward


def test_rows_keep_clear_of_each_other_and_of_the_edge():
    long = Event(
        "backward", "hook", "h" * 9, "where it hangs, at length " * 3, LOOKED.saw, "did", "m" * 99
    )
    picture = draw_timeline((*ALL, long, long), "a step")
    root = ElementTree.fromstring(picture.svg)
    height = float(root.attrib["height"])
    cards = [
        (float(rect.attrib["y"]), float(rect.attrib["height"]))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")
        if rect.attrib.get("rx") == "5"
    ]
    assert len(cards) == 4
    for (top, tall), (below, _) in zip(cards, [*cards[1:], (height, 0)], strict=True):
        assert top + tall < below
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        if text.attrib.get("text-anchor") == "start" and "font-weight" not in text.attrib:
            assert float(text.attrib["x"]) + svg.text_width(text.text or "") <= WIDTH


def test_what_was_written_to_get_there_is_a_tooltip():
    event = Event("backward", "hook", "retain_grad", "a", tip="a.retain_grad() & co")
    assert "<title>a.retain_grad() &amp; co</title>" in draw_timeline((event,), "a step").svg


@pytest.mark.parametrize("event", [Event("sideways", "step", "s"), Event("forward", "party", "p")])
def test_an_unknown_event_is_named(event):
    with pytest.raises(ValueError, match=f"{event.kind!r} in {event.part!r}"):
        draw_timeline((event,), "a step")
