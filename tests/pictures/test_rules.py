"""Rules against torch: real names, true formulas, and never an equation that does not hold."""

import math
import re
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from utils.graph.data import Edge, GradChange, Graph, Node, Saved, Step, Value
from utils.graph.record import record
from utils.graph.structure import follow
from utils.graph.values import value_of
from utils.graph.walk import describe
from utils.pictures.numbers import number
from utils.pictures.rules import LAWS, rule


def r(*shape):
    """A leaf of random numbers, both signs, none near 0 and no two alike."""
    t = torch.rand(*shape, dtype=torch.float64) + 0.5
    return (t * torch.sign(torch.randn_like(t))).requires_grad_()


def p(*shape):
    """A leaf of positive random numbers."""
    return (torch.rand(*shape, dtype=torch.float64) + 0.5).requires_grad_()


def row(n):
    """Three row numbers below n, one of them twice."""
    i = int(torch.randint(0, n, ()))
    return torch.tensor([i, (i + 1) % n, i])


def bool_(*shape):
    return torch.rand(*shape) > 0.5


def unit(*shape):
    return torch.randint(0, 2, shape).double()


def hooked():
    layer = torch.nn.Linear(3, 2).double()
    layer.register_full_backward_hook(lambda *_: None)
    return layer(r(2, 3))


def copied():
    base = r(2, 3).clone()
    base[0].mul_(3)
    return base


