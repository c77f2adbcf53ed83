# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every case computes, in torch and float64 on whatever device there is, by formulas that share nothing with the compiler: token by
token, edge by edge, autograd for gradients. Of linear recurrences some heads only, which depend on no others."""

import numpy as np
import torch

import inputs
from drawloom_bench.gpu.checks import as_float64
from drawloom_bench.programs import gpu_graphs, gpu_structured

# Pairs of a sequence and a head that are compared, and fewer where every state of all tokens is kept for gradients.
PAIRS = {"forward": 4, "train": 2}


class Reference:
    """`expected` are arrays of float64 (or of the network's own type where `rounded`); `pick` takes from all results those that it
    is for."""

    def __init__(self, expected, pick=None):
        self.expected = [tensor.detach().double().cpu().numpy() for tensor in expected]
        self.pick = pick or (lambda results: results)


def rational(x, a, b):
    """P(x) / (1 + |b_1 x + ... + b_4 x^4|), a group of channels each: kan.rational of the form abs_sum."""
    shape = x.shape
    x = x.reshape(shape[0], a.shape[0], -1)
    p, q = a[:, 5, None], b[:, 3, None]
    for k in (4, 3, 2, 1, 0):
        p = p * x + a[:, k, None]
    for k in (2, 1, 0):
        q = q * x + b[:, k, None]
    return (p / (1 + (q * x).abs())).reshape(shape)


def mlp(per, activation):
    """Dense layers, `per` parameters each: weights, bias, and those of the activation."""
    def network(x, *p):
        for i in range(0, len(p), per):
            x = torch.addmm(p[i + 1], x, p[i])
            if i + 2 < len(p):
                x = activation(x, *p[i + 2:i + per])
        return x
    return network


def network_of(case):
    if case.name.startswith("rational"):
        return rational
    return mlp(4, rational) if "rational" in case.name else mlp(2, torch.relu)


def of_network(network, entry, tensors):
    """The outputs, and where it trains the gradients of all but the cotangent."""
    if entry != "train":
        with torch.no_grad():
            return [network(*tensors)]
    x, cotangent, *parameters = tensors
    leaves = [tensor.detach().requires_grad_() for tensor in (x, *parameters)]
    y = network(*leaves)
    return [y, *torch.autograd.grad(y, leaves, cotangent)]


def adamw(p, g, m, v, rate, step):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    update = (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
    return [p - rate * (update + 0.01 * p), m, v]


def packed_gla(q, k, v, g, starts, state):
    """Heads come first; sequences lie behind each other."""
    out, last = torch.zeros_like(v), torch.zeros_like(state)
    for i, (begin, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist())):
        s = state[i]
        for t in range(begin, end):
            s = g[:, t].exp()[:, :, None] * s + k[:, t, :, None] * v[:, t, None, :]
            out[:, t] = 0.125 * (q[:, t, None, :] @ s)[:, 0]
        last[i] = s
    return [out, last]


def rgcn(rows, exact, x, w, w0, b):
    """Edge by edge, for the graph that programs/gpu.py draws."""
    source, target, relation = inputs.random_graph(np.random.default_rng(11), rows, 4 * rows, 5)
    coefficient = torch.from_numpy(inputs.mean_coefficients(target, relation, rows, exact).astype(np.float64)).to(x.device)
    source, target = (torch.from_numpy(ends).to(x.device) for ends in (source, target))
    y = x @ w0 + b
    for r in range(len(w)):
        mine = torch.from_numpy(np.flatnonzero(relation == r)).to(x.device)
        y.index_add_(0, target[mine], coefficient[mine, None] * (x[source[mine]] @ w[r]))
    return [y]


def graph_layer(model, entry, rows, tensors):
    """Edge by edge, for the graph that programs/gpu_graphs.py draws; what autograd makes of it for gradients."""
    source, target, relation = (torch.from_numpy(one).to(tensors[0].device) for one in gpu_graphs.edges(rows))
    count = {"RGCN": 2, "GATv2": 3}[model]
    leaves = [tensor.detach().requires_grad_() for tensor in tensors[:count]]
    if model == "RGCN":
        x, w = leaves
        y = torch.zeros_like(x)
        for r in range(len(w)):
            mine = torch.nonzero(relation == r)[:, 0]
            y = y.index_add(0, target[mine], x[source[mine]] @ w[r])
    else:
        left, right, attention = leaves
        score = (torch.nn.functional.leaky_relu(left[source] + right[target], 0.2) * attention).sum(-1)
        most = torch.full(left.shape[:2], -torch.inf, dtype=score.dtype, device=score.device)
        most = most.index_reduce(0, target, score.detach(), "amax")
        weight = (score - most[target]).exp()
        total = torch.zeros_like(most).index_add(0, target, weight)
        y = torch.zeros_like(left).index_add(0, target, (weight / total[target])[..., None] * left[source])
    return [y.detach()] if entry == "forward" else list(torch.autograd.grad(y, leaves, tensors[-1]))


# What bitsandbytes' NF4 codes stand for.
NF4 = (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)


def matrix_of(name, leaves):
    """W [inputs, outputs] of programs/gpu_structured.py."""
    if name.startswith("LoRA"):
        return leaves["w"] + leaves["a"] @ leaves["b"]
    if name.startswith("NF4"):
        codes, scales = leaves["codes"].long() & 255, leaves["scales"]
        values = torch.tensor(NF4, dtype=scales.dtype, device=scales.device)[torch.stack([codes >> 4, codes & 15], 2).flatten(1)]
        return (values.reshape(*scales.shape, -1) * scales[:, :, None]).flatten(1) + leaves["a"] @ leaves["b"]
    if name == "Monarch":
        turn = torch.arange(gpu_structured.SIDE**2, device=leaves["left"].device).reshape(gpu_structured.SIDE, -1).T.flatten()
        return torch.block_diag(*leaves["left"])[:, turn] @ torch.block_diag(*leaves["right"])[:, turn]
    values, starts, columns = leaves["values"], leaves["at_row_starts"], leaves["at_columns"].long()
    blocks = torch.zeros(len(starts) - 1, len(leaves["at_column_starts"]) - 1, *values.shape[1:], dtype=values.dtype, device=values.device)
    return blocks.index_put((rows_of(starts, values.device), columns), values).transpose(1, 2).flatten(2).flatten(0, 1)


def structured(name, entry, tensors):
    """x W, and what autograd makes of it for the gradients of x and of what trains."""
    (model,) = [one for one in gpu_structured.MODELS if one.name == name]
    x, leaves = tensors[0].detach().requires_grad_(), dict(zip(model.leaves, tensors[1:]))
    trained = [leaves[one].requires_grad_() for one in model.trained]
    y = x @ matrix_of(name, leaves)
    return [y.detach()] if entry == "forward" else list(torch.autograd.grad(y, [x, *trained], tensors[-1]))


def rows_of(starts, device):
    """For each stored entry the row that it is of."""
    return torch.repeat_interleave(torch.arange(len(starts) - 1, device=device), (starts[1:] - starts[:-1]).to(device))


def csr(values, starts, columns, x):
    y = torch.zeros(len(starts) - 1, x.shape[1], dtype=x.dtype, device=x.device)
    return [y.index_add_(0, rows_of(starts, x.device), values[:, None] * x[columns])]


def block_sparse(values, starts, columns, x):
    size = values.shape[1]
    blocks = x.reshape(-1, size, x.shape[1])
    y = torch.zeros(len(starts) - 1, size, x.shape[1], dtype=x.dtype, device=x.device)
    return [y.index_add_(0, rows_of(starts, x.device), values @ blocks[columns]).reshape(-1, x.shape[1])]


def recurrence(kind):
    """linrec.scan, token by token: q, k, v, decay and beta are [pairs, T, ...]."""
    def scan(q, k, v, decay, beta=None):
        s = torch.zeros(q.shape[0], q.shape[2], v.shape[2], dtype=q.dtype, device=q.device)
        out = []
        factor = decay.clamp(max=0).exp()
        for t in range(q.shape[1]):
            s = (factor[:, t, :, None] if kind == "gla" else factor[:, t, None, None]) * s
            written = v[:, t]
            if beta is not None:
                written = beta[:, t, None] * (written - (k[:, t, None, :] @ s)[:, 0])
            s = s + k[:, t, :, None] * written[:, None, :]
            out.append((q[:, t, None, :] @ s)[:, 0])
        return torch.stack(out, 1) * q.shape[2]**-0.5
    return scan


def of_recurrence(case, arrays, device):
    """Some pairs of a sequence and a head, the first and the last among them."""
    batch, _, heads = arrays[0].shape[:3]
    count = min(PAIRS[case.entry], batch * heads)
    pairs = sorted({i * (batch * heads - 1) // max(count - 1, 1) for i in range(count)})

    def pick(results):
        return [np.stack([result[p // heads, :, p % heads] for p in pairs]) for result in results]

    tensors = [torch.from_numpy(as_float64(array)).to(device) for array in pick(arrays)]
    if case.entry == "train":
        *operands, cotangent = tensors
        tensors = [operands[0], cotangent, *operands[1:]]
    return Reference(of_network(recurrence(case.recurrence), case.entry, tensors), pick)


def reference(case, arrays, rows, device):
    """The results of a case for its arguments."""
    if case.recurrence:
        return of_recurrence(case, arrays, device)
    numbers = [as_float64(array) if array.dtype.kind in "fuV" else array for array in map(np.asarray, arrays)]
    tensors = [torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in numbers]
    name = case.name
    if name.startswith(("MLP", "rational")):
        return Reference(of_network(network_of(case), case.entry, tensors))
    if name.startswith("graph"):
        _, model, entry = name.split()
        return Reference(graph_layer(model, entry, rows, tensors))
    if name.startswith("weights "):
        model, entry = name.removeprefix("weights ").rsplit(" ", 1)
        return Reference(structured(model, entry, tensors))
    with torch.no_grad():
        if name == "AdamW":
            return Reference(adamw(*tensors[:4], float(numbers[4]), int(numbers[5])))
        if name.startswith("GLA"):
            return Reference(packed_gla(*tensors))
        if name.startswith("RGCN"):
            return Reference(rgcn(rows, "segments" in name, *tensors[:4]))
        if name.startswith("LoRA"):
            x, w, a, b = tensors
            return Reference([x @ (w + 2 * (a @ b))])
        if name.startswith("CSR"):
            return Reference(csr(*tensors))
        if name.startswith("block-sparse"):
            return Reference(block_sparse(*tensors))
    raise LookupError(f"there is no reference for '{case.key}'")


def rounded(case, arrays, device):
    """A network of ReLUs in half precision in its own type, which rounds in the same places."""
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}[case.element]
    tensors = [torch.from_numpy(np.ascontiguousarray(array)).view(kind).to(device) for array in arrays]
    return Reference(of_network(network_of(case), case.entry, tensors))
