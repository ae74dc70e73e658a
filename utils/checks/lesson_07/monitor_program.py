"""The model and the program around it that a monitor of gradients is tried on."""

from __future__ import annotations

NET = """\
class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first = torch.nn.Linear(size, 3)
        self.block = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
        self.head = torch.nn.Linear(4, 1)
        self.unused = torch.nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return self.head(self.block(self.first(x).tanh()))


net = fill(Net(x.shape[1]).double(), seed)
net.first.bias.requires_grad_(False)
for parameter in [net.head.weight, net.block[0].bias]:
    parameter.grad = torch.full_like(parameter, 7.0)


def losses():
    out = net(x)
    return out.square().sum(), (3 * out).sum()
"""
PROGRAM = """\
import warnings

theirs = []
net.head.weight.register_hook(lambda g: theirs.append(1))
net.block.register_forward_hook(lambda *_: theirs.append(1))
before = hooks_on(net)
attributes = sorted(vars(net))
flow = answer(net)
early = hooks_on(net) - before
first, second = losses()
with answer(net) as flow:
    first.backward(retain_graph=True)
    with warnings.catch_warnings():  # it warns of a cycle, which is taken apart below
        warnings.simplefilter("ignore")
        second.backward(create_graph=True)
left = hooks_on(net) - before
new_attributes = sorted(set(vars(net)) - set(attributes))
gradients = {name: p.grad.detach() if p.grad is not None else None
             for name, p in net.named_parameters()}
flags = {name: p.requires_grad for name, p in net.named_parameters()}
norms = getattr(flow, "norms", None)
is_dict = isinstance(norms, dict)
lists = is_dict and all(isinstance(part, list | tuple) for part in norms.values())
numbers_only, graph_held, collected = False, False, {}
if lists:
    entries = [n for part in norms.values() for n in part]
    numbers_only = all(isinstance(n, int | float) or
                       (isinstance(n, torch.Tensor) and n.numel() == 1) for n in entries)
    graph_held = any(isinstance(n, torch.Tensor) and n.requires_grad for n in entries)
if numbers_only:
    collected = {str(name): [float(n) for n in part] for name, part in norms.items()}
for p in net.parameters():
    p.grad = None
theirs.clear()
losses()[0].backward()
theirs_ran = len(theirs)
after = sum(map(len, norms.values())) - sum(map(len, collected.values())) if numbers_only else 0


def fails():
    with answer(net) as flow:
        losses()[0].backward()
        raise KeyError("own error")


complaint = attempt(fails)
left_after_error = hooks_on(net) - before - left
"""
