# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps whose saved tensors go to a store have the bits of steps whose saved tensors stay: what autograd hands over."""

import contextlib
import functools

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

import drawloom.torch as dt
import drawloom.torch._offload as offload_module
from drawloom.torch._offload import Offload
from memory.memory_store import MemoryStore


@pytest.fixture(autouse=True)
def everything_goes(monkeypatch):
    """Models here are small; so are what stays."""
    monkeypatch.setattr(offload_module, "SMALL", 64)


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def rows(*shape, grad=False):
    return torch.randn(*shape, requires_grad=grad)


def gradients(context, function, *inputs):
    """The value and all gradients; the backward pass runs behind the context."""
    with context:
        value = function(*inputs)
    return [value.detach(), *torch.autograd.grad(value, [one for one in inputs if one.requires_grad])]


# How `trained` runs its models; see test_bits_within_torchs_other_ways.
WAYS = {"plain": lambda step: step,
        "compiled": lambda step: torch.compile(step, backend="aot_eager"),
        "checkpointed": lambda step: lambda *inputs: checkpoint(step, *inputs, use_reentrant=False),
        "in bfloat16": lambda step: torch.autocast("cpu", torch.bfloat16)(step)}
way = "plain"


def trained(context, model, *inputs, step=lambda model, *inputs: model(*inputs).square().mean(), times=3):
    """The losses and the last gradients of some steps."""
    step = WAYS[way](step)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(times):
        optimizer.zero_grad()
        with context:
            loss = step(model, *inputs)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + [parameter.grad for parameter in model.parameters()]


def mlp(width=16):
    return nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, width), nn.Softmax(-1))


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


# Views and shared storages.

@case
def slices_of_one_storage(context):
    def run(x):
        y = x.sin()
        return (y[:8].exp() * y[8:].cos()).sum() + y[2:4].square().sum()
    return gradients(context, run, rows(16, 24, grad=True))


@case
def a_transposed_view_of_what_is_saved_too(context):
    def run(x):
        y = x.sin()
        return (y @ y.t()).exp().sum() + (y.t().contiguous() * 3).square().sum()
    return gradients(context, run, rows(12, 20, grad=True) / 4)


@case
def expanded_rows(context):
    def run(x, y):
        return (x.sin().unsqueeze(1).expand(16, 8, 20) * y).square().sum()
    return gradients(context, run, rows(16, 20, grad=True), rows(16, 8, 20, grad=True))


@case
def chunks_along_the_last_dimension(context):
    def run(x):
        a, b, c = x.tanh().chunk(3, -1)
        return (a * b.exp() * c).sum()
    return gradients(context, run, rows(16, 48, grad=True))


@case
def chunks_along_the_first_dimension(context):
    def run(x):
        a, b, c = x.tanh().chunk(3)
        return (a * b.exp() * c).sum()
    return gradients(context, run, rows(48, 16, grad=True))


@case
def a_small_part_of_a_large_storage(context):
    def run(x):
        y = x.sin()
        return y[5].exp().square().sum() + y[:, 3].square().sum()
    return gradients(context, run, rows(64, 64, grad=True))


@case
def one_tensor_saved_by_many(context):
    def run(x):
        y = x.exp()
        return (y * y.sin() + y.cos() * y).square().sum()
    return gradients(context, run, rows(32, 16, grad=True))


@case
def elements_of_another_type_in_one_storage(context):
    def run(x):
        y = x.sin()
        signs = y.detach().view(torch.int32) >> 31
        return (y * signs * y.view(torch.float32).exp()).sum()
    return gradients(context, run, rows(32, 16, grad=True))


@case
def complex_conjugates(context):
    def run(x):
        y = torch.fft.rfft(x)
        return (y.conj() * y.exp()).abs().sum() + (y.imag * y.real).sum() + (y.conj().imag * x[:, :9]).sum()
    return gradients(context, run, rows(16, 16, grad=True))


@case
def memory_that_begins_at_an_odd_place(context):
    whole = torch.randn(1 + 32 * 16).numpy()
    x = torch.from_numpy(whole[1:].reshape(32, 16)).requires_grad_()
    return gradients(context, lambda x: (x * x.exp() @ x.t()).sum(), x)


# In place.

@case
def changed_in_place_before_it_is_saved(context):
    def run(x, w):
        y = x.sin()
        z = (y.mul_(2) * w).add_(1)
        return (z.exp() * y).sum()
    return gradients(context, run, rows(16, 16, grad=True), rows(16, 16, grad=True))


