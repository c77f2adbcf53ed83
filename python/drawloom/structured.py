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

__all__ = ["Pattern", "Term", "block_diagonal", "concat", "dense", "diagonal", "fold", "hadamard", "identity", "kronecker", "n_of_m",
           "normalize_columns", "permute", "quantized", "select", "sparse"]

# Which parts of a term name leaves, and what these hold: numbers of the type of the rows, what codes are multiplied by, codes, or indices.
_LEAVES: dict[str, tuple[str | None, ...]] = {
    "dense": ("number",), "diagonal": ("number",), "block_diagonal": ("number",), "normalize_columns": (None, "number"),
    "quantized": ("code", "scale", "scale"), "n_of_m": ("number", "code"), "sparse": ("number", *["index"] * 5)}

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
        """What each leaf holds: "number" (of the type of the rows), "scale" (this, or float32), "code" (int8) or "index" (int32)."""
        found: dict[str, str] = {}
        own = _LEAVES.get(self.kind, ())
        for i, part in enumerate(self.parts):
            role = own[i] if i < len(own) else None
            if isinstance(part, Term):
                _join_roles(found, part.roles)
            elif role is not None and part is not None:
                _join_roles(found, {part: role})
        return found

    @property
    def places(self) -> list[tuple[str, int]]:
        """The names of the arrays of places that n_of_m terms have, and of how many neighbours these are."""
        if self.kind == "n_of_m":
            return [(self.parts[1], self.parts[2])]
        return [one for part in self.parts if isinstance(part, Term) for one in part.places]

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
        if {role, found[name]} != {"number", "scale"}:
            raise CallError(f"the leaf '{name}' holds a {found[name]} in one place and a {role} in another")
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


# The arrays of a pattern, as leaves.
_PLACES = "row_starts", "columns", "column_starts", "rows", "order"


def sparse(values: str, pattern: str) -> Term:
    """A sparse matrix: the blocks `values` [E, p, q], or elements [E], at the places of a `Pattern`, whose arrays are the leaves that
    `Pattern.leaves(pattern)` names."""
    return Term("sparse", (_name("sparse", values), *(f"{_name('sparse', pattern)}_{array}" for array in _PLACES)))


class Pattern:
    """Where a sparse matrix of R x C blocks (or elements) has some: the places by rows, and the same by columns.

    shape   (R, C)
    arrays  row_starts [R + 1], columns [E], column_starts [C + 1], rows [E], order [E], int32: block e of row r, row_starts[r] <= e <
            row_starts[r + 1], is in column columns[e]; the f-th by columns is in row rows[f], and is block order[f]
    """

    def __init__(self, row_starts: Any, columns: Any, column_count: int) -> None:
        """Of the arrays of CSR, with rising columns in each row."""
        import numpy as np

        starts, columns = (np.asarray(array) if np.size(array) else np.zeros(0, np.int64) for array in (row_starts, columns))
        for what, array in (("row_starts", starts), ("columns", columns)):
            if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
                raise CallError(f"Pattern: {what} is {array.dtype}{list(array.shape)}; it is a list of integers")
        if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(columns) or (np.diff(starts) < 0).any():
            raise CallError(f"Pattern: row_starts rise from 0 to {len(columns)}, the number of columns that are given, one for each row and one more")
        if _number("Pattern", "the number of columns", column_count) >= 2**31:
            raise CallError(f"Pattern: there are {column_count} columns; 32 bits hold their numbers")
        if len(columns) and not (0 <= columns.min() and columns.max() < column_count):
            raise CallError(f"Pattern: columns are from 0 to {column_count - 1}; there are some from {columns.min()} to {columns.max()}")
        rows: Any = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        wrong = np.flatnonzero((np.diff(columns) <= 0) & (np.diff(rows) == 0))
        if len(wrong):
            raise CallError(f"Pattern: columns {columns[wrong[0]]} and {columns[wrong[0] + 1]} of row {rows[wrong[0]]} do not rise; "
                            "of_coordinates sorts them")
        order = np.argsort(columns, kind="stable")
        column_starts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=column_count))])
        self.shape = len(starts) - 1, int(column_count)
        self.arrays = [np.ascontiguousarray(array, np.int32) for array in (starts, columns, column_starts, rows[order], order)]

    @staticmethod
    def of_coordinates(rows: Any, columns: Any, shape: Sequence[int]) -> tuple[Pattern, Any]:
        """Of places in any order: the pattern, and the order in which it has them (values[order] are its values)."""
        import numpy as np

        rows, columns = np.asarray(rows), np.asarray(columns)
        if len(shape) != 2:
            raise CallError(f"Pattern: the shape is {list(shape)}; it is a pair, of rows and columns")
        if rows.shape != columns.shape or rows.ndim != 1:
            raise CallError(f"Pattern: there are rows {list(rows.shape)} and columns {list(columns.shape)}; each place has one of both")
        if len(rows) and not (0 <= rows.min() and rows.max() < shape[0]):
            raise CallError(f"Pattern: rows are from 0 to {shape[0] - 1}; there are some from {rows.min()} to {rows.max()}")
        order = np.lexsort((columns, rows))
        again = np.flatnonzero((np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0))
        if len(again):
            raise CallError(f"Pattern: row {rows[order[again[0]]]}, column {columns[order[again[0]]]} is there more than once")
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
        return Pattern(starts, columns[order], shape[1]), order

    @staticmethod
    def of_mask(mask: Any) -> Pattern:
        """Of a matrix of truth values: blocks are where it is true."""
        import numpy as np

        mask = np.asarray(mask)
        if mask.ndim != 2:
            raise CallError(f"Pattern: the mask has the shape {list(mask.shape)}; it is a matrix")
        rows, columns = np.nonzero(mask)
        return Pattern.of_coordinates(rows, columns, mask.shape)[0]

    def __len__(self) -> int:
        """How many blocks there are."""
        return len(self.arrays[1])

    def leaves(self, name: str, convert: Any = lambda array: array) -> dict[str, Any]:
        """Its arrays as the leaves that `sparse(values, name)` has; `convert` makes each what a framework takes, as torch.from_numpy."""
        return {f"{name}_{array}": convert(one) for array, one in zip(_PLACES, self.arrays)}


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
    if term.kind == "sparse":
        return _sparse_shape(term, leaves)
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


def _sparse_shape(term, leaves):
    values, *places = term.parts
    for name in (values, *places):
        if name not in leaves:
            raise CallError(f"the leaf '{name}' of {term} is not given; there are {', '.join(leaves) or 'none'}")
    shape, lengths = tuple(leaves[values]), [tuple(leaves[name]) for name in places]
    if len(shape) not in (1, 3) or len(shape) == 3 and min(shape[1:]) < 1:
        raise CallError(f"the leaf '{values}' of {term} has the shape {list(shape)}; it is an array [blocks, p, q] or [elements]")
    wanted = [None, shape[:1], None, shape[:1], shape[:1]]
    for name, length, one in zip(places, lengths, wanted):
        if len(length) != 1 or one is None and length[0] < 2 or one is not None and length != one:
            raise CallError(f"the leaf '{name}' of {term} has the shape {list(length)}; it is a Pattern's for {shape[0]} values")
    p, q = shape[1:] or (1, 1)
    return (lengths[0][0] - 1) * p, (lengths[2][0] - 1) * q


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
        if one.kind == "sparse":
            given = [arguments[name] for name in a]
            return f"{given[0][0]} at ({', '.join(name for name, _ in given[1:])}) : {given[0][1]}, ({', '.join(type_ for _, type_ in given[1:])})"
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
