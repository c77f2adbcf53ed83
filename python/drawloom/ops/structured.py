# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows times a structured weight. See drawloom.structured and drawloom.torch.structured_linear."""

import functools
from dataclasses import replace

from .. import structured
from .._errors import CallError, CallTypeError
from . import Array, Spec, register, sizes

ASSOCIATIONS = "auto", "parts", "matrix"


term_list = functools.lru_cache(maxsize=1024)(structured.loads)


def known(term):
    """Text of a term, the names of its leaves, how messages call it, and its leaves that are places, as Term.places says."""
    if not isinstance(term, structured.Term):
        raise CallError(f"structured_linear: {term!r} is no term; drawloom.structured makes them")
    return _known(term)


@functools.lru_cache(maxsize=1024)
def _known(term):
    return structured.dumps(term), structured.leaves_of([term]), str(term), term.places


@functools.lru_cache(maxsize=1024)
def roles(terms):
    """What each leaf of a list of terms holds, in the order of the op; `terms` is the list's text."""
    return list(structured.roles_of(term_list(terms)).values())


def sequences(term, bias):
    """Terms and a bias or None for each, of a term and its bias or of several."""
    if not isinstance(term, (list, tuple)):
        return [term], [bias]
    if not term:
        raise CallError("structured_linear: there is no term; it is one, or a sequence of terms that share x")
    if bias is None:
        return term, [None] * len(term)
    if not isinstance(bias, (list, tuple)) or len(bias) != len(term):
        given = f"a sequence of {len(bias)}" if isinstance(bias, (list, tuple)) else "one array"
        raise CallError(f"structured_linear: bias is {given}; for a sequence of {len(term)} terms it is a sequence of {len(term)} biases, "
                        "None where there is none")
    return term, bias


def operands(terms, leaves, biases, range_of=lambda array: None):
    """(leaves, biases, texts, biased) for what is `known` of each term: arrays in the order of the op, and its attributes. `range_of` gives the
    least and the greatest number of an array, or None where there are none yet."""
    names = []
    for _, own, what, places in terms:
        for name in own:
            if name not in leaves:
                raise CallError(f"structured_linear: the leaf '{name}' of {what} is not given")
            if name not in names:
                names.append(name)
        for name, m in places:
            # Programs pass over what is beside its neighbours.
            low, high = range_of(leaves[name]) or (0, 0)
            if low < 0 or high >= m:
                raise CallError(f"structured_linear: the places '{name}' of {what} are from 0 to {m - 1}; there are some from {low} to {high}")
    for name in leaves:
        if name not in names:
            raise CallError(f"structured_linear: {' and '.join([what for _, _, what, _ in terms])} has no leaf '{name}'")
    texts, biased = ", ".join([text for text, *_ in terms]), "".join(["0" if one is None else "1" for one in biases])
    return [leaves[name] for name in names], [one for one in biases if one is not None], f"[{texts}]", biased


def shape_text(array):
    """How messages call an array, or what is given in its place."""
    return f"of the shape {list(array.shape)}" if hasattr(array, "shape") else f"a {type(array).__name__}"


def spec(terms, biased, association):
    """`terms`: the text of a list of terms; `biased` has "1" for each term with a bias, and "0" for one without."""
    return Spec("structured", (("terms", terms), ("biased", biased), ("association", association)))


def _split(attributes, arguments):
    """The terms, their leaves by their names, and a bias or None for each term."""
    terms = term_list(attributes["terms"])
    names = structured.leaves_of(terms)
    rest = iter(arguments[1 + len(names):])
    return terms, dict(zip(names, arguments[1:])), [next(rest) if has == "1" else None for has in attributes["biased"]]


def _shapes(leaves):
    return {name: one.shape for name, one in leaves.items()}


