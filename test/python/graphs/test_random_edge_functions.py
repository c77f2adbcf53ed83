# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions of an edge on random graphs, beside the same in torch: values, gradients and second derivatives, in float64.

    python test/python/graphs/test_random_edge_functions.py 1000 2000      # these seeds, as many as one likes
"""

import random
import sys

import pytest

torch = pytest.importorskip("torch")
from drawloom.torch import Graph, message_passing  # noqa: E402

SEEDS = 40
# Of the largest norm that takes part: softmax's gradients are differences of what may be much larger.
LIMIT = 1e-11

BINARY = {"+": (lambda a, b: a + b,) * 2, "-": (lambda a, b: a - b,) * 2, "*": (lambda a, b: a * b,) * 2,
          "max": (lambda a, b: a.maximum(b), torch.maximum), "min": (lambda a, b: a.minimum(b), torch.minimum)}
UNARY = {"tanh": (lambda a: a.tanh(),) * 2, "relu": (lambda a: a.relu(),) * 2, "sigmoid": (lambda a: a.sigmoid(),) * 2,
         "abs": (lambda a: a.abs(),) * 2, "neg": (lambda a: -a,) * 2, "exp": (lambda a: (0.2 * a).tanh().exp(),) * 2,
         "leaky": (lambda a: a.leaky_relu(0.2), lambda a: torch.nn.functional.leaky_relu(a, 0.2))}
# Of each pair the first is for our rows, the second for torch's, which have one more dimension in front.
OURS, THEIRS = 0, 1


def reduced(rows, count):
    for _ in range(count):
        rows = rows.sum(-1)
    return rows


def stretched(rows, shape, which):
    """A number for each edge, in another shape."""
    if not shape:
        return rows
    return rows.reshape([1] * len(shape)).broadcast(shape) if which == OURS else rows.reshape(-1, *[1] * len(shape)).expand(-1, *shape)


def expression(rng, leaves, shape, depth):
    """f(rows, which): a random expression of the rows' shape."""
    choice = rng.random()
    if depth == 0 or choice < 0.15:
        name = rng.choice([name for name, own in leaves.items() if own[:len(shape)] == shape] or list(leaves))
        extra = len(leaves[name]) - len(shape)
        if leaves[name][:len(shape)] == shape:
            return lambda rows, which: reduced(rows[name], extra)
        return lambda rows, which: stretched(reduced(rows[name], len(leaves[name])), shape, which)
    if choice < 0.6:
        operation, a = rng.choice(list(BINARY.values())), expression(rng, leaves, shape, depth - 1)
        b = expression(rng, leaves, shape if not shape or rng.random() < 0.8 else (*shape[:-1], 1), depth - 1)
        return lambda rows, which: operation[which](a(rows, which), b(rows, which))
    if choice < 0.9:
        operation, a = rng.choice(list(UNARY.values())), expression(rng, leaves, shape, depth - 1)
        return lambda rows, which: operation[which](a(rows, which))
    inner = rng.choice([own for own in leaves.values() if own[:-1] == shape and own] or [(*shape, rng.choice([1, 3, 16]))])
    a, b = (expression(rng, leaves, inner, depth - 1) for _ in range(2))
    return lambda rows, which: a(rows, which).dot(b(rows, which)) if which == OURS else (a(rows, which) * b(rows, which)).sum(-1)


def combined(rows, target, nodes, combine):
    index = target.view(-1, *[1] * (rows.dim() - 1)).expand_as(rows)
    reduce = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin"}[combine]
    return rows.new_zeros(nodes, *rows.shape[1:]).scatter_reduce(0, index, rows, reduce, include_self=False)


def attended(score, value, target, nodes):
    top = combined(score.detach(), target, nodes, "max")
    weight = (score - top[target]).exp()
    weight = weight / combined(weight, target, nodes, "sum")[target]
    return combined(weight.reshape(*weight.shape, *[1] * (value.dim() - weight.dim())) * value, target, nodes, "sum")


def gradients(rows, leaves, cotangent, again):
    found = torch.autograd.grad(rows, leaves, cotangent, allow_unused=True, create_graph=again) if rows.requires_grad else [None] * len(leaves)
    return [torch.zeros_like(leaf) if one is None else one for leaf, one in zip(leaves, found)]


