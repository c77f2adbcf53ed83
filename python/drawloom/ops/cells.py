# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent cells along tokens. See drawloom.torch.nonlinear_scan for the mathematics.

Results are the last states, with Newton's iteration its report, and outputs: those that are no states first, and behind them those that
are, which derivatives take from the forward pass. States that are no outputs are kept for derivatives only.
"""

from __future__ import annotations

import functools
import json
from numbers import Integral, Real

from .._errors import CallError, CallTypeError
from . import Array, Spec, open_extent, register


@functools.lru_cache(maxsize=1024)
def _read(text):
    return json.loads(text)


def spec_of(cell, narrow=False, reverse=False, segments=None, newton=None, tolerance=None):
    """The Spec of a cell's text. `narrow`: inputs and outputs are float16 or bfloat16, whose digits are too few for states."""
    return Spec("nonlinear_scan", (("cell", cell), ("narrow", bool(narrow)), ("reverse", bool(reverse)), ("segments", segments),
                                   ("newton", newton), ("tolerance", tolerance)))


def check_cell(cell, inputs, parameters, initial, segments, newton, tolerance):
    """Raises where what a framework's nonlinear_scan takes is not what the cell takes. torch.compile follows this."""
    if not hasattr(cell, "text"):
        raise CallTypeError(f"nonlinear_scan: the cell is a {type(cell).__name__}; it is a drawloom.cells.Cell, which a function becomes by "
                            "Cell(function, states=, inputs=, parameters=)")
    for name, given, wanted in (("inputs", inputs, cell.inputs), ("parameters", parameters, cell.parameters),
                                ("initial", [None] * cell.states if initial is None else initial, cell.states)):
        if not isinstance(given, (list, tuple)):
            raise CallTypeError(f"nonlinear_scan: {name} is a {type(given).__name__}; it is a list of {wanted}, as the {cell} has")
        if len(given) != wanted:
            raise CallError(f"nonlinear_scan: {name} is a list of {len(given)}; it is one of {wanted}, as the {cell} has")
    for name, value in (("segments", segments), ("newton", newton)):
        if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
            raise CallError(f"nonlinear_scan: {name} is {value!r}; it is a whole number, 1 or more")
    if tolerance is not None and (not isinstance(tolerance, Real) or not 0 < tolerance < float("inf")):
        raise CallError(f"nonlinear_scan: tolerance is {tolerance!r}; it is a number above 0")
    if tolerance is not None and newton is None:
        raise CallError("nonlinear_scan: a tolerance goes with newton")


class _Order:
    """Which results there are, of what the cell gives."""

    def __init__(self, text):
        cell = _read(text)
        self.states, self.inputs, self.parameters = cell["counts"]
        own = cell["float32"]
        self.outputs = len(own["outputs"])
        of_state = {name: i for i, name in reversed(list(enumerate(own["states"])))}
        # Outputs that are states, each state once.
        self.states_out = []
        for i, name in enumerate(own["outputs"]):
            if name in of_state:
                self.states_out.append((i, of_state.pop(name)))
        shown = {output for output, _ in self.states_out}
        self.others = [i for i in range(self.outputs) if i not in shown]
        self.hidden = sorted(set(range(self.states)) - {state for _, state in self.states_out})

    @property
    def results(self):
        """The output that each result behind the report is."""
        return self.others + [output for output, _ in self.states_out]


@functools.lru_cache(maxsize=1024)
def _order(cell):
    return _Order(cell)


def places_of(text):
    """For each output of a cell, which of the results behind the report it is."""
    order = _order(text)
    return tuple(order.results.index(output) for output in range(order.outputs))


def outputs_of(cell, results, newton):
    """(outputs in the cell's order, last states, report or None) of an op's results. torch.compile follows this."""
    first = cell.states + (0 if newton is None else 2)
    return [results[first + place] for place in cell.places], list(results[:cell.states]), results[cell.states:first] or None


def _parts(attributes, arguments):
    order = _order(attributes["cell"])
    at = [order.states, order.states + order.inputs, order.states + order.inputs + order.parameters]
    return order, arguments[:at[0]], arguments[at[0]:at[1]], arguments[at[1]:at[2]], arguments[at[2]:]


def _check(attributes, arguments):
    order, initial, inputs, parameters, _ = _parts(attributes, arguments)
    wanted = order.states + order.inputs + order.parameters
    if len(arguments) < wanted or (len(arguments) > wanted and attributes.get("kept") != "taken"):
        raise CallError(f"nonlinear_scan: the cell has {order.states} states, {order.inputs} inputs and {order.parameters} parameters, but "
                        f"{len(arguments)} tensors are given")
    x = inputs[0]
    if len(x.shape) != 3 or x.shape[2] == 0:
        raise CallError(f"nonlinear_scan: input 0 has the shape {list(x.shape)}; it is [batch, tokens, channels], with a channel at least")
    if x.dtype not in ("float32", "float64", "bfloat16", "float16"):
        raise CallTypeError(f"nonlinear_scan: input 0 is {x.dtype}; it is float32, float64, bfloat16 or float16")
    batch, tokens, channels = x.shape
    wide = "float64" if x.dtype == "float64" else "float32"
    for name, arrays, shape, types in (("state", initial, (batch, channels), (wide,)),
                                       ("input", inputs, (batch, tokens, channels), (x.dtype,)),
                                       ("parameter", parameters, (channels,), (wide,))):
        for i, array in enumerate(arrays):
            if tuple(array.shape) != shape:
                raise CallError(f"nonlinear_scan: {name} {i} has the shape {list(array.shape)}; it is {list(shape)}, as input 0 is "
                                f"{list(x.shape)}")
            if array.dtype not in types:
                raise CallTypeError(f"nonlinear_scan: {name} {i} is {array.dtype}; it is {types[0]}, as input 0 is {x.dtype}")