def _check(attributes, arguments):
    x, what = arguments[0], "structured_linear"
    if attributes["association"] not in ASSOCIATIONS:
        raise CallError(f"{what}: association is '{attributes['association']}'; it is one of {', '.join(ASSOCIATIONS)}")
    names, biases = structured.leaves_of(term_list(attributes["terms"])), attributes["biased"].count("1")
    if len(arguments) != 1 + len(names) + biases:
        raise CallError(f"{what}: there are {len(names)} leaves ({', '.join(names)}), but {len(arguments) - 1 - biases} are given")
    terms, leaves, biases = _split(attributes, arguments)
    for term, bias in zip(terms, biases):
        inputs, outputs = term.shape(_shapes(leaves))
        if x.shape[-1] != inputs:
            raise CallError(f"{what}: x has {x.shape[-1]} channels, but {term} takes {inputs}")
        if bias is not None and tuple(bias.shape) != (outputs,):
            raise CallError(f"{what}: bias has the shape {list(bias.shape)}, but {term} gives {outputs} channels")
    roles = structured.roles_of(terms)
    for name, one in (*leaves.items(), *(("bias", bias) for bias in biases if bias is not None)):
        role = roles.get(name, "number")
        if role == "code" and one.dtype != "int8":
            raise CallTypeError(f"{what}: {name} is {one.dtype}; codes and places are int8 or uint8")
        if role == "index" and one.dtype != "int32":
            raise CallTypeError(f"{what}: {name} is {one.dtype}; the arrays of a pattern are int32")
        if role not in ("code", "index") and one.dtype != x.dtype and (role != "scale" or one.dtype != "float32"):
            raise CallTypeError(f"{what}: {name} is {one.dtype}, but x is {x.dtype}")


def _results(attributes, arguments):
    terms, leaves, _ = _split(attributes, arguments)
    return [replace(arguments[0], shape=(arguments[0].shape[0], term.shape(_shapes(leaves))[1])) for term in terms]


def _axes(attributes, arguments):
    rows = (*(f"row{d}" for d in range(len(arguments[0].shape) - 1)), None)
    return [rows, *((None,) * len(one.shape) for one in arguments[1:])], [rows] * len(attributes["biased"])


def mlir_product(terms, leaves, given, association, x_name, x, results):
    """Lines that make %product:n, the products of x with these terms; the leaves are called `given`."""
    inside = {name: (f"%leaf{i}", one.text) for i, (name, one) in enumerate(leaves.items())}
    head = [f"  ^bb0({', '.join(f'{name}: {type_}' for name, type_ in inside.values())}):"] if inside else []
    many = f":{len(terms)}" if len(terms) > 1 else ""
    return [f"  %product{many} = slr.linear {x_name}({', '.join(given)}) attributes {{association = \"{association}\"}} {{", *head,
            *structured.lines(terms, _shapes(leaves), inside),
            f"  }} : {x.text}, ({', '.join(one.text for one in leaves.values())}) -> ({', '.join(one.text for one in results)})"]


def _body(attributes, arguments, results, names):
    terms, leaves, biases = _split(attributes, arguments)
    given, rest = names[1:1 + len(leaves)], iter(names[1 + len(leaves):])
    lines = mlir_product(terms, leaves, given, attributes["association"], names[0], arguments[0], results)
    values = []
    for i, (y, bias) in enumerate(zip(results, biases)):
        product = f"%product#{i}" if len(terms) > 1 else "%product"
        values.append(product if bias is None else f"%shifted{i}")
        if bias is not None:
            lines += _shift(i, product, y, bias, next(rest))
    return lines, values


def _shift(i, product, y, bias, name):
    """Lines that add the bias called `name` to product i."""
    maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>"
    return [f"  %empty{i} = tensor.empty({sizes(y)}) : {y.text}",
            f"  %shifted{i} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\"]}} "
            f"ins({product}, {name} : {y.text}, {bias.text}) outs(%empty{i} : {y.text}) {{",
            f"  ^bb0(%p: {of_element(y)}, %b: {of_element(y)}, %o: {of_element(y)}):", f"    %s = arith.addf %p, %b : {of_element(y)}",
            f"    linalg.yield %s : {of_element(y)}", f"  }} -> {y.text}"]


def of_element(array):
    """Its element type in MLIR."""
    return Array(array.dtype, ()).text[len("tensor<"):-1]


register("structured", _check, _results, _body, axes=_axes)
