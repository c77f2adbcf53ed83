# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent cells along tokens: each against a loop over tokens in torch that follows its paper's formulas."""

import pytest
import torch

import drawloom.torch as dt
from drawloom import Error, cells
from drawloom.cells import Cell


def _gru(h, x, w):
    z, r = torch.sigmoid(x[0] + w[0] * h[0]), torch.sigmoid(x[1] + w[1] * h[0])
    c = torch.tanh(x[2] + w[2] * (r * h[0]))
    new = (1 - z) * h[0] + z * c
    return [new], [new]


def _lstm(s, x, w):
    h, c = s
    f = torch.sigmoid(x[0] + w[0] * h + w[3] * c)
    c = f * c + (1 - f) * torch.tanh(x[1] + w[1] * h)
    o = torch.sigmoid(x[2] + w[2] * h + w[4] * c)
    return [o * torch.tanh(c), c], [o * torch.tanh(c)]


def _mgu(h, x, w):
    f = torch.sigmoid(x[0] + w[0] * h[0])
    new = (1 - f) * h[0] + f * torch.tanh(x[1] + w[1] * (f * h[0]))
    return [new], [new]


def _indrnn(h, x, w):
    new = torch.tanh(x[0] + w[0] * h[0])
    return [new], [new]


def _indrnn_relu(h, x, w):
    new = torch.relu(x[0] + w[0] * h[0])
    return [new], [new]


def _min_gru(h, x, w):
    z = torch.sigmoid(x[0])
    new = (1 - z) * h[0] + z * x[1]
    return [new], [new]


def _min_lstm(h, x, w):
    f, i = torch.sigmoid(x[0]), torch.sigmoid(x[1])
    new = f / (f + i) * h[0] + i / (f + i) * x[2]
    return [new], [new]


def _rotation(s, x, w):
    """Two states that a matrix with entries of both signs turns; an output that is no state, and one that is."""
    a = w[0] * s[0] - w[1] * s[1] + x[0]
    b = w[1] * s[0] + w[0] * s[1] + x[1]
    return [a, b], [a * b, b]


rotation = Cell(lambda s, x, w: _rotation(s, x, w), states=2, inputs=2, parameters=2)
REFERENCES = {"gru": (cells.gru, _gru), "lstm": (cells.lstm, _lstm), "mgu": (cells.mgu, _mgu), "indrnn": (cells.indrnn, _indrnn),
              "indrnn_relu": (cells.indrnn_relu, _indrnn_relu), "min_gru": (cells.min_gru, _min_gru),
              "min_lstm": (cells.min_lstm, _min_lstm), "rotation": (rotation, _rotation)}
AFFINE = ("min_gru", "min_lstm", "rotation")
EPS = 2.0 ** -52


def arguments(cell, batch, tokens, channels, dtype=torch.float64, seed=0):
    """(inputs, parameters, initial). Parameters of less than 1 / sqrt(2) in size keep what rounding does to a state from growing."""
    torch.manual_seed(seed)
    inputs = [torch.randn(batch, tokens, channels, dtype=dtype) for _ in range(cell.inputs)]
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    parameters = [(torch.rand(channels, dtype=wide) * 2 - 1) * 0.7 for _ in range(cell.parameters)]
    return inputs, parameters, [torch.randn(batch, channels, dtype=wide) for _ in range(cell.states)]


def loop(step, inputs, parameters, initial, reverse=False):
    """(outputs, last states), token by token."""
    states, outputs = list(initial), []
    tokens = range(inputs[0].shape[1])
    for t in reversed(tokens) if reverse else tokens:
        states, y = step(states, [x[:, t] for x in inputs], parameters)
        outputs.append(y)
    outputs = outputs[::-1] if reverse else outputs
    return [torch.stack(one, 1) for one in zip(*outputs)], states


