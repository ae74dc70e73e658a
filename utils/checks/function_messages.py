"""What torch's errors about custom Functions mean: as `messages`, for `torch.autograd.Function`."""

from __future__ import annotations

# Slug of the mistake, a part of the message that tells it, and what to say.
FUNCTION_CRASHES: tuple[tuple[str, str, str], ...] = (
    (
        "no_apply",
        "has no attribute 'apply'",
        "A custom Function is a subclass of `torch.autograd.Function`, which brings `apply` along. "
        "What did you derive yours from?",
    ),
    (
        "module_for_function",
        "has no attribute 'children'",
        "Your class is an `nn.Module`: its `apply` visits modules, and its `backward` is never "
        "called. Which class do you derive from to write your own backward?",
    ),
    (
        "forward_for_apply",
        ".forward() missing 1 required positional argument",
        "One argument is missing. If you called `forward` of a custom Function by hand: nobody "
        "gave it a ctx. Which method makes one, calls `forward` and records the node?",
    ),
    (
        "forward_signature",
        ".forward() takes",
        "Count its arguments. Torch calls `forward` of a custom Function with a ctx first; without "
        "one only if the class has a `setup_context`. Which of the two styles is yours?",
    ),
    (
        "forward_signature",
        "missing a required argument",
        "Count its arguments. Torch calls `forward` of a custom Function with a ctx first; without "
        "one if the class has a `setup_context`. Which of the two styles is yours?",
    ),
    (
        "dirty_not_returned",
        "marked as dirty during the forward",
        "An input that `forward` changed must come back as its output, the very same tensor. "
        "What does yours return?",
    ),
    (
        "backward_signature",
        ".backward() takes",
        "Torch calls a custom `backward` with its ctx and one gradient for each output. "
        "How many outputs does `forward` have, undifferentiable ones too?",
    ),
    (
        "backward_signature",
        ".backward() missing",
        "Torch calls a custom `backward` with its ctx and one gradient for each output. "
        "How many outputs does `forward` have?",
    ),
    (
        "setup_signature",
        ".setup_context() missing",
        "Torch calls `setup_context` with a ctx, the inputs as one tuple, and the output. "
        "Where do you take the tuple apart?",
    ),
    (
        "setup_signature",
        ".setup_context() takes",
        "Torch calls `setup_context` with a ctx, the inputs as one tuple, and the output. "
        "Which of the three does yours lack?",
    ),
    (
        "called_an_instance",
        "Legacy autograd function",
        "You made an object of your Function and called that. A Function is never made into an "
        "object: which method of the class do you call?",
    ),
    (
        "saved_no_tensor",
        "can only save variables, but argument",
        "`save_for_backward` takes tensors, one by one: no tuple, no number. Are these the "
        "`inputs` as a whole, or a number that could be an attribute of ctx?",
    ),
    (
        "called_a_tuple",
        "'tuple' object is not callable",
        "A tuple was called like a function. `ctx.saved_tensors` and `ctx.needs_input_grad`, for "
        "example, are tuples: how do you get at an entry?",
    ),
    (
        "missing_backward",
        "implement either the backward or vjp",
        "A custom Function is a black box: torch does not look into `forward`. "
        "Who should tell it how gradients go back?",
    ),
    (
        "missing_jvp",
        "must implement the jvp function",
        "Forward mode carries a tangent through your Function and does not know how. "
        "Which static method tells it?",
    ),
    (
        "missing_vmap",
        "does not have vmap support",
        "`vmap` sends a whole batch through your Function and does not know how. "
        "Which line of the class lets torch make the rule for you?",
    ),
    (
        "no_setup_context",
        "must override the setup_context",
        "Transforms only take a Function whose `forward` does without a ctx. "
        "Which static method keeps what backward needs, in its place?",
    ),
    (
        "saved_for_backward_typo",
        "has no attribute 'saved_for_backward'",
        "You save with `save_for_backward`, and read under another name, which ends in `tensors`. "
        "Which one is it?",
    ),
    (
        "saved_not_unpacked",
        "only integer tensors of a single element",
        "A tuple was multiplied, and that repeats it. `ctx.saved_tensors` is a tuple even if you "
        "saved one tensor only: how do you take it out?",
    ),
    (
        "saved_not_unpacked",
        "'tuple' object has no attribute",
        "A tuple stands where one thing was expected. `ctx.saved_tensors` is a tuple even if you "
        "saved one tensor only, `torch.autograd.grad` returns one, and each entry of "
        "`next_functions` is one. Which part of it do you want?",
    ),
    (
        "saved_not_unpacked",
        "must be Tensor, not tuple",
        "A tuple stands where you want a tensor. `ctx.saved_tensors`, for example, is a tuple even "
        "if you saved one tensor only: how do you take it out?",
    ),
    (
        "not_saved_for_forward",
        "(expected 2, got 0)",
        "There was nothing to unpack. If these are `ctx.saved_tensors`: backward and forward mode "
        "each have a list of their own. Which call fills which?",
    ),
    (
        "not_saved_for_forward",
        "tuple index out of range",
        "A tuple is shorter than you take it for. If it is `ctx.saved_tensors`: backward and "
        "forward mode each have a list of their own. Which call fills which?",
    ),
    (
        "number_of_gradients",
        "incorrect number of gradients",
        "`backward` returns one value for each argument of `forward` after the ctx, "
        "numbers and flags too. What stands for an argument that has no gradient?",
    ),
    (
        "gradient_for_a_number",
        "returned a gradient different than None",
        "Only tensors have gradients, and the argument at that position is none. "
        "What do you return in its place?",
    ),
    (
        "number_for_gradient",
        "expected Variable or None",
        "`backward` returns tensors, or None where there is no gradient: no number, no array. "
        "Which of the two do you mean?",
    ),
    (
        "gradient_of_wrong_shape",
        "returned an invalid gradient",
        "The gradient at position i belongs to argument i of `forward` and has that argument's "
        "shape. Which one did you return there, and what shape has it?",
    ),
    (
        "gradcheck_unwatched",
        "gradcheck expects at least one input tensor to require gradient",
        "Gradcheck only looks at inputs that require grad, and there is none. "
        "Which tensor should ask for it?",
    ),
    (
        "gradcheck_raised",
        "Jacobian mismatch",
        "Gradcheck found a difference and raised. If you only want to know: which argument makes "
        "it answer False?",
    ),
)
