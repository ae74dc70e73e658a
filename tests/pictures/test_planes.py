import math
import re
from dataclasses import replace

import pytest

from tests.pictures.builders import around_points, local
from utils.pictures.matrix import back_words, forward_words, only
from utils.pictures.planes import draw_planes, flat, panel_end

ROWS = ((1.0, 2.0), (4.0, 1.0))
NUMBER = r"-?[0-9.]+"


def outlines(picture):
    """The dotted outlines: the unit circle and its image, as lists of pixels."""
    paths = re.findall(r'<path d="M([^"]*)Z"[^>]*stroke-dasharray="2 4"', picture.svg)
    return [[tuple(map(float, point.split())) for point in path.split("L")] for path in paths]


def test_the_text_states_every_number():
    text = draw_planes(local(ROWS, (1.0, 0.5), (2.0, -1.0)), "a map").text
    assert text.splitlines() == [
        "a map",
        "x = (2, 1), y = (4, 9)",
        "rows of J: (1, 2); (4, 1)",
        "push forward: u = (1, 0.5), J u = (2, 4.5)",
        "pull back: v = (2, -1), vᵀJ = (-2, 3)",
        "⟨v, J u⟩ = -0.5, ⟨vᵀJ, u⟩ = -0.5",
    ]


def test_one_number_is_written_once_and_two_are_not_called_one():
    drawn = draw_planes(local(ROWS, (1.0, 0.5), (2.0, -1.0)), "a map")
    assert "⟨v, J u⟩ = -0.5 = ⟨vᵀJ, u⟩" in drawn.svg
    good = local(ROWS, (1.0, 0.5), (2.0, -1.0))
    bad = draw_planes(replace(good, pulled_u=3.0), "a map")
    assert "⟨v, J u⟩ = -0.5, ⟨vᵀJ, u⟩ = 3" in bad.svg


@pytest.mark.parametrize("rows", [ROWS, ((1.0, 1.0), (0.0, 1.0)), ((0.0, -2.0), (0.5, 0.0))])
def test_the_circle_becomes_the_ellipse_that_j_makes_of_it(rows):
    circle, image = outlines(draw_planes(local(rows, (1.0, 0.0), (0.0, 1.0)), "a map"))

    def centred(points):
        middle = [sum(axis) / len(points) for axis in zip(*points, strict=True)]
        return [(x - middle[0], middle[1] - y) for x, y in points]

    for (a, b), seen in zip(centred(circle), centred(image), strict=True):
        expected = [p * a + q * b for p, q in rows]
        assert seen == pytest.approx(expected, abs=0.06 * (1 + sum(map(abs, sum(rows, ())))))


def test_a_pure_column_or_row_is_lit_and_named():
    lit = draw_planes(local(ROWS, (0.0, 2.0), (1.0, 0.0)), "a map").svg
    assert "push forward: J u = 2 × column 1" in lit and "pull back: vᵀJ = row 0" in lit
    frames = re.findall(r'fill="none" stroke="(#[0-9A-Fa-f]+)" stroke-width="3"', lit)
    assert "#111827" in frames and "#D55E00" in frames
    mixed = draw_planes(local(ROWS, (1.0, 2.0), (1.0, 1.0)), "a map").svg
    assert "mixes the columns" in mixed and "mixes the rows" in mixed
    assert "<rect" in mixed and '"#e5e7eb"' in lit and '"#e5e7eb"' not in mixed


def test_words_for_every_kind_of_arrow():
    assert (only((0.0, 0.0)), only((0.0, 3.0)), only((1.0, 2.0))) == (None, 1, None)
    assert forward_words((1.0, 0.0)) == "J u = column 0"
    assert forward_words((0.0, 0.0)) == "J u = 0, for u is 0"
    assert back_words((0.0, 0.0, -0.5)) == "vᵀJ = -0.5 × row 2"
    assert back_words((0.5, 0.5)) == "vᵀJ mixes the rows"


def test_tangents_and_cotangents_differ_by_more_than_colour():
    svg = draw_planes(local(ROWS, (0.6, 0.8), (0.8, 0.6)), "a map").svg
    shafts = re.findall(r'stroke="(#\w+)" stroke-width="3"(?: stroke-dasharray="(.*?)")?/>', svg)
    black = {dash for colour, dash in shafts if colour == "#111827"}
    orange = {dash for colour, dash in shafts if colour == "#D55E00"}
    assert black == {""} and orange == {"7 4"}
    assert "solid: tangents, pushed forward; dashed: cotangents, pulled back" in svg
    for name in ("u", "J u", "v", "vᵀJ"):
        assert f">{name}</text>" in svg


def test_both_panels_have_the_scale_that_shows_the_longest_arrow():
    assert panel_end([0.0]) == 1
    assert panel_end([-4.0, 1.0]) == 5
    assert panel_end([4.1]) == 6
    assert panel_end([4e7]) == 5e7
    for name, near in around_points().items():
        svg = draw_planes(near, "a map").svg
        for x, y in re.findall(rf"[ML]({NUMBER}) ({NUMBER})", svg):
            assert 0 <= float(x) <= 840 and 0 <= float(y) <= 396, name


def test_space_is_seen_at_an_angle():
    assert flat((1.0, 2.0)) == (1.0, 2.0)
    assert flat((0.0, 1.0, 0.0)) == (1.0, 0.0)
    assert flat((0.0, 0.0, 1.0)) == (0.0, 1.0)
    towards = flat((1.0, 0.0, 0.0))
    assert towards[0] < 0 and towards[1] < 0 and math.hypot(*towards) < 1
    svg = draw_planes(around_points()["space"], "a map").svg
    assert "output space" in svg and ">y₂</text>" in svg


def test_each_arrow_moves_the_picture():
    start = draw_planes(local(ROWS, (1.0, 0.0), (0.0, 1.0)), "a map")
    for other in (local(ROWS, (0.0, 1.0), (0.0, 1.0)), local(ROWS, (1.0, 0.0), (1.0, 0.0))):
        drawn = draw_planes(other, "a map")
        assert drawn.svg != start.svg and drawn.text != start.text