def close(got, wanted, tokens, eps=EPS):
    """Within 40 roundings of a token's some 20 operations, in units of the largest value: the error that a token adds decays behind it
    where cells contract, and adds up at most, token by token, where they only do not grow."""
    for one, other in zip(got, wanted, strict=True):
        assert one.shape == other.shape
        if not one.numel():
            continue
        bound = 40 * eps * min(tokens, 50) * max(1.0, other.abs().max().item())
        assert (one.double() - other.double()).abs().max().item() <= bound


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("shape", [(2, 7, 5), (1, 1, 3), (3, 4, 70), (1, 33, 64)])
def test_a_cell_gives_what_its_formulas_give(name, shape, reverse):
    cell, step = REFERENCES[name]
    given = arguments(cell, *shape)
    result = dt.nonlinear_scan(cell, *given, reverse=reverse)
    outputs, states = loop(step, *given, reverse=reverse)
    close([*result.outputs, *result.states], [*outputs, *states], shape[1])


@pytest.mark.parametrize("options", [{}, {"segments": 3}], ids=str)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", REFERENCES)
def test_gradients_are_those_of_backpropagation_through_time(name, reverse, options):
    cell, step = REFERENCES[name]
    if options and name not in AFFINE:
        options = {**options, "newton": 30}
    given = arguments(cell, 2, 11, 6)
    flat = [one.requires_grad_() for part in given for one in part]
    result = dt.nonlinear_scan(cell, *given, reverse=reverse, **options)
    outputs, states = loop(step, *given, reverse=reverse)
    cotangents = [torch.randn_like(one) for one in [*outputs, *states]]
    got = torch.autograd.grad([*result.outputs, *result.states], flat, cotangents)
    wanted = torch.autograd.grad([*outputs, *states], flat, cotangents)
    close(got, wanted, 11)


@pytest.mark.parametrize("tokens", [1, 2, 3, 64, 1000, 65536])
def test_any_number_of_tokens(tokens):
    given = arguments(cells.gru, 1, tokens, 3, torch.float32)
    flat = [one.requires_grad_() for part in given for one in part]
    y = dt.nonlinear_scan(cells.gru, *given).outputs[0]
    wide = [[one.detach().double().requires_grad_() for one in part] for part in given]
    unbound = [[x.unbind(1) for x in wide[0]], *wide[1:]]
    states, outputs = unbound[2], []
    for t in range(tokens):
        states, out = _gru(states, [x[t] for x in unbound[0]], unbound[1])
        outputs.append(out[0])
    wanted = torch.stack(outputs, 1)
    close([y], [wanted], tokens, 2.0 ** -23)
    cotangent = torch.randn(y.shape)
    got = torch.autograd.grad(y, flat, cotangent)
    expected = torch.autograd.grad(wanted, [one for part in wide for one in part], cotangent.double())
    # Gradients of parameters add up all tokens.
    close(got, expected, tokens, 2.0 ** -23)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 0, 3), (0, 0, 1)])
def test_without_tokens_states_stay_what_they_are(shape):
    inputs, parameters, initial = arguments(cells.lstm, *shape)
    flat = [one.requires_grad_() for part in (inputs, parameters, initial) for one in part]
    result = dt.nonlinear_scan(cells.lstm, inputs, parameters, initial)
    assert result.outputs[0].shape == shape
    for state, first in zip(result.states, initial):
        assert torch.equal(state, first)
    gradients = torch.autograd.grad([*result.outputs, *result.states], flat, [torch.ones_like(one) for one in [*result.outputs, *result.states]])
    for gradient, one in zip(gradients, flat):
        assert gradient.shape == one.shape
        assert torch.equal(gradient, torch.ones_like(one) if one.dim() == 2 else torch.zeros_like(one))


