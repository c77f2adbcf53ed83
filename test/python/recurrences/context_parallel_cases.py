# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes on this machine (gloo, loopback) that share a sequence compute what one process does with all of it: the models of
test_linear_recurrences.py, against their references, and a language model. Run by torchrun, or by test_context_parallel.py:

    torchrun --nproc-per-node=2 test/python/recurrences/context_parallel_cases.py [--file FILE] [CASE ...]

FILE gets {case: what went wrong in the first process that found something} as a pickle.
"""

import argparse
import datetime
import functools
import os
import pickle
import sys
import traceback

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

import drawloom
from drawloom.torch import context_parallel, linrec
from drawloom.torch._fla import _forms
from drawloom.torch.context_parallel import shift_from_previous
from recurrences.test_linear_recurrences import COMPILED, HALF, MODELS, PARAMETERS, STATES, STRONG, TORCH, cotangents_of, everything, expected, ratio

# Compiled f64, as test_linear_recurrences.py has it.
LIMITS = {"f64": COMPILED * 2.0**-29, "f32": COMPILED, **HALF}


def options_of(attributes):
    """Arguments of linear_recurrence for attributes of linrec.scan."""
    found = {}
    for one in filter(None, attributes.split(", ")):
        name, _, value = one.partition(" = ")
        found.update({"decay_side": "value"} if name == "decay_along_values" else {name: float(value) if value else True})
    return found


def part(x, counts, rank):
    first = sum(counts[:rank])
    return x[:, first:first + counts[rank]]


def check(found, wanted, limit):
    errors = {name: ratio(found[name], wanted[name]) for name in wanted}
    assert max(errors.values()) <= limit, {name: f"{e:.3g}" for name, e in errors.items() if not e <= limit}


def model(name, counts, element="f64", starts=None, group=None, **draw):
    """The model over processes with `counts` tokens; the first and the last use the final states, the others do not."""
    rank, processes = dist.get_rank(group), len(counts)
    inputs, want = expected(name, tuple({"T": sum(counts), **draw}.items()), starts)
    if element == "bf16":
        inputs = {x: t if x in ("state", "g") else t.bfloat16().double() for x, t in inputs.items()}
        want = everything(MODELS[name].reference, inputs)
    shared = STATES | PARAMETERS
    leaves = {x: (t if x in shared else part(t, counts, rank)).to(TORCH["f32" if x in ("state", "g") and element != "f64" else element])
              .requires_grad_() for x, t in inputs.items()}

    def scan(q, k, v, attributes="", **others):
        packed = {} if starts is None else {"starts": torch.tensor(starts)}
        return context_parallel.linear_recurrence(q, k, v, **others, **packed, **options_of(attributes), group=group)

    results = MODELS[name].scan(scan, **leaves)
    o, *states = cotangents_of([want[f"result{i}"] for i in range(len(results))])
    users = {0, processes - 1}
    given = [part(o, counts, rank), *(d / len(users) for d in states if rank in users)]
    gradients = torch.autograd.grad(results[:len(given)], list(leaves.values()), [d.to(r.dtype) for d, r in zip(given, results)],
                                    allow_unused=True, materialize_grads=True)
    found = {f"result{i}": r.detach() for i, r in enumerate(results)}
    wanted = {**want, "result0": part(want["result0"], counts, rank)}
    for x, gradient in zip(leaves, gradients):
        if x in shared:
            gradient = gradient.double()
            dist.all_reduce(gradient, group=group)
        else:
            wanted[f"gradient of {x}"] = part(wanted[f"gradient of {x}"], counts, rank)
        found[f"gradient of {x}"] = gradient
    check(found, wanted, LIMITS[element])


def after_one_alone(name, counts, starts=None, **others):
    """The first process in a group of its own, and then all: what the first compiles serves the others."""
    alone = dist.new_group([0])
    if dist.get_rank() == 0:
        model(name, counts[:1], starts=starts and tuple(min(start, counts[0]) for start in starts), group=alone, **others)
    dist.barrier()
    model(name, counts, starts=starts, **others)


def two_groups():
    """Of two processes each, at the same time."""
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    own = dist.get_rank() // 2
    model(["gated_delta_rule", "delta_rule"][own], (16, 16), group=groups[own], **SQUARE)


def long_sequences():
    """Rounding over 2048 tokens in f32, against one process in f64."""
    rank, counts = dist.get_rank(), (1024, 1024)
    torch.manual_seed(3)
    inputs = [F.normalize(torch.randn(1, 2048, 2, 16, dtype=torch.float64), dim=-1) for _ in range(3)]
    weight = inputs[0].flip(1)
    inputs.append(F.logsigmoid(torch.randn(1, 2048, 2, 16, dtype=torch.float64) + 3) / 16)

    def outputs_and_gradients(inputs, weight):
        inputs = [x.detach().clone().requires_grad_() for x in inputs]
        o, _ = linrec.chunk_gla(*inputs)
        return [o.detach(), *torch.autograd.grad((o * weight).sum(), inputs)]

    want = outputs_and_gradients(inputs, weight) if rank == 0 else [torch.empty_like(x) for x in (weight, *inputs)]
    for x in want:
        dist.broadcast(x, 0)
    with context_parallel.sequence_split():
        found = outputs_and_gradients([part(x, counts, rank).float() for x in inputs], part(weight, counts, rank).float())
    check(dict(enumerate(found)), {i: part(x, counts, rank) for i, x in enumerate(want)}, COMPILED)


def packed_sequences_are_separate():
    """What is NaN in the first of two does not reach the second, in the process where one follows the other, nor in the next."""
    rank, counts, starts = dist.get_rank(), (16,) * 4, torch.tensor([0, 24, 64])
    torch.manual_seed(8)
    inputs = [torch.randn(1, 64, 2, 16, dtype=torch.float64) for _ in range(3)]
    want, state = linrec.chunk_retention(*inputs, output_final_state=True, cu_seqlens=starts)
    inputs[2][:, 3] = float("nan")
    own = [part(x, counts, rank).clone().requires_grad_() for x in inputs]
    with context_parallel.sequence_split():
        o, final = linrec.chunk_retention(*own, output_final_state=True, cu_seqlens=starts)
    gradients = torch.autograd.grad((o.sum(), final.sum()), own)
    second = part(torch.arange(64)[None] >= 24, counts, rank)[0]
    check({"o": o[:, second].detach(), "final": final[1:].detach()},
          {"o": part(want, counts, rank)[:, second], "final": state[1:]}, LIMITS["f64"])
    assert all(x[:, second].isfinite().all() for x in gradients) and final[0].isnan().any()


def tokens_before_a_segment():
    """With fewer tokens in a process than are asked for, and with packed sequences."""
    rank, counts, n = dist.get_rank(), (4, 0, 2, 5), 3
    torch.manual_seed(4)
    x = torch.randn(2, 11, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(4, 2, n, 3, dtype=torch.float64)
    for starts in (None, torch.tensor([0, 3, 3, 5, 11])):
        whole = torch.cat((torch.zeros(2, n, 3), x), 1)
        wanted, total = [], 0
        for r in range(4):
            first = sum(counts[:r])
            rows = whole[:, first:first + n]
            if starts is not None:
                begun = max(int(s) for s in starts if s <= first)
                rows = torch.where((torch.arange(first - n, first) >= begun)[:, None], rows, 0)
            wanted.append(rows)
            total = total + (rows * weights[r]).sum()
        own = part(x.detach(), counts, rank).clone().requires_grad_()
        found = shift_from_previous(own, n, starts=starts)
        torch.testing.assert_close(found, wanted[rank].detach(), rtol=0, atol=0)
        (gradient,) = torch.autograd.grad((found * weights[rank]).sum(), own)
        (whole_gradient,) = torch.autograd.grad(total, x)
        torch.testing.assert_close(gradient, part(whole_gradient, counts, rank), rtol=0, atol=1e-15)


def short_convolutions(counts, starts=None, initial=False, channels=(6,), dtype=torch.float64, limit=LIMITS["f64"]):
    """Of one process with all tokens; the first and the last use the final states, and one of them in the middle nothing else."""
    rank, processes, tokens, batch = dist.get_rank(), len(counts), sum(counts), 2 if starts is None else 1
    sequences = batch if starts is None else len(starts) - 1
    packed = None if starts is None else torch.tensor(starts)
    torch.manual_seed(9)
    size = torch.Size(channels).numel()
    names = ["x", "weight", "bias", "residual", *["initial_state"] * initial]
    shapes = (batch, tokens, *channels), (size, 4), (size,), (batch, tokens, *channels), (sequences, size, 4)
    inputs = {name: torch.randn(shape, dtype=torch.float64).to(dtype) for name, shape in zip(names, shapes)}
    d_y, d_last = (torch.randn(shape, dtype=torch.float64).to(dtype) for shape in (shapes[0], shapes[4]))

    def compute(inputs, *cotangents):
        leaves = {name: one.clone().requires_grad_() for name, one in inputs.items()}
        results = linrec.short_convolution(**leaves, output_final_state=True, activation="silu", cu_seqlens=packed)
        outputs, given = zip(*[(r, d) for r, d in zip(results, cotangents) if d is not None])
        gradients = torch.autograd.grad(outputs, list(leaves.values()), given, allow_unused=True, materialize_grads=True)
        return [*(r.detach().double() for r in results), *(g.double() for g in gradients)]

    # The process in the middle has no loss of its outputs, and the others than the first and the last none of the final states.
    users, silent = {0, processes - 1}, None if processes == 2 else 1
    cut = d_y.clone()
    if silent is not None:
        part(cut, counts, silent).zero_()
    want = compute({name: one.double() for name, one in inputs.items()}, cut.double(), d_last.double())
    own = {name: part(one, counts, rank) if name in ("x", "residual") else one for name, one in inputs.items()}
    with context_parallel.sequence_split():
        found = compute(own, part(cut, counts, rank), d_last / len(users) if rank in users else None)
    labels = ["y", "last", *names]
    for i, name in enumerate(labels):
        if name in ("y", "x", "residual"):
            want[i] = part(want[i], counts, rank)
        elif name != "last":
            dist.all_reduce(found[i])
    check(dict(zip(labels, found)), dict(zip(labels, want)), limit)
    if not starts:
        without = linrec.short_convolution(inputs["x"], inputs["weight"])[0]
        with context_parallel.sequence_split():
            assert torch.equal(linrec.short_convolution(own["x"], inputs["weight"])[0], part(without, counts, rank))


def final_states_alone_have_gradients():
    """Where one process's loss is of the final states alone, and the others' of the outputs alone."""
    rank, counts = dist.get_rank(), (3, 2)
    torch.manual_seed(10)
    x, weight = torch.randn(1, 5, 3, dtype=torch.float64, requires_grad=True), torch.randn(3, 4, dtype=torch.float64)
    y, last = linrec.short_convolution(x, weight, output_final_state=True)
    (whole,) = torch.autograd.grad(part(y, counts, 1).sum() + last.square().sum(), x)
    own = part(x.detach(), counts, rank).clone().requires_grad_()
    with context_parallel.sequence_split():
        y, last = linrec.short_convolution(own, weight, output_final_state=True)
    (gradient,) = torch.autograd.grad(y.sum() if rank else last.square().sum(), own)
    torch.testing.assert_close(gradient, part(whole, counts, rank), rtol=0, atol=1e-14)


class Language(nn.Module):
    """Two layers with short convolutions, one of gated linear attention, one of the gated delta rule; next tokens of 16."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(16, 32), nn.Linear(32, 16)
        self.project = nn.ModuleList(nn.Linear(32, 4 * 32 + 2) for _ in range(2))
        self.convolve = nn.ParameterList(nn.Parameter(torch.randn(32, 1, 4) / 2) for _ in range(2))

    def forward(self, tokens, before):
        """`before(x, n)`: the n tokens before."""
        x = self.embed(tokens)
        for layer in range(2):
            x = x + F.silu(F.conv1d(torch.cat((before(x, 3), x), 1).mT, self.convolve[layer], groups=32).mT)
            q, k, v, g, beta = self.project[layer](x).split([32, 32, 32, 32, 2], -1)
            q, k, v, g = (one.unflatten(-1, (2, 16)) for one in (q, k, v, g))
            g = F.logsigmoid(g) / 4
            if layer:
                o, _ = linrec.chunk_gated_delta_rule(q, k, v, g.mean(-1), beta, use_qk_l2norm_in_kernel=True,
                                                     use_beta_sigmoid_in_kernel=True)
            else:
                o, _ = linrec.chunk_gla(q, k, v, g)
            x = x + o.flatten(-2)
        return self.head(x)


