# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear recurrences over sequences that the processes of a group share (context parallel): each has a segment of the tokens.

A segment is an affine map of the state, S_out = M S_in + E. E is what the segment leaves of a zero state; M is the product of its
decays, or a matrix [K, K] where tokens erase. Every process computes both of its own segment, all of them gather the pairs, and each
applies those before its own to find S_in, from which it goes through its tokens as one process would. In the backward pass they
gather what the gradients of the outputs give for S_in, and apply the transposed maps from the end to find the gradient of S_out. No
tensor of tokens is sent.

The processes' order in the group is that of their segments, which may have any number of tokens, also none. All of them make the
same calls in the same order, and all run the backward pass. Gradients are those of the sum of the processes' losses.
"""

from __future__ import annotations

import contextlib
import functools
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable

from .. import ops
from .._errors import CallError
from ..ops import recurrences
from . import _dispatch
from .linrec import _conv
from .linrec import _op as linrec

__all__ = ["linear_recurrence", "sequence_split", "shift_from_previous"]


# --- what the processes agree on ---------------------------------------------------------------------------------------

# Bytes that a process says of a call; what is longer is cut off.
_LINE = 512


def _place(group):
    """(rank, number of processes) in the group."""
    if not dist.is_available() or not dist.is_initialized():
        raise CallError("context_parallel: there is no process group; torch.distributed.init_process_group makes one, e.g. under torchrun")
    rank = dist.get_rank(group)
    if rank < 0:
        raise CallError("context_parallel: this process is not in the group")
    return rank, dist.get_world_size(group)


def _gather(group, tensor):
    """The tensors of all processes, [processes, ...]."""
    tensor = tensor.detach().contiguous()
    every = tensor.new_empty((dist.get_world_size(group), *tensor.shape))
    dist.all_gather(list(every.unbind()), tensor, group)
    return every


def _agree(group, what, device, tokens, says, refusal=None):
    """The number of tokens of every process. Raises in all of them where one refuses its arguments, or where what they say of
    these differs: a collective of tensors that do not match would wait for ever."""
    line = f"{tokens}\0{says}\0{refusal or ''}".encode()[:_LINE].ljust(_LINE, b"\0")
    every = _gather(group, torch.frombuffer(bytearray(line), dtype=torch.uint8).to(device)).cpu()
    lines = [bytes(one.tolist()).decode(errors="replace").split("\0") for one in every]
    if refusal is not None:
        raise refusal
    for rank, (_, other, refused, *_) in enumerate(lines):
        if refused:
            raise CallError(f"{what}: process {rank} of the group refuses its arguments: {refused}")
    for rank, (_, other, *_) in enumerate(lines):
        if other != lines[0][1]:
            raise CallError(f"{what}: the calls of the group's processes differ: process 0 has {lines[0][1]}, process {rank} {other}")
    return [int(count) for count, *_ in lines]


def _packed(starts):
    """Of packed sequences: their starts, and words that tell them from others."""
    if starts is None:
        return None, "one sequence for each batch entry"
    values = starts.tolist()
    return values, f"{len(values) - 1} packed sequences ({zlib.crc32(repr(values).encode()):08x})"


# --- segments of sequences ---------------------------------------------------------------------------------------------

class _Segment(NamedTuple):
    """What a process has of the sequences, which are counted along the first dimension of states."""

    entering: slice  # those that earlier processes began; where there is none, any one: its state comes in as zero
    lead: int  # how many tokens of it come first here
    leaving: slice | None  # those that the next process goes on with
    through: list[bool]  # of every process, whether what enters is what leaves
    starts: Tensor | None  # of the packed sequences, among these tokens
    begins: Tensor  # whether each sequence begins here
    ends: Tensor  # whether each sequence ends here


def _segment(starts, values, counts, rank):
    if starts is None:
        every, last = slice(None), rank == len(counts) - 1
        return _Segment(every, counts[rank], every, [True] * len(counts), None, torch.tensor([rank == 0]), torch.tensor([last]))
    borders = [sum(counts[:i]) for i in range(len(counts) + 1)]
    # The sequence that has tokens on both sides of each border.
    across = [next((slice(i, i + 1) for i, (begin, end) in enumerate(zip(values, values[1:])) if begin < border < end), None)
              for border in borders]
    (first, last), (entering, leaving) = borders[rank:rank + 2], across[rank:rank + 2]
    lead = min(values[entering.stop], last) - first if entering else 0
    # Sequences without tokens are the first process's.
    begins = [first <= begin < last if begin < end else rank == 0 for begin, end in zip(values, values[1:])]
    ends = [first < end <= last if begin < end else rank == 0 for begin, end in zip(values, values[1:])]
    return _Segment(entering or slice(0, 1), lead, leaving, [one is not None and one == other for one, other in zip(across, across[1:])],
                    (starts - first).clamp(0, counts[rank]), torch.tensor(begins), torch.tensor(ends))


def _by_sequence(flags, states):
    return flags.to(states.device).view(-1, *[1] * (states.dim() - 1))


def _move(step, state, dense):
    return step @ state if dense else step * state


def _move_back(step, cotangent, dense):
    return step.mT @ cotangent if dense else step * cotangent


def _with_rates(arguments):
    """Those of the op: recurrences with rates are not split."""
    return *arguments[:4], None, *arguments[4:]


def _without_rates(arguments):
    return *arguments[:4], *arguments[5:]


def _op(*arguments):
    return linrec._op(*_with_rates(arguments))


def _spec(*arguments):
    return linrec._spec(*_with_rates(arguments))


def _flatten(*arguments):
    return linrec._flatten(*_with_rates(arguments))


def _response(q, k, v, decay, beta, erase, lowrank, bonus, scale, decay_side, erase_before_decay, decay_bound, chunk, segments,
              value_blocks, checkpoint_interval):
    """(rows, M): how these tokens answer to a state S before them. They add rows S to o; with decays of values, s (q S) * rows."""
    (batch, tokens, heads, values), keys = v.shape, q.shape[3]
    wide = torch.float64 if v.dtype == torch.float64 else torch.float32
    if decay_side == "value":
        one, none = v.new_ones(batch, tokens, 1, 1), v.new_zeros(batch, tokens, 1, 1)
        return _op(one, none, torch.zeros_like(v), decay, None, None, None, None,
                          torch.ones(batch, heads, 1, values, dtype=wide, device=v.device), None, 1.0, "value", False, decay_bound, chunk,
                   segments, value_blocks, checkpoint_interval)
    # The same recurrence without anything written: its state goes from the identity to M.
    identity = torch.eye(keys, dtype=wide, device=v.device).expand(batch, heads, keys, keys)
    rows, step = _op(q, k, v.new_zeros(batch, tokens, heads, keys), decay, beta, erase, lowrank, bonus, identity, None, scale,
                            decay_side, erase_before_decay, decay_bound, chunk, segments)
    erases = beta is not None or erase is not None
    return rows, step if erases else step.diagonal(dim1=2, dim2=3).unsqueeze(3)


def _respond_back(rows, d_o, q, scale, decay_side):
    """The gradient of S for that of o, in what `_response` says."""
    if decay_side == "value":
        d_o = d_o * rows
        rows = q.repeat_interleave(d_o.shape[2] // q.shape[2], 2) * (q.shape[3]**-0.5 if scale is None else scale)
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    return torch.einsum("bthk,bthv->bhkv", rows.to(wide), d_o.to(wide))


class _Recurrence(torch.autograd.Function):
    """(o, final states). Every process comes by in the backward pass, whichever of both its loss depends on."""

    @staticmethod
    def forward(ctx, group, rank, segment, rest, q, k, v, decay, beta, erase, lowrank, bonus, initial):
        operands = q, k, v, decay, beta, erase, lowrank, bonus
        dense, packed = beta is not None or erase is not None, segment.starts is not None
        if initial is None:
            states = (len(segment.begins) if packed else v.shape[0]), v.shape[2], q.shape[3], v.shape[3]
            state = torch.zeros(states, dtype=torch.float64 if v.dtype == torch.float64 else torch.float32, device=v.device)
        else:
            state = torch.where(_by_sequence(segment.begins, initial), initial, 0)
        left = _op(*operands, state, segment.starts, *rest)[1]
        # Rows are for the backward pass: one product with them gives S_in's gradient.
        rows, step = _response(*(one if one is None or one.dim() < 3 else one[:, :segment.lead] for one in operands), *rest)

        leaves = left[segment.leaving] if segment.leaving else torch.zeros_like(left[segment.entering])
        message = _gather(group, torch.cat((step.flatten(), leaves.flatten())))
        steps = [one[:step.numel()].view(step.shape) for one in message]
        at_border = torch.zeros_like(leaves)
        for at, through in enumerate(segment.through):
            if at == rank:
                state[segment.entering] += at_border
            leaves = message[at, step.numel():].view(leaves.shape)
            # Not a sum with zeros: what is NaN in one sequence does not reach the others.
            at_border = _move(steps[at], at_border, dense) + leaves if through else leaves

        o, final = _op(*operands, state, segment.starts, *rest)
        last = at_border
        if packed:
            last = torch.where(_by_sequence(segment.ends, final), final, 0)
            dist.all_reduce(last, group=group)
        ctx.group, ctx.rank, ctx.segment, ctx.rest, ctx.dense = group, rank, segment, rest, dense
        ctx.save_for_backward(*operands, state, rows, *steps[rank:])
        return o, last

    @staticmethod
    @once_differentiable
    def backward(ctx, d_o, d_last):
        group, rank, segment, dense = ctx.group, ctx.rank, ctx.segment, ctx.dense
        *operands, state, rows, step = ctx.saved_tensors[:11]
        later = ctx.saved_tensors[11:]
        with torch.autocast(d_o.device.type, enabled=False):
            d_entering = _respond_back(rows, d_o[:, :segment.lead], operands[0][:, :segment.lead], *ctx.rest[:2])
            if segment.starts is None:
                d_final = torch.zeros_like(d_last)
                every, d_lasts = _gather(group, torch.stack((d_entering, d_last))).unbind(1)
                cotangent = d_lasts.sum(0)
            else:
                d_last = d_last.clone()
                dist.all_reduce(d_last, group=group)
                d_final = torch.where(_by_sequence(segment.ends, d_last), d_last, 0)
                every = _gather(group, d_entering + _move_back(step, d_final[segment.entering], dense))
                cotangent = torch.zeros_like(d_entering)
            for at in range(len(every) - 1, rank, -1):
                through = segment.through[at]
                cotangent = every[at] + _move_back(later[at - rank - 1], cotangent, dense) if through else every[at]
            if segment.leaving:
                d_final[segment.leaving] += cotangent

            arguments = *operands, state, segment.starts, *ctx.rest
            given = [i for i, one in enumerate((*operands, state)) if one is not None]
            wrt = [j for j, i in enumerate(given) if ctx.needs_input_grad[4 + i]]
            spec = _spec(*arguments).vjp(wrt, (0, 1))
            values = _dispatch.derivative([*_flatten(*arguments), d_o, d_final], _dispatch.intern(spec))
        gradients = [None] * 9
        for j, value in zip(wrt, values):
            gradients[given[j]] = value
        if gradients[8] is not None:
            gradients[8] = torch.where(_by_sequence(segment.begins, gradients[8]), gradients[8], 0)
        return None, None, None, None, *gradients


def _says(q, k, v, decay, beta, erase, lowrank, bonus, initial, starts, scale, decay_side, *rest):
    """What must be the same in all processes."""
    if beta is not None or erase is not None:
        kind = "tokens erase"
    elif decay is None:
        kind = "no decay"
    else:
        dimensions = ["heads"] if decay.dim() == 1 else ["batch", "tokens", "heads", f"{decay_side}s"][:decay.dim()]
        kind = f"decays [{', '.join(dimensions)}]"
    derived = torch.is_grad_enabled() and any(
        one is not None and one.requires_grad for one in (q, k, v, decay, beta, erase, lowrank, bonus, initial))
    return (f"{_dispatch._types([v])[0][0]} v [{v.shape[0]}, tokens, {v.shape[2]}, {v.shape[3]}], keys of {q.shape[3]} channels, {kind}, "
            f"{_packed(starts)[1]}, {'a' if derived else 'no'} gradient")


@torch.compiler.disable
def linear_recurrence(q: Tensor, k: Tensor, v: Tensor, *, decay: Tensor | None = None, rates: Tensor | None = None,
                      beta: Tensor | None = None, erase: Tensor | None = None, lowrank: Tensor | None = None,
                      bonus: Tensor | None = None, initial: Tensor | None = None, starts: Tensor | None = None,
                      scale: float | None = None,
                      decay_side: str = "key", erase_before_decay: bool = False, decay_bound: float | None = None,
                      chunk: int | None = None, segments: int | None = None, value_blocks: int | None = None,
                      checkpoint_interval: int | None = None,
                      group: dist.ProcessGroup | None = None) -> tuple[Tensor, Tensor]:
    r"""`linrec.linear_recurrence` over a sequence that the processes of a group share, as (o, final state). Each process gives its
    own tokens, one segment after the other in the order of the group, and gets the outputs of these. Numbers of tokens may
    differ; all else is of the same shapes.

    initial  the state before the first token of the whole sequence: that of the group's first process counts (of packed
             sequences, that of the process with the sequence's first token), and there is its gradient; others are zero
    starts   [N + 1]: of the whole packed sequences, over the tokens of all processes; the same in all of them
    group    None for all processes
    final    the state after the last token of the whole sequence, in every process; gradients of all of them are summed

    A process runs its recurrence forward twice, and once with K values for M, and backward once. It sends M and E, as many numbers
    as states have and [B, H, K], where tokens erase [B, H, K, K], more; and two states in the backward pass. With packed sequences
    it sends those of one sequence, and the final states of all are summed over the processes.

    A call that does not fit those of the other processes raises CallError in all of them. Differentiable once.
    """
    rank, processes = _place(group)
    arguments = (q, k, v, decay, beta, erase, lowrank, bonus, initial, starts, scale, decay_side, erase_before_decay, decay_bound, chunk,
                 segments, value_blocks, checkpoint_interval)
    device = v.device.type
    if torch.is_autocast_enabled(device):
        arguments = _without_rates(linrec._autocast(torch.get_autocast_dtype(device), *_with_rates(arguments)))
    with torch.autocast(device, enabled=False):
        refusal = says = None
        try:
            ops.check(_spec(*arguments), [ops.Array(*one) for one in _dispatch._types(_flatten(*arguments))])
            if rates is not None:
                raise CallError("linear_recurrence: recurrences with rates (Mamba's selective scan) are not split over processes")
            says = _says(*arguments)
        except Exception as error:  # noqa: BLE001  # Whatever it is, the others are told, and do not wait.
            refusal = error
        counts = _agree(group, "linear_recurrence", v.device, 0 if refusal else v.shape[1], says, refusal)
        values, _ = _packed(starts)
        if values is not None:
            recurrences.check_starts(values, sum(counts))
        if processes == 1:
            return _op(*arguments)
        return _Recurrence.apply(group, rank, _segment(starts, values, counts, rank), arguments[10:], *arguments[:9])


# --- tokens before a segment -------------------------------------------------------------------------------------------

class _Before(torch.autograd.Function):
    """The n tokens in front of each process's; `first`: where these begin in the whole sequence, and its end."""

    @staticmethod
    def forward(ctx, group, rank, first, n, x):
        ctx.group, ctx.rank, ctx.first, ctx.n, ctx.shape = group, rank, first, n, x.shape
        last = x.new_zeros(x.shape[0], n, *x.shape[2:])
        kept = min(n, x.shape[1])
        last[:, n - kept:] = x[:, x.shape[1] - kept:]
        before = torch.zeros_like(last)
        for other, rows in enumerate(_gather(group, last)[:rank]):
            # Position p of the whole sequence is row p - end + n of its process's rows, and row p - first + n here.
            begin, end = max(first[other], first[rank] - n), first[other + 1]
            if begin < end:
                before[:, begin - first[rank] + n:end - first[rank] + n] = rows[:, begin - end + n:]
        return before

    @staticmethod
    @once_differentiable
    def backward(ctx, cotangent):
        first, rank, n = ctx.first, ctx.rank, ctx.n
        gradient = cotangent.new_zeros(ctx.shape)
        for other, rows in enumerate(_gather(ctx.group, cotangent)):
            begin, end = max(first[rank], first[other] - n), min(first[rank + 1], first[other])
            if other > rank and begin < end:
                gradient[:, begin - first[rank]:end - first[rank]] += rows[:, begin - first[other] + n:end - first[other] + n]
        return None, None, None, None, gradient


