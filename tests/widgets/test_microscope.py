"""Gradient microscope: its numbers are torch's, its reasons are the true ones."""

import re
import warnings

import pytest
import torch
from torch.autograd.gradcheck import GradcheckError

from utils.widgets.backwards import READY, own_case
from utils.widgets.differences import STEPS, close_up, measure, nearest
from utils.widgets.kinks import find_kinks
from utils.widgets.microscope import gradient_microscope
from utils.widgets.verdicts import at_step, why

CASES = {case.name: case for case in READY}
BOTH = (torch.float64, torch.float32)
ready = pytest.mark.parametrize("case", READY, ids=lambda case: case.name)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Lost(Cube):
    @staticmethod
    def backward(ctx, g):
        return None


class Sum(Cube):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sum()


@pytest.fixture(scope="module")
def widget():
    return gradient_microscope()


def put(widget, name, x=None, h=1e-2, g=1.0, dtype=torch.float64):
    """Set every control; the words that come."""
    widget.choice.value = list(CASES).index(name)
    widget.dtype.value, widget.step.value, widget.upstream.value = dtype, h, g
    widget.point.value = CASES[name].start if x is None else x
    return re.sub("<[^>]+>", "", widget.words.value)


def torch_says(case, x, g, dtype):
    """gradcheck as anybody would call it."""
    point = torch.tensor([x], dtype=dtype, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return torch.autograd.gradcheck(lambda x: g * case.function(x), (point,)), ""
        except GradcheckError as error:
            return False, str(error)


@ready
@pytest.mark.parametrize("dtype", BOTH, ids=str)
@pytest.mark.parametrize("g", [1.0, -2.0, 0.0])
def test_gradchecks_verdict_is_that_of_a_direct_call(case, dtype, g):
    for x in (case.low + 0.35, 0.05, 0.7, case.start):
        of = measure(case.function, x, g, dtype)
        passed, message = torch_says(case, x, g, dtype)
        assert of.passed is passed
        assert message == "" or of.said.startswith(f"GradcheckError: {message.split(',')[0][:40]}")
        numbers = re.findall(r"tensor\(\[\[(.*?)\]\]", message)
        if numbers:  # the square in the picture stands where gradcheck looked
            assert float(numbers[0]) == pytest.approx(of.checked, rel=1e-3, abs=1e-3)
            assert float(numbers[1]) == pytest.approx(of.backward, rel=1e-3, abs=1e-3)
        # and the dashed line at what it allowed: above it, it fails
        if passed:
            assert abs(of.checked - of.backward) <= of.allowed
        elif "not multiplied" not in message:
            assert not abs(of.checked - of.backward) <= of.allowed


@ready
@pytest.mark.parametrize("dtype", BOTH, ids=str)
def test_each_error_is_that_of_a_difference_done_by_hand_in_that_dtype(case, dtype):
    x, of = torch.tensor([0.35], dtype=dtype), measure(case.function, 0.35, 1.5, dtype)
    for k in range(0, len(STEPS), 11):
        h = torch.tensor(STEPS[k], dtype=dtype)
        difference = (1.5 * case.function(x + h) - 1.5 * case.function(x - h)) / (2 * h)
        assert of.differences[k] == difference.item()
        assert of.errors[k] == abs(difference.item() - of.backward)
    y = case.function(x.requires_grad_())
    (slope,) = torch.autograd.grad(y, x, torch.full_like(y, 1.5))
    assert of.backward == slope.item()


def test_the_v_has_two_arms_in_both_precisions_and_a_bottom_where_they_meet():
    double, single = (measure(CASES["x³, right"].function, 1.0, 1.0, dtype) for dtype in BOTH)
    for of, bottom in ((double, 1e-5), (single, 1e-2)):
        least = min(range(len(STEPS)), key=lambda k: of.errors[k] or 1.0)
        assert bottom / 10 < STEPS[least] < bottom * 10
        # right arm: the cube's own error is h²; left arm: no more than rounding over h
        assert of.errors[-1] == pytest.approx(STEPS[-1] ** 2, rel=1e-3)
        for h, error in zip(STEPS, of.errors, strict=True):
            assert error <= h * h + 1.5 * of.rounding / h + 4 * torch.finfo(of.dtype).eps
        assert of.errors[nearest(1e-7 if of is double else 1e-5)] > 10 * of.errors[least]
    assert single.errors[0] == 3.0  # x + h is x: the difference is 0


def test_a_square_has_no_right_arm():
    of = measure(CASES["x², right"].function, 1.0, 1.0, torch.float64)
    assert of.errors[-1] < 1e-14 < of.errors[0]


@ready
def test_backward_in_the_picture_is_called_wrong_only_if_it_is(case):
    right = {"x³, right", "x², right", "ReLU, slope 0 at 0", "|x|, slope 0 at 0"}
    right |= {"x³, saved in float32", "√x, output saved"}
    for x in (0.35, 0.7, 1.3):
        for g in (1.0, 2.0, -0.5):
            of = measure(case.function, x, g, torch.float64)
            assert of.passed is (case.name in right)
            words = why(of, find_kinks(case.function, case.low, case.high), case.note)
            if of.passed:
                assert ("wrong" not in words and "right here" in words) or "digits" in words
            else:
                assert "wrong" in words or "does not multiply" in words


@pytest.mark.parametrize(
    ("name", "setting", "words"),
    [
        ("x³, right", {}, "gradcheck passes. Backward is right here"),
        ("x³, right", {"dtype": torch.float32}, "rounding in float32 can move the difference"),
        ("x³, a factor missing", {}, "wrong here, at every step size: a factor of 3 is missing"),
        ("x³, a factor missing", {"x": 0.0}, "Both slopes are 0 here"),
        ("x³, a factor missing", {"g": 0}, "g is 0: nothing arrives"),
        ("x², upstream g forgotten", {"g": 0}, "The slope is wrong: this backward does not"),
        ("x³, a factor missing", {"dtype": torch.float32}, "a factor of 3 is missing"),
        ("x³, saved in float32", {}, "settles at about 9e-08: digits are lost in backward"),
        ("x², upstream g forgotten", {}, "At g = 1 the number is right"),
        ("x², upstream g forgotten", {"g": 2}, "The slope is wrong: this backward does not"),
        ("x², wrong sign", {}, "the sign is wrong"),
        ("ReLU, slope 0 at 0", {"x": 0.0}, "slope 0 on the left, 1 on the right"),
        ("ReLU, slope 0 at 0", {"x": 0.0}, "backward's 0 is as good a choice"),
        ("|x|, slope 0 at 0", {"x": 0.0}, "gradcheck passes. x is on a kink"),
        ("√x, output saved", {"x": 0.0}, "There is nothing to compare: backward says inf"),
        ("step, straight-through", {}, "it says 1, the slope is 0. Here that is on purpose"),
        ("step, straight-through", {"x": 0.0}, "The function jumps right at x"),
        # what the step does
        ("x³, right", {"h": 1e-1}, "The right arm of the V"),
        ("x³, right", {"h": 1e-10}, "Rounding: f is kept to about 16 digits"),
        ("x³, right", {"h": 1e-5, "dtype": torch.float32}, "f is kept to about 7 digits"),
        ("x³, right", {"h": 1e-10, "dtype": torch.float32}, "x + h rounds to x itself"),
        ("x³, saved in float32", {"h": 1e-5}, "the digits that backward lost"),
        ("ReLU, slope 0 at 0", {"x": 0.05, "h": 1e-1}, "reaches over 0, where the slope jumps"),
        ("ReLU, slope 0 at 0", {"x": 0.0}, "On a kink no step size helps"),
        ("|x|, slope 0 at 0", {"x": 0.0}, "The two agree to the last digit"),
        ("x², wrong sign", {}, "No step size helps"),
        ("√x, output saved", {"x": 0.05, "h": 1e-1}, "no finite value"),
    ],
)
def test_the_reason_is_named(widget, name, setting, words):
    assert words in put(widget, name, **setting)


def test_a_choice_at_a_kink_that_is_none_of_the_slopes_is_called_so():
    class Odd(Cube):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return torch.where(x == 0, 7.0, (x > 0).to(x.dtype)) * g

    of = measure(Odd.apply, 0.0, 1.0, torch.float64)
    assert "Backward's 7 is neither" in why(of, (0.0,))
    assert "no step size helps" in at_step(of, (0.0,), 1e-3)


@pytest.mark.parametrize(
    ("function", "kinks"),
    [
        (torch.relu, [0.0]),
        (torch.abs, [0.0]),
        (lambda x: x.abs() + (x - 1).relu(), [0.0, 1.0]),
        (lambda x: x.clamp(-1, 1.3), [-1.0, 1.3]),
        (lambda x: (x > 0.25).to(x.dtype), [0.25]),
        (torch.round, [-1.5, -0.5, 0.5, 1.5]),
        (torch.sin, []),
        (torch.exp, []),
        (torch.sqrt, []),
        (lambda x: (10 * x).tanh(), []),
        (lambda x: (50 * x).sin(), []),
        (lambda x: 1e3 * x**3, []),
        (torch.zeros_like, []),
    ],
)
def test_kinks_are_found_and_bends_are_not_taken_for_them(function, kinks):
    assert find_kinks(function, -2.0, 2.0) == pytest.approx(kinks, abs=1e-5)


@pytest.mark.parametrize("frequency", [1.0, 50.0, 500.0])
def test_only_lost_digits_are_called_lost(frequency):
    def right(x):
        return (frequency * x).sin()

    for x in (0.1, 0.33, 0.7, 1.3):
        words = why(measure(right, x, 1.0, torch.float64), ())
        assert "Backward is right here" in words and "digits" not in words
        lossy = measure(CASES["x³, saved in float32"].function, x, frequency, torch.float64)
        assert "digits are lost in backward" in why(lossy, ())


def test_the_close_up_is_what_the_dtype_makes_of_the_function():
    case = CASES["x³, right"]
    single = close_up(case, (), measure(case.function, 1.0, 1.0, torch.float32), 1e-7)
    double = close_up(case, (), measure(case.function, 1.0, 1.0, torch.float64), 1e-7)
    levels = [len({height for _, height in seen.near}) for seen in (single, double)]
    assert levels[0] < 10 < 100 < levels[1]  # a staircase, and a slope
    for seen in (single, double):
        secant = (seen.ends[1] - seen.ends[0]) / (2 * seen.h)
        assert secant == pytest.approx(seen.difference, rel=1e-6)


def test_each_control_changes_picture_and_words(widget):
    put(widget, "x³, right", x=1.0)
    moves = {
        widget.point: 0.5,
        widget.step: 1e-6,
        widget.upstream: 2.0,
        widget.dtype: torch.float32,
        widget.choice: 1,
    }
    for control, value in moves.items():
        before, start = (widget.picture.value, widget.words.value), control.value
        control.value = value
        after = (widget.picture.value, widget.words.value)
        assert after[0] != before[0] and after[1] != before[1], control.description
        control.value = start


def test_the_program_shown_is_the_one_that_runs(widget):
    for case in READY:
        put(widget, case.name)
        assert "class " in case.program
        assert re.sub(r"&#x27;", "'", widget.program.value).count("def backward") == 1
        names = {"torch": torch}
        exec(case.program, names)
        (made,) = (v for k, v in names.items() if k not in ("torch", "__builtins__"))
        x = torch.tensor([0.6], dtype=torch.float64, requires_grad=True)
        made.apply(x).backward(torch.tensor([1.5], dtype=torch.float64))
        assert x.grad.item() == measure(case.function, 0.6, 1.5, torch.float64).backward


def test_gradchecks_own_words_are_shown_and_its_warning(widget):
    put(widget, "x³, a factor missing")
    assert "numerical: 3.0000, analytical: 1" in widget.facts.value
    assert "UserWarning" not in widget.facts.value
    put(widget, "x³, right", dtype=torch.float32)
    assert "is not a double precision floating point" in widget.facts.value


def test_a_setting_is_measured_once(widget, monkeypatch):
    put(widget, "x², right", x=0.25)
    monkeypatch.setattr("utils.widgets.microscope.measure", None)
    put(widget, "x², right", x=0.25, h=1e-8)


def test_your_own_class_comes_first_and_so_does_a_function_that_applies_one():
    mine = gradient_microscope(Cube, x=0.5)
    assert mine.choice.options[0][0] == "yours: Cube" and mine.point.value == 0.5
    assert "y = Cube.apply(x)" in mine.program.value and "gradcheck passes" in mine.words.value

    def halved(x):
        return Cube.apply(x) / 2

    assert "y = halved(x)" in gradient_microscope(halved).program.value
    assert gradient_microscope(halved).choice.options[0][0] == "yours: halved"


def test_a_backward_that_raises_at_some_point_is_told_and_not_thrown():
    class Picky(Cube):
        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if (x < 0).any():
                raise RuntimeError("no roots below zero")
            return 3 * x**2 * g

    mine = gradient_microscope(Picky)
    mine.point.value = -0.5
    assert "no roots below zero" in mine.words.value and mine.picture.value == ""
    mine.point.value = 0.5
    assert "gradcheck passes" in mine.words.value


@pytest.mark.parametrize(
    ("function", "x", "kind", "words"),
    [
        (3, 1.0, TypeError, "class or a function of one tensor, not a int"),
        (Cube, "here", TypeError, "x is one number"),
        (Cube, float("nan"), ValueError, "x is nan"),
        (lambda x: [x], 1.0, TypeError, "but is a list"),
        (lambda x: x > 0, 1.0, TypeError, "but is torch.bool"),
        (Sum, 1.0, ValueError, r"each entry by itself.*shape \(\)"),
        (lambda x: Cube.apply(x) * x.sum(), 1.0, ValueError, "each entry by itself"),
        (Lost, 1.0, ValueError, "No gradient comes back from Lost.*not None"),
        (lambda x: Cube.apply(x.detach()), 1.0, ValueError, "No gradient comes back"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_with_what_to_do(function, x, kind, words):
    with pytest.raises(kind, match=f"(?s){words}"):
        gradient_microscope(function, x)


def test_the_notebooks_mode_and_random_numbers_are_left_alone():
    state, normal = torch.random.get_rng_state(), gradient_microscope(Cube).text()
    with torch.no_grad():
        assert gradient_microscope(Cube).text() == normal
        assert not torch.is_grad_enabled()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert own_case(Cube, 2).start == 2.0


def test_still_copy_and_text_do_not_depend_on_the_controls():
    fresh = gradient_microscope()
    before = fresh._repr_mimebundle_()
    put(fresh, "x², wrong sign", x=0.5, h=1e-6, g=2.0, dtype=torch.float32)
    after = fresh._repr_mimebundle_()
    for form in ("text/plain", "text/html"):
        assert before[form] == after[form]
    assert "slope from backward: 3" in before["text/plain"]
    assert "gradcheck passes. Backward is right here" in before["text/plain"]
    assert 'src="data:image/svg+xml;base64,' in before["text/html"]