def train(before, take=lambda x: x, total=lambda x: x):
    """Losses of a few steps, where `take` gives a process's tokens and `total` sums over processes."""
    torch.manual_seed(5)
    network = Language()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    text = (torch.randint(0, 16, (6, 2, 1)) + 3 * torch.arange(49)) % 16
    losses = []
    for batch in text:
        optimizer.zero_grad()
        guess = network(take(batch[:, :-1]), before)
        loss = F.cross_entropy(guess.flatten(0, 1), take(batch[:, 1:]).flatten(), reduction="sum") / 96
        loss.backward()
        for parameter in network.parameters():
            total(parameter.grad)
        optimizer.step()
        losses.append(total(loss.detach()).item())
    return losses


def training():
    rank, processes = dist.get_rank(), dist.get_world_size()
    counts = {2: (32, 16), 4: (16, 8, 16, 8)}[processes]

    def total(x):
        dist.all_reduce(x)
        return x

    alone = [train(lambda x, n: x.new_zeros(x.shape[0], n, x.shape[2])) if rank == 0 else None]
    dist.broadcast_object_list(alone)
    with context_parallel.sequence_split():
        together = train(shift_from_previous, lambda x: part(x, counts, rank), total)
    # Sums over tokens are cut at another place, and AdamW divides by roots of small numbers in its first steps.
    for one, other in zip(together, *alone):
        assert abs(one - other) <= 2e-5 * other, (together, alone)
    assert together[-1] < together[0]
    if rank == 0:
        print("losses", *(f"{loss:.6f}" for loss in together))


