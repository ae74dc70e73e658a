"""What torch's errors about hooks mean to a learner; the same form as `messages.CRASHES`."""

from __future__ import annotations

HOOK_CRASHES: tuple[tuple[str, str, str], ...] = (
    (
        "hook_returned_no_tensor",
        "expected Variable, but hook returned",
        "A hook on a tensor returns None or one tensor, the new gradient: no number, no tuple. "
        "What does yours hand back?",
    ),
    (
        "hook_changed_shape",
        "has changed the size of value",
        "What a hook returns takes the gradient's place, so it needs the gradient's shape. "
        "Is it meant to be replaced at all, or does a one-line lambda return what it stores?",
    ),
    (
        "post_accumulate_on_inner",
        "cannot be registered on non-leaf tensors",
        "Only leaves accumulate, so only leaves have a moment after that. "
        "Which hook is for a gradient that passes through?",
    ),
    (
        "post_accumulate_returned",
        "post accumulate grad hooks should return None",
        "This hook comes after `.grad` was filled, so there is nothing left to replace by "
        "returning. Where is the gradient that it should change?",
    ),
    (
        "hook_on_untracked",
        "cannot register a hook on a tensor that doesn't require gradient",
        "No gradient ever passes this tensor, so it takes no hook. "
        "Which tensor is frozen here, and what should happen to it?",
    ),
    (
        "wrong_number_of_arguments",
        "takes 2 positional arguments but 3 were given",
        "Three things were handed over and two were expected. If this is a hook of a module: which "
        "kind also gets what came in, and which what went out?",
    ),
    (
        "wrong_number_of_arguments",
        "missing 1 required positional argument",
        "A function expects one thing more than it is given. If this is a hook of a module: which "
        "kind runs before the gradients at the inputs exist?",
    ),
    (
        "invalid_number_of_gradients",
        "returned an invalid number of grad_input",
        "A full backward hook returns one entry for each input of the module, nothing else. "
        "What is in the tuple that you return?",
    ),
    (
        "invalid_number_of_gradients",
        "returned an invalid number of grad_output",
        "A full backward pre-hook returns a tuple, with one entry for each output of the module. "
        "What does yours return?",
    ),
    (
        "invalid_number_of_gradients",
        "returned an incorrect number of values",
        "A node's hook returns one entry for each edge that leaves the node. "
        "Which of its two arguments has that length?",
    ),
    (
        "node_hook_returned_list",
        "expected tuple, but hook returned",
        "A hook of a node returns a tuple, one entry an edge, and nothing else will do. "
        "What did yours return?",
    ),
    (
        "multiplied_the_tuple",
        "can't multiply sequence by non-int",
        "The hook's argument is a tuple with an entry for each input, even if there is one input. "
        "What should be multiplied?",
    ),
    (
        "module_has_no_name",
        "object has no attribute 'name'",
        "A module does not know what its parent calls it. Who knows the names of all modules?",
    ),
    (
        "keyword_for_removal",
        "unexpected keyword argument 'remove_hook'",
        "No argument makes a hook go away by itself. What does the registration return?",
    ),
    (
        "in_place_after_full_hook",
        "BackwardHookFunction is a view and is being modified inplace",
        "A full backward hook wraps what the module returns, and the next operation overwrites "
        "that in place. Does what you need take a hook of this kind?",
    ),
    (
        "pack_edits_its_input",
        "pack hook is modifying its input",
        "What is handed to pack is the tensor itself, and others read it. "
        "Which form of the operation makes a new one?",
    ),
    (
        "mixed_hooks",
        "both regular backward hooks and full backward hooks",
        "The module has a hook of the old kind already, and the two do not mix. "
        "Which kind reports what flows into all inputs?",
    ),
)