# What makes a node of each name, inputs drawn anew at each call; `a` and `b` are sizes.
CASES = {
    "AddBackward0": lambda a, b: torch.add(r(a, b), r(b), alpha=2),
    "SubBackward0": lambda a, b: torch.sub(r(a, 1), r(a, b), alpha=3),
    "RsubBackward1": lambda a, b: 1 - r(a, b),
    "MulBackward0": lambda a, b: r(a, b) * r(a, 1),
    "DivBackward0": lambda a, b: r(b) / r(a, b),
    "AddcmulBackward0": lambda a, b: torch.addcmul(r(a, b), r(b), r(a, 1), value=2),
    "LerpBackward0": lambda a, b: torch.lerp(r(a, b), r(a, b), 0.25),
    "NegBackward0": lambda a, b: -r(a, b),
    "PowBackward0": lambda a, b: r(a, b) ** 3,
    "PowBackward1": lambda a, b: p(a, b) ** r(b),
    "PowBackward2": lambda a, b: 2 ** r(a, b),
    "ReciprocalBackward0": lambda a, b: r(a, b).reciprocal(),
    "ExpBackward0": lambda a, b: r(a, b).exp(),
    "Expm1Backward0": lambda a, b: r(a, b).expm1(),
    "LogBackward0": lambda a, b: p(a, b).log(),
    "Log2Backward0": lambda a, b: p(a, b).log2(),
    "Log10Backward0": lambda a, b: p(a, b).log10(),
    "Log1PBackward0": lambda a, b: p(a, b).log1p(),
    "SqrtBackward0": lambda a, b: p(a, b).sqrt(),
    "RsqrtBackward0": lambda a, b: p(a, b).rsqrt(),
    "SinBackward0": lambda a, b: r(a, b).sin(),
    "CosBackward0": lambda a, b: r(a, b).cos(),
    "TanBackward0": lambda a, b: (p(a, b) / 2).tan(),
    "AtanBackward0": lambda a, b: r(a, b).atan(),
    "SinhBackward0": lambda a, b: r(a, b).sinh(),
    "CoshBackward0": lambda a, b: r(a, b).cosh(),
    "ErfBackward0": lambda a, b: r(a, b).erf(),
    "TanhBackward0": lambda a, b: r(a, b).tanh(),
    "SigmoidBackward0": lambda a, b: r(a, b).sigmoid(),
    "LogSigmoidBackward0": lambda a, b: F.logsigmoid(r(a, b)),
    "SoftplusBackward0": lambda a, b: F.softplus(r(a, b), beta=2),
    "SiluBackward0": lambda a, b: F.silu(r(a, b)),
    "GeluBackward0": lambda a, b: F.gelu(r(a, b)),
    "ReluBackward0": lambda a, b: r(a, b).relu(),
    "LeakyReluBackward0": lambda a, b: F.leaky_relu(r(a, b), 0.1),
    "EluBackward0": lambda a, b: F.elu(r(a, b), alpha=0.5),
    "HardtanhBackward0": lambda a, b: F.relu6(r(a, b)),
    "ClampBackward1": lambda a, b: r(a, b).clamp(-1, 1),
    "AbsBackward0": lambda a, b: r(a, b).abs(),
    "MaximumBackward0": lambda a, b: torch.maximum(r(a, b), r(b)),
    "MinimumBackward0": lambda a, b: torch.minimum(r(a, b), r(a, b)),
    "WhereBackward0": lambda a, b: torch.where(bool_(a, b), r(a, b), r(b)),
    "MaskedFillBackward0": lambda a, b: r(a, b).masked_fill(bool_(a, b), 0.0),
    "CloneBackward0": lambda a, b: r(a, b).clone(),
    "AliasBackward0": lambda a, b: torch.ops.aten.alias(r(a, b)),
    "ToCopyBackward0": lambda a, b: r(a, b).float(),
    "ZeroBackward0": lambda a, b: r(a, b).clone().zero_(),
    "SignBackward0": lambda a, b: r(a, b).sign(),
    "RoundBackward0": lambda a, b: r(a, b).round(),
    "FloorBackward0": lambda a, b: r(a, b).floor(),
    "CeilBackward0": lambda a, b: r(a, b).ceil(),
    "TruncBackward0": lambda a, b: r(a, b).trunc(),
    "SumBackward0": lambda a, b: r(a, b).sum(),
    "SumBackward1": lambda a, b: r(a, b).sum(-1),
    "MeanBackward0": lambda a, b: r(a, b).mean(),
    "MeanBackward1": lambda a, b: r(a, b).mean(0, keepdim=True),
    "ProdBackward0": lambda a, b: r(a, b).prod(),
    "ProdBackward1": lambda a, b: r(a, b).prod(1),
    "VarBackward0": lambda a, b: r(a + 1, b).var(0),
    "StdBackward0": lambda a, b: r(a, b + 1).std(-1, keepdim=True),
    "LinalgVectorNormBackward0": lambda a, b: r(a, b).norm(dim=1),
    "LogsumexpBackward0": lambda a, b: r(a, b).logsumexp(1),
    "MaxBackward0": lambda a, b: r(a, b).max(1).values,
    "MaxBackward1": lambda a, b: r(a, b).max(),
    "MinBackward0": lambda a, b: r(a, b).min(0, keepdim=True).values,
    "MinBackward1": lambda a, b: r(a, b).min(),
    "AmaxBackward0": lambda a, b: r(a, b).round().amax(1),
    "AminBackward0": lambda a, b: r(a, b).round().amin((0, 1)),
    "SortBackward0": lambda a, b: r(a, b).sort(0).values,
    "TopkBackward0": lambda a, b: r(a, b + 1).topk(2).values,
    "CumsumBackward0": lambda a, b: r(a, b).cumsum(1),
    "MmBackward0": lambda a, b: r(a, 2) @ r(2, b),
    "BmmBackward0": lambda a, b: torch.bmm(r(2, 1, a), r(2, a, 1)),
    "AddmmBackward0": lambda a, b: F.linear(r(a, 3), r(b, 3), r(b)),
    "BaddbmmBackward0": lambda a, b: (
        torch.baddbmm(r(1, 1), r(2, 1, a), r(2, a, 2), alpha=2)
        if a < 3
        else torch.baddbmm(r(1), r(2, 2, 1), r(2, 1, 2))
    ),
    "MvBackward0": lambda a, b: r(a, b) @ r(b),
    "DotBackward0": lambda a, b: r(b) @ r(b),
    "ViewBackward0": lambda a, b: r(a, b).view(b, a),
    "UnsafeViewBackward0": lambda a, b: r(a + 1, 2).T.reshape(-1),
    "ReshapeAliasBackward0": lambda a, b: torch.ops.aten._reshape_alias(r(a, b), (b, a), (a, 1)),
    "SqueezeBackward0": lambda a, b: r(1, b).squeeze(),
    "SqueezeBackward1": lambda a, b: r(1, b).squeeze(0),
    "SqueezeBackward2": lambda a, b: r(1, b, 1).squeeze((0, 2)),
    "UnsqueezeBackward0": lambda a, b: r(a, b).unsqueeze(-1),
    "TBackward0": lambda a, b: r(a, b).t(),
    "TransposeBackward0": lambda a, b: r(1, a, b).mT,
    "PermuteBackward0": lambda a, b: r(1, a, b).permute(2, 0, -2),
    "FlipBackward0": lambda a, b: r(a, b).flip(0),
    "ExpandBackward0": lambda a, b: r(b, 1).expand(2, b, 1) if a < 3 else r(1).expand(a),
    "RepeatBackward0": lambda a, b: r(b).repeat(2, 1),
    "SelectBackward0": lambda a, b: r(a, b)[:, -1],
    "SliceBackward0": lambda a, b: r(a, b)[:, 1::2],
    "IndexBackward0": lambda a, b: r(a, b)[row(a)],
    "IndexSelectBackward0": lambda a, b: r(a, b).index_select(1, row(b)),
    "GatherBackward0": lambda a, b: r(a, b).gather(1, torch.zeros(a, 2, dtype=torch.int64)),
    "CatBackward0": lambda a, b: torch.cat([r(a, b), r(a, 1)], -1),
    "StackBackward0": lambda a, b: torch.stack([r(b), r(b)], 1),
    "UnbindBackward0": lambda a, b: r(a, b).unbind(1)[0],
    "SplitBackward0": lambda a, b: r(a, b).split(1)[-1],
    "SplitWithSizesBackward0": lambda a, b: r(a, b).split([1, b - 1], 1)[1],
    "AsStridedBackward0": lambda a, b: r(a, b).as_strided((2,), (1,)),
    "SoftmaxBackward0": lambda a, b: r(a, b).softmax(1),
    "LogSoftmaxBackward0": lambda a, b: r(a, b).log_softmax(-1),
    "NllLossBackward0": lambda a, b: F.cross_entropy(r(a, b), torch.arange(a) % b),
    "MseLossBackward0": lambda a, b: F.mse_loss(r(a, b), r(a, b)),
    "BinaryCrossEntropyBackward0": lambda a, b: F.binary_cross_entropy(p(a, b) / 2, unit(a, b)),
    "BinaryCrossEntropyWithLogitsBackward0": lambda a, b: F.binary_cross_entropy_with_logits(
        r(a, b), unit(a, b), reduction="sum"
    ),
    "NativeLayerNormBackward0": lambda a, b: F.layer_norm(r(a, b), (b,), r(b), r(b)),
    "NativeGroupNormBackward0": lambda a, b: F.group_norm(r(1, 4, 2), 2, r(4), r(4)),
    "NativeBatchNormBackward0": lambda a, b: F.batch_norm(
        r(a + 1, b), None, None, r(b), r(b), training=True
    ),
    "ConvolutionBackward0": lambda a, b: F.conv1d(r(1, 1, 5), r(1, 1, 3), r(1)),
    "MaxPool2DWithIndicesBackward0": lambda a, b: F.max_pool2d(r(1, 1, 4, 4), 2),
    "AvgPool2DBackward0": lambda a, b: F.avg_pool2d(r(1, 1, 4, 4), 2),
    "EmbeddingBackward0": lambda a, b: F.embedding(row(a), r(a, b)),
    "ScaledDotProductFlashAttentionForCpuBackward0": lambda a, b: F.scaled_dot_product_attention(
        r(1, 1, 2, 4), r(1, 1, 2, 4), r(1, 1, 2, 4)
    ),
    "CopySlices": lambda a, b: copied(),
    "BackwardHookFunctionBackward": lambda a, b: hooked(),
    "CheckpointFunctionBackward": lambda a, b: checkpoint(torch.sin, r(a, b), use_reentrant=True),
}