def autocast_keeps_states():
    rank, counts = dist.get_rank(), (16, 16)
    torch.manual_seed(6)
    q, k, v = (torch.randn(1, 32, 2, 16) for _ in range(3))
    g = F.logsigmoid(torch.randn(1, 32, 2, 16))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        want, state = linrec.chunk_gla(q, k, v, g, output_final_state=True)
        with context_parallel.sequence_split():
            found, last = linrec.chunk_gla(*(part(x, counts, rank) for x in (q, k, v, g)), output_final_state=True)
    assert found.dtype == torch.bfloat16 and last.dtype == torch.float32
    check({"o": found, "state": last}, {"o": part(want.double(), counts, rank), "state": state.double()}, HALF["bf16"])
    assert ratio(last, state.double()) <= COMPILED


def refused(words, call):
    """Every process has an error with its words, and the group goes on."""
    try:
        call()
    except drawloom.CallError as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"not refused: {words}")
    dist.barrier()


def what_does_not_fit_is_refused_everywhere():
    rank = dist.get_rank()

    def call(batch=1, tokens=4, dtype=torch.float32, **others):
        q, k, v = (torch.ones(batch, tokens, 2, 8, dtype=dtype) for _ in range(3))
        return context_parallel.linear_recurrence(q, k, v, **others)

    refused("process 0 has float32 v [1, tokens, 2, 8], keys of 8 channels, no decay, one sequence for each batch entry, no gradient, "
            "process 1 float32 v [2, tokens, 2, 8]", lambda: call(batch=1 + rank))
    refused("process 1 float64", lambda: call(dtype=torch.float64 if rank else torch.float32))
    refused("process 1 float32 v [1, tokens, 2, 8], keys of 8 channels, decays [batch, tokens, heads]",
            lambda: call(decay=torch.zeros(1, 4, 2) if rank else torch.zeros(2)))
    refused("decay has the shape [1, 4, 3]" if rank else "process 1 of the group refuses its arguments: linear_recurrence: decay has",
            lambda: call(decay=torch.zeros(1, 4, 2 + rank)))
    refused("2 packed sequences", lambda: call(starts=torch.tensor([0, 1 + rank, 8])))
    refused("they go from 0 to the number of tokens, 8", lambda: call(starts=torch.tensor([0, 1, 9])))
    refused("a gradient", lambda: call(decay=torch.zeros(2, requires_grad=rank == 0)))
    refused("n = 2", lambda: shift_from_previous(torch.ones(1, 4, 2), 1 + rank))
    refused("x has the shape [4]" if rank else "process 1 of the group refuses", lambda: shift_from_previous(
        torch.ones(4) if rank else torch.ones(1, 4, 2), 1))
    with context_parallel.sequence_split():
        def convolve(width=4, x=(1, 4, 2), **others):
            return linrec.short_convolution(torch.ones(x), torch.ones(2, width), **others)

        refused("4 tokens each, one sequence for each batch entry, no final state, gradients of nothing, process 1 float32 x [1, tokens, 2]"
                ", 5 tokens each", lambda: convolve(4 + rank))
        refused("a final state", lambda: convolve(output_final_state=rank == 0))
        refused("gradients of bias", lambda: convolve(bias=torch.zeros(2, requires_grad=rank == 0)))
        refused("packed sequences with an initial_state are not split", lambda: convolve(
            initial_state=torch.zeros(1, 2, 4), cu_seqlens=torch.tensor([0, 8])))
        refused("residual has the shape [2]; it is [1, 4, 2]" if rank else "process 1 of the group refuses its arguments: short_conv",
                lambda: convolve(residual=torch.zeros(2) if rank else None))
        refused("x is None" if rank else "process 1 of the group refuses", lambda:
                linrec.short_convolution(None if rank else torch.ones(1, 4, 2), torch.ones(2, 4)))
        refused("they go from 0 to the number of tokens, 8", lambda: convolve(cu_seqlens=torch.tensor([0, 1, 9])))
        refused("cu_seqlens is int16 [2]", lambda: convolve(cu_seqlens=torch.tensor([0, 8], dtype=torch.int16)))
        refused("causal_conv1d of 9 tokens is not split", lambda: _forms.causal_conv1d(torch.ones(1, 4, 2), torch.ones(2, 9)))
        refused("token_shift is not split", lambda: _forms.token_shift(torch.ones(1, 4, 2)))
        refused("softmax attention is not split", lambda: _forms.flash_attn_func(*[torch.ones(1, 4, 2, 8)] * 3))
        refused("slots without g", lambda: linrec.chunk_gsa(*(torch.ones(1, 4, 2, 8) for _ in range(4))))


