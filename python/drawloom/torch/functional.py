# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.drawloom.rational, fused_mlp, frequency_encode and structured_linear, and the functions over them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Union, overload

import torch
from torch import Tensor

from .._errors import CallError  # noqa: F401, which modules raise, too
from ..ops import Spec
from ..ops import rational as _rational
from ..ops import structured as _structured
from ..structured import Term
from . import _dispatch
from ._dispatch import derivative, intern, need

__all__ = ["adapted_linear", "frequency_encode", "fused_mlp", "fused_mlp_along", "kat_mlp", "rational", "structured_linear"]

# Coefficients of activations: pairs (a, b), or one flat list of them.
Tables = Sequence[Union[Tensor, Sequence[Tensor]]]

# --- rational ---------------------------------------------------------------------------------------------------------

_rational_specs = {form: intern(Spec("rational", (("form", form),))) for form in _rational.FORMS}


def _spec_rational(x, a, b, form="abs_terms"):
    return _rational_specs.get(form) or intern(Spec("rational", (("form", form),)))


def _flatten_rational(x, a, b, form="abs_terms"):
    return x, a, b


def _join_rational(tensors, x, a, b, form="abs_terms"):
    return *tensors, form


_rational_op = _dispatch.define(
    'rational(Tensor x, Tensor a, Tensor b, str form="abs_terms") -> Tensor', _spec_rational, _flatten_rational, _join_rational,
    # Coefficients stay in float32: they are few, and sums of their gradients need the digits.
    autocast=lambda dtype, x, a, b, form="abs_terms": (x.to(dtype), a.float(), b.float(), form))


def rational(x: Tensor, a: Tensor, b: Tensor, *, form: str = "abs_terms") -> Tensor:
    r"""The group-rational activation y = P(x) / Q(x) of the Kolmogorov-Arnold Transformer (arXiv 2409.10594).

    x     [..., D], channels last
    a     [Ga, m + 1]: P(x) = a_0 + a_1 x + ... + a_m x^m
    b     [Gb, n]: Q(x) as `form` says
    form  "abs_terms"    1 + |b_1| |x| + ... + |b_n| |x|^n
          "abs_sum"      1 + |b_1 x + ... + b_n x^n|
          "abs_sum_eps"  0.1 + |b_0 + b_1 x + ...|, where b has b_0 first
          "unsafe"       1 + b_1 x + ... + b_n x^n, which may vanish

    Channel c has the coefficients of group floor(c Ga / D) of a, and floor(c Gb / D) of b; the numbers of groups divide D, and
    one of them the other. sign(0) is +1 in all derivatives. float16 and bfloat16 are computed in float32, with coefficients
    of x's type or float32; float64 in float64. Differentiable any number of times.
    """
    return _rational_op(x, a, b, form)


# --- chains of dense layers --------------------------------------------------------------------------------------------

_mlp_specs: dict[tuple, Spec] = {}


def _spec_mlp(x, weights, biases, tables, activation="relu", output_activation="none", input_activation="none",
              form="abs_terms"):
    key = len(weights), len(biases), activation, output_activation, input_activation, form
    spec = _mlp_specs.get(key)
    if spec is None:
        spec = _mlp_specs[key] = intern(Spec("mlp", (
            ("layers", len(weights)), ("biases", len(biases)), ("activation", activation),
            ("output_activation", output_activation), ("input_activation", input_activation), ("form", form))))
    return spec


def _flatten_mlp(x, weights, biases, tables, *rest):
    return (x, *weights, *biases, *tables)


def _join_mlp(tensors, x, weights, biases, tables, *rest):
    n, m = 1 + len(weights), 1 + len(weights) + len(biases)
    return tensors[0], list(tensors[1:n]), list(tensors[n:m]), list(tensors[m:]), *rest


def _autocast_mlp(dtype, x, weights, biases, tables, *rest):
    def cast(tensors):
        return [tensor.to(dtype) for tensor in tensors]

    return x.to(dtype), cast(weights), cast(biases), [table.float() for table in tables], *rest


