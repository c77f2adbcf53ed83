# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs, as programs of rgnn ops: what a Python function says of one edge, and of all nodes, is traced.
See tracing.py for what is traced elsewhere, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._errors import CallError, CallTypeError
from . import Array, Spec, between, open_extent, register, tracing
from .tracing import Program, Value, computed, is_number, type_of, where

# What a tensor has one row for. `all`: the tensor is one row.
SPACES = ("src", "dst", "src_rel", "dst_rel", "edge", "rel")
INCOMING = ("node_pairs", "pair_relation", "pair_edges", "far", "far_pair", "block_tiles", "tile_relation", "tile_pair", "tile_node")
# The operands of rgnn.graph.
ARRAYS = tuple(f"in_{name}" for name in INCOMING) + tuple(f"out_{name}" for name in (*INCOMING, "edge"))

_PAIRS = {"src": "src_rel", "dst": "dst_rel", "src_rel": "src_rel", "dst_rel": "dst_rel"}


class GraphProgram(Program):
    """A program with ops on a graph. See BaseGraph for the numbers."""

    what = "message passing"

    def __init__(self, relations, rows_per_block, edges_per_pair=(1, 1)):
        super().__init__()
        self.numbers = {"relations": relations, "rows_per_block": rows_per_block, "edges_per_pair": edges_per_pair}

    def spec(self):
        return Spec("message_passing", self.attributes(**self.numbers))

    def linear(self, x, w, transpose=False):
        """The rows of pairs times the matrices of their relations, or these transposed."""
        at = x.shape[0]
        if at not in _PAIRS:
            raise CallError(f"linear takes rows of nodes or pairs, not of {at}")
        shape = (_PAIRS[at], *x.shape[1:-1], w.shape[-2 if transpose else -1])
        transposed = " transpose" if transpose else ""
        return self.value(f"rgnn.linear %graph, {x.name} at {at}, {w.name}{transposed} : {x.type}, {w.type} -> {type_of(x.dtype, shape)}",
                          x.dtype, shape)

    def traverse(self, function, inputs, to, over="edge"):
        """function(*rows) -> rows, one for each (space, combiner) of `to`."""
        if self.inside is not None:
            raise CallError("a function of an edge traverses no graph itself")
        spaces = [x.shape[0] if x.shape and x.shape[0] in SPACES else "all" for x in inputs]
        lines, self.lines = self.lines, []
        self.inside = object()
        try:
            rows = [Value(self, f"%r{self.count}_{i}", x.dtype, x.shape if space == "all" else x.shape[1:], self.inside)
                    for i, (x, space) in enumerate(zip(inputs, spaces))]
            given = function(*rows)
            given = list(given) if isinstance(given, (tuple, list)) else [given]
            if len(given) != len(to):
                raise CallError(f"the function of an edge gives {len(given)} rows for {len(to)} results")
            given = [self.constant(row, computed(rows[0].dtype) if rows else "float32") if is_number(row) else row
                     for row in given]
            for row in given:
                if not isinstance(row, Value) or row.inside is not self.inside:
                    raise CallError(f"the function of an edge gives {row!r}, which is not made of its rows")
                if "float" not in row.dtype:
                    raise CallTypeError(f"the function of an edge gives {row!r}; it gives rows of floats")
            body, self.lines = self.lines, lines
        finally:
            self.lines, self.inside = lines, None
        results = [Value(self, "", row.dtype, (*([] if space == "all" else [space]), *row.shape)) for row, (space, _) in zip(given, to)]
        name = self.fresh()
        arguments = ", ".join(f"{x.name} at {space} : {x.type}" for x, space in zip(inputs, spaces))
        types = ", ".join(f"{result.type} at {space} by {combiner}" for result, (space, combiner) in zip(results, to))
        self.emit(f"{name}{f':{len(to)}' if len(to) > 1 else ''} = rgnn.traverse %graph over {over} ({arguments}) -> ({types}) {{")
        self.emit(f"^bb0({', '.join(f'{row.name}: {row.type}' for row in rows)}):")
        self.lines += body
        self.emit(f"  rgnn.yield {', '.join(row.name for row in given)} : {', '.join(row.type for row in given)}\n  }}")
        for i, result in enumerate(results):
            result.name = f"{name}#{i}" if len(to) > 1 else name
        return results if len(results) > 1 else results[0]


# --- layers ----------------------------------------------------------------------------------------------------------

class Edge:
    """A function of an edge that a user has written, with the names of what it takes."""

    def __init__(self, function, names, combine, to):
        self.function, self.names, self.combine, self.to = function, names, combine, to

    def __call__(self, *rows: Any) -> Any:
        given: dict[str, Any] = {}
        for (space, name), row in zip(self.names, rows):
            if name is None:
                given[space] = row
            else:
                given.setdefault(space, {})[name] = row
        return self.function(**given)

    def build(self, program, *inputs):
        """Results have the type of the tensors of floats, where these have one."""
        result = self._combined(program, inputs)
        kinds = {one.dtype for one in inputs if "float" in one.dtype}
        return result.to(kinds.pop()) if len(kinds) == 1 else result

    def _combined(self, program, inputs):
        if self.to == "edge":
            return program.traverse(self, inputs, [("edge", "none")])
        if self.combine == "softmax":
            return attend(program, self, inputs)[0]
        return combined(program, self, inputs, self.combine)


