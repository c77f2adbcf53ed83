# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls on several devices: how the dimensions that a family names (drawloom.ops.Family.axes) are split among them."""

import math

import jax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AxisType, NamedSharding, PartitionSpec


def explicitly_sharded(function, given, gives, arrays):
    """function(*arrays), which gives a list, where types say how arrays are sharded (JAX's explicit axes): each device has its part
    of the named dimensions. Elsewhere just function(*arrays).

    given, gives  for each array and each result the names of its dimensions, or None
    """
    mesh = jax.typeof(arrays[0]).sharding.mesh
    if AxisType.Explicit not in mesh.axis_types:
        return function(*arrays)
    split = _split(mesh, given, map(jax.typeof, arrays))
    parts = tuple(_spec(split, names) for names in given)
    return jax.shard_map(function, mesh=mesh, in_specs=parts, out_specs=[_spec(split, names) for names in gives])(
        *map(jax.sharding.reshard, arrays, parts))


def partitioned(function, given, gives, arrays):
    """function(*arrays), which gives a list, under jit on several devices: named dimensions are split as those of the arrays are,
    the others are whole everywhere, and results that are sums over a named dimension are summed over devices.

    given, gives  for each array and each result the names of its dimensions, or None
    """
    def partition(mesh, arguments, _):
        split = _split(mesh, given, arguments)

        def shardings(names):
            return tuple(NamedSharding(mesh, _spec(split, one)) for one in names)

        def local(*arrays):
            sums = [tuple(axis for name, axes in split.items() if name not in names for axis in axes) for names in gives]
            return tuple(jax.lax.psum(part, axes) if axes else part for part, axes in zip(function(*arrays), sums))

        return mesh, local, shardings(gives), shardings(given)

    whole = custom_partitioning(lambda *arrays: tuple(function(*arrays)))
    rule, others = _rule(given, gives)
    whole.def_partition(partition, sharding_rule=rule, need_replication_factors=others)
    return whole(*arrays)


def _split(mesh, given, arguments):
    """The axes of the mesh that each name's dimensions are split along, as those of the first argument that has them split. A
    dimension that does not divide is not, since there would be padding that must not be summed; nor are two along one axis."""
    split, used = {}, set()
    for names, argument in zip(given, arguments):
        for name, extent, axes in zip(names, argument.shape, getattr(argument.sharding, "spec", ())):
            axes = () if axes is None else axes if isinstance(axes, tuple) else (axes,)
            if name and name not in split and axes and not used & set(axes) and extent % math.prod(mesh.shape[axis] for axis in axes) == 0:
                split[name] = axes
                used |= set(axes)
    return split


def _spec(split, names):
    return PartitionSpec(*(split.get(name) for name in names))


def _rule(given, gives):
    """Shardy's rule in the form of einsum's, and the names in it of all dimensions that have none."""
    others = []

    def factor(name):
        if name is None:
            name = f"d{len(others)}"
            others.append(name)
        return name

    sides = [", ".join(" ".join(map(factor, names)) for names in side) for side in (given, gives)]
    return " -> ".join(sides), tuple(others)
