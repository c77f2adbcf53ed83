# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encodings of coordinates. See drawloom.torch.nn.FrequencyEncoding."""

from .._errors import CallError
from . import Array, register


def check_octaves(octaves):
    if not 1 <= octaves <= 64:
        raise CallError(f"frequency_encode: octaves is {octaves}; it is 1 to 64")


def _check(attributes, arguments):
    check_octaves(attributes["octaves"])


def _results(attributes, arguments):
    rows, coordinates = arguments[0].shape
    return [Array(arguments[0].dtype, (rows, coordinates * 2 * attributes["octaves"]))]


def _body(attributes, arguments, results, names):
    return [f"  %y = kan.frequency_encode {names[0]} {{octaves = {attributes['octaves']}}} : "
            f"{arguments[0].text} -> {results[0].text}"], ["%y"]


register("frequency_encode", _check, _results, _body, pointwise=True)
