# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The index arrays of a graph, by sorting lists of tuples; and how far values may be from right ones."""

import numpy


def _side(near, far, relation, edges, nodes, rows, tile):
    """The arrays of one order but far_pair, then the pair of each edge."""
    pairs, starts, pair_of = [], [0], []
    node_pairs = numpy.zeros(nodes + 1, int)
    for place, edge in enumerate(edges):
        pair = near[edge], relation[edge]
        if not pairs or pairs[-1] != pair:
            pairs.append(pair)
            starts.append(place)
            node_pairs[pair[0] + 1] += 1
        starts[-1] = place + 1
        pair_of.append(len(pairs) - 1)
    node_pairs = node_pairs.cumsum()
    block_tiles, relations, tile_pairs, tile_nodes = [0], [], [], []
    for first in range(0, nodes, rows):
        own = [(pairs[p][1], p, pairs[p][0]) for p in range(node_pairs[first], node_pairs[min(first + rows, nodes)])]
        for kind in sorted({r for r, _, _ in own}):
            of_kind = [(p, n) for r, p, n in own if r == kind]
            for at in range(0, len(of_kind), tile):
                part = of_kind[at:at + tile] + [(-1, -1)] * (tile - len(of_kind[at:at + tile]))
                relations.append(kind)
                tile_pairs.append([p for p, _ in part])
                tile_nodes.append([n for _, n in part])
        block_tiles.append(len(relations))
    arrays = [node_pairs, [r for _, r in pairs], starts, [far[edge] for edge in edges], None, block_tiles, relations,
              numpy.reshape(tile_pairs, (-1, tile)), numpy.reshape(tile_nodes, (-1, tile))]
    return arrays, pair_of


def orders(source, target, relation, sources, targets, rows, tile):
    """The operands of rgnn.graph, then which of the edges given each edge is."""
    given = sorted(range(len(source)), key=lambda e: (target[e], relation[e], source[e], e))
    source, target, relation = (numpy.asarray(one)[given] for one in (source, target, relation))
    edges = range(len(given))
    outgoing = sorted(edges, key=lambda e: (source[e], relation[e], target[e], e))
    incoming, target_pair = _side(target, source, relation, edges, targets, rows, tile)
    back, pair_of_place = _side(source, target, relation, outgoing, sources, rows, tile)
    source_pair = dict(zip(outgoing, pair_of_place))
    incoming[4] = [source_pair[e] for e in edges]
    back[4] = [target_pair[e] for e in outgoing]
    return [numpy.asarray(one, numpy.int32) for one in (*incoming, *back, outgoing, given)]


# What values and gradients of layers on graphs may be off, as a share of the root of their mean square: what the study of the family
# (accuracy of values, its measurement A8) sets for float64, for float32 and for bfloat16.
ACCURACY = {"float64": 1e-12, "float32": 1e-5, "bfloat16": 1e-2}


def assert_accurate(found, wanted, dtype):
    """Arrays in turn; `wanted` is in float64. What is zero is zero: where nothing is right, nothing may be wrong."""
    for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
        one, other = (numpy.asarray(array, numpy.float64) for array in (one, other))
        assert one.shape == other.shape, f"array {i} has the shape {one.shape}, not {other.shape}"
        error, size = (numpy.sqrt(numpy.mean(numpy.square(array), dtype=float)) if array.size else 0.0 for array in (one - other, other))
        assert error <= ACCURACY[dtype] * size, f"array {i}: an error of {error / max(size, 1e-300):.2g} of {size:.2g}"