# Their rules are words and formulas only: too much arithmetic for a sentence.
ONLY_TO_READ = {
    "AsStridedBackward0",
    "NativeLayerNormBackward0",
    "NativeGroupNormBackward0",
    "NativeBatchNormBackward0",
    "ConvolutionBackward0",
    "MaxPool2DWithIndicesBackward0",
    "AvgPool2DBackward0",
    "ScaledDotProductFlashAttentionForCpuBackward0",
    "CopySlices",
    "BackwardHookFunctionBackward",
    "CheckpointFunctionBackward",
}


def backward(root, vector=None, names=None):
    """The graph behind `root` and, from one real backward, each node's step by its index."""
    live = follow(root)
    graph = describe(live, {})
    owners = {id(t.grad_fn or t): name for name, t in (names or {}).items()}
    nodes = [
        replace(node, variable=owners.get(id(getattr(its, "variable", its)), ""))
        for node, its in zip(graph.nodes, live.nodes, strict=True)
    ]
    graph = replace(graph, nodes=tuple(nodes))
    steps = {}

    def note(index):
        def hook(sent, arrived):
            values = lambda ts: tuple(None if t is None else value_of(t.detach()) for t in ts)  # noqa: E731
            steps[index] = Step(index, values(arrived), values(sent))

        return hook

    handles = [node.register_hook(note(i)) for i, node in enumerate(live.nodes)]
    root.backward(torch.ones_like(root) if vector is None else vector)
    for handle in handles:
        handle.remove()
    return graph, steps


