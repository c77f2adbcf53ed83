# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of structured weights: matrices that are known by how they are made.

    from drawloom.structured import dense, diagonal

    weight = dense("base") + 2.0 * dense("b") @ dense("a")       # [out, in], a low-rank adapter beside a matrix

A term is a matrix of K x N. Leaves have names; which arrays they are is said where the term is used
(`drawloom.torch.structured_linear`). Terms are added by `+`, multiplied by `@`, scaled by `*`, and `.T` is the transpose.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from ._errors import CallError

__all__ = ["Term", "block_diagonal", "concat", "dense", "diagonal", "fold", "hadamard", "identity", "kronecker", "n_of_m",
           "normalize_columns", "permute", "quantized", "select"]

# Which parts of a term name leaves, and what these hold: numbers of the type of the rows, what codes are multiplied by, or codes.
_LEAVES: dict[str, tuple[str | None, ...]] = {
    "dense": ("number",), "diagonal": ("number",), "block_diagonal": ("number",), "normalize_columns": (None, "number"),
    "quantized": ("code", "scale", "scale"), "n_of_m": ("number", "code")}

# Bits of a code, by format.
FORMATS = {"nf4": 4, "fp4": 4, "uint1": 1, "uint2": 2, "uint4": 4, "uint8": 8, "int2": 2, "int4": 4, "int8": 8, "f8e4m3fn": 8, "f8e5m2": 8}
PACKINGS = "low_first", "high_first", "parts"


@dataclass(frozen=True)
class Term:
    """A matrix of K x N by how it is made. Made by the functions of this module."""

    kind: str
    #: Terms, names of leaves, and numbers.
    parts: tuple[Any, ...]

    def __hash__(self) -> int:
        # Once: parts may be shared.
        known = self.__dict__.get("_hash")
        if known is None:
            known = hash((self.kind, self.parts))
            object.__setattr__(self, "_hash", known)
        return known

    def __add__(self, other: Term) -> Term:
        return _joined("sum", self, other)

    def __matmul__(self, other: Term) -> Term:
        return _joined("product", self, other)

    def __mul__(self, factor: float) -> Term:
        if not isinstance(factor, Real) or not math.isfinite(factor):
            raise CallError(f"a term is scaled by a finite number, not {factor!r}; terms are multiplied by @")
        return Term("scale", (self, float(factor)))

    __rmul__ = __mul__

    @property
    def T(self) -> Term:
        """The transpose."""
        return self.parts[0] if self.kind == "transpose" else Term("transpose", (self,))

    @property
    def leaves(self) -> list[str]:
        """The names of the arrays that it is made of, each once."""
        return list(self.roles)

    @property
    def roles(self) -> dict[str, str]:
        """What each leaf holds: "number" (of the type of the rows), "scale" (this, or float32) or "code" (int8)."""
        found: dict[str, str] = {}
        own = _LEAVES.get(self.kind, ())
        for i, part in enumerate(self.parts):
            role = own[i] if i < len(own) else None
            if isinstance(part, Term):
                _join_roles(found, part.roles)
            elif role is not None and part is not None:
                _join_roles(found, {part: role})
        return found

    def shape(self, leaves: Mapping[str, Sequence[int]]) -> tuple[int, int]:
        """(K, N), where the leaves have these shapes. Raises CallError where they do not fit."""
        return _shape(self, leaves, {})

    def __str__(self) -> str:
        a = self.parts
        symbols = {"sum": " + ", "product": " @ "}
        if self.kind in symbols:
            return "(" + symbols[self.kind].join(map(str, a)) + ")"
        if self.kind == "scale":
            return f"{a[1]:g} * {a[0]}"
        if self.kind == "transpose":
            return f"{a[0]}.T"
        return f"{self.kind}({', '.join(str(part) if isinstance(part, Term) else repr(part) for part in a)})"


def _join_roles(found, others):
    for name, role in others.items():
        if found.setdefault(name, role) == role:
            continue
        # Numbers that scale codes as well are of the type of the rows.
        if "code" in (role, found[name]):
            raise CallError(f"the leaf '{name}' holds codes in one place and numbers in another")
        found[name] = "number"


def _joined(kind, *terms):
    """Of sums of sums one sum."""
    for term in terms:
        if not isinstance(term, Term):
            raise CallError(f"{kind}: {term!r} is no term; dense(\"name\") makes one of an array")
    return Term(kind, tuple(part for term in terms for part in (term.parts if term.kind == kind else (term,))))