def assert_alike(what, found, wanted, scale=1.0):
    scale = max([scale, *(one.detach().norm().item() for one in wanted)])
    for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert one.shape == other.shape, f"{what} {i} has the shape {list(one.shape)}, not {list(other.shape)}"
        error = (one - other).norm().item()
        assert error <= LIMIT * scale, f"{what} {i}: an error of {error:.2g}, of a scale of {scale:.2g}"


def check(seed):
    rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    sources, targets, relations = rng.choice([1, 2, 7, 30, 1100]), rng.choice([1, 3, 9, 40, 1500]), rng.choice([1, 1, 2, 5])
    edges = rng.choice([0, 1, 5, 60, 400, 3000])
    source, target, relation = (torch.randint(0, count, (edges,), generator=generator) for count in (sources, targets, relations))
    if edges and rng.random() < 0.3:
        target[:edges // 2] = target[0].clone()
    width = rng.choice([1, 2, 5, 8, 16, 17, 64])
    full = (width,) if rng.random() < 0.5 else (rng.choice([1, 2, 3, 4, 8]), width)
    shapes = {"src": full, "dst": full}
    for name, own, share in (("edge", rng.choice([(), full, full[:-1]]), 0.5), ("rel", rng.choice([full, full[:-1]]), 0.4), ("all", full, 0.4)):
        if rng.random() < share:
            shapes[name] = own
    counts = {"src": [sources], "dst": [targets], "edge": [edges], "rel": [relations], "all": []}
    given = {name: torch.randn(*counts[name], *own, dtype=torch.float64, generator=generator).requires_grad_() for name, own in shapes.items()}
    combine = rng.choice(["sum", "mean", "max", "min", "softmax", "softmax", "softmax"])
    shape = full[:-1] if combine == "softmax" or rng.random() < 0.3 else full
    says = expression(rng, shapes, shape, rng.choice([1, 2, 3, 4]))
    value = expression(rng, shapes, full, rng.choice([0, 1, 2]))
    torch.set_num_threads(rng.choice([1, 2]))

    def evaluate(**rows):
        return (says(rows, OURS), value(rows, OURS)) if combine == "softmax" else says(rows, OURS)

    # A function's rows go by the names of its arguments.
    function = eval(f"lambda {', '.join(given)}: evaluate({', '.join(f'{name}={name}' for name in given)})", {"evaluate": evaluate})
    graph = Graph(source, target, relation, num_src=sources, num_dst=targets, num_relations=relations)
    found = message_passing(graph, function, **given, combine=combine)
    numbers = {"src": source, "dst": target, "rel": relation, "edge": slice(None)}
    rows = {name: tensor.expand(edges, *tensor.shape) if name == "all" else tensor[numbers[name]] for name, tensor in given.items()}
    row = says(rows, THEIRS).expand(edges, *shape)
    wanted = (attended(row, value(rows, THEIRS).expand(edges, *full), target, targets) if combine == "softmax"
              else combined(row, target, targets, combine))
    assert_alike("value", [found], [wanted])
    # What maxima are at equal rows, second derivatives do not say.
    again = combine not in ("max", "min") and rng.random() < 0.3
    cotangent, leaves = torch.randn(wanted.shape, dtype=torch.float64, generator=generator), list(given.values())
    first = [gradients(one, leaves, cotangent, again) for one in (found, wanted)]
    # Of one size with what is subtracted.
    scale = wanted.detach().norm().item() * cotangent.norm().item()
    assert_alike("gradient", *first, scale)
    if again:
        second = [gradients(sum(one.square().sum() for one in ones), leaves, None, False) for ones in first]
        assert_alike("second derivative", *second, scale * max(one.detach().norm().item() for one in first[1]))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_functions_of_an_edge(seed):
    check(seed)


if __name__ == "__main__":
    wrong = 0
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            check(seed)
        except Exception as error:
            wrong += 1
            print(seed, type(error).__name__, error, flush=True)
    print(f"{wrong} of {int(sys.argv[2]) - int(sys.argv[1])} are wrong")
