"""The two halves of an engine: the order of the nodes, and the rule of each."""

from __future__ import annotations

from collections import Counter

import torch

from utils.checks.compare import compare
from utils.checks.exercise import Case, Exercise, Seen
from utils.checks.graph_observers import build, graph_nodes
from utils.checks.lesson_02.common import LESSON, nothing_came, numbers, whole
from utils.checks.lesson_02.slips import rule_slips, sent
from utils.checks.verdict import RIGHT, Verdict, not_yet, right


def _order_cases(rng: torch.Generator) -> list[Case]:
    inputs = {"x": numbers(rng, 3), "w": numbers(rng, 3)}
    given = (
        "a = x * w\nb = a.exp()\nc = a * b\nd = c.sin()\ne = d * c\n"
        f"for _ in range({whole(rng, 1, 5)}):\n    e = e * w + a\ny = (e + w).sum()"
    )
    # A parallel pair and another user of the same node, whichever of them comes first.
    pairs = (
        "h = x.exp()\ny = (h.sin().cos() + h * h).sum()",
        "h = x.exp()\ny = (h * h + h.sin().cos()).sum()",
    )
    return [
        {"inputs": inputs, "leaves": ("x", "w"), "call": ("y",), "given": program}
        for program in (given, *pairs)
    ]


def _judge_order(case: Case, seen: Seen) -> Verdict:
    empty = nothing_came(seen, "run_order")
    if empty is not None:
        return empty
    nodes = graph_nodes(build(case)["y"])
    place = {node: index for index, node in enumerate(nodes)}
    edges = [(place[n], place[p]) for n in nodes for p, _ in n.next_functions if p is not None]
    leaves = {place[node] for node in nodes if not node.next_functions}
    items = seen["result"].get("items", ())
    if "items" not in seen["result"] or isinstance(items, dict):
        return not_yet("not_a_list", "`run_order` should return a list of nodes. What did it give?")
    if any(item["kind"] != "node" for item in items):
        return not_yet(
            "not_nodes",
            "`run_order` should return the nodes themselves, so that somebody can run them. "
            "What did you put in the list instead?",
        )
    order = [item["index"] for item in items]
    if len(set(order)) < len(order):
        return not_yet(
            "listed_twice",
            "A node stands in your order twice. It runs once, when all its gradients have come: "
            "what remembers that it has had its turn?",
        )
    if set(order) == set(place.values()) - leaves:
        return not_yet(
            "leaves_left_out",
            "Your order ends before the leaves. Their AccumulateGrad nodes run too: "
            "which edges lead there?",
        )
    if set(order) != set(place.values()):
        return not_yet(
            "nodes_missing",
            "Some nodes behind `root` are not in your order. For what are they still waiting?",
        )
    turn = {node: k for k, node in enumerate(order)}
    early = [(source, target) for source, target in edges if turn[source] > turn[target]]
    if not early:
        return right("Every node runs after all who send to it.")
    if len(early) == len(edges):
        return not_yet(
            "forward_order",
            "This is the order of the forward pass. On the way back, who has to wait for whom?",
        )
    if {target for _, target in early} <= leaves:
        return not_yet(
            "leaves_too_early",
            "A leaf comes before a node that still has a gradient for it. If you sort by "
            "`_sequence_nr`: which number does an AccumulateGrad have?",
        )
    double = {edge for edge, times in Counter(edges).items() if times > 1}
    if {target for _, target in early} <= {target for _, target in double}:
        return not_yet(
            "parallel_as_one",
            "A node to which two parallel edges lead comes before another one that still has a "
            "gradient for it. How often do you count such a pair, and how often do you cross it "
            "off?",
        )
    return not_yet(
        "too_early",
        "A node comes before another one that still has a gradient for it. "
        "How many edges lead to it, and how many senders have run by then?",
    )


RUN_ORDER = Exercise(
    id="run_order",
    title="Who may run when?",
    lesson=LESSON,
    points=3,
    minutes=12,
    difficulty=4,
    answer="run_order",
    observe="call_on_graph",
    cases=_order_cases,
    judge=_judge_order,
    hints=(
        "A node that is used twice gets two gradients. When is it ready?",
        "First walk the graph and count for each node how many edges lead to it. Then run the "
        "root, and cross off its edges.",
        "Each time a node runs, lower the count of each node it sends to; when a count comes to "
        "zero, that node is ready, and not before. Two parallel edges count twice.",
    ),
    symptom_hints={
        "too_early": "Do not add a node when you first see it: add it when the last edge that "
        "leads to it is crossed off.",
        "leaves_too_early": "All AccumulateGrad nodes have the same huge sequence number. Let "
        "them wait until the end, or count edges.",
    },
    names=("next_functions",),
)


_RULES = (
    "y = x + w",
    "y = x + c",
    "y = torch.add(w, x, alpha=3)",
    "y = x * w",
    "y = x * x",
    "y = x * c",
    "y = c * x",
    "y = x ** p",
    "y = x.exp()",
    "y = M.sum()",
)


