# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of Kolmogorov-Arnold layers, fused along rows. See drawloom.torch.kan_network for the mathematics."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from numbers import Integral, Real

from .._errors import CallError, CallTypeError
from . import Array, register, tracing
from .row_models import ACTIVATIONS
from .rows import ROW

NORMALIZERS = ("none", "tanh", "sigmoid", "layer_norm")


@dataclass(frozen=True)
class Layer:
    """What one layer of a chain does, and which arrays it has:

        u = normalizer(x)
        y[o] = sum_{k, i} coefficients[k, i, o] phi_k(u[i]) + sum_i base_weight[o, i] base(x[i]) + bias[o]

    basis       of the functions phi_k; what there is and which parameters it has, says kan.edge_layer
    order       of the basis, where it has one
    parameters  how many arrays the basis has
    normalizer  "none", "tanh", "sigmoid" or "layer_norm", with its `eps`, and with a weight and a bias where it is `affine`
    base        an activation, or None where there is no base_weight
    bias        whether there is one

    The arrays in their order: coefficients, those of the basis, weight and bias of the norm, base_weight, bias.
    """

    basis: str
    order: int | None = None
    parameters: int = 0
    normalizer: str = "none"
    affine: bool = False
    eps: float = 1e-5
    base: str | None = None
    bias: bool = False

    @property
    def arrays(self):
        return 1 + self.parameters + 2 * self.affine + (self.base is not None) + self.bias


def text_of(layers):
    """Text that names a chain; the same for equal ones. torch.compile follows this, and would not json."""
    return ";".join([",".join([str(one) for one in (layer.basis, layer.order, layer.parameters, layer.normalizer, layer.affine, layer.eps, layer.base,
                                                     layer.bias)]) for layer in layers])


@functools.lru_cache(maxsize=1024)
def layers_of(text):
    def read(one):
        basis, order, parameters, normalizer, affine, eps, base, bias = (None if field == "None" else field for field in one.split(","))
        return Layer(basis, order and int(order), int(parameters), normalizer, affine == "True", float(eps), base, bias == "True")

    return tuple(read(one) for one in text.split(";")) if text else ()


def layer_of(coefficients, *, basis, order=None, parameters=(), normalizer="none", norm_weight=None, norm_bias=None, eps=1e-5, base=None,
             base_weight=None, bias=None):
    """(Layer, arrays) of what a framework's `kan_layer` takes."""
    for one, other, names in ((norm_weight, norm_bias, "norm_weight and norm_bias"), (base, base_weight, "base and base_weight")):
        if (one is None) != (other is None):
            raise CallError(f"kan_layer: {names} are given together")
    if order is not None and (not isinstance(order, Integral) or isinstance(order, bool)):
        raise CallError(f"kan_layer: order is {order!r}; it is a whole number")
    if not isinstance(parameters, (list, tuple)):
        raise CallError(f"kan_layer: parameters is a {type(parameters).__name__}; it is a list of the basis' arrays")
    if not isinstance(eps, Real) or not 0 < eps < math.inf:
        raise CallError(f"kan_layer: eps is {eps!r}; it is a number above 0")
    layer = Layer(basis, order, len(parameters), normalizer, norm_weight is not None, float(eps), base, bias is not None)
    return layer, [coefficients, *parameters, *[one for one in (norm_weight, norm_bias, base_weight, bias) if one is not None]]


_NAMES = {"coefficients", "basis", "order", "parameters", "normalizer", "norm_weight", "norm_bias", "eps", "base", "base_weight", "bias"}


def chain_of(layers):
    """(text, arrays) of a network's layers, each the arguments of `layer_of` by their names."""
    pairs = []
    for i, one in enumerate(layers):
        names = set(one)
        if not {"coefficients", "basis"} <= names or names - _NAMES:
            raise CallError(f"kan_network: layer {i} has the arguments {', '.join(sorted(names))}; it has coefficients and basis, and may have "
                            f"{', '.join(sorted(_NAMES - {'coefficients', 'basis'}))}")
        pairs.append(layer_of(**one))
    return text_of([layer for layer, _ in pairs]), [array for _, arrays in pairs for array in arrays]


def shares(layers, arrays):
    """Each layer with its arrays, of those of all."""
    wanted = sum(layer.arrays for layer in layers)
    if len(arrays) != wanted:
        raise CallError(f"kan_network: these layers have {wanted} arrays together, but {len(arrays)} are given")
    at = 0
    for layer in layers:
        yield layer, arrays[at:at + layer.arrays]
        at += layer.arrays