@case
def saved_again_behind_a_change_in_place(context):
    def run(x, w):
        y, total = x.sin(), 0
        for _ in range(3):
            # What was saved of y is used before y changes.
            slope, = torch.autograd.grad((y.detach() * w).sum(), w)
            total = total + (w * slope).sum()
            with torch.no_grad():
                y.add_(1)
        return total
    return gradients(context, run, rows(16, 16), rows(16, 16, grad=True))


@case
def relu_in_place(context):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(inplace=True), nn.Linear(32, 8), nn.SiLU())
    return trained(context, model, rows(8, 16))


@case
def a_base_filled_through_its_views(context):
    def run(x):
        y = torch.zeros(4, 64)
        for i in range(4):
            y[i] = x[i].sin()
        return (y * y.exp()).sum()
    return gradients(context, run, rows(4, 64, grad=True))


@case
def an_input_buffer_filled_anew(context):
    model, buffer = mlp(), torch.empty(8, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(4):
        # Through memory, so that the version does not know.
        buffer.numpy()[:] = torch.randn(8, 16).numpy()
        optimizer.zero_grad()
        with context:
            loss = model(buffer).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


# What is saved: outputs, masks, indices, statistics.

@case
def outputs_of_ops(context):
    def run(x):
        return torch.softmax(x.exp().tanh().sigmoid(), -1).sqrt().sum()
    return gradients(context, run, rows(32, 16, grad=True))


@case
def dropout(context):
    torch.manual_seed(2)
    return trained(context, nn.Sequential(nn.Linear(16, 32), nn.Dropout(0.3), nn.Linear(32, 4)), rows(16, 16))


@case
def embeddings_and_cross_entropy(context):
    torch.manual_seed(3)
    model, tokens = nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50)), torch.randint(50, (8, 12))
    return trained(context, model, tokens, step=lambda model, tokens: F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()))


@case
def convolutions_and_batch_norm(context):
    torch.manual_seed(4)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 3, padding=1), nn.Flatten())
    return trained(context, model, rows(2, 3, 10, 10)) + list(model.buffers())


@case
def attention(context):
    torch.manual_seed(5)
    model = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    return trained(context, model, rows(2, 12, 16))


@case
def an_lstm(context):
    torch.manual_seed(6)
    return trained(context, nn.LSTM(8, 16, 2), rows(10, 4, 8), step=lambda model, x: model(x)[0].square().mean())


@case
def weights_with_a_norm_of_their_own(context):
    torch.manual_seed(7)
    return trained(context, nn.utils.parametrizations.weight_norm(nn.Linear(16, 16)), rows(8, 16))


@case
def tied_weights(context):
    torch.manual_seed(8)
    model = nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 16)])
    model[1].weight = model[0].weight
    return trained(context, model, rows(8, 16), step=lambda model, x: model[1](model[0](x).tanh()).square().sum())


@case
def layers_of_drawloom(context):
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(8, 16), dt.nn.Rational(16), dt.nn.FusedMLP(16, 16, width=16, hidden_layers=1), dt.nn.GRKAN(16, 4))
    return trained(context, model, rows(16, 8))


@case
def a_recurrence_of_drawloom(context):
    def run(q, k, v, g):
        return dt.linrec.chunk_gla(q, k, v, F.logsigmoid(g))[0].square().sum()
    return gradients(context, run, *(rows(1, 32, 2, 8, grad=True) for _ in range(4)))


# Passes.

@case
def a_backward_pass_within_the_context(context):
    model, x = mlp(), rows(8, 16)
    with context:
        model(x).square().sum().backward()
        model(x).exp().sum().backward()
    return [parameter.grad for parameter in model.parameters()]


@case
def a_context_that_is_entered_twice_at_once(context):
    model, x = mlp(), rows(8, 16)
    with context:
        y = model[:2](x)
        with context:
            y = model[2:](y)
        loss = y.square().sum() * y.exp().sum()
    return [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]


@case
def one_part_of_a_model(context):
    model, x = mlp(), rows(8, 16)
    y = model[:2](x)
    with context:
        y = model[2:](y)
    return list(torch.autograd.grad(y.square().sum(), list(model.parameters())))


@case
def two_backward_passes_of_one_graph(context):
    model, x = mlp(), rows(8, 16)
    with context:
        loss = model(x).square().sum()
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    loss.backward()
    return [parameter.grad for parameter in model.parameters()]


@case
def second_derivatives(context):
    model, x = mlp(), rows(8, 16, grad=True)
    with context:
        slope, = torch.autograd.grad(model(x).square().sum(), x, create_graph=True)
        penalty = slope.square().sum()
    return [penalty.detach(), *torch.autograd.grad(penalty, list(model.parameters()))]