@pytest.mark.parametrize("name", REFERENCES)
def test_gradients_can_be_differentiated(name):
    cell, _ = REFERENCES[name]
    inputs, parameters, initial = arguments(cell, 1, 3, 2)
    flat = [one.requires_grad_() for part in (inputs, parameters, initial) for one in part]

    def outputs(*tensors):
        at = cell.inputs + cell.parameters
        result = dt.nonlinear_scan(cell, tensors[:cell.inputs], tensors[cell.inputs:at], tensors[at:])
        return (*result.outputs, *result.states)

    assert torch.autograd.gradcheck(outputs, flat, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(outputs, flat)


@pytest.mark.parametrize("segments", [1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", AFFINE)
def test_segments_change_rounding_only(name, reverse, segments):
    cell, step = REFERENCES[name]
    given = arguments(cell, 2, 17, 5)
    result = dt.nonlinear_scan(cell, *given, reverse=reverse, segments=segments)
    outputs, states = loop(step, *given, reverse=reverse)
    close([*result.outputs, *result.states], [*outputs, *states], 17)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", REFERENCES)
def test_newtons_iteration_gives_what_tokens_give(name, reverse, dtype):
    cell, step = REFERENCES[name]
    given = arguments(cell, 2, 50, 4, dtype)
    result = dt.nonlinear_scan(cell, *given, reverse=reverse, newton=50, segments=4)
    outputs, states = loop(step, *[[one.double() for one in part] for part in given], reverse=reverse)
    eps = torch.finfo(dtype).eps
    # A state may be off by the tolerance, 64 eps, at each token.
    close([*result.outputs, *result.states], [*outputs, *states], 50, 4 * eps)
    assert 1 <= result.report.steps <= 50
    assert result.report.residual <= 64 * eps


def test_an_affine_cell_is_solved_in_one_step_and_one_that_finds_no_change():
    given = arguments(cells.min_gru, 2, 40, 4)
    assert dt.nonlinear_scan(cells.min_gru, *given, newton=9).report.steps == 2


def test_tokens_are_gone_through_where_newtons_iteration_does_not_converge():
    given = arguments(cells.gru, 2, 50, 4)
    wanted = dt.nonlinear_scan(cells.gru, *given)
    result = dt.nonlinear_scan(cells.gru, *given, newton=1)
    assert result.report.steps == 1
    assert result.report.residual > 1e-3
    for one, other in zip([*result.outputs, *result.states], [*wanted.outputs, *wanted.states]):
        assert torch.equal(one, other)


@pytest.mark.parametrize("options", [{}, {"segments": 3}, {"newton": 5}, {"newton": 5, "segments": 2}], ids=str)
@pytest.mark.parametrize("shape", [(2, 0, 3), (0, 4, 3)])
def test_nothing_is_cut_or_solved_where_there_is_nothing(shape, options):
    inputs, parameters, initial = arguments(cells.min_gru, *shape)
    flat = [one.requires_grad_() for part in (inputs, parameters, initial) for one in part]
    result = dt.nonlinear_scan(cells.min_gru, inputs, parameters, initial, **options)
    assert result.outputs[0].shape == shape
    assert torch.equal(result.states[0], initial[0])
    assert all(one.shape == other.shape for one, other in zip(torch.autograd.grad(result.states[0].sum(), flat, allow_unused=True), flat)
               if one is not None)


@pytest.mark.parametrize("tokens", [0, 1, 6])
@pytest.mark.parametrize("options", [{}, {"newton": 8}], ids=str)
def test_a_cell_may_leave_its_inputs_unread(options, tokens):
    unread = Cell(lambda s, x, w: ([(s[0] * w[0]).tanh() + 0.3], [s[0]]), parameters=1)
    partly = Cell(lambda s, x, w: ((lambda h: ([h], [h * x[0]]))((s[0] * w[0]).tanh() + 0.3)), parameters=1)
    for cell, output in ((unread, lambda before, after, x: before), (partly, lambda before, after, x: after * x)):
        inputs, (w,), (h,) = arguments(cell, 2, tokens, 3)
        flat = [one.requires_grad_() for one in (*inputs, w, h)]
        result = dt.nonlinear_scan(cell, inputs, [w], [h], **options)
        state, outputs = h, []
        for t in range(tokens):
            after = (state * w).tanh() + 0.3
            outputs.append(output(state, after, inputs[0][:, t]))
            state = after
        wanted = torch.stack(outputs, 1) if tokens else inputs[0].detach()
        close([result.outputs[0], result.states[0]], [wanted, state], max(tokens, 1), 4 * EPS if options else EPS)
        got = torch.autograd.grad(result.outputs[0].sum() + result.states[0].sum(), flat, allow_unused=True)
        expected = torch.autograd.grad(wanted.sum() + state.sum(), flat, allow_unused=True)
        for leaf, one, other in zip(flat, got, expected):
            close([torch.zeros_like(leaf) if one is None else one], [torch.zeros_like(leaf) if other is None else other], max(tokens, 1),
                  4 * EPS if options else EPS)


def test_newtons_iteration_ends_where_it_is_done_whatever_its_bound():
    given = arguments(cells.gru, 1, 9, 2)
    assert dt.nonlinear_scan(cells.gru, *given, newton=2**62).report.steps < 9


def test_autocast_leaves_float64_alone():
    given = arguments(cells.gru, 1, 9, 2)
    with torch.autocast("cpu", torch.bfloat16):
        y = dt.nonlinear_scan(cells.gru, *given).outputs[0]
    assert torch.equal(y, dt.nonlinear_scan(cells.gru, *given).outputs[0])


def test_nan_stays_in_its_channel_and_does_not_converge():
    inputs, parameters, initial = arguments(cells.gru, 1, 9, 4)
    inputs[0][0, 3, 2] = float("nan")
    plain = dt.nonlinear_scan(cells.gru, inputs, parameters, initial)
    solved = dt.nonlinear_scan(cells.gru, inputs, parameters, initial, newton=20)
    assert torch.isnan(solved.report.residual)
    for result in (plain, solved):
        bad = torch.isnan(result.outputs[0])
        assert bad[0, 3:, 2].all() and bad.sum() == 6


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_types_are_computed_in_float32(dtype):
    inputs, parameters, initial = arguments(cells.lstm, 2, 12, 6, dtype)
    flat = [one.requires_grad_() for part in (inputs, parameters, initial) for one in part]
    result = dt.nonlinear_scan(cells.lstm, inputs, parameters, initial)
    wide = [[one.detach().float().requires_grad_() for one in part] for part in (inputs, parameters, initial)]
    wanted = dt.nonlinear_scan(cells.lstm, *wide)
    assert result.outputs[0].dtype == dtype
    assert result.states[0].dtype == torch.float32
    # The cell computes what it computes of the same numbers in float32; only what is written is rounded.
    assert torch.equal(result.outputs[0], wanted.outputs[0].to(dtype))
    for one, other in zip(result.states, wanted.states):
        assert torch.equal(one, other)
    cotangent = torch.randn(2, 12, 6).to(dtype)
    got = torch.autograd.grad(result.outputs[0], flat, cotangent)
    expected = torch.autograd.grad(wanted.outputs[0], [one for part in wide for one in part], cotangent.float())
    for one, other in zip(got, expected):
        assert torch.equal(one, other.to(one.dtype))


def test_bits_do_not_depend_on_the_number_of_threads():
    given = arguments(cells.lstm, 3, 40, 150, torch.float32)
    flat = [one.requires_grad_() for part in given for one in part]
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            y = dt.nonlinear_scan(cells.lstm, *given).outputs[0]
            found.append([y, *torch.autograd.grad(y.square().sum(), flat)])
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other))


def test_compiles_without_a_graph_break():
    given = arguments(cells.gru, 2, 9, 5, torch.float32)
    flat = [one.requires_grad_() for part in given for one in part]

    def loss(*tensors):
        return dt.nonlinear_scan(cells.gru, tensors[:3], tensors[3:6], tensors[6:]).outputs[0].square().sum()

    wanted = torch.autograd.grad(loss(*flat), flat)
    got = torch.autograd.grad(torch.compile(loss, fullgraph=True, backend="aot_eager")(*flat), flat)
    assert all(torch.equal(one, other) for one, other in zip(got, wanted))


@pytest.mark.parametrize("make", [dt.nn.ParaGRU, dt.nn.ParaLSTM])
def test_layers_are_products_and_a_cell(make):
    torch.manual_seed(0)
    layer = make(5, 6, dtype=torch.float64)
    u = torch.randn(2, 8, 5, dtype=torch.float64)
    y, states = layer(u)
    inputs = (u @ layer.weight.T + layer.bias).chunk(layer.cell.inputs, -1)
    name = "gru" if make is dt.nn.ParaGRU else "lstm"
    outputs, last = loop(REFERENCES[name][1], inputs, layer.recurrent.unbind(), [torch.zeros(2, 6, dtype=torch.float64)] * layer.cell.states)
    close([y, *states], [outputs[0], *last], 8)
    # What is behind a token goes on from the states that are given.
    first, between = layer(u[:, :3])
    rest, end = layer(u[:, 3:], between)
    close([torch.cat([first, rest], 1), *end], [y, *states], 8)
    y.sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())


