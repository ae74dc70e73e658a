import pytest
import torch

from utils.pictures.picture import Picture
from utils.widgets.outputs import Outputs
from utils.widgets.weights import READY, weights_on_outputs


@pytest.fixture
def widget():
    return weights_on_outputs()


def content(widget):
    return widget.bars.value, widget.picture.value, widget.words.value, widget.facts.value


def press(widget, words):
    for button in widget._buttons.children:
        if button.description == words:
            button.click()
            return
    raise LookupError(words)


def jacobian(function):
    x = torch.tensor(function.start)
    return torch.autograd.functional.jacobian(function, x)


@pytest.mark.parametrize("function", READY, ids=lambda function: function.name)
def test_what_is_sent_back_is_what_torch_sends_back(function):
    outputs, rows = Outputs(function), jacobian(function)
    torch.testing.assert_close(torch.tensor(outputs.rows), rows)
    torch.testing.assert_close(torch.tensor(outputs.y), function(torch.tensor(function.start)))
    for seed in range(3):
        v = torch.randn(len(rows), generator=torch.Generator().manual_seed(seed))
        sent = outputs.send(v.tolist())
        torch.testing.assert_close(torch.tensor(sent.gradient), v @ rows)
        torch.testing.assert_close(torch.tensor(sent.by_sum), v @ rows)
        assert sent.agree
        assert sent.total == pytest.approx((v * torch.tensor(outputs.y)).sum().item(), abs=1e-6)
        assert sent.tape.seeds[0].entries == pytest.approx(v.tolist())


def test_it_opens_on_the_map_of_the_plane_with_its_first_row(widget):
    assert [slider.description for slider in widget.sliders] == ["weight on y₀", "weight on y₁"]
    assert [slider.value for slider in widget.sliders] == [1, 0]
    assert "the gradient is row 0 of J" in widget.words.value
    assert "x₀: 1\nx₁: 2" in widget.bars.value
    assert ".grad [1, 2]" in widget.picture.value


def test_each_slider_changes_everything(widget):
    for choice in range(len(READY)):
        widget.choice.value = choice
        for slider in widget.sliders:
            before = content(widget)
            slider.value += slider.step
            assert all(new != old for new, old in zip(content(widget), before, strict=True))


def test_the_buttons_send_rows_ones_and_what_a_loss_sends(widget):
    press(widget, "row 1")
    assert "puts [4, 1] into" in widget.words.value
    press(widget, "ones")
    assert "puts [5, 3] into" in widget.words.value and "y.sum()" in widget.words.value
    press(widget, "what a loss would send")
    assert [slider.value for slider in widget.sliders] == [4, 10]  # 2y
    x = torch.tensor(READY[0].start, requires_grad=True)
    (READY[0](x) ** 2).sum().backward()
    assert widget.outputs.send([4, 10]).gradient == tuple(x.grad.tolist()) == (44, 18)
    assert "(y ** 2).sum()" in widget.words.value


def test_a_button_moves_the_sliders_but_draws_once(widget, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        widget.outputs, "draw", lambda sent: drawn.append(sent) or Picture("", "", "")
    )
    press(widget, "what a loss would send")
    assert len(drawn) == 1


def test_no_weight_no_gradient_and_one_weight_a_multiple_of_its_row(widget):
    widget.put([0, 0])
    assert "Every weight is 0" in widget.words.value
    assert "puts [0, 0] into" in widget.words.value
    widget.put([0, -2.5])
    assert "-2.5 times row 1 of J" in widget.words.value
    widget.put([2, 3])
    assert "Each weight scales its row" in widget.words.value


def test_the_table_adds_the_rows_up(widget):
    widget.put([2, 3])
    for cells in ("<code>[2, 4]</code>", "<code>[12, 3]</code>", "<code>[14, 7]</code>"):
        assert cells in widget.facts.value


def test_each_function_comes_with_sliders_and_buttons_of_its_own(widget):
    for choice, function in enumerate(READY):
        widget.choice.value = choice
        count = len(jacobian(function))
        assert len(widget._column.children) == len(widget.sliders) == count
        assert len(widget._buttons.children) == count + 2
        assert function.program.splitlines()[-1].split(" = ")[0] == "y"
        assert "y = " in widget.program.value


