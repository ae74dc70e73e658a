import math

import pytest

from utils.graph.data import Value
from utils.pictures.numbers import bytes_words, number, shape_text, shape_words, short


def value(shape, *entries, norm=None, dtype="float32"):
    return Value(shape, dtype, entries or None, norm)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (2.25, "2.25"),
        (1 / 3, "0.3333"),
        (0.000012, "1.2e-05"),
        (0.1 + 0.2, "0.3"),
        (-3.0, "-3"),
        (-3, "-3"),
        (0.0, "0"),
        (-0.0, "0"),
        (27.0, "27"),
        (12345.0, "12345"),
        (999_999.4, "999999"),
        (999_999.6, "1e+06"),
        (-123456.7, "-123457"),
        (2**70, str(2**70)),
        (1e30, "1e+30"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (True, "True"),
        (1 - 2j, "1-2j"),
        (complex(-0.0, -0.0), "0+0j"),
        (complex(0.5, 1 / 3), "0.5+0.3333j"),
    ],
)
def test_number_is_short_and_without_noise(x, text):
    assert number(x) == text


def test_digits_bound_what_is_shown():
    assert number(math.pi, 3) == "3.14"
    assert number(1234.56, 3) == "1235"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (None, "none"),
        (value((), 27.0), "27"),
        (value((2, 2), 2.25, 2.25, 2.25, 2.25), "2.25 ×4"),
        (value((2,), math.nan, math.nan), "nan ×2"),
        (value((2,), 0.0, -0.0), "0 ×2"),
        (value((1,), 27.0), "[27]"),
        (value((1, 1), 27.0), "[[27]]"),
        (value((3,), 1.0, 2.0, 3.0), "[1, 2, 3]"),
        (value((2, 2), 1.0, 2.0, 3.0, 4.0), "[[1, 2], [3, 4]]"),
        (value((1, 2, 1), 1.0, -2.0), "[[[1], [-2]]]"),
        (value((32, 784), norm=3.14159), "(32, 784), norm 3.14"),
        (value((9,), *range(9), norm=14.3), "(9,), norm 14.3"),
        (value((9,), *[1.0] * 9), "1 ×9"),
        (value((0, 3), norm=0.0), "empty (0, 3)"),
        (value((4, 4)), "(4, 4)"),
        (value(None, norm=2.0), "shape unknown, norm 2"),
        (value((2, "j1"), norm=2.0), "(2, j1), norm 2"),
        (value((2,), True, False, dtype="bool"), "[True, False]"),
    ],
)
def test_short(given, text):
    assert short(given) == text


def test_limit_says_how_much_is_written_out():
    nine = value((9,), *map(float, range(9)), norm=14.28)
    assert short(nine, limit=9) == "[0, 1, 2, 3, 4, 5, 6, 7, 8]"
    assert short(nine, limit=8) == "(9,), norm 14.3"


def test_shapes():
    assert shape_text(()) == "()"
    assert shape_text((3,)) == "(3,)"
    assert shape_text(None) == "shape unknown"
    assert shape_words(value((2, 2))) == "(2, 2) float32"
    assert shape_words(None) == "none"


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1 MiB"),
        (120 * 1024**2, "120 MiB"),
        (3 * 1024**4, "3 TiB"),
        (5000 * 1024**4, "5000 TiB"),
    ],
)
def test_bytes(n, text):
    assert bytes_words(n) == text