def _results(attributes, arguments):
    order, initial, inputs, _, _ = _parts(attributes, arguments)
    x, state = inputs[0], initial[0]
    results = [Array(one.dtype, tuple(one.shape)) for one in initial]
    if attributes["newton"] is not None:
        results += [Array(state.dtype, ())] * 2
    results += [Array(x.dtype, tuple(x.shape))] * order.outputs
    if "kept" in attributes:
        results += [Array(state.dtype, tuple(x.shape))] * len(_kept(attributes, order)[1])
    return results


def _kept(attributes, order):
    """(outputs that derivatives take as they are, states that are kept beside the results)."""
    if attributes["narrow"]:
        return [], list(range(order.states))
    return [output for output, _ in order.states_out], order.hidden


def _saving(attributes):
    if "kept" in attributes:
        return None
    order = _order(attributes["cell"])
    own, extra = _kept(attributes, order)
    modes = [tuple({**attributes, "kept": mode}.items()) for mode in ("given", "taken")]
    return (*modes, len(own) + len(extra), len(own))


def _axes(attributes, arguments):
    """Sequences and channels are on their own, but for what a report is of."""
    order, initial, inputs, parameters, rest = _parts(attributes, arguments)
    batch, channels = (None, None) if attributes["newton"] is not None else ("batch", "channels")
    state, token = (batch, channels), (batch, None, channels)
    given = [state] * len(initial) + [token] * len(inputs) + [(channels,)] * len(parameters) + [token] * len(rest)
    gives = [state] * order.states + [(), ()] * (attributes["newton"] is not None)
    return given, gives + [token] * (len(_results(attributes, arguments)) - len(gives))


def _opened(attributes, arguments):
    """Any numbers of sequences and tokens, but where these are cut."""
    if attributes["newton"] is not None or attributes["segments"] is not None:
        return None
    _, initial, inputs, parameters, rest = _parts(attributes, arguments)
    tokens = [Array(one.dtype, (open_extent(0), open_extent(1), one.shape[2])) for one in (*inputs, *rest)]
    return [*[Array(one.dtype, (open_extent(0), one.shape[1])) for one in initial], *tokens[:len(inputs)], *parameters,
            *tokens[len(inputs):]]


def _body(attributes, arguments, results, names):
    order, initial, inputs, parameters, rest = _parts(attributes, arguments)
    counts = len(initial), len(inputs), len(parameters)
    element = "f64" if initial[0].dtype == "float64" else "f32"
    cell = _read(attributes["cell"])[initial[0].dtype]
    at = 0
    clauses = []
    for word, arrays in (("initial", initial), ("inputs", inputs), ("parameters", parameters)):
        if arrays:
            own = names[at:at + len(arrays)]
            clauses.append(f"{word}({', '.join(own)} : {', '.join(one.text for one in arrays)})")
        at += len(arrays)
    newton = attributes["newton"]
    first = order.states + 2 * (newton is not None)
    outs = results[first:]
    places = [cell["outputs"][i] for i in order.results]
    places += [cell["states"][i] for i in (_kept(attributes, order)[1] if "kept" in attributes else [])]
    gives = ([f"%y:{len(outs)}"] if outs else []) + [f"%final:{order.states}"] + (["%report:2"] if newton is not None else [])
    types = f" outputs({', '.join(one.text for one in outs)})" if outs else ""
    types += f" finals({', '.join(one.text for one in results[:order.states])})"
    types += f" report({', '.join(one.text for one in results[order.states:first])})" if newton is not None else ""
    asked = {name: attributes[name] for name in ("segments", "newton", "tolerance") if attributes[name] is not None}
    kinds = {"segments": "i64", "newton": "i64", "tolerance": "f64"}
    said = ", ".join(f"{name} = {f'{value:.17e}' if name == 'tolerance' else value} : {kinds[name]}" for name, value in asked.items())
    arguments_ = ", ".join(f"{name}: {element}" for name in cell["arguments"])
    yielded = cell["states"] + places
    lines = [f"  {', '.join(gives)} = linrec.nonlinear_scan {'reverse ' if attributes['reverse'] else ''}{' '.join(clauses)}\n     {types}"
             f"{f' attributes {{{said}}}' if said else ''} {{\n  ^bb0({arguments_}):",
             cell["lines"], f"    linrec.yield {', '.join(yielded)} : {', '.join([element] * len(yielded))}\n  }}"]
    values = [f"%final#{i}" for i in range(order.states)] + [f"%report#{i}" for i in range(first - order.states)]
    values += [f"%y#{i}" for i in range(len(outs))]
    if attributes.get("kept") == "taken":
        # What the forward pass gave is behind everything else.
        for i, name in enumerate(names[sum(counts):]):
            place = len(values) - len(rest) + i
            lines.append(f"  %kept{i} = ad.saved {values[place]} as {name} : {results[place].text}")
            values[place] = f"%kept{i}"
    return lines, values


register("nonlinear_scan", _check, _results, _body, _opened, rowwise=False, axes=_axes, saving=_saving)
