"""The largest singular value of a network's Jacobian, right and wrong."""

from __future__ import annotations

import torch
from torch.autograd import functional, grad
from torch.func import jacfwd, jacrev, jvp, vjp

from tests.wrong_answers.lesson_04.products import watched


def forth(f, x, u):
    return jvp(f, (x,), (u,))[1].detach()


def back(f, x, v):
    return vjp(f, x)[1](v)[0].detach()


def iterate(f, x, tolerance, start=torch.randn_like, forth=forth, back=back, safe=True):
    """Power iteration with a stop that is tight enough."""
    u, stretch = start(x), torch.zeros((), dtype=x.dtype)
    for _ in range(100):
        u = u / u.norm()
        Ju = forth(f, x, u)
        before, stretch = stretch, Ju.norm()
        if safe and stretch == 0:
            break
        if abs(before - stretch) < tolerance * stretch / 10:
            break
        u = back(f, x, Ju)
    return stretch


def stretch_by_power(f, x, tolerance=1e-6):
    return iterate(f, x, tolerance)


def stretch_of_ones(f, x, tolerance):
    return iterate(f, x, tolerance, start=torch.ones_like)


def stretch_unsafe(f, x, tolerance):
    return iterate(f, x, tolerance, safe=False)


def stretch_with_j(f, x, tolerance):
    J = jacrev(f)(x).detach()
    return iterate(f, x, tolerance, forth=lambda f, x, u: J @ u, back=lambda f, x, v: J.T @ v)


def stretch_by_svd(f, x, tolerance):
    return torch.linalg.svdvals(functional.jacobian(f, x))[0]


def stretch_by_norm(f, x, tolerance):
    return torch.linalg.matrix_norm(jacfwd(f)(x), ord=2)


def stretch_squared(f, x, tolerance):
    return iterate(f, x, tolerance) ** 2


def stretch_eigenvalue(f, x, tolerance):
    """The Rayleigh quotient of J^T J, without a root."""
    u = torch.randn_like(x)
    for _ in range(60):
        w = back(f, x, forth(f, x, u))
        if not w.any():
            return w.sum()
        u = w / w.norm()
    return u @ back(f, x, forth(f, x, u))


def stretch_frobenius(f, x, tolerance):
    return jacrev(f)(x).norm()


def stretch_few_rounds(f, x, tolerance):
    u = torch.randn_like(x)
    for _ in range(2):
        u = back(f, x, forth(f, x, u / u.norm()))
    return forth(f, x, u / u.norm()).norm()


def stretch_random_direction(f, x, tolerance):
    u = torch.randn_like(x)
    return forth(f, x, u / u.norm()).norm()


def stretch_loose_stop(f, x, tolerance):
    return iterate(f, x, 0.05)


def stretch_absolute(f, x, tolerance):
    """Stops when the number changes by less than the tolerance, whatever its size."""
    u, stretch = torch.randn_like(x), torch.zeros((), dtype=x.dtype)
    for _ in range(100):
        Ju = forth(f, x, u / u.norm())
        before, stretch = stretch, Ju.norm()
        if abs(before - stretch) < tolerance / 10:
            break
        u = back(f, x, Ju)
    return stretch


def stretch_in_eval(f, x, tolerance):
    f.eval()
    return iterate(f, x, tolerance)


def stretch_not_normalised(f, x, tolerance):
    u = torch.randn_like(x)
    for _ in range(130):
        u = back(f, x, forth(f, x, u))
    return forth(f, x, u).norm() / u.norm()


def stretch_normalised_at_end(f, x, tolerance):
    u = torch.randn_like(x)
    for _ in range(130):
        u = back(f, x, forth(f, x, u))
    return u.norm()


def stretch_only_forward(f, x, tolerance):
    u = torch.randn_like(x)
    for _ in range(20):
        u = forth(f, x, u / u.norm())
    return u.norm()


def stretch_pulls_u(f, x, tolerance):
    """Takes v of a VJP for a step of the inputs."""
    return functional.vjp(f, x, torch.randn_like(x))[1].norm()


def stretch_fills_grads(f, x, tolerance):
    def backward(f, x, v):
        x = watched(x)
        f(x).backward(v)
        return x.grad

    return iterate(f, x, tolerance, back=backward)


def stretch_tracked(f, x, tolerance):
    u = torch.randn_like(x)
    for _ in range(40):
        Ju = jvp(f, (x,), (u / u.norm(),))[1]
        if not Ju.any():
            return Ju.norm()
        u = vjp(f, x)[1](Ju)[0]
    return jvp(f, (x,), (u / u.norm(),))[1].norm()


def stretch_by_hand(f, x, tolerance):
    """J^T J u by differences of forward products: there is no backward at all."""
    J = [forth(f, x, e) for e in torch.eye(len(x), dtype=x.dtype)]

    def across(f, x, v):
        return torch.stack([column @ v for column in J])

    return iterate(f, x, tolerance, back=across)


def stretch_forever(f, x, tolerance):
    u = torch.randn_like(x)
    for _ in range(310):
        Ju = forth(f, x, u / u.norm())
        if not Ju.any():
            break
        u = back(f, x, Ju)
    return Ju.norm()


def stretch_as_number(f, x, tolerance=1e-6):
    return iterate(f, x, tolerance).item()


def stretch_by_two_backwards(f, x, tolerance=1e-6):
    x = watched(x)
    y = f(x)
    v = torch.zeros_like(y, requires_grad=True)
    (g,) = grad(y, x, v, create_graph=True)

    def push(f, _, u):
        return grad(g, v, u, retain_graph=True)[0]

    def pull(f, _, w):
        return grad(y, x, w, retain_graph=True)[0]

    return iterate(f, x.detach(), tolerance, forth=push, back=pull)


def stretch_from_outputs(f, x, tolerance=1e-6):
    """Starts among the outputs: J and its transpose have the same largest singular value."""
    v = torch.randn_like(f(x)).detach()
    old = 0.0
    while True:
        w = back(f, x, v / v.norm())
        new = float(w.norm())
        if new <= 0 or abs(new - old) < 0.01 * tolerance * new:
            return torch.tensor(new, dtype=torch.float64)
        old, v = new, forth(f, x, w)


def stretch_by_functional(f, x, tolerance=1e-6):
    def push(f, x, u):
        return functional.jvp(f, x, u)[1]

    def pull(f, x, v):
        return functional.vjp(f, x, v)[1]

    return iterate(f, x, tolerance, forth=push, back=pull)


WRONG = {
    "largest_singular_value": {
        "unlucky_start": stretch_of_ones,
        "nan": stretch_unsafe,
        "built_jacobian": [stretch_with_j, stretch_by_svd, stretch_by_norm, stretch_by_hand],
        "not_rooted": [stretch_squared, stretch_eigenvalue],
        "frobenius_norm": stretch_frobenius,
        "stopped_early": [stretch_few_rounds, stretch_random_direction, stretch_loose_stop],
        "not_normalised": [stretch_not_normalised, stretch_normalised_at_end],
        "product_vector_shape": stretch_pulls_u,
        "tangent_shape": stretch_only_forward,
        "filled_grads": stretch_fills_grads,
        "tracked": stretch_tracked,
        "absolute_tolerance": stretch_absolute,
        "training_flags_changed": stretch_in_eval,
        "too_many": stretch_forever,
    }
}

RIGHT = {
    "largest_singular_value": [
        stretch_by_power,
        stretch_as_number,
        stretch_by_two_backwards,
        stretch_from_outputs,
        stretch_by_functional,
    ]
}