def input_type(dtype, shape, space):
    """A tensor as `spec_of` takes it: with its space for the number of its rows."""
    return dtype, shape if space == "all" else (space, *shape[1:])


def spec_of(build, options, inputs, kind):
    """The Spec of build(program, *values, *options), with a value for each input that is not None; kind: what GraphProgram takes."""
    return tracing.traced(GraphProgram(*kind), build, options, inputs).spec()


COMBINERS = ("sum", "mean", "max", "min", "softmax")


def check_combiner(combine, to):
    """What message_passing combines by."""
    if to == "edge" and combine is not None:
        raise CallError(f"message_passing: with to='edge' nothing is combined, but combine is '{combine}'")
    combine = "sum" if combine is None else combine
    if combine not in COMBINERS:
        raise CallError(f"message_passing: combine is '{combine}'; it is one of {', '.join(COMBINERS)}")
    if to not in ("dst", "edge"):
        raise CallError(f"message_passing: to is '{to}'; it is 'dst' or 'edge'")
    return combine


def named_rows(**spaces):
    """(space, name, tensor) of all that is given: a tensor, whose name is None, or a dictionary for each space."""
    found = [(space, name, tensor) for space, given in spaces.items() if given is not None
             for name, tensor in (given.items() if isinstance(given, Mapping) else [(None, given)])]
    if not found:
        raise CallError("message_passing: no rows are given; src, dst, edge, rel or all has some")
    return found


def combined(program: GraphProgram, edge: Callable, inputs: Any, combine: str, to: str = "dst") -> Value:
    """What edge(*rows) gives, by sum, mean, max or min at the targets or, with to="dst_rel", by relation."""
    def wide(*rows):
        row = edge(*rows)
        if not isinstance(row, Value) and not is_number(row):
            raise CallError(f"the function of an edge gives {row!r}; it gives one row")
        return row.wide() if isinstance(row, Value) else row

    if combine == "min":
        return -combined(program, lambda *rows: -wide(*rows), inputs, "max", to)
    if combine == "max":
        # Derivatives compare rows with it, where these are not computed.
        return program.keep(program.traverse(wide, inputs, [(to, "max")]))
    total = program.traverse(wide, inputs, [(to, "sum")])
    if combine != "mean":
        return total
    count = program.traverse(lambda: 1.0, [], [(to, "sum")]).to(total.dtype).maximum(1.0)
    return total / widen(count, total)


def widen(row: Value, value: Value) -> Value:
    """`row`, with extents of 1 behind it for what `value` has more."""
    return row.reshape([*row.shape, *[1] * (len(value.shape) - len(row.shape))])


def sum_pairs(program: GraphProgram, rows: Value) -> Value:
    """Rows of pairs of targets, added up."""
    return program.traverse(lambda row: row.wide(), [rows], [("dst", "sum")], over="dst_rel")


def attend(program: GraphProgram, edge: Callable, inputs: Any, weights: bool = False, matrices: Value | None = None,
           narrow: bool = False) -> list:
    """The softmax over each target's edges of the scores, times the values: edge(*rows) -> (score, value). A score is a number, or has
    one for each head, which is the first dimension of the value. With `weights` also what each edge was multiplied by. Values are
    multiplied by the `matrices` of their relations, once for each pair of a target. Edges keep their scores but where these are `narrow`:
    made of a few numbers, not of whole rows."""
    def score_and_value(*rows):
        pair = edge(*rows)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise CallError("with combine='softmax' the function of an edge gives a pair: a score, and a value")
        return tuple((program.constant(one, "float32") if is_number(one) else one).wide() for one in pair)

    count, scores = len(inputs), []
    if narrow:
        top = program.traverse(lambda *rows: score_and_value(*rows)[0], inputs, [("dst", "bound")])
    else:
        score, top = program.traverse(lambda *rows: score_and_value(*rows)[:1] * 2, inputs, [("edge", "none"), ("dst", "bound")])
        scores.append(program.keep(score))
    inputs = [*inputs, program.keep(top), *scores]

    def weigh(*rows):
        score, value = score_and_value(*rows[:count])
        if scores:
            score = program.saved(score, rows[count + 1])
        weight = (score - rows[count]).exp()
        return widen(weight, value) * value, weight

    def shared(weight):
        # Only a node without edges has no weight, and its sum is zero.
        weight = program.keep(weight)
        return 1.0 / where(weight > 0.0, weight, 1.0)

    if matrices is None:
        total, weight = program.traverse(weigh, inputs, [("dst", "sum"), ("dst", "sum")])
        total, share = program.keep(total), shared(weight)
        results = [total * widen(share, total)]
    else:
        # Pairs are not in the order of their nodes there: weights are computed before.
        known, weight = program.traverse(lambda *rows: weigh(*rows)[1:] * 2, inputs, [("edge", "none"), ("dst", "sum")])
        share = shared(weight)

        def weighted(*rows):
            value = score_and_value(*rows[:count])[1]
            return widen(program.saved(weigh(*rows)[1], rows[-2]) * rows[-1], value) * value

        sums = program.traverse(weighted, [*inputs, program.keep(known), share], [("dst_rel", "sum")])
        results = [sum_pairs(program, program.linear(sums.to(matrices.dtype), matrices))]
    if weights:
        results.append(program.traverse(lambda *rows: weigh(*rows)[1] * rows[-1], [*inputs, share], [("edge", "none")]))
    return results