def _check_layer(what, layer, arrays, channels, dtype):
    """Raises where arrays are not those of the layer, and gives the number of its outputs. The basis' own are the compiler's to check."""
    for name, known, value in (("normalizer", NORMALIZERS, layer.normalizer), ("base", ACTIVATIONS, layer.base)):
        if value is not None and value not in known:
            raise CallError(f"{what}: the {name} is '{value}'; it is one of {', '.join(known)}")
    if layer.affine and layer.normalizer != "layer_norm":
        raise CallError(f"{what}: only a layer_norm has a weight and a bias")
    for array in arrays:
        if array.dtype != dtype and not (array.dtype == "float32" and dtype in ("float16", "bfloat16")):
            raise CallTypeError(f"{what}: an array is {array.dtype}, but x is {dtype}")
    c = arrays[0]
    if len(c.shape) != 3 or 0 in c.shape or c.shape[1] != channels:
        raise CallError(f"{what}: the coefficients have the shape {list(c.shape)}; it is [functions, {channels}, out], and x has {channels} channels")
    outputs = c.shape[2]
    rest = arrays[1 + layer.parameters:]
    wanted = [("norm's weight", (channels,)), ("norm's bias", (channels,))] if layer.affine else []
    wanted += [("base_weight", (outputs, channels))] if layer.base is not None else []
    wanted += [("bias", (outputs,))] if layer.bias else []
    for (name, shape), array in zip(wanted, rest):
        if tuple(array.shape) != shape:
            raise CallError(f"{what}: the {name} has the shape {list(array.shape)}; it is {list(shape)}")
    return outputs


def _check(attributes, arguments):
    layers, x = layers_of(attributes["layers"]), arguments[0]
    if not layers:
        raise CallError("kan_network: there are no layers")
    channels = x.shape[-1]
    for i, (layer, arrays) in enumerate(shares(layers, arguments[1:])):
        channels = _check_layer(f"kan_network: layer {i}", layer, arrays, channels, x.dtype)


def _outputs(attributes, arguments):
    *_, (_, arrays) = shares(layers_of(attributes["layers"]), arguments[1:])
    return arrays[0].shape[2]


def _results(attributes, arguments):
    return [Array(arguments[0].dtype, (arguments[0].shape[0], _outputs(attributes, arguments)))]


def _normalize(layer, x, affine):
    if layer.normalizer == "none":
        return x
    if layer.normalizer != "layer_norm":
        return x.tanh() if layer.normalizer == "tanh" else x.sigmoid()
    centred = x - x.mean(keepdims=True)
    u = centred / ((centred * centred).mean(keepdims=True) + layer.eps).sqrt()
    return u * affine[0] + affine[1] if affine else u


def _layer(layer, x, arrays):
    c, parameters, rest = arrays[0], arrays[1:1 + layer.parameters], list(arrays[1 + layer.parameters:])
    u = _normalize(layer, x, [rest.pop(0), rest.pop(0)] if layer.affine else ()).to(x.dtype)
    shape = x.shape[0], c.shape[2]
    order = f" order {layer.order}" if layer.order is not None else ""
    given = f" ({', '.join(one.name for one in parameters)} : {', '.join(one.type for one in parameters)})" if parameters else ""
    y = u._new(f"kan.edge_layer {u.name}, {c.to(x.dtype).name} by {layer.basis}{order}{given} : {u.type}, "
               f"{tracing.type_of(x.dtype, c.shape)} -> {tracing.type_of(x.dtype, shape)}", shape)
    more = [one.to(x.dtype) for one in rest]
    if layer.base is not None:
        y = ACTIVATIONS[layer.base](x).to(x.dtype).product(*more, transposed=True) + y
    elif layer.bias:
        y = y + more[0]
    return y.to(x.dtype)


def _build(program, x, *arrays, layers):
    for layer, own in shares(layers, arrays):
        x = _layer(layer, x, own)
    return x


@functools.lru_cache(maxsize=1024)
def _program(layers, types):
    first, *rest = types
    inputs = [(first.dtype, (ROW, first.shape[1])), *((one.dtype, one.shape) for one in rest)]
    return dict(tracing.traced(tracing.Program(), functools.partial(_build, layers=layers_of(layers)), (), inputs).attributes())


def _body(attributes, arguments, results, names):
    program = _program(attributes["layers"], (Array(arguments[0].dtype, (0, arguments[0].shape[1])), *arguments[1:]))
    return tracing.body_of(program, {ROW: arguments[0].shape[0]}, names)


register("kan", _check, _results, _body)
