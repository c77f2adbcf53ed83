# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows times a structured weight. See drawloom.structured and drawloom.torch.structured_linear."""

import functools

from .._errors import CallError, CallTypeError
from .. import structured
from . import Array, register, sizes

ASSOCIATIONS = "auto", "parts", "matrix"


@functools.lru_cache(maxsize=1024)
def term_of(text):
    return structured.loads(text)


def _split(attributes, arguments):
    """The term, its leaves by their names, and the bias or None."""
    term = term_of(attributes["term"])
    names = term.leaves
    leaves = dict(zip(names, arguments[1:]))
    return term, leaves, arguments[-1] if attributes["bias"] else None


def _shapes(leaves):
    return {name: one.shape for name, one in leaves.items()}


def _check(attributes, arguments):
    x, what = arguments[0], "structured_linear"
    term, leaves, bias = _split(attributes, arguments)
    if attributes["association"] not in ASSOCIATIONS:
        raise CallError(f"{what}: association is '{attributes['association']}'; it is one of {', '.join(ASSOCIATIONS)}")
    if len(arguments) != 1 + len(term.leaves) + attributes["bias"]:
        raise CallError(f"{what}: the term has {len(term.leaves)} leaves ({', '.join(term.leaves)}), but "
                        f"{len(arguments) - 1 - attributes['bias']} are given")
    inputs, outputs = term.shape(_shapes(leaves))
    if x.shape[-1] != inputs:
        raise CallError(f"{what}: x has {x.shape[-1]} channels, but {term} takes {inputs}")
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise CallError(f"{what}: bias has the shape {list(bias.shape)}, but {term} gives {outputs} channels")
    roles = term.roles
    for name, one in (*leaves.items(), *([("bias", bias)] if bias is not None else [])):
        wanted = {"number": [x.dtype], "scale": [x.dtype, "float32"], "code": ["int8"]}[roles.get(name, "number")]
        if one.dtype not in wanted:
            raise CallTypeError(f"{what}: {name} is {one.dtype}, but x is {x.dtype}" if "code" != roles.get(name) else
                                f"{what}: {name} is {one.dtype}; codes and places are int8 or uint8")


def _results(attributes, arguments):
    term, leaves, _ = _split(attributes, arguments)
    return [Array(arguments[0].dtype, (arguments[0].shape[0], term.shape(_shapes(leaves))[1]))]


def _body(attributes, arguments, results, names):
    term, leaves, bias = _split(attributes, arguments)
    x, y = arguments[0], results[0]
    inside = {name: (f"%leaf{i}", one.text) for i, (name, one) in enumerate(leaves.items())}
    ops, _ = structured.lines(term, _shapes(leaves), inside)
    given = names[1:1 + len(leaves)]
    types = ", ".join(one.text for one in leaves.values())
    head = [f"  ^bb0({', '.join(f'{name}: {type_}' for name, type_ in inside.values())}):"] if inside else []
    lines = [f"  %product = slr.linear {names[0]}({', '.join(given)}) attributes {{association = \"{attributes['association']}\"}} {{", *head, *ops,
             f"  }} : {x.text}, ({types}) -> {y.text}"]
    if bias is None:
        return lines, ["%product"]
    return [*lines, f"  %empty = tensor.empty({sizes(y)}) : {y.text}",
            f"  %shifted = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], "
            f"iterator_types = [\"parallel\", \"parallel\"]}} ins(%product, {names[-1]} : {y.text}, {bias.text}) outs(%empty : {y.text}) {{",
            f"  ^bb0(%p: {_scalar(y)}, %b: {_scalar(y)}, %o: {_scalar(y)}):", f"    %s = arith.addf %p, %b : {_scalar(y)}",
            f"    linalg.yield %s : {_scalar(y)}", f"  }} -> {y.text}"], ["%shifted"]


def _scalar(array):
    return Array(array.dtype, ()).text[len("tensor<"):-1]


register("structured", _check, _results, _body)
