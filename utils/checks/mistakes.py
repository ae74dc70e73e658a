"""The bank of usual mistakes, shared by all exercises: slug -> what to tell the learner.

A message says what was seen, what mistake that looks like, and asks the question that leads on.
`{what}` is the learner's value, such as "`x.grad`". None of them holds a reference value.
"""

from __future__ import annotations

MISTAKES: dict[str, str] = {
    # What came back is not what was asked for.
    "none": "{what} is None. Did you forget a `return`, or was there no gradient to read?",
    "not_a_tensor": (
        "{what} is of type `{kind}`, not a tensor. What would you call to keep it a tensor?"
    ),
    "not_callable": (
        "{what} is of type `{kind}`, not a function. Did you give its name to something else, "
        "or pass what it returns instead of the function itself?"
    ),
    "wrong_shape": (
        "{what} has shape {seen}, and {want} was asked for. "
        "Which dimension is missing or left over?"
    ),
    "wrong_values": (
        "{what} has the right shape, but {wrong} of {total} entries are not right. "
        "Try it on numbers small enough to check by hand: where do the two part?"
    ),
    "wrong_number": (
        "{what} is a number, as it should be, but not the right one. "
        "Try it on inputs small enough to check by hand: where do the two part?"
    ),
    "nan": "{what} holds NaN. Which operation divides by zero or takes a root or log of zero?",
    "all_zero": (
        "{what} is all zeros, so nothing arrived. "
        "Where on the way back is the gradient multiplied by zero or cut off?"
    ),
    # The gradient is of the right kind, but another one.
    "transposed": "{what} is transposed: rows and columns are swapped. Which index counts outputs?",
    "wrong_sign": "{what} has the wrong sign everywhere. Which minus was lost, or added?",
    "accumulated_twice": (
        "{what} is exactly twice too big. `.grad` adds up: what was in it before, or how often did "
        "backward run?"
    ),
    "ones_instead_of_v": (
        "{what} is what a vector of ones would give. Where does the upstream vector come in?"
    ),
    "forgot_upstream": (
        "{what} is the local derivative alone. What should it be multiplied by on the way back?"
    ),
    "mean_for_sum": (
        "{what} is smaller by the number of elements: did you take the mean where the sum was "
        "asked for?"
    ),
    "sum_for_mean": (
        "{what} is larger by the number of elements: did you take the sum where the mean was "
        "asked for?"
    ),
    "value_for_gradient": (
        "{what} is the value of the function, not its gradient. Where does backward leave that?"
    ),
    "inner_value": (
        "{what} is the value before the last step. How does the result change when the input does?"
    ),
    "overwritten": (
        "{what} holds the last contribution only. A tensor that is used twice gets two gradients: "
        "what should happen to the first?"
    ),
    "unreduced_broadcast": (
        "{what} still has the broadcast shape. One entry was used several times: what happens to "
        "the gradients of all its uses?"
    ),
    # How it was done.
    "detached": (
        "{what} has no graph behind it, so no gradient can flow back. "
        "Which step cut it off: `detach`, `.data`, `.item()`, `no_grad`, or a new tensor?"
    ),
    "not_a_leaf": (
        "{what} is not a leaf: an operation made it, so backward will not fill its `.grad`. "
        "Which operation came after `requires_grad`?"
    ),
    "not_tracked": (
        "{what} does not require grad, so autograd records nothing for it. Who should ask for it?"
    ),
    "tracked": (
        "{what} requires grad, and it should not: autograd keeps recording its history. "
        "What would keep it out?"
    ),
    "changed_input": (
        "{what} was changed in place. The caller still needs it: can you work on a new tensor?"
    ),
    "left_the_stub_line": (
        "There is code in {what} now, but the line `raise NotImplementedError` is still there and "
        "stops it. Delete that line."
    ),
    "graph_freed": (
        "The graph behind {what} was used up by a backward. "
        "Which call frees the saved tensors, and who needs them afterwards?"
    ),
    "typed_in": (
        "{what} is right for one input only: it looks like a number that was typed in. "
        "Let torch compute it from the arguments."
    ),
}
