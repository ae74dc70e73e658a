import math

import pytest
import torch

from utils.pictures.planes import draw_planes
from utils.widgets.maps import PLANE, POLAR, SADDLE
from utils.widgets.pull_push import READY, look, pull_back_push_forward


@pytest.fixture
def widget():
    return pull_back_push_forward()


def content(widget):
    return widget.picture.value, widget.words.value, widget.facts.value


def choose(widget, function):
    widget.choice.value = READY.index(function)


@pytest.mark.parametrize("function", READY, ids=lambda function: function.name)
def test_arrows_and_matrix_are_those_of_torch(function):
    x, u = torch.tensor(function.start), torch.tensor([0.5, -1.5])
    rows = torch.autograd.functional.jacobian(function, x)
    v = torch.tensor([2.0, -0.25, 1.0])[: len(rows)]
    local = look(function, x.tolist(), u.tolist(), v.tolist())
    torch.testing.assert_close(torch.tensor(local.jacobian), rows, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(torch.tensor(local.pushed), rows @ u, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(torch.tensor(local.pulled), v @ rows, rtol=1e-5, atol=1e-5)
    assert local.v_pushed == pytest.approx((v @ rows @ u).item(), abs=1e-5)
    assert local.pulled_u == pytest.approx(local.v_pushed, abs=1e-5)


def test_forward_is_a_real_jvp_and_back_a_real_vjp():
    """A Function whose jvp and backward do not belong together gives itself away."""

    class Liar(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return 2 * g

        @staticmethod
        def jvp(ctx, tangent):
            return 3 * tangent

    widget = pull_back_push_forward(Liar.apply, [1.0, 2.0])
    assert "not the same number" in widget.words.value
    assert (widget.local.v_pushed, widget.local.pulled_u) == pytest.approx((1.5, 1.0))


def test_every_slider_changes_the_picture_and_back(widget):
    for function in READY:
        choose(widget, function)
        outputs = 3 if function is SADDLE else 2
        for slider in (*widget.point, *widget.u, *widget.v[:outputs]):
            before = content(widget)
            slider.value += slider.step
            assert content(widget)[0] != before[0], slider.description
            slider.value -= slider.step
            assert content(widget) == before, slider.description


def test_an_arrow_along_an_axis_reads_out_a_column_or_a_row(widget):
    widget.u[0].value, widget.v[0].value = 0, 0
    text = widget.picture.value
    assert "push forward: J u = column 0" in text and "pull back: vᵀJ = row 0" in text
    assert widget.local.pushed == (1, 4) and widget.local.pulled == (1, 2)
    widget.u[0].value, widget.v[0].value, widget.v[1].value = 90, 270, 1.5
    text = widget.picture.value
    assert "J u = column 1" in text and "vᵀJ = -1.5 × row 1" in text
    widget.u[0].value, widget.v[0].value = 45, 45
    assert "J u mixes the columns" in widget.picture.value
    assert "vᵀJ mixes the rows" in widget.picture.value
    widget.u[1].value = 0
    assert "J u = 0, for u is 0" in widget.picture.value


def test_space_has_a_third_row_that_a_tilt_reads_out(widget):
    assert len(widget._columns[2].children) == 2
    choose(widget, SADDLE)
    assert len(widget._columns[2].children) == 3
    widget.v[2].value = 90
    assert widget.local.v == (0, 0, 1)
    assert "vᵀJ = row 2" in widget.picture.value
    assert "2 pushes (a column each) or 3 pulls (a row each)" in widget.words.value
    choose(widget, PLANE)
    assert len(widget._columns[2].children) == 2
    assert len(widget.local.v) == 2


def test_a_choice_begins_at_the_maps_own_point(widget):
    choose(widget, POLAR)
    assert [slider.value for slider in widget.point] == list(POLAR.start)
    assert widget.local.x == POLAR.start
    choose(widget, PLANE)
    assert widget.local.x == PLANE.start


def test_rounding_leaves_no_dust(widget):
    choose(widget, READY[1])  # turn by 30 degrees: J u at -30 degrees lies on an axis
    widget.u[0].value = 330
    assert widget.local.pushed == pytest.approx((1.5, 0.0))
    assert "e-" not in widget.facts.value


def test_a_map_of_your_own_comes_first():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    widget = pull_back_push_forward(net, torch.tensor([0.5, -0.5]))
    assert widget.choice.options[0][0] == "yours: Sequential"
    assert len(widget.local.jacobian) == 3
    assert net[0].weight.grad is None


def test_where_a_map_is_not_finite_the_words_say_so():
    widget = pull_back_push_forward(torch.sqrt, [1.0, 1.0])
    widget.point[0].value = -1
    assert widget.picture.value == "" and "not finite" in widget.words.value
    widget.point[0].value = 1
    assert "<svg" in widget.picture.value


@pytest.mark.parametrize(
    ("function", "x", "kind", "words"),
    [
        (torch.sin, None, TypeError, "needs x"),
        (torch.sin, [1.0, 2.0, 3.0], ValueError, "3 numbers.*needs 2"),
        (lambda x: x.repeat(2), [1.0, 2.0], ValueError, "4 outputs.*2 to 3"),
        (lambda x: x[:1], [1.0, 2.0], ValueError, "1 outputs.*2 to 3"),
        (torch.sum, [1.0, 2.0], ValueError, "a scalar"),
        (torch.detach, [1.0, 2.0], ValueError, "No path leads"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_to_do(function, x, kind, words):
    with pytest.raises(kind, match=f"(?s){words}"):
        pull_back_push_forward(function, x)


def test_a_function_without_a_forward_derivative_is_named():
    class OneWay(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(ValueError, match="cannot push u forward"):
        pull_back_push_forward(OneWay.apply, [1.0, 2.0])


def test_still_copy_and_text_are_the_same_wherever_the_learner_stands(widget):
    before = widget._repr_mimebundle_()
    choose(widget, SADDLE)
    widget.u[0].value = 300
    after = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in before
    for form in ("text/plain", "text/html"):
        assert before[form] == after[form]
    assert "rows of J: (1, 2); (4, 1)" in before["text/plain"]
    assert "⟨v, J u⟩ = 3.964, ⟨vᵀJ, u⟩ = 3.964" in before["text/plain"]
    assert 'src="data:image/svg+xml;base64,' in before["text/html"]


def test_picture_and_table_state_the_same_numbers(widget):
    local = widget.local
    assert draw_planes(local, "t").text.splitlines()[-1] == "⟨v, J u⟩ = 3.964, ⟨vᵀJ, u⟩ = 3.964"
    assert "= 3.964" in widget.facts.value and "= 3.964" in widget.words.value
    assert local.u == pytest.approx((math.cos(math.pi / 6), 0.5))
