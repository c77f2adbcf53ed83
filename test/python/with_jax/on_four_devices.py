# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_sharding.py looks at, computed on four devices of the host: the number of devices is fixed when JAX starts.

    on_four_devices.py FILE    writes {case: {what: value}} as a pickle
"""

import os
import pickle
import sys
import traceback

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P

import drawloom.jax as dj  # noqa: E402
from drawloom.structured import dense  # noqa: E402
from support import jax_references as references  # noqa: E402

jax.config.update("jax_enable_x64", True)
LINE = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
SQUARE = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
EXPLICIT = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Explicit,))

rng = np.random.default_rng(20)
X = rng.standard_normal((16, 8))
WEIGHTS, BIASES = references.layers(rng, 8, 16, 3)


def loss(f):
    return lambda x, weights, biases: jnp.sin(f(x, weights, biases, activation="tanh")).sum()


def gradients(f=dj.fused_mlp):
    return jax.value_and_grad(loss(f), (0, 1, 2))


def wanted(x):
    return jax.jit(gradients(references.fused_mlp))(x, WEIGHTS, BIASES)


def put(mesh, spec, x=X):
    return jax.device_put(x, NamedSharding(mesh, spec)), *jax.device_put((WEIGHTS, BIASES), NamedSharding(mesh, P()))


def specs(tree):
    return [str(tuple(leaf.sharding.spec)) for leaf in jax.tree.leaves(tree)]


def report(function, arguments, want):
    text = function.lower(*arguments).compile().as_text()
    got = function(*arguments)
    return {"error": references.difference(got, want), "specs": specs(got), "gathers": text.count(" all-gather("),
            "sums": text.count(" all-reduce(")}


def rows_under_jit():
    return report(jax.jit(gradients()), put(LINE, P("d")), wanted(X))


def two_dimensions_of_rows_under_jit():
    x = X.reshape(4, 4, 8)
    return report(jax.jit(gradients()), put(SQUARE, P("a", "b"), x), wanted(x))


def second_derivatives_under_jit():
    def penalty(f):
        return jax.grad(lambda w, x, b: sum((g**2).sum() for g in jax.grad(loss(f))(x, w, b)), 0)

    x, weights, biases = put(LINE, P("d"))
    want = jax.jit(penalty(references.fused_mlp))(WEIGHTS, X, BIASES)
    return report(jax.jit(penalty(dj.fused_mlp)), (weights, x, biases), want)


def rows_that_do_not_divide():
    def f(x, weights, biases):
        long = jax.lax.with_sharding_constraint(jnp.concatenate([x, x[:2]]), NamedSharding(LINE, P("d")))
        return gradients()(long, weights, biases)

    return report(jax.jit(f), put(LINE, P("d")), wanted(np.concatenate([X, X[:2]])))


def split_channels_are_gathered():
    x, (first, second), biases = put(SQUARE, P("a", "b"))
    first = jax.device_put(first, NamedSharding(SQUARE, P("b", "a")))
    return report(jax.jit(gradients()), (x, [first, second], biases), wanted(X))


def tables_under_jit():
    def of(f):
        return jax.jit(jax.value_and_grad(lambda x, a, b: jnp.sin(f(x, a, b)).sum(), (0, 1, 2)))

    a, b = references.tables(np.random.default_rng(1), 2)
    return report(of(dj.rational), (jax.device_put(X, NamedSharding(LINE, P("d"))), a, b), of(references.rational)(X, a, b))


def several_results_under_jit():
    """Terms that share x and a leaf, one with a bias."""
    terms = [(dense("w") + dense("b") @ dense("a")).T, dense("a").T]
    leaves = {"w": WEIGHTS[0], "a": WEIGHTS[1][:, :8], "b": X[:, :3]}

    def of(f):
        return jax.jit(jax.value_and_grad(lambda x, leaves, bias: sum(jnp.sin(y).sum() for y in f(x, leaves, bias)), (0, 1, 2)))

    def formula(x, leaves, bias):
        return x @ (leaves["w"] + leaves["b"] @ leaves["a"]).T + bias, x @ leaves["a"].T

    x, *_ = put(LINE, P("d"))
    return report(of(lambda x, leaves, bias: dj.structured_linear(x, terms, leaves, [bias, None])), (x, leaves, BIASES[0]),
                  of(formula)(X, leaves, BIASES[0]))


def mapped(check_vma):
    f = jax.shard_map(lambda x, w, b: dj.fused_mlp(x, w, b, activation="tanh"), mesh=LINE, in_specs=(P("d"), P(), P()),
                      out_specs=P("d"), check_vma=check_vma)
    return report(jax.jit(gradients(lambda x, w, b, activation: f(x, w, b))), (X, WEIGHTS, BIASES), wanted(X))


def shard_map():
    return mapped(True)


def shard_map_without_checks():
    return mapped(False)


def gradients_within_shard_map():
    def local(x, weights, biases):
        value, grads = gradients()(x, weights, biases)
        return jax.lax.psum(value, "d"), grads

    f = jax.shard_map(local, mesh=LINE, in_specs=(P("d"), P(), P()), out_specs=(P(), (P("d"), P(), P())))
    return report(jax.jit(f), (X, WEIGHTS, BIASES), wanted(X))


def shard_map_over_one_axis_of_two():
    f = jax.shard_map(lambda x, w, b: dj.fused_mlp(x, w, b, activation="tanh"), mesh=SQUARE, in_specs=(P("a"), P(), P()),
                      out_specs=P("a"), axis_names={"a"})
    return report(jax.jit(gradients(lambda x, w, b, activation: f(x, w, b))), (X, WEIGHTS, BIASES), wanted(X))


def explicit_axes():
    with jax.set_mesh(EXPLICIT):
        arguments = jax.device_put(X.reshape(4, 4, 8), P("d")), *jax.device_put((WEIGHTS, BIASES), P())
        eager = dj.fused_mlp(*arguments, activation="tanh")
        return {**report(jax.jit(gradients()), arguments, wanted(X.reshape(4, 4, 8))), "type": str(jax.typeof(eager))}


def explicit_axes_with_directions():
    def of(f):
        return jax.jit(jax.grad(lambda x, w, b: sum(jnp.sin(one).sum() for one in jax.tree.leaves(f(x, w, b))), (1, 2)))

    def slope(x, weights, biases):
        f = lambda x: references.fused_mlp(x, weights, biases, "tanh")
        along = lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))[1]
        return f(x), *jax.jvp(along, (x,), (jnp.ones_like(x),))

    want = of(slope)(X, WEIGHTS, BIASES)
    with jax.set_mesh(EXPLICIT):
        arguments = jax.device_put(X, P("d")), *jax.device_put((WEIGHTS, BIASES), P())
        return report(of(lambda x, w, b: dj.fused_mlp_along(x, jnp.ones((1, 8)), w, b, activation="tanh")), arguments, want)


def the_bits_of_each_shard_are_those_of_one_device():
    def run(*arguments):
        return np.asarray(jax.jit(lambda x, w, b: dj.fused_mlp(x, w, b, activation="tanh"))(*arguments))

    parts = [run(X[i:i + 4], WEIGHTS, BIASES) for i in range(0, 16, 4)]
    return {"same": np.array_equal(run(*put(LINE, P("d"))), np.concatenate(parts))}


def recurrence(batch=4, query_heads=4, heads=4):
    """Operands of linear_recurrence, two that have no batch among them, and a loss."""
    rng = np.random.default_rng(21)

    def draw(*shape):
        return rng.standard_normal(shape)

    tokens = batch, 9
    operands = {"q": draw(*tokens, query_heads, 8), "k": draw(*tokens, heads, 8), "v": draw(*tokens, heads, 6),
                "decay": -np.abs(draw(heads)), "bonus": draw(heads, 8), "initial": draw(batch, heads, 8, 6)}

    def loss(operands):
        o, final = dj.linear_recurrence(**operands)
        return jnp.sin(o).sum() + jnp.sin(final).sum()

    return operands, jax.jit(jax.value_and_grad(loss))


def split_recurrence(mesh, specs, **shapes):
    """The recurrence with operands that are split so, others whole."""
    operands, f = recurrence(**shapes)
    put = {name: jax.device_put(x, NamedSharding(mesh, specs.get(name, P()))) for name, x in operands.items()}
    found = report(f, (put,), f(operands))
    return {**found, "specs": dict(zip(["loss", *sorted(operands)], found["specs"]))}


ALONG_D = dict.fromkeys(("q", "k", "v", "initial"), P("d"))
HEADS_ALONG_D = {"decay": P("d"), "bonus": P("d"), "initial": P(None, "d"), **dict.fromkeys("qkv", P(None, None, "d"))}
BATCH_A_HEADS_B = {"decay": P("b"), "bonus": P("b"), "initial": P("a", "b"), **dict.fromkeys("qkv", P("a", None, "b"))}


def recurrence_over_batch():
    return split_recurrence(LINE, ALONG_D)


def recurrence_over_heads():
    return split_recurrence(LINE, HEADS_ALONG_D)


def recurrence_over_batch_and_heads():
    return split_recurrence(SQUARE, BATCH_A_HEADS_B)


def recurrence_over_heads_that_share_queries():
    """One query head for all: its gradient is a sum over devices."""
    return split_recurrence(LINE, {**HEADS_ALONG_D, "q": P()}, query_heads=1)


def recurrence_over_batch_where_heads_share_queries_in_groups():
    """Heads are whole on every device, the batch is split."""
    return split_recurrence(SQUARE, BATCH_A_HEADS_B, query_heads=2)


def recurrence_of_a_batch_that_does_not_divide():
    operands, f = recurrence(batch=6)

    def split(operands):
        constrained = {name: jax.lax.with_sharding_constraint(x, NamedSharding(LINE, P("d"))) if name in ALONG_D else x
                       for name, x in operands.items()}
        return f(constrained)

    return report(jax.jit(split), (operands,), f(operands))


def recurrence_of_packed_sequences_over_heads():
    operands, _ = recurrence(batch=1)
    operands["initial"] = np.random.default_rng(22).standard_normal((2, 4, 8, 6))

    def loss(operands):
        o, final = dj.linear_recurrence(**operands, starts=jnp.array([0, 4, 9]))
        return jnp.sin(o).sum() + jnp.sin(final).sum()

    f = jax.jit(jax.value_and_grad(loss))
    put = {name: jax.device_put(x, NamedSharding(LINE, HEADS_ALONG_D[name])) for name, x in operands.items()}
    return report(f, (put,), f(operands))


def recurrence_along_explicit_axes():
    operands, f = recurrence()
    want = f(operands)
    with jax.set_mesh(EXPLICIT):
        put = {name: jax.device_put(x, ALONG_D.get(name, P())) for name, x in operands.items()}
        o, final = dj.linear_recurrence(**put)
        return {**report(f, (put,), want), "types": [str(jax.typeof(one)) for one in (o, final)]}


def recurrence_within_shard_map():
    operands, f = recurrence()
    specs = {name: ALONG_D.get(name, P()) for name in operands}

    def local(operands):
        value, gradients = f(operands)
        return jax.lax.psum(value, "d"), gradients

    mapped = jax.shard_map(local, mesh=LINE, in_specs=(specs,), out_specs=(P(), specs))
    return report(jax.jit(mapped), (operands,), f(operands))


def short_convolution_over_batch_and_channels():
    rng = np.random.default_rng(24)
    operands = {"x": rng.standard_normal((4, 9, 8)), "weight": rng.standard_normal((8, 4)), "bias": rng.standard_normal(8),
                "residual": rng.standard_normal((4, 9, 8)), "initial_state": rng.standard_normal((4, 8, 4))}
    specs = {"x": P("a", None, "b"), "weight": P("b"), "bias": P("b"), "residual": P("a", None, "b"), "initial_state": P("a", "b")}

    def loss(operands):
        y, final = dj.linrec.short_convolution(**operands, output_final_state=True, activation="silu")
        return jnp.sin(y).sum() + jnp.sin(final).sum()

    f = jax.jit(jax.value_and_grad(loss))
    put = {name: jax.device_put(x, NamedSharding(SQUARE, specs[name])) for name, x in operands.items()}
    return report(f, (put,), f(operands))


def a_model_over_batch():
    """Gates and normalisation around the op are split with it."""
    rng = np.random.default_rng(23)
    x, weights = rng.standard_normal((4, 9, 16)), rng.standard_normal((16, 3 * 16 + 4)) / 4

    def loss(x, weights):
        q, k, v, g, beta = jnp.split(x @ weights, [16, 32, 48, 50], -1)
        q, k, v = (one.reshape(4, 9, 2, 8) for one in (q, k, v))
        o, _ = dj.linrec.chunk_gated_delta_rule(q, k, v, jax.nn.log_sigmoid(g), beta, use_qk_l2norm_in_kernel=True,
                                                use_beta_sigmoid_in_kernel=True)
        return jnp.sin(o).sum()

    f = jax.jit(jax.value_and_grad(loss, (0, 1)))
    put = jax.device_put(x, NamedSharding(LINE, P("d"))), jax.device_put(weights, NamedSharding(LINE, P()))
    return report(f, put, f(x, weights))


CASES = [rows_under_jit, two_dimensions_of_rows_under_jit, second_derivatives_under_jit, rows_that_do_not_divide,
         split_channels_are_gathered, tables_under_jit, several_results_under_jit, shard_map, shard_map_without_checks, gradients_within_shard_map,
         shard_map_over_one_axis_of_two, explicit_axes,
         explicit_axes_with_directions, the_bits_of_each_shard_are_those_of_one_device, recurrence_over_batch, recurrence_over_heads,
         recurrence_over_batch_and_heads, recurrence_over_heads_that_share_queries,
         recurrence_over_batch_where_heads_share_queries_in_groups, recurrence_of_a_batch_that_does_not_divide,
         recurrence_of_packed_sequences_over_heads, recurrence_along_explicit_axes, recurrence_within_shard_map,
         short_convolution_over_batch_and_channels, a_model_over_batch]


def main():
    found = {}
    for case in CASES:
        try:
            found[case.__name__] = case()
        except Exception:  # noqa: BLE001  # Each case is a test of its own.
            found[case.__name__] = {"failed": traceback.format_exc()}
    with open(sys.argv[1], "wb") as file:
        pickle.dump(found, file)


if __name__ == "__main__":
    main()
