import math
import re
import xml.etree.ElementTree as ET

import pytest

from utils.graph.data import Value
from utils.pictures.arrays import NEGATIVE, POSITIVE, draw_array, draw_pair

SVG = "{http://www.w3.org/2000/svg}"


def value(shape, entries=None, norm=None, dtype="float32"):
    return Value(shape, dtype, None if entries is None else tuple(entries), norm)


ARRAYS = {
    "scalar": value((), [27.0], 27.0),
    "row": value((3,), [1.0, -2.0, 0.0], 2.236),
    "grid": value((2, 2), [2.25, -2.25, 0.5, 4.5], 5.5),
    "slices": value((2, 2, 2), [1.0, 2.0, 3.0, 4.0, -5.0, -6.0, -7.0, -8.0], 14.2),
    "strange": value((4,), [math.nan, math.inf, -math.inf, -0.0]),
    "mask": value((2,), [True, False], dtype="bool"),
    "complex": value((2,), [1 + 2j, -0.5j], 2.3, dtype="complex64"),
    "whole": value((2,), [3, -4], 5.0, dtype="int64"),
    "big": value((32, 784), norm=3.14159),
    "many": value((20, 20), [0.0] * 400, 0.0),
    "empty": value((0, 3), [], 0.0),
    "nested": value(None, norm=2.0),
    "ragged": value((2, "j1"), norm=2.0),
    "unknown": value((3,)),
}


def texts(picture):
    """The words drawn in the picture, in order."""
    return ["".join(node.itertext()) for node in ET.fromstring(picture.svg).iter(f"{SVG}text")]


def cells(picture):
    """(fill, text) of every cell: a sharp-cornered box, and the words on it."""
    found = re.findall(
        r'<rect [^>]*rx="0" fill="(#\w+)"[^>]*/>(?:<rect[^>]*/>)?<text[^>]*>([^<]*)', picture.svg
    )
    return [(fill, text) for fill, text in found]


def channels(colour):
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


@pytest.mark.parametrize("name", ARRAYS)
def test_each_picture_stands_alone(name):
    picture = draw_array(ARRAYS[name], f'<{name}> & "co"')
    root = ET.fromstring(picture.svg)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == picture.title == f'<{name}> & "co"'
    assert root.find(f"{SVG}desc").text == picture.text
    back = root.find(f"{SVG}rect")
    assert back.get("width") == back.get("height") == "100%"
    assert back.get("fill").startswith("#")
    assert draw_array(ARRAYS[name], picture.title).svg == picture.svg
    assert "id=" not in picture.svg
    assert "http" not in picture.svg.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", ARRAYS)
def test_text_never_falls_below_eleven_pixels(name):
    root = ET.fromstring(draw_array(ARRAYS[name]).svg)
    shrunk = float(re.search(r"min-width:([\d.]+)px", root.get("style"))[1]) / float(
        root.get("width")
    )
    sizes = [
        float(node.get("font-size", root.get("font-size"))) for node in root.iter(f"{SVG}text")
    ]
    assert min(sizes) * shrunk >= 10.99


def test_everything_lies_inside_the_picture():
    for name, array in ARRAYS.items():
        root = ET.fromstring(draw_array(array, "a title that is longer than the array is wide").svg)
        for box in root.iter(f"{SVG}rect"):
            if box.get("width") != "100%":
                right = float(box.get("x")) + float(box.get("width"))
                below = float(box.get("y")) + float(box.get("height"))
                assert right <= float(root.get("width")), name
                assert below <= float(root.get("height")), name


def test_a_sign_has_a_symbol_and_a_hue():
    (plus, one), (minus, two), (zero, three) = cells(draw_array(ARRAYS["row"]))
    assert (one, two, three) == ("+1", "−2", "0")
    assert zero == "#ffffff"
    red, green, blue = channels(plus)
    assert green > red and green > blue
    red, green, blue = channels(minus)
    assert green < red and green < blue
    assert channels(minus) == NEGATIVE[1]


def test_a_larger_magnitude_is_stronger():
    fills = [
        sum(channels(fill)) for fill, _ in cells(draw_array(value((4,), [0.1, 1.0, 2.0, 4.0])))
    ]
    assert fills == sorted(fills, reverse=True)
    assert fills[-1] == sum(POSITIVE[1])
    assert len(set(fills)) == 4