def test_a_layer_under_autocast_computes_narrow_products():
    layer = dt.nn.ParaGRU(5, 6)
    with torch.autocast("cpu", torch.bfloat16):
        y, states = layer(torch.randn(2, 8, 5))
    assert y.dtype == torch.bfloat16
    assert states[0].dtype == torch.float32


def test_one_program_for_any_number_of_sequences_and_tokens():
    from drawloom import ops
    from drawloom.ops import Array
    from drawloom.ops import cells as of_cells

    spec = of_cells.spec_of(cells.mgu.text)
    types = [[Array("float32", (b, 10)), *[Array("float32", (b, t, 10))] * 2, *[Array("float32", (10,))] * 2] for b, t in ((1, 3), (4, 9))]
    assert spec.opened(types[0]) == spec.opened(types[1])
    assert ops.function(spec, tuple(types[0])) is not None


@pytest.mark.parametrize("build, message", [
    (lambda: Cell(lambda s, x, w: s), "gives two lists, the new states and the outputs"),
    (lambda: Cell(lambda s, x, w: ([], s)), "gives 0 new states; it has 1"),
    (lambda: Cell(lambda s, x, w: (s, s), states=0), "a cell has 1 or more states, not 0"),
    (lambda: Cell(lambda s, x, w: (s, s), inputs=0), "a cell has 1 or more inputs, not 0"),
    (lambda: Cell(lambda s, x, w: ([s[0] > x[0]], s)), "gives row of bool"),
    (lambda: Cell(lambda s, x, w: ([s[0].reshape(1).sum()], s)), "they are numbers of one channel"),
    (lambda: dt.nonlinear_scan(cells.min_gru, [torch.zeros(1, 2, 3, dtype=torch.int64)] * 2), "input 0 is int64; it is float32"),
    (lambda: Cell(lambda s, x, w: (["a"], s)), "gives 'a', which is not made of its values"),
    (lambda: Cell(lambda s, x, w: (s, s) if s[0] > 0 else (x, x)), "cannot depend on values: use where"),
    (lambda: dt.nonlinear_scan(_gru, [torch.zeros(1, 2, 3)]), "the cell is a function; it is a drawloom.cells.Cell"),
    (lambda: dt.nonlinear_scan(cells.gru, [torch.zeros(1, 2, 3)]), "inputs is a list of 1; it is one of 3"),
    (lambda: dt.nonlinear_scan(cells.indrnn, torch.zeros(1, 2, 3)), "inputs is a Tensor; it is a list of 1"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(2, 3)], [torch.zeros(3)]), "[2, 3]; it is [batch, tokens, channels]"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(4)]), "parameter 0 has the shape [4]; it is [3]"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 0)], [torch.zeros(0)]), "with a channel at least"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(3).double()]), "parameter 0 is float64; it is float32"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(3)], [torch.zeros(2, 3)]),
     "state 0 has the shape [2, 3]; it is [1, 3]"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(3)], newton=0), "newton is 0; it is a whole number"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(3)], segments=2.5), "segments is 2.5; it is a whole number"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(3)], tolerance=1e-3), "a tolerance goes with newton"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(3)], newton=3, tolerance=-1.0), "it is a number above 0"),
    (lambda: dt.nonlinear_scan(cells.indrnn, [torch.zeros(1, 2, 3)], [torch.zeros(3)], segments=2),
     "new states are no affine functions of the old ones"),
    (lambda: dt.nn.ParaGRU(0, 3), "input_size is 0"),
    (lambda: dt.nn.ParaGRU(2, 3)(torch.zeros(4, 2)), "[4, 2]; it is [batch, tokens, 2]"),
    (lambda: dt.nn.CellRNN("gru", 2, 3), "not 'gru'"),
])
def test_what_is_wrong_is_said(build, message):
    with pytest.raises(Error) as error:
        build()
    assert message in str(error.value)