def _name(function, name):
    if not isinstance(name, str) or not name.isidentifier():
        raise CallError(f"{function}: a leaf has a name like \"base\", not {name!r}")
    return name


def _number(function, what, value, least=1):
    if not isinstance(value, Integral) or value < least:
        raise CallError(f"{function}: {what} is {value!r}; it is a number from {least}")
    return int(value)


def dense(name: str) -> Term:
    """A matrix, all of it: the leaf is [K, N]."""
    return Term("dense", (_name("dense", name),))


def diagonal(name: str) -> Term:
    """A diagonal matrix: the leaf is [K]."""
    return Term("diagonal", (_name("diagonal", name),))


def identity(extent: int) -> Term:
    """The identity of extent x extent."""
    return Term("identity", (_number("identity", "extent", extent),))


def block_diagonal(name: str) -> Term:
    """Matrices along the diagonal: the leaf is [G, k, n], the term G k x G n."""
    return Term("block_diagonal", (_name("block_diagonal", name),))


def permute(shape: Sequence[int], order: Sequence[int]) -> Term:
    """A permutation: a row is seen under `shape`, its dimensions are put into this order, and it is a row again."""
    shape = tuple(_number("permute", "an extent", e) for e in shape)
    order = tuple(_number("permute", "a dimension", d, 0) for d in order)
    if sorted(order) != list(range(len(shape))) or not shape:
        raise CallError(f"permute: the order {list(order)} does not have each dimension of {list(shape)} once")
    return Term("permute", (shape, order))


def fold(extent: int, count: int) -> Term:
    """Adds up `count` parts of a row of `extent` elements, one behind the other."""
    extent, count = _number("fold", "extent", extent), _number("fold", "count", count)
    if extent % count:
        raise CallError(f"fold: {extent} elements are not {count} parts of one length")
    return Term("fold", (extent, count))


def select(size: int, offset: int, extent: int) -> Term:
    """The `size` elements from `offset` on of a row of `extent`."""
    size, offset, extent = _number("select", "size", size), _number("select", "offset", offset, 0), _number("select", "extent", extent)
    if offset + size > extent:
        raise CallError(f"select: {size} elements from {offset} on are no part of {extent}")
    return Term("select", (size, offset, extent))


def concat(*terms: Term) -> Term:
    """Terms side by side: the outputs of one stand behind those of the one before it."""
    if not terms:
        raise CallError("concat: there is no term")
    return _joined("concat", *terms)


def _pair(kind, left, right):
    for term in (left, right):
        if not isinstance(term, Term):
            raise CallError(f"{kind}: {term!r} is no term; dense(\"name\") makes one of an array")
    return Term(kind, (left, right))


def kronecker(left: Term, right: Term) -> Term:
    """The Kronecker product of two terms."""
    return _pair("kronecker", left, right)


def hadamard(left: Term, right: Term) -> Term:
    """The elementwise product of two terms of one shape."""
    return _pair("hadamard", left, right)


def normalize_columns(term: Term, lengths: str) -> Term:
    """The term with columns of the lengths that the leaf [N] gives: w[:, j] lengths[j] / |w[:, j]|."""
    if not isinstance(term, Term):
        raise CallError(f"normalize_columns: {term!r} is no term; dense(\"name\") makes one of an array")
    return Term("normalize_columns", (term, _name("normalize_columns", lengths)))


def quantized(codes: str, scales: str, offsets: str | None = None, *, format: str, packing: str = "low_first") -> Term:
    """A matrix of codes of a few bits: W[i, j] = value(code[i, j]) scales[i, g] + offsets[i, g].

    codes    [K, bytes], int8 or uint8: the N codes of each row
    scales   [K, G]: those of G groups of neighbours in a row; `offsets` as these
    format   what a code stands for: nf4 and fp4 as bitsandbytes has them, uint1, uint2, uint4, uint8, int2, int4, int8, f8e4m3fn or f8e5m2
    packing  of several codes in a byte: "low_first" has the first in the lowest bits, "high_first" in the highest (bitsandbytes), and with
             "parts" the bytes of a group hold the group's first part in their lowest bits, the next part above them (GGUF)
    """
    if format not in FORMATS:
        raise CallError(f"quantized: format is {format!r}; it is one of {', '.join(FORMATS)}")
    if packing not in PACKINGS:
        raise CallError(f"quantized: packing is {packing!r}; it is one of {', '.join(PACKINGS)}")
    names = (_name("quantized", codes), _name("quantized", scales), offsets and _name("quantized", offsets))
    return Term("quantized", (*names, format, packing))


