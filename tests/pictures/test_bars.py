import re

import pytest

from utils.pictures.bars import HALF, draw_bars, scale_end


def bars(picture):
    """(left, width) of each bar in pixels."""
    found = re.findall(r'<rect x="([-0-9.]+)" y="[^"]*" width="([0-9.]+)"', picture.svg)
    return [tuple(map(float, pair)) for pair in found]


def test_the_scale_ends_at_the_next_round_number():
    cases = [(0, 1), (1, 1), (1.2, 2), (-3, 5), (5, 5), (44, 50), (0.012, 0.02), (7e9, 1e10)]
    for largest, end in cases:
        assert scale_end([0.0, largest]) == pytest.approx(end)
    assert scale_end([]) == 1
    assert scale_end([float("inf"), 3.0]) == 5


def test_a_bar_lies_on_the_side_of_its_sign_and_is_as_long_as_its_number():
    (left, width), (other_left, other_width) = bars(draw_bars((1.0, -0.5), ("x₀", "x₁"), "x.grad"))
    assert (width, other_width) == (HALF, HALF / 2)
    zero = left
    assert other_left + other_width == pytest.approx(zero)


def test_numbers_stand_beside_their_names():
    picture = draw_bars((44.0, -18.0, 0.0), ("x₀", "x₁", "x₂"), "x.grad")
    assert picture.text.splitlines() == ["x.grad", "x₀: 44", "x₁: -18", "x₂: 0"]
    for words in ("44", "−18", "x₀", "−50", "50"):
        assert f">{words}</text>" in picture.svg
    assert len(bars(picture)) == 2  # zero has no bar


def test_what_is_not_finite_is_said():
    picture = draw_bars((float("nan"), 2.0), ("x₀", "x₁"), "x.grad")
    assert ">nan</text>" in picture.svg and "x₀: nan" in picture.text


def test_names_and_values_belong_together():
    with pytest.raises(ValueError, match="2 values need as many names, not 1"):
        draw_bars((1.0, 2.0), ("x₀",), "x.grad")