def test_the_weights_of_softmax_in_equal_parts_leave_nothing(widget):
    widget.choice.value = [function.name for function in READY].index("softmax of three")
    press(widget, "ones")
    assert "puts [0, 0, 0] into" in widget.words.value


def test_boxes_stay_in_place_when_a_weight_moves(widget):
    def boxes():
        return [part.split(">")[0] for part in widget.picture.value.split("<rect ")[2:]]

    before = boxes()
    for weight in (-9.5, 0, 3.5):
        widget.sliders[0].value = weight
        assert boxes() == before


def test_a_function_of_your_own_comes_first_and_is_asked_once():
    asked = []

    def noisy(x):
        asked.append(x)
        return torch.nn.functional.dropout(x * x.sum(), 0.5)

    widget = weights_on_outputs(noisy, [1.0, 2.0, 3.0, 4.0])
    assert widget.choice.options[0][0] == "yours: noisy"
    widget.put([1, 2, 3, 4])
    assert len(asked) == 1 and "the same." in widget.words.value
    assert "y = noisy(x)" in widget.program.value


def test_a_model_of_your_own_keeps_its_gradients():
    net = torch.nn.Linear(3, 2)
    net(torch.ones(3)).sum().backward()
    before = net.weight.grad.clone()
    widget = weights_on_outputs(net, torch.tensor([1.0, 2.0, 3.0]))
    widget.put([1, 1])
    assert torch.equal(net.weight.grad, before)
    assert widget.outputs.send([0, 1]).gradient == pytest.approx(net.weight[1].tolist())


def test_double_precision_and_no_grad_are_no_trouble():
    matrix = torch.eye(2, dtype=torch.float64)
    with torch.no_grad():
        widget = weights_on_outputs(lambda x: matrix @ x, torch.ones(2, dtype=torch.float64))
        widget.put([0.5, 2])
    assert "puts [0.5, 2] into" in widget.words.value


@pytest.mark.parametrize(
    ("function", "x", "kind", "words"),
    [
        (torch.sin, None, TypeError, "needs x"),
        (None, [1.0], TypeError, "needs the function"),
        (3, [1.0], TypeError, "not a int"),
        (torch.sin, torch.ones(2, 2), ValueError, r"shape \(2, 2\)"),
        (torch.sin, [1.0] * 9, ValueError, "1 to 8"),
        (torch.sin, [float("nan")], ValueError, "finite"),
        (lambda x: [x], [1.0], TypeError, "returned a list.*stack"),
        (torch.sum, [1.0], ValueError, "a scalar.*reshape"),
        (lambda x: x.outer(x), [1.0, 2.0], ValueError, r"shape \(2, 2\).*reshape\(-1\)"),
        (lambda x: x.repeat(9), [1.0], ValueError, r"9 outputs.*1 to 8.*y\[:8\]"),
        (lambda x: x[:0], [1.0], ValueError, "0 outputs"),
        (torch.argsort, [1.0, 2.0], TypeError, "int64"),
        (torch.log, [0.0, 1.0], ValueError, "finite"),
        (torch.detach, [1.0, 2.0], ValueError, "No path leads"),
        (lambda x: torch.ones(2, requires_grad=True) * 2, [1.0], ValueError, "No path leads"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_to_do(function, x, kind, words):
    with pytest.raises(kind, match=f"(?s){words}"):
        weights_on_outputs(function, x)


def test_still_copy_and_text_are_the_same_wherever_the_learner_stands(widget):
    before = widget._repr_mimebundle_()
    widget.choice.value = 2
    widget.put([1, 2, -1])
    after = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in before
    for form in ("text/plain", "text/html"):
        assert before[form] == after[form]
    text = before["text/plain"]
    assert "row 1 of J: [4, 1]" in text
    assert "what a loss would send: v = [4, 10] gives x.grad = [44, 18]" in text
    assert before["text/html"].count('src="data:image/svg+xml;base64,') == 2
