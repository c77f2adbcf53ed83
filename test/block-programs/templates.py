# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pieces that the templates of block programs share."""


def f32(*shape):
    """The tensor type of a shape."""
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + "f32>"


def i32(*shape):
    return f32(*shape).replace("f32", "i32")


def rows_of(text):
    """Drops the line break that opens a triple-quoted template."""
    return text.lstrip("\n")


def sum_over_first(name, result, source, shape, init):
    """The second stage of a reduction: adds the blocks' partials in order."""
    dims = [f"d{i}" for i in range(len(shape))]
    every, kept = ", ".join(dims), ", ".join(dims[1:])
    loops = ", ".join(['"reduction"'] + ['"parallel"'] * (len(shape) - 1))
    kind, out = f32(*shape), f32(*shape[1:])
    return rows_of(f"""
  %{name}_empty = tensor.empty() : {out}
  %{name}_zero = linalg.fill ins({init} : f32) outs(%{name}_empty : {out}) -> {out}
  {result} = linalg.generic {{
      indexing_maps = [affine_map<({every}) -> ({every})>, affine_map<({every}) -> ({kept})>],
      iterator_types = [{loops}]}}
      ins({source} : {kind}) outs(%{name}_zero : {out}) {{
  ^bb0(%part: f32, %sum: f32):
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  }} -> {out}
""")
