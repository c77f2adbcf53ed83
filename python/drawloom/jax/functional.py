# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions: they check their arguments, and call a Spec on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from .. import cells, ops
from .._errors import CallError, CallTypeError
from ..ops import Spec
from ..ops import cells as _cells
from ..ops import kan as _kan
from ..ops import structured as _structured
from ..ops.recurrences import OPTIONAL, check_starts
from ..structured import Term
from ._call import call, call_anywhere, type_of
from ._sharding import explicitly_sharded

__all__ = ["frequency_encode", "fused_mlp", "fused_mlp_along", "kan_layer", "kan_network", "kan_network_along", "kat_mlp", "linear_recurrence",
           "nonlinear_scan", "rational", "structured_linear"]

# Coefficients of activations: pairs (a, b), or one flat list of them.
Tables = Sequence[Union[ArrayLike, Sequence[ArrayLike]]]


def _array(value, what):
    try:
        return jnp.asarray(value)
    except (TypeError, ValueError) as error:
        raise CallTypeError(f"{what} is no array: {error}") from None


def _range_of(integers):
    """The least and the greatest of an array's numbers, or None where it has none yet, or not all of them here."""
    if isinstance(integers, jax.core.Tracer) or not getattr(integers, "is_fully_addressable", True) or not np.size(integers):
        return None
    integers = np.asarray(integers)
    return (int(integers.min()), int(integers.max())) if np.issubdtype(integers.dtype, np.integer) else None


def _apply(spec, names, arrays, directions=None):
    """The spec on x and parameters; `names` are those of the arguments that messages name. With directions, vectors of x's
    channels, the results of the spec along these."""
    arrays = [_array(array, f"{spec.family}: {name}") for name, array in zip(names, arrays)]
    if arrays[0].ndim == 0:
        raise CallError(f"{spec.family}: x is a scalar; its last dimension is that of channels")
    ops.check(spec, [type_of(array) for array in arrays])

    if directions is None:
        return call_anywhere(spec, *arrays)[0]
    x, parameters = arrays[0], arrays[1:]
    directions = [_array(one, f"{spec.family}: directions[{i}]") for i, one in enumerate(directions)]
    for i, one in enumerate(directions):
        if one.shape != x.shape[-1:] or one.dtype != x.dtype:
            raise CallError(f"{spec.family}: directions[{i}] is {one.dtype}{list(one.shape)}; it has the channels of x, "
                            f"{x.dtype}{[x.shape[-1]]}")

    def run(x, *rest):
        return call(spec.along(len(directions)), x, *rest[len(directions):],
                    *(jnp.broadcast_to(one, x.shape) for one in rest[:len(directions)]))

    (rows, *others), _ = spec.axes_of([type_of(array) for array in arrays])
    y, *slopes = explicitly_sharded(run, [rows, *[(None,)] * len(directions), *others], [rows] * (1 + 2 * len(directions)),
                                    [x, *directions, *parameters])
    return y, slopes[0::2], slopes[1::2]


def rational(x: ArrayLike, a: ArrayLike, b: ArrayLike, *, form: str = "abs_terms") -> Array:
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
    return _apply(Spec("rational", (("form", form),)), ("x", "a", "b"), (x, a, b))


def _chain(x, weights, biases, tables, activation, output_activation, input_activation, form, directions=None):
    spec = Spec("mlp", (("layers", len(weights)), ("biases", len(biases)), ("activation", activation),
                        ("output_activation", output_activation), ("input_activation", input_activation), ("form", form)))
    names = ["x", *(f"{name}[{i}]" for name, arrays in (("weights", weights), ("biases", biases), ("coefficients", tables))
                    for i in range(len(arrays)))]
    return _apply(spec, names, (x, *weights, *biases, *tables), directions)


def fused_mlp(x: ArrayLike, weights: Sequence[ArrayLike], biases: Sequence[ArrayLike] | None = None, *, activation: str = "relu",
              activation_params: Tables | None = None, output_activation: str | None = None, form: str = "abs_terms") -> Array:
    """A chain of dense layers as one program: h_0 = x, h_i = activation(h_{i-1} W_i^T + b_i), with output_activation last.

    x                  [..., in]
    weights            one [out, in] for each layer
    biases             one [out] for each layer, or None
    activation         of the hidden layers: "relu", "leaky_relu", "elu", "silu", "gelu", "gelu_tanh", "tanh", "sigmoid",
                       "softplus", "sine", "snake", "square", "none" or "rational"
    activation_params  for "rational" a pair (a, b) for each hidden layer, then for output_activation if that is rational; see
                       `rational`, which also says what `form` is
    output_activation  of the last layer; None for none

    What stands between the layers is not kept in memory: derivatives compute it again, row by row. float16 and bfloat16 are
    multiplied with sums in float32. Differentiable any number of times, forward and backward.
    """
    tables = [table for pair in activation_params or () for table in (pair if isinstance(pair, (list, tuple)) else (pair,))]
    return _chain(x, list(weights), list(biases or ()), tables, activation, output_activation or "none", "none",
                  form)