def test_what_is_no_number_has_a_symbol_of_its_own():
    assert [text for _, text in cells(draw_array(ARRAYS["strange"]))] == ["∅ NaN", "+∞", "−∞", "0"]
    assert draw_array(ARRAYS["strange"]).text == "(4,) float32\n[nan, inf, -inf, 0]"


def test_more_dimensions_become_labelled_slices():
    picture = draw_array(ARRAYS["slices"], "w")
    assert [text for text in texts(picture) if text.startswith("[")] == ["[0, :, :]", "[1, :, :]"]
    assert picture.text.splitlines() == [
        "w",
        "(2, 2, 2) float32",
        "[0, :, :]",
        "[1, 2]",
        "[3, 4]",
        "[1, :, :]",
        "[-5, -6]",
        "[-7, -8]",
    ]


def test_a_row_is_one_row_and_a_grid_is_a_grid():
    row = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*rx="0"', draw_array(ARRAYS["row"]).svg)
    grid = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*rx="0"', draw_array(ARRAYS["grid"]).svg)
    assert (len(row), len({y for _, y in row})) == (3, 1)
    assert (len(grid), len({x for x, _ in grid}), len({y for _, y in grid})) == (4, 2, 2)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("big", "shape (32, 784), norm 3.142"),
        ("many", "shape (20, 20), norm 0"),
        ("empty", "no entries: shape (0, 3)"),
        ("nested", "shape unknown, norm 2"),
        ("ragged", "shape (2, j1), norm 2"),
        ("unknown", "shape (3,), norm unknown"),
    ],
)
def test_what_is_not_drawn_cell_by_cell_says_shape_and_norm(name, words):
    picture = draw_array(ARRAYS[name])
    assert cells(picture) == []
    assert any(text.endswith(words) for text in texts(picture))
    assert words in picture.text


def test_numbers_give_way_before_they_leave_their_cells():
    tiny = value((2, 9), [-1.2345e-6] * 18)
    assert {text for _, text in cells(draw_array(tiny))} == {"−1.23e-06"}
    wide = value((1, 16), [-1.2345e-6] * 16)
    assert {text for _, text in cells(draw_array(wide))} == {"−"}
    assert "-1.234e-06" in draw_array(wide).text


def test_a_pair_marks_what_differs_by_outline_and_word():
    picture = draw_pair(value((2, 2), [1.0, 1.0, 1.0, 1.0]), value((2, 2), [1.0, 2.0, 1.0, -1.0]))
    assert texts(picture).count("differs") == 4  # two entries, in both arrays
    assert picture.svg.count('stroke-width="2.5"') == 4
    assert picture.text.splitlines() == [
        "yours and target",
        "2 of 4 entries differ.",
        "yours: (2, 2) float32",
        "[1, 1 (differs)]",
        "[1, 1 (differs)]",
        "target: (2, 2) float32",
        "[1, 2 (differs)]",
        "[1, -1 (differs)]",
    ]


def test_a_pair_shares_one_scale():
    picture = draw_pair(value((1,), [1.0]), value((1,), [4.0]))
    (small, _), (large, _) = cells(picture)
    assert channels(large) == POSITIVE[1] != channels(small)


@pytest.mark.parametrize(
    ("yours", "target", "words"),
    [
        (value((2,), [1.0, math.nan]), value((2,), [1.0 + 1e-7, math.nan]), "No entry differs."),
        (value((2,), [1.0, 2.0]), value((2,), [1.0, math.nan]), "1 of 2 entries differs."),
        (value((1,), [math.inf]), value((1,), [-math.inf]), "1 of 1 entries differs."),
        (value((2, 1), [1.0, 2.0]), value((2,), [1.0, 2.0]), "The shapes differ: (2, 1) and (2,)."),
        (value((9, 99), norm=1.0), value((9, 99), norm=2.0), "the norms differ."),
        (value((9, 99), norm=1.0), value((9, 99), norm=1.0), "the norms agree."),
        (value((3,)), value((3,)), "The entries are not known, so nothing is compared."),
    ],
)
def test_what_a_pair_says(yours, target, words):
    picture = draw_pair(yours, target, "J")
    assert picture.text.splitlines()[1].endswith(words)
    assert any(text.endswith(words) for text in texts(picture))


def test_tolerance_and_names_are_the_callers():
    one, two = value((1,), [1.0]), value((1,), [1.05])
    assert "No entry differs." in draw_pair(one, two, rtol=0.1).text
    assert draw_pair(one, two, names=("before", "after")).title == "before and after"