def _before(group, rank, counts, n, x, values):
    """`_Before`, and zeros for what is of packed sequences before that of the first token here."""
    first = [sum(counts[:i]) for i in range(len(counts) + 1)]
    before = _Before.apply(group, rank, first, n, x)
    if values is None:
        return before
    begun = max(begin for begin in values if begin <= first[rank])
    there = torch.arange(first[rank] - n, first[rank], device=x.device) >= begun
    return torch.where(there.view(-1, *[1] * (x.dim() - 2)), before, 0)


@torch.compiler.disable
def shift_from_previous(x: Tensor, n: int, group: dist.ProcessGroup | None = None, starts: Tensor | None = None) -> Tensor:
    """The n tokens before those of this process, [B, n, ...] for x [B, T, ...], from as many processes before it as have them, and
    zeros where the sequence has not begun. With packed sequences (`starts` [N + 1] over all processes' tokens), tokens of
    sequences before that of the first token here are zeros too.

    A causal convolution over W tokens takes `torch.cat((shift_from_previous(x, W - 1), x), 1)`, a shift by one token
    `torch.cat((shift_from_previous(x, 1), x), 1)[:, :-1]`. Every process sends n tokens; differentiable once.
    """
    rank, _ = _place(group)
    refusal = None
    if x.dim() < 2 or n < 1:
        refusal = CallError(f"shift_from_previous: x has the shape {list(x.shape)}, and n is {n}; x is [batch, tokens, ...], and n is 1 "
                            "or more")
    values, packed = _packed(starts)
    says = f"n = {n}, x {x.dtype} {['tokens' if d == 1 else extent for d, extent in enumerate(x.shape)]}, {packed}, " \
           f"{'a' if torch.is_grad_enabled() and x.requires_grad else 'no'} gradient"
    counts = _agree(group, "shift_from_previous", x.device, 0 if refusal else x.shape[1], says, refusal)
    if values is not None:
        recurrences.check_starts(values, sum(counts))
    return _before(group, rank, counts, n, x, values)


