# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of rows: what is done to each row of some tensors, which have one number of them, with tensors that all rows share. Gradients of
these are sums over rows, whose order does not depend on the number of threads."""

from .._errors import CallError
from . import Array, Spec, open_extent, register, tracing

ROW = "row"


def spec_of(build, options, inputs):
    """The Spec of build(program, *values, *options), with a value for each input that is not None: its type's name and its shape, which
    begins with ROW where it has rows. The first one has."""
    return Spec("rows", tracing.traced(tracing.Program(), build, options, inputs).attributes())


def _extents(arguments):
    return {ROW: arguments[0].shape[0]}


def _check(attributes, arguments):
    program = tracing.program_of(attributes)
    if len(arguments) != len(program["inputs"]) + tracing.kept_count(attributes):
        raise CallError(f"a program of rows takes {len(program['inputs'])} tensors, not {len(arguments)}")
    tracing.check_inputs("a program of rows", program, arguments, _extents(arguments), "the first")


def _results(attributes, arguments):
    return tracing.results_of(attributes, _extents(arguments))


def _body(attributes, arguments, results, names):
    return tracing.body_of(attributes, _extents(arguments), names)


def _opened(attributes, arguments):
    program = tracing.program_of(attributes)
    return [Array(one.dtype, tuple(open_extent(0) if extent == ROW else extent for extent in shape))
            for one, (_, shape) in zip(arguments, program["inputs"] + program["kept"])]


def _axes(attributes, arguments):
    program, mode = tracing.program_of(attributes), attributes.get("kept")
    given = program["inputs"] + (program["kept"] if mode == "taken" else [])
    gives = program["results"] + (program["kept"] if mode == "given" else [])
    return tuple([tuple(extent if extent == ROW else None for extent in shape) for _, shape in types] for types in (given, gives))


register("rows", _check, _results, _body, _opened, rowwise=False, axes=_axes, saving=tracing.saving)