# --- the family -----------------------------------------------------------------------------------------------------

# The open extents of a graph: `blocks` and `tiles` are those of in_block_tiles and in_tile_pair, back_ those of out_block_tiles ...
_NUMBERS = {name: number for number, name in enumerate(
    ("src", "dst", "src_rel", "dst_rel", "edge", "blocks", "tiles", "back_blocks", "back_tiles"))}


def _shapes_of_arrays():
    """For each array (extent, more): it has as many entries as there are of these, and `more`."""
    def order(nodes, pairs, back=""):
        return [(nodes, 1), (pairs, 0), (pairs, 1), ("edge", 0), ("edge", 0), (f"{back}blocks", 1)] + [(f"{back}tiles", 0)] * 3

    return [*order("dst", "dst_rel"), *order("src", "src_rel", "back_"), ("edge", 0)]


_OF_ARRAYS = dict(zip(ARRAYS, _shapes_of_arrays()))


def extents(arrays, relations):
    """The extents of a graph's spaces, from the shapes of its arrays. They may be open."""
    first = {array: shape[0] for array, shape in zip(ARRAYS, arrays)}
    return {"src": between(first["out_node_pairs"]), "dst": between(first["in_node_pairs"]), "src_rel": first["out_pair_relation"],
            "dst_rel": first["in_pair_relation"], "edge": first["in_far"], "rel": relations}


def edges_per_pair(arrays):
    """How many edges the pairs of targets, and those of sources, have: powers of two, as few programs serve many graphs."""
    first = {array: shape[0] for array, shape in zip(ARRAYS, arrays)}

    def expected(pairs):
        return 1 << min(max(first["in_far"] // max(pairs, 1), 1).bit_length() - 1, 4)

    return expected(first["in_pair_relation"]), expected(first["out_pair_relation"])


def _known(program, arguments):
    return extents([one.shape for one in arguments[len(program["inputs"]):]], program["relations"])


def _check(attributes, arguments):
    program = tracing.program_of(attributes)
    if len(arguments) != len(program["inputs"]) + len(ARRAYS) + tracing.kept_count(attributes):
        raise CallError(f"message passing takes {len(program['inputs'])} tensors and {len(ARRAYS)} arrays of a graph, not {len(arguments)}")
    tracing.check_inputs("message passing", program, arguments, _known(program, arguments), "the graph")


def _results(attributes, arguments):
    return tracing.results_of(attributes, _known(tracing.program_of(attributes), arguments))


def _body(attributes, arguments, results, names):
    program = tracing.program_of(attributes)
    count = len(program["inputs"])

    def order(part):
        return f"({', '.join(names[count:][part])} : {', '.join(one.text for one in arguments[count:][part])})"

    incoming, outgoing = slice(0, len(INCOMING)), slice(len(INCOMING), len(ARRAYS))
    graph = (f"  %graph = rgnn.graph incoming{order(incoming)} outgoing{order(outgoing)} "
             f"{{relations = {program['relations']}, rows_per_block = {program['rows_per_block']}, "
             f"edges_per_pair = array<i64: {', '.join(map(str, program['edges_per_pair']))}>}}")
    lines, values = tracing.body_of(attributes, _known(program, arguments), names[:count] + names[count + len(ARRAYS):])
    return [graph, *lines], values


def _opened(attributes, arguments):
    """Any graph of so many relations."""
    program = tracing.program_of(attributes)

    def opened(extents, array):
        shape = [open_extent(_NUMBERS[extent], more) if extent in _NUMBERS else own for (extent, more), own in zip(extents, array.shape)]
        return Array(array.dtype, tuple(shape))

    inputs, kept = ([[(extent, 0) for extent in shape] for _, shape in program[of]] for of in ("inputs", "kept"))
    arrays = [[_OF_ARRAYS[name], (None, 0)] for name in ARRAYS]
    return [opened(shape, array) for shape, array in zip(inputs + arrays + kept, arguments)]


register("message_passing", _check, _results, _body, _opened, rowwise=False, saving=tracing.saving,
         axes=lambda attributes, arguments: tuple([(None,) * len(one.shape) for one in given]
                                                  for given in (arguments, _results(attributes, arguments))))
