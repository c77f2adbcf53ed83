# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments for the block programs: random numbers, sequences, graphs, sparse matrices."""

import numpy as np


def normal(rng, *shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def group_rational(rng, rows, groups, width):
    """x, dy, a, b of `dense.group_rational_backward`."""
    shape = (rows, groups, width // 8, 8)
    return [normal(rng, *shape), normal(rng, *shape), normal(rng, 6, groups, scale=0.3), normal(rng, 4, groups, scale=0.3)]


def mlp_parameters(rng, widths):
    """w0, b0, w1, b1, ..."""
    out = []
    for a, b in zip(widths, widths[1:]):
        out += [normal(rng, a, b, scale=a**-0.5), normal(rng, b, scale=0.1)]
    return out


def gla(rng, heads, lengths, width=64, gate=1 / 16):
    """q, k, v, g, starts, state: sequences of the given lengths, packed; the
    log-gates are log-sigmoids of normal numbers times `gate`."""
    tokens = sum(lengths)
    q, k, v = (normal(rng, heads, tokens, width, scale=0.3) for _ in range(3))
    g = (-np.logaddexp(0, rng.standard_normal((heads, tokens, width))) * gate).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return [q, k, v, g, starts, normal(rng, len(lengths), heads, width, width, scale=0.1)]


def graph_index(source, target, relation, nodes, relations, tile_rows=16, tile_edges=8):
    """The index arrays of `irregular.rgcn` and the order in which the edges are in them:
    (block_segments, segment_row, segment_edges, source), order."""
    source, target, relation = (np.asarray(a, dtype=np.int64) for a in (source, target, relation))
    block = target // tile_rows
    order = np.lexsort((np.arange(len(target)), target, relation, block))
    key = (block * relations + relation)[order]
    segment_key = (key * nodes + target[order])
    first = np.flatnonzero(np.concatenate([[True], segment_key[1:] != segment_key[:-1]])) if len(order) else np.zeros(0, int)
    segment_edges = np.concatenate([first, [len(order)]])
    segment_row = target[order][first] % tile_rows
    block_segments = np.searchsorted(key[first], np.arange(nodes // tile_rows * relations + 1))
    padded = np.concatenate([source[order], np.zeros(tile_edges, np.int64)])
    return [a.astype(np.int32) for a in (block_segments, segment_row, segment_edges, padded)], order


def random_graph(rng, nodes, edges, relations, empty=(), hub=None):
    """source, target, relation of random edges; no edge has a relation in `empty`, half of them
    enter the node `hub`."""
    present = [r for r in range(relations) if r not in empty]
    source, target = rng.integers(0, nodes, edges), rng.integers(0, nodes, edges)
    if hub is not None:
        target[: edges // 2] = hub
    return source, target, rng.choice(present, edges)


def mean_coefficients(target, relation, nodes, exact=False):
    """1 / (number of edges of the same relation into the same node), for each edge; in float64 if `exact`."""
    key = relation * nodes + target
    _, where, count = np.unique(key, return_inverse=True, return_counts=True)
    return (1.0 / count[where]).astype(np.float64 if exact else np.float32)


def rgcn(rng, nodes, relations, source, target, relation, width=64):
    """All arguments of `irregular.rgcn`, and its sizes for the template."""
    index, order = graph_index(source, target, relation, nodes, relations)
    weight = np.concatenate([mean_coefficients(target, relation, nodes)[order], np.zeros(8, np.float32)])
    arguments = [normal(rng, nodes, width), normal(rng, relations, width, width, scale=width**-0.5),
                 normal(rng, width, width, scale=width**-0.5), normal(rng, width, scale=0.1), *index, weight]
    sizes = {"nodes": nodes, "relations": relations, "segments": len(index[1]), "edges": len(order), "width": width}
    return arguments, sizes


def as_numbers(array):
    """Numbers of an array whose 16-bit words are bf16; other arrays as they are."""
    if array.dtype in (np.dtype(np.uint16), np.dtype("V2")):
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array


def as_bf16(array):
    """The nearest bf16, as 16-bit words."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def rgcn_segments(rng, nodes, relations, source, target, relation, width=64):
    """All arguments of `narrow.rgcn_segments` in bf16, and its sizes for the template."""
    index, sizes = segment_tiles(source, target, relation, nodes, relations)
    dense = [normal(rng, nodes, width), normal(rng, relations, width, width, scale=width**-0.5),
             normal(rng, width, width, scale=width**-0.5), normal(rng, width, scale=0.1)]
    return [as_bf16(a) for a in dense] + index, {**sizes, "width": width}


def compressed_rows(rng, rows, columns, stored, skew=False):
    """starts, columns of a random sparse pattern; with `skew` row lengths differ widely."""
    chance = rng.random(rows) ** (8 if skew else 1) + 0.01
    lengths = rng.multinomial(stored, chance / chance.sum())
    return (np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
            rng.integers(0, columns, stored).astype(np.int32))


def segment_tiles(source, target, relation, nodes, relations, tile=64, tiles_of_block=4):
    """The index arrays of `narrow.rgcn_segments` and its sizes. Within a relation, segments are sorted by length, so that
    those of a tile end together."""
    source, target, relation = (np.asarray(a, dtype=np.int64) for a in (source, target, relation))
    key = relation * nodes + target
    order = np.argsort(key, kind="stable")
    keys, first, length = np.unique(key[order], return_index=True, return_counts=True)
    begin, end, of, block_relation, block_tiles = [], [], [], [], [0]
    for r in range(relations):
        mine = np.flatnonzero(keys // nodes == r)
        mine = mine[np.argsort(-length[mine], kind="stable")]
        tiles = -(-len(mine) // tile)
        pad = tiles * tile - len(mine)
        begin += [*first[mine], *[0] * pad]
        end += [*(first + length)[mine], *[0] * pad]
        of += [*(keys[mine] % nodes), *[-1] * pad]
        for at in range(0, tiles, tiles_of_block):
            block_relation.append(r)
            block_tiles.append(block_tiles[-1] + min(tiles_of_block, tiles - at))
    # Messages by node; those of a node by relation.
    of = np.array(of, np.int64)
    message = np.argsort(of, kind="stable")[np.count_nonzero(of < 0):]
    node_first = np.searchsorted(of[message], np.arange(nodes + 1))
    arrays = [block_relation, block_tiles, begin, end, source[order], node_first, message]
    sizes = {"nodes": nodes, "relations": relations, "segments": len(of), "messages": len(message), "edges": len(order),
             "blocks": len(block_relation)}
    return [np.array(a).astype(np.int32) for a in arrays], sizes


def graph_orders(source, target, relation, nodes, relations, rows_per_block, tile_rows):
    """The index arrays of `rgnn.graph` of edges among one set of nodes, in the order of its operands."""
    edges = np.lexsort((np.arange(len(source)), source, relation, target))
    source, target, relation = (np.asarray(one, np.int64)[edges] for one in (source, target, relation))
    outgoing = np.lexsort((np.arange(len(source)), target, relation, source))

    def side(near, far, kind):
        keys, first = np.unique(near * relations + kind, return_index=True)
        node, kinds = keys // relations, keys % relations
        pair_of = np.repeat(np.arange(len(keys)), np.diff([*first, len(near)]))
        # Tiles: pairs of a block that share a relation.
        block = node // rows_per_block
        order = np.lexsort((np.arange(len(keys)), kinds, block))
        _, begin, count = np.unique(block[order] * relations + kinds[order], return_index=True, return_counts=True)
        tiles = -(-count // tile_rows)
        tile_begin = np.repeat(begin, tiles) + tile_rows * (np.arange(tiles.sum()) - np.repeat(np.cumsum(tiles) - tiles, tiles))
        places = tile_begin[:, None] + np.arange(tile_rows)
        inside = places < np.repeat(begin + count, tiles)[:, None]
        pairs = np.where(inside, order[np.minimum(places, max(len(order) - 1, 0))] if len(order) else 0, -1)
        owners = np.where(inside, node[pairs] if len(order) else 0, -1)
        blocks = -(-nodes // rows_per_block)
        tile_block = block[order][tile_begin] if len(order) else np.zeros(0, np.int64)
        return [np.searchsorted(node, np.arange(nodes + 1)), kinds, np.array([*first, len(near)]), far, None,
                np.searchsorted(tile_block, np.arange(blocks + 1)), kinds[order][tile_begin] if len(order) else [], pairs, owners], pair_of

    incoming, target_pair = side(target, source, relation)
    back, place_pair = side(source[outgoing], target[outgoing], relation[outgoing])
    source_pair = np.empty(len(source), np.int64)
    source_pair[outgoing] = place_pair
    incoming[4], back[4] = source_pair, target_pair[outgoing]
    return [np.asarray(one, np.int32) for one in (*incoming, *back, outgoing)]