def found(name, seed):
    """(node, its step, graph) of the first node called `name` in its case."""
    torch.manual_seed(seed)
    root = CASES[name](*[(2, 3), (3, 2), (2, 2), (1, 3)][seed % 4])
    graph, steps = backward(root, torch.randn_like(root))
    node = next((n for n in graph.nodes if n.name == name), None)
    assert node is not None, f"torch {torch.__version__} has no {name} here: {graph.nodes}"
    return node, steps[node.index], graph


def equations(numbers):
    """The lines that claim something, without their labels."""
    lines = [re.sub(r"^∂/∂[^:]*: ", "", line) for line in numbers.splitlines()]
    return [line for line in lines if not line.startswith(("in ", "too many"))]


def test_every_rule_has_a_case():
    assert set(CASES) == set(LAWS)


@pytest.mark.parametrize("name", LAWS)
def test_the_name_is_torchs_own_and_its_words_are_sentences(name):
    node, step, graph = found(name, 0)
    said = rule(node, step, graph)
    assert said.words[0].isupper()
    assert said.words.endswith(".")
    assert rule(node, None, graph) == replace(said, numbers="")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [name for name in LAWS if name not in ONLY_TO_READ])
def test_the_rule_explains_what_torch_sent(name, seed):
    node, step, graph = found(name, seed)
    said = rule(node, step, graph)
    inputs = {edge.input for edge in graph.edges_from(node.index) if edge.target is not None}
    assert said.formula.count("∂/∂") >= 1
    assert len(equations(said.numbers)) == len(said.numbers.splitlines()) <= len(inputs), said
    assert said.numbers, said


FUNCTIONS = {
    name: getattr(torch, name)
    for name in ("exp", "log", "sin", "cos", "sinh", "cosh", "sign", "outer")
} | {
    "log": lambda t: torch.log(torch.as_tensor(t, dtype=torch.float64)),
    "σ": torch.sigmoid,
    "Φ": lambda t: (1 + torch.erf(t / math.sqrt(2))) / 2,
    "φ": lambda t: torch.exp(-t * t / 2) / math.sqrt(2 * math.pi),
    "sum": lambda t: t,
    "nan": math.nan,
    "inf": math.inf,
}


def evaluate(text, dims, shape):
    """A shown formula, worked out by torch from the text alone."""
    text = re.sub(r"(-?[\d.e+-]+) ×\d+", r"(\1)", text)
    # An array starts after no bracket and no comma of a longer one, and ends likewise.
    inner = r"\[[^\[\]]*\]"
    for _ in range(3):
        inner = rf"(?:\[{inner}(?:, {inner})*\]|\[[^\[\]]*\])"
    text = re.sub(inner, lambda m: f"t({m.group()})", text)
    for sign, python in (("·", "*"), ("²", "**2"), ("^", "**"), ("ᵀ", ".mT")):
        text = text.replace(sign, python)

    def t(entries):
        return torch.tensor(entries, dtype=torch.float64)

    def spread(a):
        a = torch.as_tensor(a, dtype=torch.float64)
        kept = [1 if d in dims else n for d, n in enumerate(shape)]
        return (a if a.numel() == 1 else a.reshape(kept)).expand(shape)

    def mean(a):
        return a.mean(dims, keepdim=True)

    def reshape(a):
        return a.reshape(shape)

    names = FUNCTIONS | {"t": t, "expand": spread, "mean": mean, "reshape": reshape}
    return torch.as_tensor(eval(text, names), dtype=torch.float64)


