from xml.etree import ElementTree

import pytest

from utils.pictures import svg


def test_learners_text_cannot_break_the_picture():
    text = "a < b && \"c\" 'd' \x00\x1b\ud800 ]]> é 漢"
    element = svg.label((1, 2), text)
    parsed = ElementTree.fromstring(element)
    assert parsed.text.startswith("a < b && \"c\" 'd' ")
    assert parsed.text.endswith("]]> é 漢")
    attribute = ElementTree.fromstring(f'<g aria-label="{svg.escape(text)}"/>')
    assert attribute.attrib["aria-label"] == parsed.text


def test_text_is_measured_and_cut():
    assert svg.text_width("iiii") < svg.text_width("nnnn") < svg.text_width("WWWW")
    assert svg.text_width("n", bold=True) > svg.text_width("n")
    assert svg.text_width("n", 24) == pytest.approx(2 * svg.text_width("n", 12))
    long = "a rather long expression * another"
    short = svg.cut(long, 80)
    assert svg.text_width(short) <= 80 and short.endswith("…")
    assert long.startswith(short[:-1].rstrip())
    assert svg.cut("y * y", 80) == "y * y"
    assert svg.cut("", -5) == ""


def test_measured_width_is_close_to_that_of_a_real_font():
    from matplotlib import font_manager, textpath

    font = font_manager.FontProperties(family=["Arial", "Liberation Sans", "DejaVu Sans"], size=12)
    for text in ("MulBackward0", "q = y * y", "AccumulateGrad (2, 2)", "in: 0.75 ×4"):
        width = textpath.TextPath((0, 0), text, prop=font).get_extents().width
        assert 0.85 * width <= svg.text_width(text) <= 1.3 * width


def test_wrapping_keeps_all_words():
    text = "one two three four five six seven"
    lines = svg.wrap(text, 60)
    assert " ".join(lines) == text and len(lines) > 2
    assert all(svg.text_width(line) <= 60 for line in lines)
    assert svg.wrap("unbreakable" * 9, 60) == ["unbreakable" * 9]


def test_an_arrowhead_ends_at_its_tip():
    back, path = svg.arrow((0, 10), (30, 10))
    assert path.startswith("M0 10L") and path.endswith("Z")
    assert 0 < back[0] < 9 and back[1] == 10


def test_a_panel_names_itself_and_paints_its_background():
    root = ElementTree.fromstring(svg.panel("T < 1", "all of it", "", (300, 100), ["caption"]))
    space = "{http://www.w3.org/2000/svg}"
    assert root.attrib["role"] == "img" and root.attrib["viewBox"] == "0 0 300 100"
    assert [child.tag for child in root][:3] == [space + "title", space + "desc", space + "rect"]
    assert root[0].text == "T < 1" and root[1].text == "all of it"
    assert root[2].attrib["width"] == "100%" and root[2].attrib["fill"] == svg.PANEL
