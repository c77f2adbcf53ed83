# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of test_torch_cuda.py, all in one process, which has CUDA tensors: on the emulated driver, or where $DRAWLOOM_TEST_DEVICES is "real" on
GPUs. Prints a line of JSON for each: its name, and what it raised or null."""

import os
import sys

if os.environ.get("DRAWLOOM_TEST_DEVICES") == "real":
    from on_gpus import real_torch as gpus
else:
    from on_gpus import emulated_torch as gpus  # Before torch.

import contextlib
import json
import traceback
import warnings
from unittest import mock

import torch
from torch import nn
from torch.nn import functional as F

import drawloom
import drawloom.torch as dt
from drawloom import cells
from drawloom.torch import linrec

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def two_devices():
    if gpus.DEVICES < 2:
        raise Skipped("there is one device")


class Skipped(Exception):
    pass


@contextlib.contextmanager
def raises(kind, *words):
    try:
        yield
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, f"{missing} not in: {error}"
    else:
        raise AssertionError(f"no {kind.__name__} was raised")


def close(a, b, roundings=1000):
    """Of float64, as far as sums in another order allow."""
    a, b = a.detach().cpu(), b.detach().cpu()
    assert a.shape == b.shape and a.dtype == b.dtype == torch.float64, (a.shape, b.shape, a.dtype, b.dtype)
    worst = (a - b).abs().max().item() if a.numel() else 0
    scale = b.abs().max().item() if b.numel() else 0
    assert worst <= roundings * torch.finfo(torch.float64).eps * (1 + scale), (worst, scale)


def numbers(*shapes, scale=1.0):
    return [scale * torch.randn(*shape, dtype=torch.float64) for shape in shapes]


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for part in value for one in _tensors(part)] if isinstance(value, (list, tuple)) else []


def as_on_cpu(function, tensors, device="cuda:0"):
    """Values and gradients on a device against those of the CPU, which other tests hold to independent ones."""
    runs = []
    for where in ("cpu", device):
        given = [one.detach().to(where).requires_grad_(one.is_floating_point()) for one in tensors]
        results = [one for one in _tensors(function(*given)) if one.is_floating_point()]
        assert all(str(one.device) == where for one in results), [one.device for one in results]
        generator = torch.Generator().manual_seed(1)
        cotangents = [torch.randn(one.shape, dtype=one.dtype, generator=generator).to(where) for one in results]
        wanted = [one for one in given if one.requires_grad]
        runs.append([*results, *torch.autograd.grad(results, wanted, cotangents, allow_unused=True)])
    for ours, theirs in zip(*reversed(runs)):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            close(ours, theirs)


@dt.op
def gated(x, gate, up, down):
    return (F.silu(x @ gate) * (x @ up)) @ down


def gated_numbers(rows=37):
    x, gate, up, down = numbers((rows, 12), (12, 20), (12, 20), (20, 12))
    return [x, gate / 4, up / 4, down / 4]


# --- ops --------------------------------------------------------------------------------------------------------------

@case
def op_of_a_function_of_rows():
    as_on_cpu(gated, gated_numbers())


@case
def op_on_the_second_device():
    two_devices()
    as_on_cpu(gated, gated_numbers(), "cuda:1")


@case
def op_is_as_torch_computes_it():
    tensors = gated_numbers()
    x, gate, up, down = tensors
    close(gated(*[one.cuda() for one in tensors]), (F.silu(x @ gate) * (x @ up)) @ down)


@case
def op_with_any_number_of_rows_is_one_program():
    tensors = [one.cuda() for one in gated_numbers(5)]
    gated(*tensors)
    before = len(gpus.compiled)
    for rows in (1, 8, 100, 0):
        x = torch.randn(rows, 12, dtype=torch.float64)
        close(gated(x.cuda(), *tensors[1:]), gated(x, *[one.cpu() for one in tensors[1:]]))
    assert len(gpus.compiled) == before


@case
def tensors_that_are_not_dense():
    x, gate, up, down = gated_numbers(24)
    as_on_cpu(lambda x, gate, up, down: gated(x.t(), gate, up.t(), down[:, ::2]),
              [torch.randn(12, 24, dtype=torch.float64), gate, up.t().contiguous(), torch.cat([down, down], 1)])


@case
def rows_in_several_dimensions():
    _, *shared = gated_numbers()
    as_on_cpu(gated, [torch.randn(3, 4, 12, dtype=torch.float64), *shared])


@case
def a_number_on_the_device():
    as_on_cpu(dt.op(lambda x, w, scale: torch.sigmoid(x @ w) * scale), [*numbers((9, 8), (8, 8)), torch.tensor(0.7, dtype=torch.float64)])


@case
def multilayer_perceptron():
    as_on_cpu(lambda x, *w: dt.fused_mlp(x, w[:2], w[2:], activation="silu"), numbers((33, 16), (24, 16), (8, 24), (24,), (8,), scale=0.5))


@case
def rational_activation():
    as_on_cpu(dt.rational, numbers((5, 7, 16), (2, 6), (2, 4), scale=0.5))


@case
def encoding():
    as_on_cpu(lambda x: dt.frequency_encode(x, 3), numbers((11, 3)))


@case
def kan_of_polynomials():
    as_on_cpu(lambda x, c: dt.kan_layer(x, c, basis="chebyshev"), [torch.rand(17, 4, dtype=torch.float64) * 2 - 1, *numbers((6, 4, 5))])


@case
def gated_linear_attention():
    q, k, v, g = numbers(*[(1, 32, 2, 8)] * 4)
    as_on_cpu(lambda q, k, v, g: linrec.chunk_gla(q, k, v, F.logsigmoid(g), output_final_state=True), [q, k, v, g])


@case
def delta_rule():
    q, k, v = numbers(*[(1, 32, 2, 8)] * 3)
    beta = torch.rand(1, 32, 2, dtype=torch.float64)
    as_on_cpu(lambda q, k, v, beta: linrec.chunk_delta_rule(q, F.normalize(k, dim=-1), v, beta), [q, k, v, beta])


@case
def short_convolution():
    as_on_cpu(lambda x, w: linrec.short_convolution(x, w, activation="silu")[0], numbers((2, 21, 8), (8, 4)))


@case
def message_passing():
    ends = torch.randint(0, 9, (2, 40))
    graph = dt.Graph(ends[0].cuda(), ends[1].cuda(), num_src=9)
    for combine in ("sum", "mean", "max"):
        as_on_cpu(lambda x, w: dt.message_passing(graph, lambda src, edge: edge * src, src=x, edge=w, combine=combine),  # noqa: B023
                  numbers((9, 6), (40, 6)))


@case
def layers_of_graphs():
    ends, kinds = torch.randint(0, 9, (2, 40)), torch.randint(0, 3, (40,))
    for layer, more in ((dt.nn.RGCNConv(6, 5, 3), [kinds]), (dt.nn.GATConv(6, 5, heads=2), []), (dt.nn.SAGEConv(6, 5), [])):
        layer = layer.double()
        names = list(dict(layer.named_parameters()))

        def call(x, *parameters, layer=layer, names=names, more=more):
            on = [one.to(x.device) for one in (ends, *more)]
            return torch.func.functional_call(layer, dict(zip(names, parameters)), (x, *on))

        as_on_cpu(call, [*numbers((9, 6)), *[one.detach() for one in layer.parameters()]])


@case
def nonlinear_recurrence():
    def step(states, inputs, parameters):
        h = (states[0] * parameters[0] + inputs[0]).sigmoid()
        return [h], [h]

    cell = cells.Cell(step, parameters=1)
    as_on_cpu(lambda u, w: dt.nonlinear_scan(cell, [u], [w])[0], numbers((2, 9, 4), (4,), scale=0.5))


# --- autograd and transforms -------------------------------------------------------------------------------------------

@case
def derivatives_of_second_order():
    tensors = gated_numbers(6)
    hessians = []
    for where in ("cpu", "cuda:0"):
        x, *shared = [one.to(where) for one in tensors]
        hessians.append(torch.autograd.functional.hvp(lambda x: gated(x, *shared).square().sum(), x, torch.ones_like(x))[1])  # noqa: B023
    close(hessians[1], hessians[0])


@case
def transforms():
    x, *shared = gated_numbers(6)
    on_gpu = [one.cuda() for one in shared]
    close(torch.func.jacrev(gated)(x.cuda(), *on_gpu), torch.func.jacrev(gated)(x, *shared))
    close(torch.func.vmap(lambda row: gated(row[None], *on_gpu)[0])(x.cuda()), gated(x, *shared))


@case
def autocast():
    x, *shared = [one.float().cuda() for one in gated_numbers(6)]
    # Where torch was built without CUDA, it turns autocast off.
    with mock.patch("torch.cuda.is_available", lambda: True), torch.autocast("cuda", dtype=torch.float16):
        y = dt.fused_mlp(x, [shared[0].t(), shared[2].t()[:, :20]])
    assert y.dtype == torch.float16 and y.is_cuda


@case
def training_of_a_module():
    two_devices()
    losses = []
    for where in ("cpu", "cuda:1"):
        torch.manual_seed(3)
        model = dt.fuse(nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 1)).double(), verbose=False).to(where)
        x = torch.randn(64, 8, dtype=torch.float64).to(where)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss)
    close(losses[1], losses[0])


# --- streams ------------------------------------------------------------------------------------------------------------

@case
def work_goes_to_the_current_stream_and_waits_for_nothing():
    tensors = gated_numbers()
    expected = gated(*tensors)
    on_gpu = [one.cuda() for one in tensors]
    gated(*on_gpu)  # Compiled.
    with gpus.Stream() as stream, gpus.deferred():
        y = gated(*on_gpu)
        z = gated(y, *on_gpu[1:])
        assert stream.is_busy()
        close(z, gated(expected, *tensors[1:]))
        assert not stream.is_busy()


@case
def gradients_are_on_the_stream_of_the_call():
    tensors = gated_numbers()
    on_gpu = [one.cuda().requires_grad_() for one in tensors]
    gated(*on_gpu).sum().backward()
    for one in on_gpu:
        one.grad = None
    with gpus.Stream(), gpus.deferred():
        # The threads of autograd have the stream that was current in the forward pass.
        y = gated(*on_gpu)
        gradients = torch.autograd.grad(y, on_gpu, torch.ones_like(y))
        on_cpu = [one.clone().requires_grad_() for one in tensors]
        gated(*on_cpu).sum().backward()
        for ours, theirs in zip(gradients, on_cpu):
            close(ours, theirs.grad)


@case
def another_device_is_current():
    two_devices()
    tensors = gated_numbers()
    with gpus.on_device(1):
        y = gated(*[one.to("cuda:0") for one in tensors])
        assert y.device.index == 0
        close(y, gated(*tensors))
    with gpus.on_device(0):
        close(gated(*[one.to("cuda:1") for one in tensors]), gated(*tensors))


@case
def layers_on_two_devices():
    two_devices()
    x, *shared = gated_numbers()
    first, second = ([one.to(device).requires_grad_() for one in shared] for device in ("cuda:0", "cuda:1"))
    y = gated(gated(x.to("cuda:0"), *first).to("cuda:1"), *second)
    y.sum().backward()
    once, twice = ([one.clone().requires_grad_() for one in shared] for _ in range(2))
    z = gated(gated(x, *once), *twice)
    z.sum().backward()
    close(y, z)
    for ours, theirs in zip([*first, *second], [*once, *twice]):
        close(ours.grad, theirs.grad)


# --- graphs -------------------------------------------------------------------------------------------------------------

@case
def a_captured_step_is_replayed_with_other_numbers():
    tensors = gated_numbers()
    x, *shared = [one.cuda() for one in tensors]

    def step():
        y = gated(x, *shared)
        return y, gated(y, *shared)

    with gpus.Stream() as stream:
        step()  # As torch says: a call before the capture.
        asked = gpus.allocations()
        replay, (y, z) = stream.capture(step)
        assert gpus.allocations() >= asked + 2
        for seed in range(3):
            torch.manual_seed(seed)
            other = torch.randn(37, 12, dtype=torch.float64)
            x.copy_(other)
            replay()
            # What others compute meanwhile takes none of the graph's memory.
            for _ in range(3):
                gated(torch.randn(37, 12, dtype=torch.float64).cuda(), *shared)
            close(y, gated(other, *tensors[1:]))
            close(z, gated(gated(other, *tensors[1:]), *tensors[1:]))


@case
def a_captured_backward_pass():
    tensors = [one.cuda().requires_grad_() for one in gated_numbers()]

    def step():
        y = gated(*tensors)
        # On the caller's thread, as in make_graphed_callables.
        return torch.autograd.grad(y, tensors, ones)

    ones = torch.ones(37, 12, dtype=torch.float64).cuda()
    with gpus.Stream() as stream:
        expected = step()
        replay, gradients = stream.capture(step)
        replay()
        for ours, theirs in zip(gradients, expected):
            close(ours, theirs)


# --- memory and errors --------------------------------------------------------------------------------------------------

@case
def workspaces_are_memory_of_torch():
    tensors = [one.cuda() for one in gated_numbers(300)]
    w = [torch.randn(64, 12, dtype=torch.float64).cuda(), torch.randn(12, 64, dtype=torch.float64).cuda()]
    program = drawloom.compile(PRODUCTS, target="cuda:0", cache=False)
    x = tensors[0][:256].contiguous()
    program(x, *w)
    asked = gpus.allocations()
    y = program(x, *w)
    # A result and a workspace.
    assert gpus.allocations() == asked + 2, gpus.allocations() - asked
    close(y, x.cpu() @ w[0].cpu().t() @ w[1].cpu().t())


PRODUCTS = """
func.func @f(%x: tensor<256x12xf64>, %a: tensor<64x12xf64>, %b: tensor<12x64xf64>) -> tensor<256x12xf64> {
  %z = arith.constant dense<0.0> : tensor<256x64xf64>
  %at = tensor.empty() : tensor<12x64xf64>
  %ta = linalg.transpose ins(%a : tensor<64x12xf64>) outs(%at : tensor<12x64xf64>) permutation = [1, 0]
  %h = linalg.matmul ins(%x, %ta : tensor<256x12xf64>, tensor<12x64xf64>) outs(%z : tensor<256x64xf64>) -> tensor<256x64xf64>
  %m = arith.constant dense<0.0> : tensor<64xf64>
  %s = linalg.reduce ins(%h : tensor<256x64xf64>) outs(%m : tensor<64xf64>) dimensions = [0]
    (%in: f64, %acc: f64) { %r = arith.addf %in, %acc : f64 linalg.yield %r : f64 }
  %bt = tensor.empty() : tensor<64x12xf64>
  %tb = linalg.transpose ins(%b : tensor<12x64xf64>) outs(%bt : tensor<64x12xf64>) permutation = [1, 0]
  %y0 = arith.constant dense<0.0> : tensor<256x12xf64>
  %y = linalg.matmul ins(%h, %tb : tensor<256x64xf64>, tensor<64x12xf64>) outs(%y0 : tensor<256x12xf64>) -> tensor<256x12xf64>
  %first = tensor.extract_slice %s[0] [1] [1] : tensor<64xf64> to tensor<f64>
  %n = arith.constant 0.0 : f64
  %f = tensor.extract %first[] : tensor<f64>
  %zero = arith.mulf %f, %n : f64
  %o = tensor.splat %zero : tensor<256x12xf64>
  %sum = arith.addf %y, %o : tensor<256x12xf64>
  return %sum : tensor<256x12xf64>
}
"""


@case
def no_memory_left_is_the_error_of_torch():
    tensors = [one.cuda() for one in gated_numbers(gpus.MANY_ROWS)]
    expected = gated(*tensors)
    with gpus.no_memory():
        with raises(torch.OutOfMemoryError, "CUDA out of memory"):
            gated(*tensors)
        with raises(drawloom.DeviceError, "CUDA out of memory"):
            gated(*tensors)
    close(gated(*tensors), expected)


@case
def a_kernel_that_fails_is_named():
    if not gpus.EMULATED:
        raise Skipped("kernels of GPUs do not fail when they are told to")
    tensors = [one.cuda() for one in gated_numbers()]
    gated(*tensors)
    with gpus.failing_kernels():
        with raises(RuntimeError, "CUDA"):
            gated(*tensors).cpu()
        with raises(drawloom.DeviceError, "main"):
            for _ in range(3):
                gated(*tensors)


@case
def tensors_of_two_devices():
    x, *shared = gated_numbers()
    with raises(drawloom.CallError, "tensor 1 is on the device 'cpu'", "tensor 0 on 'cuda:0'", "x.to(device)"):
        gated(x.cuda(), *shared)
    two_devices()
    with raises(drawloom.CallError, "tensor 1 is on the device 'cuda:1'", "tensor 0 on 'cuda:0'"):
        gated(x.cuda(), *[one.to("cuda:1") for one in shared])


@case
def rows_and_graph_of_two_devices():
    graph = dt.Graph(torch.tensor([0, 1]), torch.tensor([1, 2]), num_src=3)
    x, w = numbers((3, 4), (2, 4))
    with raises(drawloom.CallError, "rows are on cpu and cuda:0"):
        dt.message_passing(graph, lambda src, edge: edge * src, src=x.cuda(), edge=w)


# --- torch.compile ------------------------------------------------------------------------------------------------------

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


@case
def a_compiled_model():
    torch.manual_seed(0)
    model = Block().double()
    x = torch.randn(512, 16, dtype=torch.float64)
    expected = model(x)
    gradients = torch.autograd.grad(expected.square().sum(), list(model.parameters()))
    model.cuda()
    before = len(gpus.compiled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = torch.compile(model, backend="drawloom", options={"rest": "eager"}, fullgraph=True)(x.cuda())
    # The forward pass and its gradients.
    assert ours.is_cuda and len(gpus.compiled) == before + 2
    close(ours, expected)
    for one, other in zip(torch.autograd.grad(ours.square().sum(), list(model.parameters())), gradients):
        close(one, other)


@case
def an_op_under_torch_compile():
    tensors = gated_numbers()
    compiled = torch.compile(lambda *tensors: gated(*tensors).sin(), backend="aot_eager", fullgraph=True)
    close(compiled(*[one.cuda() for one in tensors]), gated(*tensors).sin())


def outcome(name):
    """What a case raised, or None."""
    torch.manual_seed(0)
    try:
        CASES[name]()
    except Skipped:
        raise
    except Exception:
        return traceback.format_exc()
    return None


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(json.dumps([name, outcome(name)]), flush=True)