def fused_mlp_along(x: ArrayLike, directions: Sequence[ArrayLike], weights: Sequence[ArrayLike],
                    biases: Sequence[ArrayLike] | None = None, *, activation: str = "relu", activation_params: Tables | None = None,
                    output_activation: str | None = None, form: str = "abs_terms") -> tuple[Array, list[Array], list[Array]]:
    """`fused_mlp` and its first and second derivatives along directions of x, as one program: what equations with second
    derivatives take, in less time than jax.hessian.

    directions  vectors [in]; the other arguments are those of `fused_mlp`

    Gives y, then a list of the derivatives of y along each direction, then a list of the second derivatives along each, all of
    y's shape. Differentiable any number of times.
    """
    tables = [table for pair in activation_params or () for table in (pair if isinstance(pair, (list, tuple)) else (pair,))]
    return _chain(x, list(weights), list(biases or ()), tables, activation, output_activation or "none", "none", form,
                  list(directions))


def kat_mlp(x: ArrayLike, params1: Sequence[ArrayLike], weight1: ArrayLike, bias1: ArrayLike | None, params2: Sequence[ArrayLike],
            weight2: ArrayLike, bias2: ArrayLike | None, *, form: str = "abs_terms") -> Array:
    """The feed-forward block of the Kolmogorov-Arnold Transformer: rational, dense, rational, dense, as one program.

    y = F2(F1(x) W1^T + b1) W2^T + b2 with the pairs params = (a, b) of `rational`; x [..., D], weight1 [H, D], weight2 [D', H];
    both biases or none of them are None.
    """
    if (bias1 is None) != (bias2 is None):
        raise CallError("kat_mlp: one bias is None and the other is not")
    biases = [] if bias1 is None else [bias1, bias2]
    return _chain(x, [weight1, weight2], biases, [*params1, *params2], "rational", "none", "rational", form)


