"""What torch's own errors mean to a learner: the words of an error -> the mistake behind it."""

from __future__ import annotations

# Slug of the mistake, a part of the message that tells it, and what to say.
CRASHES: tuple[tuple[str, str, str], ...] = (
    (
        "integer_dtype",
        "floating point",
        "Whole numbers have no slope, so autograd only watches floating-point tensors. "
        "Which dtype did the tensor get, and who chose it?",
    ),
    (
        "dtypes_differ",
        "same dtype",
        "Two tensors of different precision meet here, and torch will not choose for you. Which "
        "dtype has what you were given, and which one did you make yourself?",
    ),
    (
        "in_place_on_leaf",
        "leaf Variable that requires grad",
        "A leaf may not change in place while autograd records. "
        "Should this step be a part of the graph at all?",
    ),
    (
        "changed_saved",
        "modified by an inplace operation",
        "Backward needs a value that was overwritten after the forward pass had saved it. "
        "Which line changes a tensor in place?",
    ),
    (
        "no_graph",
        "does not require grad and does not have a grad_fn",
        "Nothing behind this tensor is watched, so there is no graph to go back through. Which "
        "tensor should require grad, and from when on? And if a backward made it: what records "
        "a backward?",
    ),
    (
        "optimising_a_nonleaf",
        "optimize a non-leaf",
        "An optimiser moves leaves only, and this tensor was made by an operation. "
        "Which tensor did it come from?",
    ),
    (
        "nothing_to_optimise",
        "empty parameter list",
        "No parameter reached the optimiser. "
        "Did a filter drop them all, or was a generator used up before?",
    ),
    (
        "parameters_not_iterable",
        "argument given to the optimizer should be an iterable",
        "An optimiser takes a list of parameters. What did it get?",
    ),
    (
        "retained_untracked",
        "can't retain_grad",
        "This tensor is not part of any graph, so it will never have a gradient to keep. "
        "Which tensor before it should require grad?",
    ),
    (
        "switched_off_an_inner_tensor",
        "change requires_grad flags of leaf",
        "Only a leaf can be switched; this tensor was made by an operation on watched ones. "
        "Which leaf do you mean?",
    ),
    (
        "backward_on_nonscalar",
        "implicitly created only for scalar",
        "Backward starts from one number, and this tensor holds several. "
        "How do they become one loss, or which weight does each of them get?",
    ),
    (
        "graph_freed",
        "backward through the graph a second time",
        "The first backward freed what the graph had saved. "
        "Which two calls go through the same graph, and are they meant to?",
    ),
    (
        "compared_tensors",
        "Boolean value of Tensor with more than one value",
        "`==`, `in` and `if` look at the entries of a tensor, and there are several. Do you want "
        "an answer for each entry, or to know whether two names mean the very same tensor?",
    ),
    (
        "recursion",
        "maximum recursion depth",
        "A graph can be many thousand nodes deep, and Python's stack is not. "
        "What could hold the nodes that are still to visit, in place of the call stack?",
    ),
    (
        "anomaly_raised",
        "returned nan values",
        "Anomaly mode found a node that made NaN, and says which one in this very error. "
        "Who catches it and reads it?",
    ),
    (
        "unused_input",
        "not have been used in the graph",
        "What you differentiate does not depend on one of the tensors you asked about. "
        "Which one, and what should stand for its gradient?",
    ),
    (
        "number_for_grad",
        "assigned grad expected to be a Tensor",
        "`.grad` holds a tensor or None, never a number. Which of the two means 'nothing yet'?",
    ),
    (
        "numpy_on_tracked",
        "Can't call numpy()",
        "NumPy would carry the values out of the graph, so torch refuses. "
        "Do you need NumPy here, or is there a torch function for it?",
    ),
    (
        "none_in_a_list",
        "expected Tensor as element",
        "You put tensors together, and one of them is None: a `.grad` that nothing filled, or a "
        "tangent that was read after its dual level had ended. Which is it here?",
    ),
    (
        "none_edge",
        "'NoneType' object has no attribute 'next_functions'",
        "There is no node here: an entry `(None, 0)` of `next_functions` leads to none, and a leaf "
        "has no `grad_fn`. Where do you skip what is None?",
    ),
    (
        "number_for_tensor",
        "'int' object has no attribute",
        "A plain number stands where a tensor was expected. Where did it come from: a start value, "
        "or something that a node saved besides tensors?",
    ),
    (
        "number_for_tensor",
        "'float' object has no attribute",
        "A plain number stands where a tensor was expected. "
        "Where did it come from: a start value, or an `.item()` that came too early?",
    ),
    (
        "too_many_parts",
        "too many values to unpack",
        "There are more parts than names for them. If they come from `split`: a number is the size "
        "of every part, a list gives the sizes one by one. Which of the two did you mean?",
    ),
    (
        "grad_is_none",
        "NoneType",
        "Something here is None: perhaps a `.grad` that no backward has filled, or a value that a "
        "node did not save. If it is a `.grad`: is its tensor a leaf, did backward run before this "
        "line, and from what depends on it?",
    ),
    (
        "gradient_shape",
        "Mismatch in shape",
        "Each tensor that you go back from has a vector of its own, in its own shape: one weight "
        "for each output. Nothing is broadcast there. Which shapes does the error name?",
    ),
    (
        "gradient_shape",
        "interpret the first dimension of each grad_output",
        "A batch of vectors has one dimension more than the output, and it comes first. "
        "Is what you sent a batch, and does it lie the right way round?",
    ),
    (
        "number_for_v",
        "'float' object is not iterable",
        "Where backward takes a weight, it takes a tensor, even if it is a single number. "
        "What makes a tensor of one?",
    ),
    (
        "number_for_v",
        "gradients can be either Tensors or None",
        "Where backward takes a weight, it takes a tensor, even if it is a single number. "
        "What makes a tensor of one?",
    ),
    (
        "grad_of_wrong_shape",
        "attempting to assign a gradient of size",
        "`.grad` of a leaf has the leaf's own shape. "
        "Does this gradient belong to that leaf, and is it one gradient or many?",
    ),
    (
        "input_not_tracked",
        "One of the differentiated Tensors does not require grad",
        "You ask for the gradient at a tensor that nobody watches. "
        "Who should watch it, before the forward pass?",
    ),
    (
        "product_vector_shape",
        "v has invalid size",
        "A VJP takes a weight for each output, a JVP a step for each input. "
        "Which of the two did you call, and which shape does its vector have?",
    ),
    (
        "product_without_vector",
        "vector v can only be None",
        "Nothing stands in for a missing vector unless there is one number only. "
        "Which vector should the product be with?",
    ),
    (
        "tangent_shape",
        "set a forward gradient that has a different size",
        "A tangent is a step of the inputs, so it has the input's shape. "
        "What shape did yours have, and which side of J does that belong to?",
    ),
    (
        "jvp_needs_tuples",
        "Expected primals",
        "`jvp` takes the inputs as a tuple, and a tangent for each in a tuple as well. "
        "How do you write a tuple of one?",
    ),
    (
        "dual_without_level",
        "no level exists",
        "A dual tensor lives inside a dual level and nowhere else. Which `with` opens one?",
    ),
    (
        "not_a_scalar_function",
        "should contain a single element",
        "A Hessian belongs to a function that gives one number, and this one gives several. "
        "Which function did you hand over?",
    ),
    (
        "not_a_scalar_function",
        "to return a scalar Tensor",
        "`torch.func.grad` wants a function that gives one number, and this one gives several. "
        "Do you want a VJP or a Jacobian, or is a sum missing?",
    ),
    (
        "backward_in_transform",
        "called inside a functorch transform",
        "A transform of `torch.func` differentiates from outside, and nothing may go backward "
        "inside it. What should the function return in place of calling backward?",
    ),
    (
        "changed_captured_tensor",
        "mutate a captured Tensor",
        "A function that is transformed may not change what it did not get as an argument. "
        "How could it return that value?",
    ),
    (
        "escaped_tensor",
        "may have escaped from inside a function being vmapped",
        "A tensor from inside `vmap` stands for the whole batch and ends with it. "
        "How does a value leave a function without a side effect?",
    ),
    (
        "escaped_tensor",
        "maybe_level.has_value()",
        "A tensor from inside `vmap` stands for the whole batch and ends with it. "
        "How does a value leave a function without a side effect?",
    ),
    (
        "item_in_vmap",
        "calling .item() on a Tensor",
        "Inside `vmap` there is one tensor for all samples, so there is no number to take out. "
        "Can the value stay a tensor?",
    ),
    (
        "mapped_sizes_differ",
        "same size in the mapped dimension",
        "`vmap` takes every argument apart along its first dimension, shared ones too. "
        "Which arguments have a sample for each call, and how do you say so?",
    ),
    (
        "unbatched_buffer",
        "`self` not being vmapped",
        "A tensor that was made inside `vmap` has room for one sample, and is to hold all of them. "
        "Can it be made from the sample, or can you return the values without it?",
    ),
    (
        "random_in_vmap",
        "random operation while in randomness error mode",
        "`vmap` will not guess whether each call draws numbers of its own. "
        "How do you tell it, or can you draw outside?",
    ),
    (
        "vmap_returns_tensors",
        "must only return Tensors",
        "A function under `vmap` gives back tensors, so that they can be stacked. "
        "What did yours return?",
    ),
    (
        "inference_tensor",
        "Inference tensors cannot be saved",
        "What was made in inference mode has no version counter, so backward may not keep it. "
        "Which milder mode records nothing, and still makes ordinary tensors?",
    ),
    (
        "inference_tensor",
        "nference tensor outside InferenceMode",
        "A tensor that was made in inference mode stays what it is outside. "
        "What makes an ordinary tensor with the same numbers?",
    ),
    (
        "no_grad_without_parentheses",
        "'type' object does not support the context manager protocol",
        "After `with` stands a class, not an object of it. Which two characters are missing?",
    ),
    (
        "detached_view",
        "Can't detach views in-place",
        "A view cannot leave the graph while its base stays in it. "
        "Which method gives a detached tensor and changes nothing?",
    ),
    (
        "edited_one_of_many_views",
        "is a view and is being modified inplace",
        "A loop over a tensor, `unbind`, `split` and `chunk` give several views at once, and those "
        "may not be written to. Can the whole be changed, or an indexed part of it?",
    ),
    (
        "out_argument",
        "functions with out=... arguments",
        "A result that is written into a given tensor cannot be recorded. "
        "What does the same function return without `out`?",
    ),
    (
        "averaged_whole_numbers",
        "can't be cast to the desired output type",
        "Whole numbers cannot take a fraction: a counter, for example, is no average. "
        "Which tensor is it, and should it be computed with or copied?",
    ),
    (
        "joined_unlike_shapes",
        "must have same number of dimensions",
        "`cat` joins tensors that differ in one dimension at most, and each gradient has the shape "
        "of its own tensor. Which dimensions do yours share, and what could become of the rest?",
    ),
    (
        "joined_unlike_shapes",
        "stack expects each tensor to be equal size",
        "`stack` lays tensors of one shape together, and each gradient has the shape of its own "
        "tensor. What would you have to do to each before they can meet?",
    ),
    (
        "reshaped_for_sum",
        "is invalid for input of size",
        "`reshape` and `view` lay the same entries out anew; they add nothing up and add none. "
        "(`sum` over an empty list of dimensions adds up *all* of them.) "
        "How many entries were there at this line, and how many did you expect?",
    ),
    (
        "no_such_dimension",
        "Dimension out of range",
        "The tensor has no dimension of this number here. "
        "(After `sum` over an empty list of dimensions, it has none at all.) "
        "Which shape has it at this line?",
    ),
)