# --- short convolutions ------------------------------------------------------------------------------------------------

class _Finals(torch.autograd.Function):
    """(y, the final states that the processes have at the ends of sequences). One function for both: every process comes by in the
    backward pass, whichever its loss depends on."""

    @staticmethod
    def forward(ctx, group, ends, y, final):
        ctx.group, ctx.ends = group, ends
        last = torch.where(_by_sequence(ends, final), final, 0)
        dist.all_reduce(last, group=group)
        return y.view_as(y), last

    @staticmethod
    @once_differentiable
    def backward(ctx, d_y, d_last):
        d_last = d_last.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(d_last, group=ctx.group)
        return None, None, d_y, torch.where(_by_sequence(ctx.ends, d_last), d_last, 0)


@torch.compiler.disable
def _short_convolution(x, weight, bias, residual, initial_state, output_final_state, activation, cu_seqlens, *, group):
    """`linrec.short_convolution` of a segment: W tokens of the processes before are its initial state. The final state is that of the
    whole sequence, in every process; the initial one is that of the group's first process."""
    rank, processes = _place(group)
    refusal = says = None
    tokens = 0
    try:
        _conv.check(x, weight, bias, residual, initial_state, activation, cu_seqlens, split=True)
        if initial_state is not None and cu_seqlens is not None:
            raise CallError("short_convolution: packed sequences with an initial_state are not split over processes")
        width, channels = weight.shape[1], x.flatten(2).shape[2]
        # Processes behind few tokens see what is before these: to them it is of the first process.
        first = initial_state.mT.to(x.dtype) if initial_state is not None and rank == 0 else None
        tokens = x.shape[1] + (0 if first is None else width)
        given = {"x": (x, initial_state), "weight": (weight,), "bias": (bias,), "residual": (residual,)}
        derived = [name for name, some in given.items()
                   if torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in some)]
        says = (f"{_dispatch._types([x])[0][0]} x [{x.shape[0]}, tokens, {channels}], {width} tokens each, {_packed(cu_seqlens)[1]}, "
                f"{'a' if output_final_state else 'no'} final state, gradients of {', '.join(derived) or 'nothing'}")
    except Exception as error:  # noqa: BLE001  # Whatever it is, the others are told, and do not wait.
        refusal = error
    counts = _agree(group, "short_convolution", x.device if isinstance(x, Tensor) else torch.device("cpu"),
                    tokens, says, refusal)
    values, _ = _packed(cu_seqlens)
    if values is not None:
        recurrences.check_starts(values, sum(counts), "short_convolution")
    if processes == 1:
        return _conv.convolve(x, weight, bias, residual, initial_state, output_final_state, activation, cu_seqlens)

    rows = x.flatten(2)
    state = _before(group, rank, counts, width, rows if first is None else torch.cat((first, rows), 1), values)
    if first is not None:
        # In front of the first process are zeros, but all take part in the backward pass.
        state = state + first
    segment = _segment(cu_seqlens, values, counts, rank)
    if values is not None:
        entered = torch.arange(len(values) - 1) == segment.entering.start
        state = torch.where(_by_sequence(entered, state), state, 0)
    y, final = _conv.convolve(x, weight, bias, residual, state.mT, output_final_state, activation, segment.starts)
    return _Finals.apply(group, segment.ends, y, final) if output_final_state else (y, None)


# --- models ------------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def sequence_split(group: dist.ProcessGroup | None = None) -> Iterator[None]:
    """Within it, every function of drawloom.torch.linrec, in all threads, has a segment of its sequences in each process of the group,
    as `linear_recurrence` of this module says; `cu_seqlens` are those of the whole sequences. So models that call these functions are
    split without a change, short convolutions among them (an initial state with packed sequences is refused); what else mixes tokens,
    such as a token shift, takes `shift_from_previous`. Checkpointed activations are computed again in the backward pass, which is then
    within it, too."""
    _place(group)

    before = linrec._split, _conv._split
    linrec._split = functools.partial(linear_recurrence, group=group)
    _conv._split = functools.partial(_short_convolution, group=group)
    try:
        yield
    finally:
        linrec._split, _conv._split = before