# One of each kind of decay and erase. With as many values as keys, M comes from the same program as the rest.
KINDS = ["linear_attention", "retention", "simple_gla", "gated_linear_attention", "rwkv6", "gated_slot_attention", "delta_rule",
         "gated_delta_rule", "kimi_delta_attention", "gated_delta_net_2", "comba", "identity_plus_low_rank", "diagonal_plus_low_rank"]
SQUARE = {"K": 16, "V": 16}
# Sequences that begin at a border, are empty, end within a segment, go through one, and end at a border.
PACKED = [(0, 16, 16, 40, 48), (0, 0, 8, 48, 48), (0, 0, 48, 48, 48), (0, 8, 32, 32, 48)]

# By the number of processes.
CASES = {
    2: {**{name: functools.partial(after_one_alone, name, (16, 16), **SQUARE) for name in KINDS},
        "unequal_segments_in_f32": lambda: model("gated_delta_rule", (32, 16), "f32"),
        "sixteen_bits": lambda: after_one_alone("gated_delta_rule", (16, 16), element="bf16", **SQUARE),
        "strong_decays": lambda: [model(name, (16, 16), gates=STRONG, **SQUARE)
                                  for name in ("gated_linear_attention", "gated_slot_attention", "kimi_delta_attention")],
        "shared_queries_and_keys": lambda: [after_one_alone(name, (16, 16), H=4, query_heads=2, key_heads=1, **SQUARE)
                                            for name in ("linear_attention", "gated_delta_rule")],
        "short_convolutions": lambda: [
            short_convolutions(counts, initial=initial, channels=channels) for counts, initial, channels in (
                ((9, 5), False, (6,)), ((9, 5), True, (2, 3)), ((1, 6), True, (6,)), ((5, 1), False, (6,)))],
        "short_convolutions_of_packed_sequences": lambda: [
            short_convolutions((8, 6), starts=starts) for starts in ((0, 8, 14), (0, 7, 7, 14), (0, 14), (0, 2, 9, 14, 14))],
        "short_convolutions_in_sixteen_bits": lambda: short_convolutions((9, 5), dtype=torch.bfloat16, limit=HALF["bf16"]),
        "final_states_alone_have_gradients": final_states_alone_have_gradients,
        "autocast_keeps_states": autocast_keeps_states, "long_sequences": long_sequences,
        "what_does_not_fit_is_refused_everywhere": what_does_not_fit_is_refused_everywhere, "training": training},
    # Programs of 16 tokens are those of the cases above.
    4: {"segments_without_tokens": lambda: [
            model(name, counts, **SQUARE) for counts in ((16, 0, 16, 16), (0, 16, 16, 0))
            for name in ("retention", "gated_linear_attention", "rwkv6", "gated_slot_attention", "gated_delta_rule")],
        "packed_sequences": lambda: [
            after_one_alone(name, (16, 16, 0, 16), starts=starts, B=1, N=4, **SQUARE) for starts in PACKED
            for name in ("retention", "gated_slot_attention", "gated_delta_rule")],
        "packed_sequences_are_separate": packed_sequences_are_separate, "two_groups": two_groups,
        "tokens_before_a_segment": tokens_before_a_segment,
        # Windows that go through several processes, and processes without tokens.
        "short_convolutions_of_few_tokens": lambda: [
            short_convolutions(counts, **more) for counts in ((4, 0, 2, 5), (1, 1, 1, 1), (0, 3, 0, 0), (2, 1, 1, 7))
            for more in ({}, {"initial": True}, {"starts": (0, sum(counts))}, {"starts": (0, 0, 1, sum(counts) - 1, sum(counts))})]},
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--file")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=5))
    cases = {**CASES[dist.get_world_size()], "training": training}
    outcome = {}
    for name in options.cases or CASES[dist.get_world_size()]:
        failed = None
        try:
            cases[name]()
        except Exception:  # noqa: BLE001  # Each case is a test of its own.
            failed = f"process {dist.get_rank()}: {traceback.format_exc()}"
            # Now, since others may wait in a collective that this process never comes to.
            print(failed, file=sys.stderr, flush=True)
        everyones = [None] * dist.get_world_size()
        dist.all_gather_object(everyones, failed)
        outcome[name] = next(filter(None, everyones), None)
    if dist.get_rank() == 0 and options.file:
        with open(options.file, "wb") as file:
            pickle.dump(outcome, file)
    elif dist.get_rank() == 0:
        print(*(f"{name}: {failed or 'right'}" for name, failed in outcome.items()), sep="\n")
    dist.barrier()
    sys.stdout.flush()
    # As with_torch/distributed_training.py does.
    os._exit(1 if not options.file and any(outcome.values()) else 0)


if __name__ == "__main__":
    main()