_mlp_op = _dispatch.define(
    'fused_mlp(Tensor x, Tensor[] weights, Tensor[] biases, Tensor[] activation_params, str activation="relu", '
    'str output_activation="none", str input_activation="none", str form="abs_terms") -> Tensor', _spec_mlp, _flatten_mlp, _join_mlp,
    autocast=_autocast_mlp)


def _tables(params):
    """Pairs (a, b), or one flat list of them."""
    return [table for pair in params or () for table in (pair if isinstance(pair, (list, tuple)) else (pair,))]


def fused_mlp(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None = None, *, activation: str = "relu",
              activation_params: Tables | None = None, output_activation: str | None = None, form: str = "abs_terms") -> Tensor:
    """A chain of dense layers as one program: h_0 = x, h_i = activation(h_{i-1} W_i^T + b_i), with output_activation last.

    x                  [..., in]
    weights            one [out, in] for each layer, as torch.nn.Linear keeps them
    biases             one [out] for each layer, or None
    activation         of the hidden layers: "relu", "leaky_relu", "elu", "silu", "gelu", "gelu_tanh", "tanh", "sigmoid",
                       "softplus", "sine", "snake", "square", "none" or "rational"
    activation_params  for "rational" a pair (a, b) for each hidden layer, then for output_activation if that is rational; see
                       `rational`, which also says what `form` is
    output_activation  of the last layer; None for none

    What stands between the layers is not kept: the backward pass computes it again, row by row, or beside weights of 2 MiB and more for all
    rows at once. float16 and bfloat16 are multiplied with sums in float32. Differentiable any number of times.
    """
    return _mlp_op(x, list(weights), list(biases or ()), _tables(activation_params), activation, output_activation or "none",
                   "none", form)


_along_specs: dict[tuple, Spec] = {}


def fused_mlp_along(x: Tensor, directions: Sequence[Tensor], weights: Sequence[Tensor], biases: Sequence[Tensor] | None = None, *,
                    activation: str = "relu", activation_params: Tables | None = None, output_activation: str | None = None,
                    form: str = "abs_terms") -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """`fused_mlp` and its first and second derivatives along directions of x, as one program: what equations with second
    derivatives take (a Laplacian is the sum of the second ones along the axes), in less time than by autograd.

    directions  vectors [in]; the other arguments are those of `fused_mlp`

    Gives y, then a list of the derivatives of y along each direction, then a list of the second derivatives along each, all of
    y's shape. Differentiable any number of times.
    """
    weights, biases, tables = list(weights), list(biases or ()), _tables(activation_params)
    spec = _spec_mlp(x, weights, biases, tables, activation, output_activation or "none", "none", form)
    key = spec, len(directions)
    along = _along_specs.get(key)
    if along is None:
        along = _along_specs[key] = intern(spec.along(len(directions)))
    for i, direction in enumerate(directions):
        need(tuple(direction.shape) == (x.shape[-1],),
             f"fused_mlp_along: directions[{i}] has the shape {list(direction.shape)}, but x has {x.shape[-1]} channels")
    results = derivative([x, *weights, *biases, *tables, *(direction.to(x.dtype).expand(x.shape) for direction in directions)],
                         along)
    return results[0], results[1::2], results[2::2]


def kat_mlp(x: Tensor, params1: Sequence[Tensor], weight1: Tensor, bias1: Tensor | None, params2: Sequence[Tensor],
            weight2: Tensor, bias2: Tensor | None, *, form: str = "abs_terms") -> Tensor:
    """The feed-forward block of the Kolmogorov-Arnold Transformer: rational, dense, rational, dense, as one program.

    y = F2(F1(x) W1^T + b1) W2^T + b2 with the pairs params = (a, b) of `rational`; x [..., D], weight1 [H, D], weight2 [D', H];
    both biases or none of them are None.
    """
    need((bias1 is None) == (bias2 is None), "kat_mlp: one bias is None and the other is not")
    biases = [] if bias1 is None else [bias1, bias2]
    return _mlp_op(x, [weight1, weight2], biases, [*params1, *params2], "rational", "none", "rational", form)


def dense_after_rational(x, a, b, weight, biases, form):
    """F(x) W^T + bias; what GRKAN computes."""
    return _mlp_op(x, [weight], biases, [a, b], "none", "none", "rational", form)


# --- encodings ---------------------------------------------------------------------------------------------------------

