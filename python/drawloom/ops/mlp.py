# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of dense layers with activations between them, fused along rows. See drawloom.torch.fused_mlp and kat_mlp."""

from .._errors import CallError, CallTypeError
from . import Array, rational, register, sizes

# By the name that frameworks use: the op, and its attributes.
ACTIVATIONS = {
    "none": None,
    "relu": "kan.relu",
    "leaky_relu": "kan.leaky_relu",
    "elu": "kan.elu",
    "silu": "kan.silu",
    "gelu": "kan.gelu",
    "gelu_tanh": 'kan.gelu {approximate = "tanh"}',
    "tanh": "kan.tanh",
    "sigmoid": "kan.sigmoid",
    "softplus": "kan.softplus",
    "sine": "kan.sine",
    "snake": "kan.snake",
    "square": "kan.square",
}
RATIONAL = "rational"


def check_activation(name, what, known=(*ACTIVATIONS, RATIONAL)):
    if name not in known:
        import difflib

        close = difflib.get_close_matches(str(name), known, 1)
        raise CallError(f"{what} is '{name}'{f' (did you mean {close[0]!r}?)' if close else ''}; it is one of {', '.join(known)}")


def _check(attributes, arguments):
    activation, output_activation = attributes["activation"], attributes["output_activation"]
    input_activation = attributes["input_activation"]
    form, what = attributes["form"], "fused_mlp"
    n, m = 1 + attributes["layers"], 1 + attributes["layers"] + attributes["biases"]
    x, weights, biases, tables = arguments[0], arguments[1:n], arguments[n:m], arguments[m:]
    if not weights:
        raise CallError(f"{what}: there are no weights")
    for name, value in (("activation", activation), ("output_activation", output_activation)):
        check_activation(value, f"{what}: {name}")
    channels = x.shape[-1]
    if biases and len(biases) != len(weights):
        raise CallError(f"{what}: there are {len(weights)} weights, but {len(biases)} biases; give one for each layer, or none")
    wanted = [input_activation, *[activation] * (len(weights) - 1), output_activation].count(RATIONAL)
    if len(tables) != 2 * wanted:
        raise CallError(f"{what}: {wanted} rational activations take {wanted} pairs (a, b) of coefficients, but "
                        f"{len(tables) / 2:g} are given")
    tables = list(tables)

    def activate(name, channels):
        if name == RATIONAL:
            a, b = tables.pop(0), tables.pop(0)
            rational.check(form, x.dtype, channels, a.shape, a.dtype, b.shape, b.dtype, what)

    activate(input_activation, channels)
    for i, weight in enumerate(weights):
        if len(weight.shape) != 2:
            raise CallError(f"{what}: weights[{i}] has the shape {list(weight.shape)}; it is [out, in]")
        if weight.shape[1] != channels:
            before = "x" if i == 0 else f"layer {i - 1}"
            raise CallError(f"{what}: weights[{i}] is {list(weight.shape)}, [out, in], but {before} has {channels} channels")
        channels = weight.shape[0]
        if biases and tuple(biases[i].shape) != (channels,):
            raise CallError(f"{what}: biases[{i}] has the shape {list(biases[i].shape)}, but layer {i} has {channels} channels")
        activate(activation if i + 1 < len(weights) else output_activation, channels)
    for name, arrays in (("weights", weights), ("biases", biases)):
        for i, array in enumerate(arrays):
            if array.dtype != x.dtype:
                raise CallTypeError(f"{what}: {name}[{i}] is {array.dtype}, but x is {x.dtype}")


def _activation(name, result, x, tables, type_, table_types, form):
    if name == RATIONAL:
        return rational.line(result, x, *tables, [type_, *table_types], form)
    op, _, attributes = ACTIVATIONS[name].partition(" ")
    return f"  {result} = {op} {x} {attributes} : {type_.text}"


def _results(attributes, arguments):
    """Arguments: x, the weights of all layers, their biases if there are any, then a and b of each rational activation."""
    x, last = arguments[0], arguments[attributes["layers"]]
    return [Array(x.dtype, (x.shape[0], last.shape[0]))]


def _body(attributes, arguments, results, names):
    layers, bias = attributes["layers"], attributes["biases"] > 0
    activation, output = attributes["activation"], attributes["output_activation"]
    first = attributes["input_activation"]
    form = attributes["form"]
    tables = 1 + layers * (2 if bias else 1)
    x, rows, lines = names[0], arguments[0].shape[0], []
    dtype = arguments[0].dtype

    def activate(name, x, type_, tag):
        nonlocal tables
        if name == "none":
            return x
        used = (names[tables:tables + 2], arguments[tables:tables + 2]) if name == RATIONAL else ((), ())
        tables += len(used[0])
        lines.append(_activation(name, f"%h{tag}", x, used[0], type_, used[1], form))
        return f"%h{tag}"

    x = activate(first, x, arguments[0], "in")
    for i in range(layers):
        weight = arguments[1 + i]
        given, gives = Array(dtype, (rows, weight.shape[1])), Array(dtype, (rows, weight.shape[0]))
        lines.append(f"  %e{i} = tensor.empty({sizes(gives)}) : {gives.text}")
        if bias:
            lines.append(f"  %c{i} = linalg.broadcast ins({names[1 + layers + i]} : {arguments[1 + layers + i].text}) "
                         f"outs(%e{i} : {gives.text}) dimensions = [0]")
        else:
            lines.append(f"  %k{i} = arith.constant 0.0 : {_scalar(dtype)}")
            lines.append(f"  %c{i} = linalg.fill ins(%k{i} : {_scalar(dtype)}) outs(%e{i} : {gives.text}) -> {gives.text}")
        # Weights are [out, in], as frameworks keep them.
        lines.append(
            f"  %z{i} = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
            f"affine_map<(m, n, k) -> (m, n)>] ins({x}, {names[1 + i]} : {given.text}, {weight.text}) "
            f"outs(%c{i} : {gives.text}) -> {gives.text}")
        x = activate(activation if i + 1 < layers else output, f"%z{i}", gives, i)
    return lines, [x]


def _scalar(dtype):
    return Array(dtype, ()).text[len("tensor<"):-1]


register("mlp", _check, _results, _body)