def kan_layer(x: ArrayLike, coefficients: ArrayLike, *, basis: str, order: int | None = None, parameters: Sequence[ArrayLike] = (),
              normalizer: str = "none", norm_weight: ArrayLike | None = None, norm_bias: ArrayLike | None = None, eps: float = 1e-5,
              base: str | None = None, base_weight: ArrayLike | None = None, bias: ArrayLike | None = None) -> Array:
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

    The values of the functions are never in memory for all rows. Differentiable any number of times, forward and backward, for parameters, too.
    """
    return kan_network(x, [dict(coefficients=coefficients, basis=basis, order=order, parameters=parameters, normalizer=normalizer,
                                norm_weight=norm_weight, norm_bias=norm_bias, eps=eps, base=base, base_weight=base_weight, bias=bias)])


def _network(x, layers, directions=None):
    text, arrays = _kan.chain_of(layers)
    return _apply(Spec("kan", (("layers", text),)), ["x", *(f"array {i}" for i in range(len(arrays)))], (x, *arrays), directions)


def kan_network(x: ArrayLike, layers: Sequence[Mapping[str, Any]]) -> Array:
    """Layers one after another as one program: each has the arguments of `kan_layer`, without x, by their names. What stands between the layers
    is not kept in memory.
    """
    return _network(x, layers)


def kan_network_along(x: ArrayLike, directions: Sequence[ArrayLike], layers: Sequence[Mapping[str, Any]]) -> tuple[Array, list[Array], list[Array]]:
    """`kan_network` and its first and second derivatives along directions [in] of x, as one program: y, then a list of the derivatives along each
    direction, then one of the second derivatives along each, all of y's shape. Differentiable any number of times.
    """
    return _network(x, layers, list(directions))


def frequency_encode(x: ArrayLike, octaves: int) -> Array:
    """Sines and cosines of coordinates at octaves of frequencies: for x [..., d] and K octaves y [..., 2 d K] with

        y[2 (i K + k)] = sin(2^k pi x_i),   y[2 (i K + k) + 1] = cos(2^k pi x_i)

    whose arguments are reduced exactly, so that high octaves lose nothing.
    """
    return _apply(Spec("frequency_encode", (("octaves", octaves),)), ("x",), (x,))


def linear_recurrence(q: ArrayLike, k: ArrayLike, v: ArrayLike, *, decay: ArrayLike | None = None, rates: ArrayLike | None = None,
                      beta: ArrayLike | None = None, erase: ArrayLike | None = None, lowrank: ArrayLike | None = None,
                      bonus: ArrayLike | None = None, initial: ArrayLike | None = None, starts: ArrayLike | None = None,
                      scale: float | None = None,
                      decay_side: str = "key", erase_before_decay: bool = False, decay_bound: float | None = None,
                      chunk: int | None = None, segments: int | None = None,
                      value_blocks: int | None = None, checkpoint_interval: int | None = None,
                      steps_per_token: int | None = None) -> tuple[Array, Array]:
    r"""Gated linear attention, delta rules and their family, as (o, final state). With rows q_t, k_t, a_t, b_t of length K and
    v_t of length V, D_t = exp(min(g_t, 0)) and s = scale, or K^(-1/2):

        e_t = a_t (D_t S_{t-1}),                with erase_before_decay  a_t S_{t-1}
        S_t = D_t S_{t-1} + k_t^T v_t + b_t^T e_t
        o_t = s q_t S_t,                        with a bonus u  s (q_t S_{t-1} + (sum_d q_td u_d k_td) v_t)

    q, k     [B, T, Hq, K], [B, T, Hk, K]: Hq and Hk divide H, and heads of v share theirs
    v, o     [B, T, H, V]
    decay    g: [H], [B, T, H], [B, T, H, K] or, with decay_side="value", [B, T, H, V]; natural logarithms, positive ones count as 0
    rates    R: [H, K, V], with decay_side="value": element (i, j) of the state is multiplied by exp(min(R_ij g_tj, 0))
    beta     [B, T, H]: a_t = beta_t k_t and beta_t v_t in place of v_t (the delta rule)
    erase    a: [B, T, H, K]
    lowrank  b: [B, T, H, K]; without it b_t = -k_t
    bonus    u: [H, K]
    initial  S_0: [N, H, K, V], N = B or the number of packed sequences; float32, or float64 for float64
    starts   [N + 1], int32 or int64: packed sequences, from 0 to T, not decreasing

    decay_bound promises that no log-decay is less; chunk is the number of tokens computed at a time, 1 or a
    multiple of 16; segments is the number of parts of each sequence, and value_blocks that of parts of the state's columns, that are
    computed side by side, for few sequences and heads: where neither is given, the compiler chooses both.
    With steps_per_token n, k, v, beta, erase and lowrank have n rows for each token, the first of which decays; q reads after the last.
    The gradient keeps the state before every checkpoint_interval-th chunk (None: the compiler's choice, 1 where there is room).
    Differentiable once, in reverse.
    """
    operands = dict(zip(OPTIONAL, (decay, rates, beta, erase, lowrank, bonus, initial, starts)))
    given = {name: one for name, one in operands.items() if one is not None}
    spec = Spec("linear_recurrence", (
        ("operands", " ".join(given)), ("scale", None if scale is None else float(scale)), ("decay_side", decay_side),
        ("erase_before_decay", erase_before_decay), ("decay_bound", decay_bound), ("chunk", chunk),
        ("segments", segments), ("value_blocks", value_blocks), ("checkpoint_interval", checkpoint_interval),
        ("steps_per_token", steps_per_token)))
    arrays = [_array(one, f"linear_recurrence: {name}") for name, one in {"q": q, "k": k, "v": v, **given}.items()]
    ops.check(spec, [type_of(array) for array in arrays])
    if starts is not None and not isinstance(starts, jax.core.Tracer):
        check_starts(np.asarray(starts).tolist(), arrays[0].shape[1])
    o, final = call_anywhere(spec, *arrays)
    return o, final


@overload
def structured_linear(x: ArrayLike, term: Term, leaves: Mapping[str, ArrayLike], bias: ArrayLike | None = None, *,
                      association: str = "auto") -> Array: ...


@overload
def structured_linear(x: ArrayLike, term: Sequence[Term], leaves: Mapping[str, ArrayLike], bias: Sequence[ArrayLike | None] | None = None, *,
                      association: str = "auto") -> tuple[Array, ...]: ...


def structured_linear(x: ArrayLike, term: Term | Sequence[Term], leaves: Mapping[str, ArrayLike],
                      bias: ArrayLike | Sequence[ArrayLike | None] | None = None, *,
                      association: str = "auto") -> Array | tuple[Array, ...]:
    """y = x W + bias, where W is known by how it is made, as one program.

    x            [..., K]
    term         W of K x N, an expression of `drawloom.structured`; or a sequence of them, that x is multiplied by each
    leaves       the arrays that it is made of, by their names; terms of a sequence share those of one name
    bias         [N], or None; of a sequence of terms a sequence of these, or None
    association  "auto" applies W part by part, or makes parts of it as matrices first, whichever takes fewer operations for many
                 rows; "parts" and "matrix" say which

    A sequence of terms gives a tuple of results, of one program. Gradients are computed of exactly the leaves that need one, in the
    leaves' own shapes. float16 and bfloat16 are multiplied with sums in float32. Differentiable any number of times, forward and
    backward.
    """
    terms, biases = _structured.sequences(term, bias)
    known = [_structured.known(one) for one in terms]
    given, shifts, text, biased = _structured.operands(known, leaves, biases, _range_of)
    names = [f"leaf '{name}'" for name in dict.fromkeys(name for _, own, *_ in known for name in own)]
    arrays = [_array(one, f"structured_linear: {name}") for name, one in zip(["x", *names, *["bias"] * len(shifts)], [x, *given, *shifts])]
    # Codes are bits: the op has one type for them.
    arrays = [jax.lax.bitcast_convert_type(one, jnp.int8) if one.dtype == jnp.uint8 else one for one in arrays]
    spec = _structured.spec(text, biased, association)
    if arrays[0].ndim == 0:
        raise CallError("structured_linear: x is a scalar; its last dimension is that of channels")
    ops.check(spec, [type_of(array) for array in arrays])
    results = call_anywhere(spec, *arrays)
    return tuple(results) if terms is term else results[0]


def nonlinear_scan(cell: cells.Cell, inputs: Sequence[ArrayLike], parameters: Sequence[ArrayLike] = (),
                   initial: Sequence[ArrayLike] | None = None, *, reverse: bool = False, segments: int | None = None, newton: int | None = None,
                   tolerance: float | None = None) -> tuple[list[Array], list[Array], tuple[Array, Array] | None]:
    r"""A recurrent cell along the tokens, channel by channel, as (outputs, last states, report):

        (s_t, y_t) = f(s_{t-1}, x_t, w)

    cell        f: a cell of drawloom.cells, or one of your own (drawloom.cells.Cell)
    inputs      x: [B, T, D] each
    parameters  w: [D] each; float32, or float64 for float64
    initial     s_0: [B, D] each, of the type of parameters; None: zeros
    reverse     from the last token to the first

    `segments` and `newton` make tokens parallel, too, for few sequences and channels and many processors; nothing but rounding changes unless states overflow:

    segments    of a cell that is affine in its states: into how many parts the tokens are cut. With newton, of its scans.
    newton      of any cell: how many steps of Newton's iteration there may be, which solves for all tokens' states at once. The report, else
                None, has the number of steps and the residual. Where it does not converge, tokens are gone through one after another.
    tolerance   what a state may change by, and its residual be, in units of max(1, |state|), for Newton's iteration to end; None: 64 eps

    float16 and bfloat16 inputs are computed in float32. Differentiable any number of times, forward and backward.
    """
    _cells.check_cell(cell, inputs, parameters, initial, segments, newton, tolerance)
    x = [_array(one, f"nonlinear_scan: input {i}") for i, one in enumerate(inputs)]
    if x[0].ndim != 3:
        raise CallError(f"nonlinear_scan: input 0 has the shape {list(x[0].shape)}; it is [batch, tokens, channels]")
    if initial is None:
        wide = np.float64 if x[0].dtype == np.float64 else np.float32
        initial = [jnp.zeros((x[0].shape[0], x[0].shape[2]), wide)] * cell.states
    arrays = [_array(one, f"nonlinear_scan: array {i}") for i, one in enumerate([*initial, *x, *parameters])]
    spec = _cells.spec_of(cell.text, x[0].dtype in (jnp.bfloat16, np.float16), reverse, segments, newton, tolerance)
    ops.check(spec, [type_of(array) for array in arrays])
    outputs, states, report = _cells.outputs_of(cell, call_anywhere(spec, *arrays), newton)
    return outputs, states, None if report is None else tuple(jax.lax.stop_gradient(one) for one in report)
