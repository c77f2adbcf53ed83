# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows times a structured weight that they share, and a low-rank adapter of their own. See drawloom.torch.adapted_linear."""

from dataclasses import replace

from .. import structured
from .._errors import CallError, CallTypeError
from . import open_extent, register, sizes
from .structured import mlir_product, of_element, term_list

WHAT = "adapted_linear"


def _split(attributes, arguments):
    """The term, its leaves, and the bias or None."""
    (term,) = term_list(attributes["term"])
    names = structured.leaves_of([term])
    return term, dict(zip(names, arguments[5:])), arguments[-1] if attributes["bias"] else None


def _check(attributes, arguments):
    term, leaves, bias = _split(attributes, arguments)
    if len(arguments) != 5 + len(leaves) + attributes["bias"]:
        raise CallError(f"{WHAT}: {term} has the leaves {', '.join(leaves)}, but {len(arguments) - 5 - attributes['bias']} are given")
    x, a, b, which, scales = arguments[:5]
    if len(x.shape) != 2:
        raise CallError(f"{WHAT}: x has the shape {list(x.shape)}; it is [rows, in]")
    inputs, outputs = term.shape({name: one.shape for name, one in leaves.items()})
    if x.shape[1] != inputs:
        raise CallError(f"{WHAT}: x has {x.shape[1]} channels, but {term} takes {inputs}")
    count, rank = (a.shape[0], a.shape[1]) if len(a.shape) == 3 else (0, 0)
    if len(a.shape) != 3 or count < 1 or rank < 1 or a.shape[2] != inputs:
        raise CallError(f"{WHAT}: a has the shape {list(a.shape)}; it is [adapters, rank, {inputs}], with extents from 1")
    if tuple(b.shape) != (count, outputs, rank):
        raise CallError(f"{WHAT}: b has the shape {list(b.shape)}; it is {[count, outputs, rank]}")
    if tuple(which.shape) != (x.shape[0],) or which.dtype != "int32":
        raise CallError(f"{WHAT}: which is {which.dtype} {list(which.shape)}; it is int32, the adapter of each of the {x.shape[0]} rows")
    if tuple(scales.shape) != (count,) or scales.dtype not in ("float32", x.dtype):
        raise CallError(f"{WHAT}: scales is {scales.dtype} {list(scales.shape)}; it is float32, one number for each of {count} adapters")
    roles = structured.roles_of([term])
    for name, one in (("a", a), ("b", b), *leaves.items(), *([("bias", bias)] if bias is not None else [])):
        if roles.get(name, "number") == "number" and one.dtype != x.dtype:
            raise CallTypeError(f"{WHAT}: {name} is {one.dtype}, but x is {x.dtype}")
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise CallError(f"{WHAT}: bias has the shape {list(bias.shape)}, but {term} gives {outputs} channels")


def _results(attributes, arguments):
    term, leaves, _ = _split(attributes, arguments)
    x = arguments[0]
    return [replace(x, shape=(x.shape[0], term.shape({name: one.shape for name, one in leaves.items()})[1]))]


def _opened(attributes, arguments):
    x, a, b, which, *rest = arguments
    return [replace(x, shape=(open_extent(0), x.shape[1])), a, b, replace(which, shape=(open_extent(0),)), *rest]


def _axes(attributes, arguments):
    none = [(None,) * len(one.shape) for one in arguments]
    return [("row", None), *none[1:3], ("row",), *none[4:]], [("row", None)]


def _body(attributes, arguments, results, names):
    term, leaves, bias = _split(attributes, arguments)
    x, a, b, which, scales = arguments[:5]
    y = results[0]
    inner = replace(x, shape=(x.shape[0], a.shape[1]))
    element, given = of_element(y), names[:5]
    operands = [("%product", y), ("%adapted", y), *([(names[-1], bias)] if bias is not None else [])]
    maps = ["affine_map<(i, j) -> (i, j)>"] * 2 + ["affine_map<(i, j) -> (j)>"] * (bias is not None) + ["affine_map<(i, j) -> (i, j)>"]
    sums = ["    %s = arith.addf %p, %q : " + element, *([f"    %t = arith.addf %s, %r : {element}"] if bias is not None else [])]
    return [f"  %narrow = slr.adapter_linear {given[0]}, {given[1]} by {given[3]} scales {given[4]} transpose : "
            f"{x.text}, {a.text}, {which.text}, {scales.text} -> {inner.text}",
            f"  %adapted = slr.adapter_linear %narrow, {given[2]} by {given[3]} transpose : {inner.text}, {b.text}, {which.text} -> {y.text}",
            *mlir_product([term], leaves, names[5:5 + len(leaves)], "auto", names[0], x, results),
            f"  %empty = tensor.empty({sizes(y)}) : {y.text}",
            f"  %sum = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [\"parallel\", \"parallel\"]}} "
            f"ins({', '.join(name for name, _ in operands)} : {', '.join(one.text for _, one in operands)}) outs(%empty : {y.text}) {{",
            f"  ^bb0(%p: {element}, %q: {element}, {f'%r: {element}, ' if bias is not None else ''}%o: {element}):", *sums,
            f"    linalg.yield {'%s' if bias is None else '%t'} : {element}", f"  }} -> {y.text}"], ["%sum"]


register("adapted_linear", _check, _results, _body, _opened, rowwise=False, axes=_axes)