def _rule_cases(rng: torch.Generator) -> list[Case]:
    return [
        {
            "inputs": {
                **{name: numbers(rng, 3) for name in ("x", "w", "c")},
                "M": numbers(rng, 2, 3),
                "p": whole(rng, 3, 6),
                "g": numbers(rng) if "sum" in given else numbers(rng, 3),
            },
            "leaves": ("x", "w", "M"),
            "call": ("y.grad_fn", "g"),
            "given": given,
            "watch": True,
            "expects": ("NoneType",),
        }
        for given in _RULES
    ]


def by_hand(seen: Seen, name: str) -> Verdict | None:
    """None unless torch did the work, or the answer stumbled over None."""
    if seen["ran"]:
        return not_yet(
            "ran_backward",
            f"`{name}` lets torch's engine run the nodes. Here you are the engine: "
            "which saved tensors do you need?",
        )
    if seen["inside"]:
        return not_yet(
            "called_the_node",
            f"`{name}` calls a node, so torch does the calculus. Write the rule with the node's "
            "saved tensors: what is the local derivative?",
        )
    if "next_functions" in seen["raised"] or "_input_metadata" in seen["raised"]:
        return not_yet(
            "none_edge",
            f"`{name}` goes on to a node that is None. An entry `(None, 0)` of `next_functions` "
            "stands for a constant and leads nowhere: where do you skip it?",
        )
    if seen["raised"]:
        return not_yet(
            "none_saved",
            f"`{name}` computes with None. A node saves only what some gradient needs, so next to "
            "a constant one `_saved_` is None: which edge leads nowhere?",
        )
    return None


def _judge_rule(case: Case, seen: Seen) -> Verdict:
    scope = build(case)
    node, g = scope["y"].grad_fn, scope["g"]
    name, edges = type(node).__name__, node.next_functions
    verdict = by_hand(seen, "local_rule") or nothing_came(seen, "local_rule", f" for {name}")
    if verdict is not None:
        return verdict
    want, alone = sent(node, g), sent(node, torch.ones_like(g))
    result = seen["result"]
    items = result["items"] if "items" in result and len(edges) != 0 else [result]
    if len(items) != len(edges):
        return not_yet(
            "one_per_edge",
            f"For {name} you return another number of gradients than the node has edges. "
            "What stands for an edge that leads nowhere?",
        )
    for k, (parent, _) in enumerate(edges):
        if parent is None:
            if items[k] == {"kind": "plain", "value": None}:
                continue
            return not_yet(
                "sent_to_nobody",
                f"For {name} beside a constant you return a gradient for the constant too. That "
                "edge leads to None, so nobody takes it: what stands in its place?",
            )
        verdict = compare(
            items[k],
            want[k],
            f"Gradient {k} of {name}",
            simulated={"forgot_upstream": alone[k], **rule_slips(node, g, k)},
            says={
                "alpha_lost": "{what} is what comes without `alpha`. `torch.add(a, b, alpha=3)` is "
                "a + 3 b: under which name did the node save the 3, and whose gradient grows?",
                "own_factor": "{what} has its own factor in it. In a product, which of the two "
                "factors is the derivative with respect to the other?",
                "power_not_lowered": "{what} has the exponent in front but the power is still the "
                "same. What happens to the exponent of `x ** p`?",
                "exponent_lost": "{what} has the power lowered, but something in front is "
                "missing. What comes down when you differentiate `x ** p`?",
                "exp_again": "{what} takes exp of what was saved. Is `_saved_result` the input "
                "of exp, or its output?",
                "not_spread": "{what} is still one number. Each entry that was summed gets it: "
                "which saved size says how many there are?",
            },
        )
        if verdict.outcome != RIGHT:
            return verdict
    return right()


LOCAL_RULE = Exercise(
    id="local_rule",
    title="What does one node send on?",
    lesson=LESSON,
    points=3,
    minutes=15,
    difficulty=4,
    answer="local_rule",
    observe="call_on_graph",
    cases=_rule_cases,
    judge=_judge_rule,
    hints=(
        "If you know the gradient of the node's output, what must it be multiplied by for each "
        "input?",
        "Ask `dir(node)` for its `_saved_` names. Mul saves `self` and `other`, Pow its input and "
        "exponent, Exp its result, Sum only the size of what it summed.",
        "One branch per name. For a product each factor gets g times the other; where an edge of "
        "`next_functions` leads to None, your entry is None, for every kind of node.",
    ),
    symptom_hints={
        "sent_to_nobody": "Look at `node.next_functions` before you return: zip it with your "
        "gradients, and put None where the parent is None.",
        "alpha_lost": "An Add has `_saved_alpha`; it is 1 unless somebody gave another one.",
        "exp_again": "The derivative of exp is exp itself, and that has been computed already.",
        "not_spread": "`_saved_self_sym_sizes` is the shape to expand to.",
    },
    names=("_saved_*", "grad_fn", "next_functions"),
)