@case
def second_derivatives_behind_the_context(context):
    model, x = mlp(), rows(8, 16, grad=True)
    with context:
        value = model(x).square().sum()
    slope, = torch.autograd.grad(value, x, create_graph=True)
    return [slope.detach(), *torch.autograd.grad(slope.square().sum(), list(model.parameters()))]


@case
def gradients_of_gradients_with_two_inputs(context):
    def run(x, w):
        first, = torch.autograd.grad((x @ w).tanh().sum(), x, create_graph=True)
        second, = torch.autograd.grad(first.exp().sum(), x, create_graph=True)
        return second.square().sum()
    return gradients(context, run, rows(12, 16, grad=True), rows(16, 16, grad=True) / 4)


@case
def parts_without_gradients(context):
    model, x = mlp(), rows(8, 16)
    with context:
        with torch.no_grad():
            scale = model(x).exp()
        loss = (model(x) * scale).sum() + (model[0](x).detach() * model[0](x)).sum()
    return [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]


@case
def micro_batches_with_a_backward_pass_each(context):
    model = mlp()
    for _ in range(2):
        model.zero_grad()
        for x in rows(3, 8, 16):
            with context:
                loss = model(x).square().sum() / 3
            loss.backward()
    return [parameter.grad for parameter in model.parameters()]


@case
def micro_batches_with_one_backward_pass(context):
    model, total = mlp(), 0
    for x in rows(3, 8, 16):
        with context:
            total = total + model(x).square().sum()
    return [total.detach(), *torch.autograd.grad(total, list(model.parameters()))]


@case
def two_networks_against_each_other(context):
    torch.manual_seed(10)
    makes, judges = mlp(), nn.Sequential(nn.Linear(16, 24), nn.LeakyReLU(), nn.Linear(24, 1))
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (makes, judges)]
    losses = []
    for _ in range(4):
        with context:
            fake = makes(torch.randn(8, 16))
            judgement = F.softplus(judges(fake.detach())).mean() + F.softplus(-judges(torch.randn(8, 16))).mean()
        with context:
            deceit = F.softplus(-judges(fake)).mean()
        for loss, optimizer, model in ((deceit, optimizers[0], makes), (judgement, optimizers[1], judges)):
            loss.backward(inputs=list(model.parameters()))
            losses.append(loss.detach())
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    return losses


@case
def a_graph_that_is_used_in_another_order(context):
    model, x = nn.ModuleList([mlp() for _ in range(3)]), rows(8, 16)
    found = []
    for order in ([2, 1, 0], [2, 1, 0], [0, 1, 2], [1, 2, 0]):
        with context:
            losses = [one(x).square().sum() for one in model]
        for i in order:
            found += torch.autograd.grad(losses[i], list(model[i].parameters()))
    return found


@case
def shapes_that_change_from_step_to_step(context):
    torch.manual_seed(11)
    model, found = nn.LSTM(8, 16), []
    for tokens in (5, 9, 9, 3, 12, 5):
        model.zero_grad()
        with context:
            loss = model(torch.randn(tokens, 4, 8))[0].square().sum()
        loss.backward()
        found += [loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())]
    return found


@case
def steps_that_stop_before_their_backward_pass(context):
    model, x, found = mlp(), rows(8, 16), []
    for i in range(4):
        model.zero_grad()
        with context:
            loss = model(x * (i + 1)).square().sum()
        if i % 2:
            loss.backward()
            found += [parameter.grad.clone() for parameter in model.parameters()]
    return found


@case
def evaluation_between_steps(context):
    torch.manual_seed(12)
    model, x, found = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.Dropout(0.2), nn.Linear(16, 4)), rows(8, 16), []
    for _ in range(2):
        with context:
            loss = model(x).square().sum()
        loss.backward()
        model.eval()
        with context, torch.no_grad():
            found.append(model(x))
        with torch.inference_mode(), context:
            found.append(model(x).clone())
        model.train()
    return found + [parameter.grad for parameter in model.parameters()]


# Torch's own ways to save less.