def n_of_m(values: str, places: str, m: int) -> Term:
    """A matrix of which n of m neighbours in a row are not zero: W[i, g m + places[i, g, p]] = values[i, g, p], both [K, G, n]; places are
    int8 or uint8."""
    return Term("n_of_m", (_name("n_of_m", values), _name("n_of_m", places), _number("n_of_m", "m", m)))


# --- shapes and text ----------------------------------------------------------------------------------------------------


def _leaf(term, name, leaves, rank, what):
    if name not in leaves:
        raise CallError(f"the leaf '{name}' of {term} is not given; there are {', '.join(leaves) or 'none'}")
    shape = tuple(leaves[name])
    if len(shape) != rank or min(shape) < 1:
        raise CallError(f"the leaf '{name}' of {term} has the shape {list(shape)}; it is {what}")
    return shape


def _shape(term, leaves, known):
    """`known`: shapes of terms that were asked for before."""
    if term not in known:
        known[term] = _new_shape(term, leaves, known)
    return known[term]


def _new_shape(term, leaves, known):
    a = term.parts
    of = [_shape(part, leaves, known) for part in a if isinstance(part, Term)]
    if term.kind == "dense":
        return _leaf(term, a[0], leaves, 2, "a matrix [K, N], of extents from 1")
    if term.kind == "diagonal":
        return _leaf(term, a[0], leaves, 1, "a vector [K], of an extent from 1") * 2
    if term.kind == "block_diagonal":
        count, k, n = _leaf(term, a[0], leaves, 3, "an array [G, k, n], of extents from 1")
        return count * k, count * n
    if term.kind == "quantized":
        return _quantized_shape(term, leaves)
    if term.kind == "n_of_m":
        k, groups, n = _leaf(term, a[0], leaves, 3, "an array [K, G, n], of extents from 1")
        if _leaf(term, a[1], leaves, 3, "an array [K, G, n], of extents from 1") != (k, groups, n):
            raise CallError(f"the leaf '{a[1]}' of {term} has the shape {list(leaves[a[1]])}, but '{a[0]}' {[k, groups, n]}: each value has a place")
        if not n <= a[2] <= 128:
            raise CallError(f"{n} values are not among {a[2]} neighbours (of which there are at most 128): in {term}")
        return k, groups * a[2]
    if term.kind in ("identity", "permute"):
        return (math.prod(a[0]) if term.kind == "permute" else a[0],) * 2
    if term.kind == "fold":
        return a[0], a[0] // a[1]
    if term.kind == "select":
        return a[2], a[0]
    if term.kind in ("sum", "hadamard"):
        for part, shape in zip(a, of):
            if shape != of[0]:
                raise CallError(f"{part} is {_text(shape)}, but {a[0]} is {_text(of[0])}: the parts of {term} have one shape")
        return of[0]
    if term.kind == "product":
        for (left, (_, n)), (right, (k, _)) in zip(zip(a, of), zip(a[1:], of[1:])):
            if n != k:
                raise CallError(f"{left} gives {n} outputs, but {right} behind it takes {k}: in {term}")
        return of[0][0], of[-1][1]
    if term.kind == "concat":
        for part, shape in zip(a, of):
            if shape[0] != of[0][0]:
                raise CallError(f"{part} takes {shape[0]} inputs, but {a[0]} beside it {of[0][0]}: in {term}")
        return of[0][0], sum(n for _, n in of)
    if term.kind == "kronecker":
        return of[0][0] * of[1][0], of[0][1] * of[1][1]
    if term.kind == "normalize_columns":
        lengths = _leaf(term, a[1], leaves, 1, "a vector [N]")
        if lengths[0] != of[0][1]:
            raise CallError(f"the leaf '{a[1]}' of {term} has {lengths[0]} lengths for {of[0][1]} columns")
        return of[0]
    return of[0][::-1] if term.kind == "transpose" else of[0]


