import math
import re
from dataclasses import replace

import pytest

from utils.pictures import svg
from utils.pictures.curves import LEFTS, WIDE, Closeup, draw_curves
from utils.pictures.frame import Frame, marks, power_of_ten

GREY, ORANGE, BLACK = svg.MUTED, svg.GRADIENT, svg.INK


def parabola(x=1.0, h=0.1, backward=2.0, **others):
    """x² at a point, whose central difference is exact."""
    spots = [k / 10 - 2 for k in range(41)]
    seen = Closeup(
        x=x,
        y=x * x,
        h=h,
        backward=backward,
        difference=2 * x,
        curve=tuple((s, s * s) for s in spots),
        near=tuple((s, (x + s * h) ** 2 - x * x) for s in spots),
        ends=(-2 * x * h + h * h, 2 * x * h + h * h),
        kinks=(),
        errors=tuple((10.0**k, 10.0 ** (-16 - k)) for k in range(-12, 0)),
        rounding=1e-16,
        checked=(1e-6, 1e-10),
        allowed=1e-3,
        passed=True,
    )
    return replace(seen, **others)


def lines(picture, stroke, dash=None):
    """The points of each line of a colour and a dash, in pixels."""
    dashes = "" if dash is None else f' stroke-dasharray="{dash}"'
    found = re.findall(
        rf'<path d="(M[^"]*)" fill="none" stroke="{stroke}" stroke-width="[0-9.]+"{dashes}/>',
        picture.svg,
    )
    return [
        [tuple(map(float, point.split())) for point in re.split("[ML]", path)[1:]] for path in found
    ]


def panel(points):
    """Which of the three panels a line is in."""
    return max(k for k, left in enumerate(LEFTS) if points[0][0] >= left - 1)


def steepness(points):
    (a, b), (c, d) = points[0], points[-1]
    return (b - d) / (c - a)


def test_the_text_states_every_fact():
    text = draw_curves(parabola(kinks=(0.5,)), "square").text
    assert text.splitlines() == [
        "square",
        "x = 1, g · f(x) = 1, h = 10⁻¹",
        "slope from backward: 2",
        "slope from difference: 2, error 0",
        "kinks in view: 0.5",
        "error by h: 10⁻¹: 1e-15; 10⁻²: 1e-14; 10⁻³: 1e-13; 10⁻⁴: 1e-12; 10⁻⁵: 1e-11; "
        "10⁻⁶: 1e-10; 10⁻⁷: 1e-09; 10⁻⁸: 1e-08; 10⁻⁹: 1e-07; 10⁻¹⁰: 1e-06; 10⁻¹¹: 1e-05; "
        "10⁻¹²: 0.0001",
        "gradcheck at h = 10⁻⁶: error 1e-10, allows 0.001: passes",
    ]


def test_same_bytes_and_no_text_below_eleven_pixels():
    first, second = (draw_curves(parabola(), "square").svg for _ in range(2))
    assert first == second
    sizes = [float(size) for size in re.findall(r'font-size="([0-9.]+)"', first)]
    assert sizes and min(sizes) >= 11


def test_the_tangent_goes_through_the_point_with_the_slope_that_backward_says():
    right, wrong, flat = (
        draw_curves(parabola(backward=slope), "square") for slope in (2.0, -2.0, 0.0)
    )
    tangents = [lines(picture, ORANGE)[0] for picture in (right, wrong, flat)]
    assert all(panel(tangent) == 0 for tangent in tangents)
    assert steepness(tangents[0]) == pytest.approx(-steepness(tangents[1]), rel=0.02)
    assert steepness(tangents[0]) > 0.5 and steepness(tangents[2]) == 0
    (spot,) = re.findall(r'<circle cx="([0-9.]+)" cy="([0-9.]+)" r="5"', right.svg)
    x, y = map(float, spot)
    for tangent in tangents:
        (a, b), slope = tangent[0], steepness(tangent)
        assert b - slope * (x - a) == pytest.approx(y, abs=1)