_encodings: dict[int, Spec] = {}


def _spec_encoding(x, octaves):
    return _encodings.get(octaves) or _encodings.setdefault(
        octaves, intern(Spec("frequency_encode", (("octaves", octaves),))))


_encode_op = _dispatch.define("frequency_encode(Tensor x, int octaves) -> Tensor", _spec_encoding,
                              lambda x, octaves: (x,), lambda tensors, x, octaves: (*tensors, octaves))


def frequency_encode(x: Tensor, octaves: int) -> Tensor:
    """Sines and cosines of coordinates at octaves of frequencies: for x [..., d] and K octaves y [..., 2 d K] with

        y[2 (i K + k)] = sin(2^k pi x_i),   y[2 (i K + k) + 1] = cos(2^k pi x_i)

    whose arguments are reduced exactly, so that high octaves lose nothing.
    """
    return _encode_op(x, octaves)


# --- structured weights -------------------------------------------------------------------------------------------------

_structured_specs: dict[tuple, Spec] = {}


def _spec_structured(x, leaves, biases, *key):
    return _structured_specs.get(key) or _structured_specs.setdefault(key, intern(_structured.spec(*key)))


def _flatten_structured(x, leaves, biases, *rest):
    return (x, *leaves, *biases)


def _join_structured(tensors, x, leaves, biases, *rest):
    n = 1 + len(leaves)
    return tensors[0], list(tensors[1:n]), list(tensors[n:]), *rest


def _cast(dtype, one, role="number"):
    # As torch's own products: double precision stays. So do scales of codes, which are few, and would lose digits of all that they scale.
    stays = one.dtype == torch.float64 or not one.is_floating_point() or role == "scale" and one.dtype == torch.float32
    return one if stays else one.to(dtype)


def _autocast_structured(dtype, x, leaves, biases, terms, *rest):
    cast = functools.partial(_cast, dtype)
    return cast(x), list(map(cast, leaves, _structured.roles(terms))), list(map(cast, biases)), terms, *rest


_structured_op = _dispatch.define(
    "structured_linear(Tensor x, Tensor[] leaves, Tensor[] biases, str terms, str biased, str association) -> Tensor[]", _spec_structured,
    _flatten_structured, _join_structured, autocast=_autocast_structured)


def _range_of(integers):
    """The least and the greatest of a tensor's numbers, or None."""
    # What a compiler or vmap looks at has no values yet; other types are wrong, which is said later.
    if (torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(integers) or integers.is_meta or not integers.numel()
            or integers.is_floating_point()):
        return None
    return tuple(int(one) for one in torch.aminmax(integers))


@torch.compiler.assume_constant_result
def _known(term):
    return _structured.known(term)


@overload
def structured_linear(x: Tensor, term: Term, leaves: Mapping[str, Tensor], bias: Tensor | None = None, *,
                      association: str = "auto") -> Tensor: ...


@overload
def structured_linear(x: Tensor, term: Sequence[Term], leaves: Mapping[str, Tensor], bias: Sequence[Tensor | None] | None = None, *,
                      association: str = "auto") -> tuple[Tensor, ...]: ...


def structured_linear(x: Tensor, term: Term | Sequence[Term], leaves: Mapping[str, Tensor], bias: Tensor | Sequence[Tensor | None] | None = None, *,
                      association: str = "auto") -> Tensor | tuple[Tensor, ...]:
    """y = x W + bias, where W is known by how it is made, as one program.

    x            [..., K]
    term         W of K x N, an expression of `drawloom.structured`; or a sequence of them, that x is multiplied by each
    leaves       the arrays that it is made of, by their names; terms of a sequence share those of one name
    bias         [N], or None; of a sequence of terms a sequence of these, or None
    association  "auto" applies W part by part, or makes parts of it as matrices first, whichever takes fewer operations for many
                 rows; "parts" and "matrix" say which

    A sequence of terms gives a tuple of results, of one program. Gradients are computed of exactly the leaves that need one, in the
    leaves' own shapes. float16 and bfloat16 are multiplied with sums in float32. Differentiable any number of times.
    """
    terms, biases = _structured.sequences(term, bias)
    given, *rest = _structured.operands([_known(one) for one in terms], leaves, biases, _range_of)
    # Codes are bits: the op has one type for them.
    given = [leaf.view(torch.int8) if leaf.dtype == torch.uint8 else leaf for leaf in given]
    results = _structured_op(x, given, *rest, association)
    return tuple(results) if terms is term else results[0]


