# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.drawloom.kan_network, and the functions over it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from ..ops import Spec
from ..ops import kan as _kan
from . import _dispatch
from ._dispatch import derivative, intern, need


@functools.lru_cache(maxsize=1024)
def _spec_of_text(layers):
    return intern(Spec("kan", (("layers", layers),)))


@functools.lru_cache(maxsize=1024)
def _spec_along(layers, count):
    return intern(_spec_of_text(layers).along(count))


def _spec(x, arrays, layers):
    return _spec_of_text(layers)


def _flatten(x, arrays, layers):
    return (x, *arrays)


def _join(tensors, x, arrays, layers):
    return tensors[0], list(tensors[1:]), layers


def _autocast(dtype, x, arrays, layers):
    # What bases and norms are made of is little, and needs the digits.
    cast = []
    for layer, own in _kan.shares(_kan.layers_of(layers), arrays):
        wide = range(1, 1 + layer.parameters + 2 * layer.affine)
        cast += [one.float() if i in wide else one.to(dtype) for i, one in enumerate(own)]
    return x.to(dtype), cast, layers


_op = _dispatch.define("kan_network(Tensor x, Tensor[] arrays, str layers) -> Tensor", _spec, _flatten, _join, autocast=_autocast)


def kan_layer(x: Tensor, coefficients: Tensor, *, basis: str, order: int | None = None, parameters: Sequence[Tensor] = (),
              normalizer: str = "none", norm_weight: Tensor | None = None, norm_bias: Tensor | None = None, eps: float = 1e-5,
              base: str | None = None, base_weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    r"""A Kolmogorov-Arnold layer, with a learnable function on every edge:

        u = normalizer(x)
        y[o] = sum_{k, i} coefficients[k, i, o] phi_k(u[i]) + sum_i base_weight[o, i] base(x[i]) + bias[o]

    x             [..., in]
    coefficients  [functions, in, out]
    basis         of the functions phi_k: "bspline" and so on; docs/kan-layers.md has a table of all
    order         of the basis, where it has one: a B-spline's degree
    parameters    the basis' own arrays, such as knots, each [m], the same for all edges, or [m, in]; where every function has numbers of its own
                  also [m, in, out]
    normalizer    "none", "tanh", "sigmoid" or "layer_norm" (with norm_weight and norm_bias [in], or neither, and eps)
    base          an activation beside the basis, such as "silu", with base_weight [out, in]
    bias          [out]

    The values of the functions are never in memory for all rows, forward and backward. float16 and bfloat16 are computed in float32, the
    functions rounded before the product, which is summed in float32. Differentiable any number of times, for parameters, too.
    """
    layer, arrays = _kan.layer_of(coefficients, basis=basis, order=order, parameters=parameters, normalizer=normalizer, norm_weight=norm_weight,
                                  norm_bias=norm_bias, eps=eps, base=base, base_weight=base_weight, bias=bias)
    return _op(x, arrays, _kan.text_of([layer]))


def kan_network(x: Tensor, layers: Sequence[Mapping[str, Any]]) -> Tensor:
    """Layers one after another as one program: each has the arguments of `kan_layer`, without x, by their names. What stands between the layers
    is not kept: the backward pass computes it again, row by row.
    """
    text, arrays = _kan.chain_of(layers)
    return _op(x, arrays, text)


def kan_network_along(x: Tensor, directions: Sequence[Tensor], layers: Sequence[Mapping[str, Any]]) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """`kan_network` and its first and second derivatives along directions [in] of x, as one program: y, then a list of the derivatives along each
    direction, then one of the second derivatives along each, all of y's shape. Differentiable any number of times.
    """
    text, arrays = _kan.chain_of(layers)
    for i, direction in enumerate(directions):
        need(tuple(direction.shape) == (x.shape[-1],),
             f"kan_network_along: directions[{i}] has the shape {list(direction.shape)}; it is [{x.shape[-1]}], the same for all rows")
    results = derivative([x, *arrays, *(direction.to(x.dtype).expand(x.shape) for direction in directions)],
                         _spec_along(text, len(directions)))
    return results[0], results[1::2], results[2::2]