def test_close_up_shows_both_slopes_and_the_secant_joins_the_ends():
    picture = draw_curves(parabola(backward=0.0), "square")
    (secant,) = lines(picture, BLACK, "6 5")
    assert panel(secant) == 1 and steepness(secant) > 0.5
    dots = re.findall(rf'<circle cx="([0-9.]+)" cy="([0-9.]+)" r="4" fill="{BLACK}"', picture.svg)
    assert len(dots) == 2
    for x, y in (map(float, dot) for dot in dots):
        (a, b), slope = secant[0], steepness(secant)
        assert b - slope * (x - a) == pytest.approx(y, abs=0.5)
    assert [panel(tangent) for tangent in lines(picture, ORANGE)] == [0, 1]


def test_no_line_leaves_its_panel():
    steep = draw_curves(parabola(backward=500.0, difference=-3e4), "square")
    for stroke in (GREY, ORANGE, BLACK):
        for points in lines(steep, stroke) + lines(steep, stroke, "6 5"):
            left = LEFTS[panel(points)]
            assert all(left - 0.1 <= x <= left + WIDE + 0.1 for x, _ in points)
            assert all(73.9 <= y <= 284.1 for _, y in points)


def test_kinks_are_marked_in_the_curve_and_near_enough_in_the_close_up():
    def where(kinks):
        picture = draw_curves(parabola(kinks=kinks), "square")
        return [panel(line) for line in lines(picture, BLACK, "1 3")], "kink" in picture.svg

    assert where((1.1,)) == ([0, 1], True)
    assert where((-1.0,)) == ([0], True)
    panels, _ = where(())
    assert panels == [] and ">kink or jump</text>" not in draw_curves(parabola(), "square").svg


def test_the_error_curve_falls_a_decade_a_decade_and_the_step_is_marked_on_it():
    def diamond(h, difference):
        drawn = draw_curves(parabola(h=h, difference=difference), "square").svg
        marks = re.findall(rf'<path d="M([0-9.]+) ([0-9.]+)l7 7[^"]*" fill="{BLACK}"', drawn)
        return tuple(map(float, marks[0]))

    (x, y), (x_next, y_next) = diamond(1e-4, 2 + 1e-4), diamond(1e-2, 2 + 1e-2)
    assert x_next - x == pytest.approx(2 * WIDE / 11.8, abs=0.2)
    assert 0 < y - y_next < 40
    zero = diamond(1e-4, 2.0)
    assert zero[1] > y and zero[1] < 284  # no error at all has a place of its own, at the foot
    assert ">0</text>" in draw_curves(parabola(), "square").svg


def test_gradchecks_verdict_is_written():
    assert ">gradcheck looks here: passes</text>" in draw_curves(parabola(), "square").svg
    failed = draw_curves(parabola(passed=False, backward=4.0), "square")
    assert ">gradcheck looks here: fails</text>" in failed.svg
    assert ">slope from backward: 4</text>" in failed.svg


def test_what_is_not_finite_is_said_and_not_drawn():
    nowhere = parabola(
        y=math.nan,
        backward=math.inf,
        difference=math.nan,
        near=((-2.0, math.nan), (2.0, math.nan)),
        ends=(math.nan, math.nan),
        errors=((1e-6, math.nan),),
        checked=(1e-6, math.nan),
    )
    picture = draw_curves(nowhere, "square")
    assert "slope from backward: inf" in picture.text
    assert not re.search(r'(?:d|cx|cy)="[^"]*(?:nan|inf)', picture.svg)
    assert lines(picture, ORANGE) == []


def test_round_marks_and_powers_of_ten():
    assert marks(-2, 2) == [-2, -1, 0, 1, 2]
    assert marks(0, 0.5) == pytest.approx([0, 0.2, 0.4])
    assert marks(-8.9, 9.1) == [-5, 0, 5]
    assert [power_of_ten(k) for k in (-12, 0, 3)] == ["10⁻¹²", "1", "10³"]


def test_a_line_is_cut_where_it_leaves_the_frame():
    frame = Frame((0, 0), (100, 100), (0, 10), (0, 10))
    assert 'd="M0 100L100 0"' in frame.line([(-5, -5), (15, 15)], BLACK, 1)
    assert 'd="M0 50L20 50M40 50L60 50"' in frame.line(
        [(0, 5), (2, 5), (3, math.nan), (4, 5), (6, 5)], BLACK, 1
    )
    assert frame.line([(11, 0), (12, 10)], BLACK, 1) == ""
    assert frame.line([(5, 11), (8, 11)], BLACK, 1) == ""