# --- adapters of rows ---------------------------------------------------------------------------------------------------

_adapted_specs: dict[tuple, Spec] = {}


def _spec_adapted(x, a, b, which, scales, leaves, bias, term):
    key = term, bias is not None
    return _adapted_specs.get(key) or _adapted_specs.setdefault(key, intern(Spec("adapted_linear", (
        ("term", term), ("bias", bias is not None)))))


def _flatten_adapted(x, a, b, which, scales, leaves, bias, term):
    return (x, a, b, which, scales, *leaves, *(() if bias is None else (bias,)))


def _join_adapted(tensors, x, a, b, which, scales, leaves, bias, term):
    n = 5 + len(leaves)
    return *tensors[:5], list(tensors[5:n]), None if bias is None else tensors[n], term


def _autocast_adapted(dtype, x, a, b, which, scales, leaves, bias, term):
    cast = functools.partial(_cast, dtype)
    leaves = list(map(cast, leaves, _structured.roles(term)))
    return cast(x), cast(a), cast(b), which, scales, leaves, None if bias is None else cast(bias), term


_adapted_op = _dispatch.define(
    "adapted_linear(Tensor x, Tensor a, Tensor b, Tensor which, Tensor scales, Tensor[] leaves, Tensor? bias, str term) -> Tensor",
    _spec_adapted, _flatten_adapted, _join_adapted, autocast=_autocast_adapted)


def adapted_linear(x: Tensor, term: Term, leaves: Mapping[str, Tensor], a: Tensor, b: Tensor, which: Tensor, scales: Tensor | None = None,
                   bias: Tensor | None = None) -> Tensor:
    """y_t = x_t W + scales[l] b[l] a[l] x_t + bias with l = which_t: rows share a weight, and each has a low-rank adapter of its own.

    x       [..., in]
    term    W of in x out, an expression of `drawloom.structured`; `leaves` are the arrays that it is made of
    a, b    the adapters, [adapters, rank, in] and [adapters, out, rank]: those of fewer ranks have zeros behind them
    which   the adapter of each row, integers of x's shape without the last dimension, or of its first dimensions alone; -1 is none
    scales  [adapters], float32, or None for 1; it has no gradient
    bias    [out], or None

    Rows of one adapter are best side by side: sixteen of them are multiplied together. A row's result has the same bits whatever rows
    are beside it. All of x, W, a, b and the bias have gradients, any number of times.
    """
    need(isinstance(a, Tensor) and a.ndim == 3, f"adapted_linear: a is {_structured.shape_text(a)}; it is [adapters, rank, in]")
    need(x.ndim >= 1, "adapted_linear: x is a scalar; its last dimension is that of channels")
    need(not which.is_floating_point() and which.dtype is not torch.bool and which.shape == x.shape[:which.ndim] and which.ndim < x.ndim,
         f"adapted_linear: which is {which.dtype} {list(which.shape)}; it has an integer for each row of x {list(x.shape)}, or for each of its "
         "first dimensions")
    low, high = _range_of(which) or (-1, -1)
    need(low >= -1 and high < a.shape[0], f"adapted_linear: there are adapters from 0 to {a.shape[0] - 1}, and -1 for none; `which` has "
         f"numbers from {low} to {high}")
    rows = which.reshape(which.shape + (1,) * (x.ndim - 1 - which.ndim)).expand(x.shape[:-1]).reshape(-1).to(torch.int32)
    scales = torch.ones(a.shape[0]) if scales is None else scales.detach()
    given, biases, text, _ = _structured.operands([_known(term)], leaves, [bias], _range_of)
    given = [leaf.view(torch.int8) if leaf.dtype == torch.uint8 else leaf for leaf in given]
    y = _adapted_op(x.reshape(-1, x.shape[-1]), a, b, rows, scales, given, bias, text)
    return y.reshape(*x.shape[:-1], y.shape[-1])
