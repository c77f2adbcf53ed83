# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal depthwise convolutions over a few tokens. See drawloom.torch.linrec.short_convolution for the mathematics."""

from .._errors import CallError, CallTypeError
from . import Array, between, open_extent, register

# The operands behind x and weight, in the order of linrec.short_conv.
OPTIONAL = ("bias", "initial", "starts")
ACTIVATIONS = ("none", "silu")


def _named(attributes, arguments):
    """Arguments by name."""
    return dict(zip(("x", "weight", *attributes["operands"].split()), arguments))


def _sequences(given):
    if "starts" not in given:
        return given["x"].shape[0]
    return between(given["starts"].shape[0])


def _check(attributes, arguments):
    given = _named(attributes, arguments)
    x, weight = given["x"], given["weight"]
    if len(x.shape) != 3 or x.shape[2] < 1:
        raise CallError(f"short_convolution: x has the shape {list(x.shape)}; it is [batch, tokens, channels]")
    channels = x.shape[2]
    if len(weight.shape) != 2 or weight.shape[0] != channels or not 2 <= weight.shape[1] <= 8:
        raise CallError(f"short_convolution: weight has the shape {list(weight.shape)}; it is [{channels}, W], W from 2 to 8")
    before = weight.shape[1] - 1
    if "starts" in given:
        starts = given["starts"]
        if len(starts.shape) != 1 or starts.shape[0] < 1 or starts.dtype not in ("int32", "int64"):
            raise CallError(f"short_convolution: starts is {starts.dtype} {list(starts.shape)}; it is int32 or int64, [sequences + 1]")
        if x.shape[0] != 1:
            raise CallError(f"short_convolution: with starts, all sequences are packed into one batch entry, but there are {x.shape[0]}")
    for name, shape in {"bias": (channels,), "initial": (_sequences(given), before, channels)}.items():
        if name in given and tuple(given[name].shape) != shape:
            raise CallError(f"short_convolution: {name} has the shape {list(given[name].shape)}; it is {list(shape)}")
    for name in ("weight", "bias", "initial"):
        if name in given and ("float" not in given[name].dtype or (given[name].dtype == "float64") != (x.dtype == "float64")):
            raise CallTypeError(f"short_convolution: {name} is {given[name].dtype}, but x is {x.dtype}: either all are float64 or none is")
    if "initial" in given and given["initial"].dtype != x.dtype:
        raise CallTypeError(f"short_convolution: the tokens in front are {given['initial'].dtype}, but x is {x.dtype}")
    if attributes["activation"] not in ACTIVATIONS:
        raise CallError(f"short_convolution: the activation is '{attributes['activation']}'; it is one of {', '.join(ACTIVATIONS)}")


def _results(attributes, arguments):
    given = _named(attributes, arguments)
    x = given["x"]
    return [Array(x.dtype, tuple(x.shape)), Array(x.dtype, (_sequences(given), given["weight"].shape[1] - 1, x.shape[2]))]


def _axes(attributes, arguments):
    """Sequences of a batch and channels are on their own; packed sequences are not split."""
    given = _named(attributes, arguments)
    batch = None if "starts" in given else "batch"
    own = {"x": (batch, None, "channels"), "weight": ("channels", None), "bias": ("channels",), "initial": (batch, None, "channels"),
           "starts": (None,)}
    return [own[name] for name in given], [(batch, None, "channels")] * 2


def _body(attributes, arguments, results, names):
    by_name = _named(attributes, names)
    clauses = "".join(f" {name}({by_name[name]})" for name in OPTIONAL if name in by_name)
    given, gives = (", ".join(one.text for one in types) for types in (arguments, results))
    return [f"  %y, %final = linrec.short_conv {attributes['activation']} {names[0]}, {names[1]}{clauses}\n"
            f"    : ({given}) -> ({gives})"], ["%y", "%final"]


def _opened(attributes, arguments):
    """Any numbers of sequences and tokens."""
    given = _named(attributes, arguments)
    batch = 1 if "starts" in given else open_extent(0)
    own = {"x": (batch, open_extent(1)), "initial": (open_extent(0),), "starts": (open_extent(0, more=1),)}
    return [Array(array.dtype, (*own.get(name, ()), *array.shape[len(own.get(name, ())):])) for name, array in given.items()]


register("short_convolution", _check, _results, _body, _opened, rowwise=False, axes=_axes, once=True)
