# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls on several devices: how rows are split among them."""

import math

import jax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AxisType, NamedSharding, PartitionSpec


def explicitly_sharded(run, x, parameters):
    """run(x, *parameters) where types say how arrays are sharded (JAX's explicit axes): each device has its rows of x and all
    parameters. Elsewhere just run(x, *parameters)."""
    sharding = jax.typeof(x).sharding
    if AxisType.Explicit not in sharding.mesh.axis_types:
        return run(x, *parameters)
    # The last dimension is that of channels, which no device has only a part of.
    rows, everywhere = PartitionSpec(*tuple(sharding.spec)[:-1]), PartitionSpec()
    return jax.shard_map(
        run, mesh=sharding.mesh, in_specs=(rows, *(everywhere for _ in parameters)), out_specs=rows)(
        jax.sharding.reshard(x, rows), *(jax.sharding.reshard(one, everywhere) for one in parameters))


def partitioned(function, given, gives, results, arrays):
    """function(*arrays), which gives a list, under jit on several devices: the dimensions of rows are split as those of the
    first array are, arrays without rows are everywhere, and results that are sums over rows are summed over devices.

    given, gives  whether each array and each result has rows: all dimensions but the last
    results       types of the results
    """
    def partition(mesh, arguments, _):
        axes = [_split(mesh, extent, axes)
                for extent, axes in zip(arguments[0].shape[:-1], getattr(arguments[0].sharding, "spec", ()))]
        # Where nothing has rows, every device computes all of it, and there is nothing to sum.
        every = tuple(axis for of_dim in axes for axis in of_dim) if any(given) else ()

        def shardings(rows):
            return tuple(NamedSharding(mesh, PartitionSpec(*(of_dim or None for of_dim in axes)) if row else PartitionSpec())
                         for row in rows)

        def local(*arrays):
            return tuple(part if row or not every else jax.lax.psum(part, every)
                         for part, row in zip(function(*arrays), gives))

        return mesh, local, shardings(gives), shardings(given)

    whole = custom_partitioning(lambda *arrays: tuple(function(*arrays)))
    rule, others = _rule(arrays, given, results, gives)
    whole.def_partition(partition, sharding_rule=rule, need_replication_factors=others)
    return whole(*arrays)


def _split(mesh, extent, axes):
    """The axes of the mesh that a dimension is split along; none where it does not divide, since rows would come with padding
    that must not be summed."""
    axes = () if axes is None else axes if isinstance(axes, tuple) else (axes,)
    return axes if extent % math.prod(mesh.shape[axis] for axis in axes) == 0 else ()


def _rule(arrays, given, results, gives):
    """Shardy's rule in the form of einsum's, and the names in it of all dimensions that are not rows."""
    others = []

    def name(d, shape, row):
        if row and d < len(shape) - 1:
            return f"row{d}"
        others.append(f"d{len(others)}")
        return others[-1]

    sides = [", ".join(" ".join(name(d, one.shape, row) for d in range(len(one.shape))) for one, row in zip(side, rows))
             for side, rows in ((arrays, given), (results, gives))]
    return " -> ".join(sides), tuple(others)