class Twin(torch.autograd.Function):
    """Saves an input and an output; its backward pass changes what it is given."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, slope):
        x, y = ctx.saved_tensors
        return slope * y + 0 * x


@case
def a_function_of_ones_own(context):
    return gradients(context, lambda x: (Twin.apply(x.sin()) * x).sum(), rows(16, 16, grad=True))


@case
def checkpointed_layers(context):
    torch.manual_seed(13)
    model = nn.ModuleList([mlp() for _ in range(3)])

    def step(model, x):
        for layer in model:
            x = checkpoint(layer, x, use_reentrant=False)
        return x.square().sum()
    return trained(context, model, rows(8, 16), step=step)


@case
def checkpointed_layers_with_dropout(context):
    torch.manual_seed(14)
    model = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.3), nn.ReLU())
    return trained(context, model, rows(8, 16), step=lambda model, x: checkpoint(model, x.requires_grad_(), use_reentrant=False).sum())


@case
def checkpoints_whose_backward_pass_is_within_the_context(context):
    torch.manual_seed(13)
    model, x = mlp(), rows(8, 16)
    with context:
        checkpoint(model, checkpoint(model, x, use_reentrant=False), use_reentrant=False).square().sum().backward()
    return [parameter.grad for parameter in model.parameters()]


@case
def checkpoints_that_keep_what_they_choose(context):
    torch.manual_seed(13)
    model, x = mlp(), rows(8, 16)
    keeps = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.addmm.default])
    with context:
        loss = checkpoint(model, model(x), use_reentrant=False, context_fn=keeps).square().sum()
    return [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]


@case
def reentrant_checkpoints(context):
    torch.manual_seed(15)
    model = mlp()
    return trained(context, model, rows(8, 16, grad=True), step=lambda model, x: checkpoint(model, x, use_reentrant=True).square().sum())


@case
def autocast_to_bfloat16(context):
    torch.manual_seed(16)

    def step(model, x):
        with torch.autocast("cpu", torch.bfloat16):
            return model(model(x)).float().square().mean()
    return trained(context, mlp(), rows(8, 16), step=step)


@case
def autocast_around_a_checkpoint(context):
    torch.manual_seed(17)

    def step(model, x):
        with torch.autocast("cpu", torch.bfloat16):
            return checkpoint(model, model(x), use_reentrant=False).float().square().mean()
    return trained(context, mlp(), rows(8, 16), step=step)


@case
def vectorised_calls(context):
    def run(x, w):
        return torch.vmap(lambda row: (row @ w).tanh() * row)(x).square().sum()
    return gradients(context, run, rows(12, 16, grad=True), rows(16, 16, grad=True))


@case
def forward_mode_over_reverse_mode(context):
    x = rows(16, 16, grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, rows(16, 16))
        with context:
            y = (dual.sin() * dual.exp() @ dual.t()).square().sum()
        primal, tangent = forward_ad.unpack_dual(*torch.autograd.grad(y, x))
        return [primal.clone(), tangent.clone()]


@case
def batched_gradients(context):
    x = rows(8, 16, grad=True)
    with context:
        y = (x.sin() * x.exp()).sum(1)
    return list(torch.autograd.grad(y, x, torch.eye(8), is_grads_batched=True))


def run(function, context):
    torch.manual_seed(0)
    return function(context)


def same(function, *memories):
    """Compares, where each of (share, lends) is what the memory holds of all that is saved, and the bytes that the store lends."""
    # A call before may take another way than later ones.
    run(function, contextlib.nullcontext())
    expected = run(function, contextlib.nullcontext())
    peak = 1 << 40
    for share, lends in ((1, 0), *memories):
        store, memory = MemoryStore(lends), int(share * peak)
        spill = Offload(store, lends + memory)
        found = run(function, spill)
        assert len(found) == len(expected), (share, lends)
        assert all(map(torch.equal, found, expected)), (share, lends)
        report = spill.report()
        assert report.saves > 0 and bool(report.moved) == (share < 1)
        # Nothing stays behind.
        del found
        assert spill.kept == 0 and not store.records and not spill._alive and not store.lent
        if share == 1:
            peak = report.peak


@pytest.mark.parametrize("name", CASES)
def test_bits_are_those_of_steps_without_it(name):
    same(CASES[name], (0, 0), (0.4, 0), (0.4, 1 << 20))


def skip_without_bfloat16_lstm():
    """On some CPUs, oneDNN refuses an LSTM that PyTorch hands it."""
    try:
        with torch.autocast("cpu", torch.bfloat16):
            nn.LSTM(8, 16, 2)(rows(10, 4, 8))
    except RuntimeError as error:
        if "could not create a primitive descriptor for the LSTM" not in str(error):
            raise
        pytest.skip("PyTorch has no LSTM in bfloat16 for this CPU")


@pytest.mark.parametrize("name", ["relu_in_place", "dropout", "embeddings_and_cross_entropy", "convolutions_and_batch_norm", "attention", "an_lstm",
                                  "weights_with_a_norm_of_their_own", "tied_weights", "layers_of_drawloom"])
@pytest.mark.parametrize("other", ["compiled", "checkpointed", "in bfloat16"])
def test_bits_within_torchs_other_ways(name, other, monkeypatch):
    monkeypatch.setitem(globals(), "way", other)
    torch._dynamo.reset()
    if (name, other) == ("an_lstm", "in bfloat16"):
        skip_without_bfloat16_lstm()
    same(CASES[name], (0, 0))