# Formulas of operators and functions alone, which `evaluate` can read; the others use words.
SHOWN = [
    name
    for name in LAWS
    if re.fullmatch(
        "(Add|Sub|Rsub|Mul|Div|Neg|Addcmul|Lerp|Pow|Reciprocal|Exp|Expm1|Log|Log2|Log10|Log1P|Sqrt|"
        "Rsqrt|Sin|Cos|Tan|Atan|Sinh|Cosh|Erf|Tanh|Sigmoid|LogSigmoid|Softplus|Silu|Gelu|Abs|Sum|"
        "Mean|Prod|Var|Std|LinalgVectorNorm|Logsumexp|Mm|Mv|Dot|Bmm|View|T|MseLoss|"
        "BinaryCrossEntropy|BinaryCrossEntropyWithLogits)Backward[0-2]",
        name,
    )
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_is_true_as_it_reads(name, seed):
    """Brackets, signs and order are in the text itself: work the text out and compare."""
    node, step, graph = found(name, seed)
    said = equations(rule(node, step, graph).numbers)
    for line, k in zip(said, [k for k, s in enumerate(step.sent) if s], strict=False):
        if line.startswith("sends "):
            continue
        left, right = line.rsplit(" = ", 1)
        edge = graph.edges_from(node.index)[k]
        shape = graph.nodes[edge.target].outputs[edge.slot].shape
        dim = node.facts.get("dim")
        dims = [dim] if isinstance(dim, int) else list(dim or range(len(shape)))
        dims = [d % len(shape) for d in dims]
        got = evaluate(left, dims, shape)
        want = evaluate(right, dims, shape)
        if left.startswith("sum("):
            got = got.expand(node.outputs[0].shape).sum_to_size(shape)
        room = 2e-2 * float(want.abs().max())
        torch.testing.assert_close(got.expand(shape), want.expand(shape), rtol=2e-2, atol=room)


def bent(value, by=1.01):
    """The same value with every entry, 0 too, a little off."""
    return replace(value, entries=tuple(e * by + 1e-3 for e in value.entries))


@pytest.mark.parametrize("name", LAWS)
def test_no_equation_when_torch_sent_something_else(name):
    """As after a hook that changed the gradient."""
    node, step, graph = found(name, 1)
    sent = tuple(None if value is None else bent(value) for value in step.sent)
    assert equations(rule(node, replace(step, sent=sent), graph).numbers) == []


@pytest.mark.parametrize(
    "name",
    [
        "MulBackward0", "DivBackward0", "PowBackward0", "PowBackward1", "ExpBackward0",
        "LogBackward0", "SqrtBackward0", "SinBackward0", "TanhBackward0", "SigmoidBackward0",
        "GeluBackward0", "MmBackward0", "BmmBackward0", "MvBackward0", "DotBackward0",
        "SoftmaxBackward0", "LogSoftmaxBackward0", "MseLossBackward0", "StdBackward0",
        "LinalgVectorNormBackward0", "ProdBackward1",
    ],
)  # fmt: skip
def test_no_equation_from_saved_numbers_that_are_not_the_ones_used(name):
    node, step, graph = found(name, 1)
    saved = tuple(
        replace(s, value=bent(s.value, 1.1)) if s.value and s.name != "exponent" else s
        for s in node.saved
    )
    assert equations(rule(node, step, graph).numbers)
    assert equations(rule(replace(node, saved=saved), step, graph).numbers) == []


@pytest.mark.parametrize("state", ["packed", "overwritten", "freed", "none", "unknown"])
def test_a_saved_tensor_that_is_not_held_gives_no_equation(state):
    node, step, graph = found("MulBackward0", 0)
    saved = tuple(replace(s, state=state) for s in node.saved)
    said = rule(replace(node, saved=saved), step, graph)
    assert equations(said.numbers) == []
    assert said.numbers.startswith("∂/∂self: in ")


def named(**variables):
    return variables


def test_the_learners_names_and_the_known_numbers():
    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    y = x + 2
    z = y * y
    q = z * 3
    o = q.mean()
    graph, steps = backward(o, names=named(x=x, y=y, z=z, q=q, o=o))
    said = {
        node.name + (node.variable and f" {node.variable}"): rule(node, steps[node.index], graph)
        for node in graph.nodes
    }
    assert said["MeanBackward0 o"].formula == "∂/∂q: expand(g) / 4"
    assert said["MeanBackward0 o"].numbers == "expand(1) / 4 = 0.25 ×4"
    assert said["MulBackward0 q"].formula == "∂/∂z: g · 3"
    assert said["MulBackward0 q"].numbers == "0.25 ×4 · 3 = 0.75 ×4"
    assert said["MulBackward0 z"].formula == "∂/∂y: g · y"
    assert said["MulBackward0 z"].numbers == "0.75 ×4 · 3 ×4 = 2.25 ×4"
    assert said["AddBackward0 y"].formula == "∂/∂x: g"
    assert said["AddBackward0 y"].numbers == "sends 4.5 ×4 on"
    assert said["AccumulateGrad x"].formula == "x.grad += g"


def test_unlike_factors_get_a_line_each():
    w, v = r(2), r(2)
    graph, steps = backward(w * v, names=named(w=w, v=v))
    said = rule(graph.nodes[0], steps[0], graph)
    assert said.formula.splitlines() == ["∂/∂w: g · v", "∂/∂v: g · w"]
    assert [line.split(":")[0] for line in said.numbers.splitlines()] == ["∂/∂w", "∂/∂v"]


def test_the_same_tensor_with_two_different_parts():
    x = r(2)
    graph, steps = backward(x / x, names=named(x=x))
    said = rule(graph.nodes[0], steps[0], graph)
    assert said.formula.splitlines() == ["∂/∂x (input 1): g / x", "∂/∂x (input 2): -g · x / x²"]


def test_a_linear_layers_weight_is_named_through_its_transpose():
    x, weight, bias = r(2, 3), r(2, 3), r(2)
    y = F.linear(x, weight, bias)
    graph, _ = backward(y, names=named(x=x, weight=weight, bias=bias, y=y))
    said = rule(graph.nodes[0], None, graph)
    assert said.formula.splitlines() == [
        "∂/∂bias: sum(g)",
        "∂/∂x: g @ weight",
        "∂/∂weightᵀ: xᵀ @ g",
    ]
    assert said.words.endswith("For bias it is summed over the broadcast dimensions.")


def test_a_learners_g_is_not_the_upstream_gradient():
    g, h = r(2), r(2)
    graph, _ = backward(g * h, names=named(g=g, h=h))
    assert rule(graph.nodes[0], None, graph).formula.splitlines()[0] == "∂/∂g: upstream · h"


@pytest.mark.parametrize("scalar", [(), (1,)])
def test_scalars(scalar):
    x = torch.full(scalar, 3.0, requires_grad=True)
    graph, steps = backward(x**2)
    said = rule(graph.nodes[0], steps[0], graph)
    assert equations(said.numbers) == (
        ["1 · 2 · 3 = 6"] if scalar == () else ["[1] · 2 · [3] = [6]"]
    )


def test_power_zero_and_one():
    x = r(2)
    graph, steps = backward(x**0)
    assert rule(graph.nodes[0], steps[0], graph).formula == "∂/∂self: 0 · g"
    graph, steps = backward(x**1)
    assert equations(rule(graph.nodes[0], steps[0], graph).numbers)


@pytest.mark.parametrize(
    "op",
    [
        *(torch.exp, torch.log, torch.sqrt, torch.abs, torch.relu, torch.prod, torch.std),
        *(torch.amax, torch.sigmoid, torch.reciprocal, torch.norm, F.gelu, F.silu),
    ],
)
def test_ties_nan_and_infinity_do_not_lie(op):
    for values in ([0.0, -0.0], [math.nan, 1.0], [math.inf, -math.inf], [1e300, 1e-300]):
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        graph, steps = backward(op(x))
        said = rule(graph.nodes[0], steps[0], graph)
        sent = steps[0].sent[0].entries
        for line in equations(said.numbers):  # what is said to have been sent was sent
            right = line.rsplit(" = ", 1)[-1]
            assert all(number(entry) in right for entry in sent)


def test_complex_factors_show_no_formula_that_forgets_the_conjugate():
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    graph, steps = backward(z * z, torch.tensor([1j, 1.0]))
    said = rule(graph.nodes[0], steps[0], graph)
    assert said.formula == ""
    assert said.words.endswith("Complex factors are conjugated.")
    assert equations(said.numbers) == []


def test_single_precision_rounds_but_still_agrees():
    torch.manual_seed(0)
    for _ in range(20):
        x, w = torch.randn(2, 3, requires_grad=True), torch.randn(3, 2, requires_grad=True)
        graph, steps = backward((x @ w).tanh().sum())
        for node in graph.nodes[:-2]:
            assert equations(rule(node, steps[node.index], graph).numbers)


def test_big_arrays_show_no_numbers():
    graph, steps = backward(r(5, 7) * r(5, 7), torch.randn(5, 7, dtype=torch.float64))
    assert rule(graph.nodes[0], steps[0], graph).numbers == ""


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return None


def test_a_custom_function_decides_for_itself():
    graph, steps = backward(Double.apply(r(2)), torch.tensor([1.0, 2.0]).double())
    said = rule(graph.nodes[0], steps[0], graph)
    assert said.words == "An autograd.Function: its own backward decides what is sent."
    assert (said.formula, said.numbers) == ("", "in [1, 2], out none")


def test_any_other_operation_gets_a_truthful_sentence():
    graph, steps = backward(torch.linalg.det(r(2, 2)))
    said = rule(graph.nodes[0], steps[0], graph)
    assert said.words.startswith("LinalgDetBackward0 turns what arrived")
    assert said.numbers.startswith("in 1, out [[")


def v(*entries):
    return Value((len(entries),), "float32", entries, 1.0)


@pytest.mark.parametrize(
    ("before", "arrived", "after", "numbers"),
    [
        (None, v(1.0, 2.0), v(1.0, 2.0), "none → [1, 2]"),
        (v(1.0, 1.0), v(1.0, 2.0), v(2.0, 3.0), "1 ×2 + [1, 2] = [2, 3]"),
        (v(1.0, 1.0), v(1.0, 2.0), v(9.0, 9.0), "1 ×2 → 9 ×2"),  # a hook had its way
    ],
)
def test_a_leaf_adds(before, arrived, after, numbers):
    leaf = Node(0, "AccumulateGrad", "leaf", (v(5.0, 6.0),), variable="x")
    graph = Graph((leaf,), (), ())
    said = rule(leaf, Step(0, (arrived,), (), GradChange(0, "x", before, after)), graph)
    assert said.words.startswith("A leaf keeps what arrives: it is added to .grad.")
    assert (said.formula, said.numbers) == ("x.grad += g", numbers)


def test_facts_that_make_no_sense_still_give_words():
    leaf = Node(1, "AccumulateGrad", "leaf", (Value(None, "float32"),))
    for facts in ({}, {"dim": "[0, oops"}, {"dim": 7}, {"exponent": "two"}, {"dim": (None,)}):
        for name in LAWS:
            node = Node(0, name, "op", (Value(None, "float32"),), (Saved("self", "held"),), facts)
            graph = Graph((node, leaf), (Edge(0, 0, 1, 0),), ())
            said = rule(node, Step(0, (v(1.0),), (v(2.0),)), graph)
            assert said.words
            assert equations(said.numbers) == []


def test_a_recorded_backward_reads_as_the_chain_rule():
    x = torch.ones(2, 2, requires_grad=True)
    y = x + 2
    o = (y * y * 3).mean()
    tape = record(o, names={"x": x, "y": y, "o": o})
    numbers = [rule(tape.graph.nodes[s.node], s, tape.graph).numbers for s in tape.steps]
    assert numbers == [
        "expand(1) / 4 = 0.25 ×4",
        "0.25 ×4 · 3 = 0.75 ×4",
        "0.75 ×4 · 3 ×4 = 2.25 ×4",
        "sends 4.5 ×4 on",
        "none → 4.5 ×4",
    ]