def _quantized_shape(term, leaves):
    codes, scales, offsets, format_, _ = term.parts
    k, count = _leaf(term, codes, leaves, 2, "a matrix [K, bytes], of extents from 1")
    rows, groups = _leaf(term, scales, leaves, 2, "a matrix [K, G], of extents from 1")
    if rows != k:
        raise CallError(f"the leaf '{scales}' of {term} has {rows} rows for {k} rows of codes")
    if count % groups:
        raise CallError(f"{count} bytes in a row of '{codes}' are not {groups} groups of one length: in {term}")
    if offsets is not None and _leaf(term, offsets, leaves, 2, "a matrix [K, G]") != (rows, groups):
        raise CallError(f"the leaf '{offsets}' of {term} has the shape {list(leaves[offsets])}, but '{scales}' {[rows, groups]}")
    return k, count * (8 // FORMATS[format_])


def _text(shape):
    return f"{shape[0]} x {shape[1]}"


def roles_of(terms: Sequence[Term]) -> dict[str, str]:
    """The arrays that these terms are made of, each once, and what it holds, as Term.roles says."""
    found: dict[str, str] = {}
    for term in terms:
        _join_roles(found, term.roles)
    return found


def leaves_of(terms: Sequence[Term]) -> list[str]:
    """The names of these arrays."""
    return list(roles_of(terms))


def lines(terms: Sequence[Term], leaves: Mapping[str, Sequence[int]], arguments: Mapping[str, tuple[str, str]]) -> list[str]:
    """MLIR of the ops of a region that yields these terms. `arguments`: (name, type) of the region's argument for each leaf."""
    made: list[str] = []
    known: dict[Term, str] = {}
    shapes: dict[Term, tuple[int, int]] = {}

    def kind(one):
        k, n = _shape(one, leaves, shapes)
        return f"!slr.term<{k}x{n}>"

    def op(one):
        a = one.parts
        terms = [part for part in a if isinstance(part, Term)]
        names, types = [emit(part) for part in terms], [kind(part) for part in terms]
        if one.kind in ("dense", "diagonal", "block_diagonal"):
            name, type_ = arguments[a[0]]
            return f"{name} : {type_}"
        if one.kind == "quantized":
            given = [arguments[name] for name in a[:3] if name is not None]
            words = [name + word for (name, _), word in zip(given, (" scales ", " offsets " if len(given) > 2 else "", ""))]
            return f"{a[3]} {''.join(words)} packing {a[4]} : {', '.join(type_ for _, type_ in given)}"
        if one.kind == "n_of_m":
            (values, kind_), (places, at) = arguments[a[0]], arguments[a[1]]
            return f"{values} at {places} of {a[2]} : {kind_}, {at}"
        if one.kind == "permute":
            return f"{list(a[0])} by {list(a[1])}"
        if one.kind == "fold":
            return f"{a[0]} into {a[1]} parts"
        if one.kind == "select":
            return f"{a[0]} from {a[1]} of {a[2]}"
        if one.kind == "identity":
            return f"{a[0]}"
        if one.kind == "scale":
            return f"{names[0]} by {a[1]:.17e} : {types[0]}"
        if one.kind == "normalize_columns":
            name, type_ = arguments[a[1]]
            return f"{names[0]} to {name} : {types[0]}, {type_}"
        return f"{', '.join(names)} : {', '.join(types)}"

    def emit(one):
        if one not in known:
            text = f"slr.{one.kind} {op(one)}"
            known[one] = f"%term{len(made)}"
            made.append(f"    {known[one]} = {text}")
        return known[one]

    roots = [emit(term) for term in terms]
    return [*made, f"    slr.yield {', '.join(roots)} : {', '.join(map(kind, terms))}"]


def dumps(term: Term) -> str:
    """Text that `loads` reads; the same for equal terms."""
    def plain(part):
        return {"kind": part.kind, "parts": [plain(p) for p in part.parts]} if isinstance(part, Term) else part

    return json.dumps(plain(term), sort_keys=True)


def loads(text: str) -> Any:
    """The opposite of `dumps`; of a list of texts a tuple of terms."""
    def term(part):
        if isinstance(part, dict):
            return Term(part["kind"], tuple(term(p) for p in part["parts"]))
        return tuple(map(term, part)) if isinstance(part, list) else part

    return term(json.loads(text))
