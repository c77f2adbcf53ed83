# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named layers on graphs: what stands between their dense products, and some of these. Each is a function of a GraphProgram and its Values;
operands that may be absent are None. See drawloom.torch.nn for the mathematics."""

from .message_passing import attend, combined, sum_pairs, where, widen
from .tracing import promoted


def aggregate(program, x, combine):
    """Rows of neighbours by sum, mean, max or min."""
    return combined(program, lambda row: row, [x], combine).to(x.dtype)


def gin(program, x, right, eps, combine):
    """Rows of neighbours, combined, and (1 + eps) right; eps [1]."""
    return (combined(program, lambda row: row, [x], combine) + (eps + 1.0) * right).to(x.dtype)


def sage(program, x, w, right, root, bias, combine):
    """Rows of neighbours, combined, times w [D, O]; bias; and right root."""
    rows = combined(program, lambda row: row, [x], combine)
    if combine in ("sum", "mean"):
        rows = program.keep(rows)  # as maxima are; w's gradient reads them
    out = rows.to(w.dtype).product(w)
    if bias is not None:
        out = out + bias
    return (out if root is None else out + right.product(root)).to(w.dtype)


def _at_pairs(program, x, combine, factor=None):
    """Rows of a target's edges by relation, each times its edge's factor, combined; of a mean the sums, and how many there are."""
    def scaled(row, *factors):
        return row * widen(factors[0], row) if factors else row

    inputs = [x] if factor is None else [x, factor]
    rows = combined(program, scaled, inputs, "sum" if combine == "mean" else combine, to="dst_rel")
    return rows, program.traverse(lambda: 1.0, [], [("dst_rel", "sum")]).to(rows.dtype) if combine == "mean" else None


def _sum_pairs(program, rows, count):
    """Rows of pairs of targets, added up; with `count` each divided by its own."""
    if count is None:
        return sum_pairs(program, rows)
    return program.traverse(lambda row, n: row * widen(1.0 / n, row), [rows, count], [("dst", "sum")], over="dst_rel")


def rgcn(program, x, w, right, root, bias, factor, combine):
    """Neighbours by relation, aggregated, times the relation's matrix; x [N, D] and w [R, D, O], or by blocks [N, B, D], [R, B, D, O]; and
    right root + bias. factor at edge [E] multiplies neighbours."""
    rows, count = _at_pairs(program, x, combine, factor)
    out = _sum_pairs(program, program.linear(rows.to(w.dtype), w), count)
    out = out.reshape("dst", -1)
    if root is not None:
        out = out + right.product(root)
    return (out if bias is None else out + bias).to(w.dtype)


def rgcn_of_rows(program, z, combine):
    """The same of rows that each pair of a source has, z at src_rel."""
    return _sum_pairs(program, *_at_pairs(program, z, combine)).to(z.dtype)


def _by_head(program, x, w, heads):
    """Rows x [N, D] times w [D, H C], or x [N, H C] where there is no w, as they are and as [N, H, C]."""
    rows = x if w is None else x.product(w)
    by_head = rows.reshape(x.shape[0], heads, -1)
    return rows, by_head if w is None else program.keep(by_head)


def _scores(rows, matrix):
    rows = rows.wide()
    return rows.product(matrix.to(rows.dtype))


def _gat(program, z, source, target, edge, mask, slope, weights):
    def score_and_value(row, one, *more):
        more = list(more)
        for given in (target, edge):
            if given is not None:
                one = one + more.pop(0)
        return one.leaky_relu(slope), row if mask is None else row * widen(more.pop(0), row)

    return attend(program, score_and_value, [one for one in (z, source, target, edge, mask) if one is not None], weights, narrow=True)


def gat_of_scores(program, z, source, target, slope):
    """z at src [N, H, C]; scores of source and target [N, H]."""
    return _narrow(_gat(program, z, source, target, None, None, slope, False), z)


def gat(program, x, w, right, right_w, source, target, edge, mask, slope, weights):
    """z = x w at src and right right_w at dst, [N, H C]; x and right where there are no matrices, and one for both ends where there is no right.
    source and target, or None, make scores of them, [H C, H]; edge at edge [E, H] is a score; mask at edge [E, H] multiplies what the softmax
    gives."""
    rows, z = _by_head(program, x, w, source.shape[1])
    score = None
    if target is not None:
        others = rows.at("dst") if right is None else right if right_w is None else right.product(right_w)
        score = _scores(others, target)
    return _narrow(_gat(program, z, _scores(rows, source), score, edge, mask, slope, weights), x)


def _narrow(results, like):
    """Results in the type that the rows have."""
    return [one.to(like.dtype) for one in results]


def gatv2(program, left, right, attention, edge, mask, slope, weights):
    """left at src, right at dst, edge at edge [., H, C]; attention [H, C]; mask at edge [E, H]."""
    def score_and_value(l, r, a, *more):
        more = list(more)
        both = l + r
        if edge is not None:
            both = both + more.pop(0)
        return both.leaky_relu(slope).dot(a), l if mask is None else l * widen(more.pop(0), l)

    return _narrow(attend(program, score_and_value, [one for one in (left, right, attention, edge, mask) if one is not None], weights), left)


def hgt(program, k, q, v, k_rel, v_rel, scale):
    """k, v at src, q at dst [N, H, D]; k_rel, v_rel [R, H, D, D]; scale at rel [R, H]."""
    # q . (k K) = (q K^T) . k
    queries = program.linear(q, k_rel, transpose=True)

    def score_and_value(key, query, value, factor):
        return query.dot(key) * factor, value

    return _narrow(attend(program, score_and_value, [k, queries, v, scale], matrices=v_rel), q)


def rgat(program, x, y, w, q, k, edge, mask, extra, options):
    """Scores of both ends' rows times the relation's matrix, then q and k; see drawloom.torch.nn.RGATConv.

    x at src, y at dst (the same rows), w [R, D, H F], q and k [H F, H dim], edge at edge [E, H dim], mask at edge [E, H dim],
    extra: [F] of `additive`, at dst [N, F] of `scaled`, at dst [N] of `f-scaled`"""
    heads, mode, mechanism, mod, slope, weights = options
    relations, inner, outer = w.shape
    features, dim = outer // heads, q.shape[1] // heads

    def through(matrix):
        # (x W_r) q = x (W_r q): a few columns instead of all.
        return w.reshape(relations * inner, outer).product(matrix).reshape(relations, inner, matrix.shape[1])

    # Rows of one head are added up before they are multiplied.
    early = heads == dim == 1 and mod is None and mechanism == "across-relation"
    z = x if early else program.linear(x, w)
    to_dst, to_src = program.linear(y, through(q)), program.linear(x, through(k))
    inputs = [z, to_dst, to_src, *[one for one in (edge, mask, extra) if one is not None]]

    def parts(row, a, b, *more):
        more = list(more)
        one = more.pop(0) if edge is not None else None
        keep = more.pop(0) if mask is not None else None
        more = more.pop(0) if extra is not None else None
        if mode == "additive-self-attention":
            score = (a + b if one is None else a + b + one).leaky_relu(slope)
        else:
            score = a * b if one is None else a * b * one
        return score, row, keep, more

    if mod is None and mechanism == "across-relation":
        def score_and_value(*rows):
            score, row, keep, _ = parts(*rows)
            if early:
                return score.reshape([]), row if keep is None else row * keep
            value = row.reshape(heads, 1, features)
            value = value.broadcast((heads, dim, features)) if keep is None else value * keep.reshape(heads, dim, 1)
            return score.reshape(heads, dim), value

        out, *alpha = attend(program, score_and_value, inputs, weights, w if early else None, narrow=True)
        out = out.reshape("dst", heads, dim, features)
        return _narrow([out, *[one.reshape("edge", heads * dim) for one in alpha]], x)

    where_to = "dst_rel" if mechanism == "within-relation" else "dst"
    top = program.traverse(lambda *rows: parts(*rows)[0], inputs, [(where_to, "bound")])
    total = program.traverse(lambda *rows: (parts(*rows[:-1])[0] - rows[-1]).exp(), [*inputs, top], [(where_to, "sum")])
    total = where(total > 0.0, total, 1.0)

    def share(*rows):
        score, row, keep, more = parts(*rows[:-2])
        return (score - rows[-2]).exp() / rows[-1], row, keep, more

    def message(*rows):
        alpha, row, keep, more = share(*rows)
        row = row.reshape(heads, 1, features)
        if mod == "f-additive":
            alpha = where(alpha > 0.0, alpha + 1.0, alpha)
        elif mod == "f-scaled":
            alpha = alpha * more
        if keep is not None:
            alpha = alpha * keep
        value = alpha.reshape(heads, dim, 1) * row
        if mod == "additive":
            value = value + more * row
        elif mod == "scaled":
            value = value * more
        return value

    results = [program.traverse(message, [*inputs, top, total], [("dst", "sum")])]
    if weights:
        results.append(program.traverse(lambda *rows: share(*rows)[0], [*inputs, top, total], [("edge", "none")]))
    return _narrow(results, x)


def compgcn(program, x, z, w, loop, loop_w, rel_w, bias, compose):
    """Neighbours composed with the embeddings of their relations, x at src [N, D] of targets too, z at rel [R, D], times the matrix of all
    relations, w [D, O], or of each, [R, D, O]; and (x o loop) loop_w + bias, loop [1, D]. The second result is z rel_w."""
    def composed(row, relation):
        return row - relation if compose == "sub" else row * relation

    if len(w.shape) == 2:
        out = program.keep(combined(program, composed, [x, z], "sum")).to(w.dtype).product(w)
    else:
        rows = program.traverse(composed, [x, z], [("dst_rel", "sum")])
        out = _sum_pairs(program, program.linear(rows.to(w.dtype), w), None)
    # (x o loop) W: what is composed is the matrix.
    if compose == "sub":
        out = out + x.at("dst").product(loop_w) - loop.product(loop_w)
    else:
        out = out + x.at("dst").product((loop.reshape(loop.shape[1], 1) * loop_w).to(x.dtype))
    return [(out if bias is None else out + bias).to(x.dtype), z.product(rel_w)]


def simple_hgn(program, x, w, source, target, relation, before, slope, beta):
    """z = x w [N, H F] of both ends, or x where there is no w; source and target [H F, H] make scores of it; relation [R, H] is one; before at
    edge [E, H]: the weights of the layer in front. What an edge weighs is (1 - beta) times the softmax and beta times what it weighed there;
    the second result is that."""
    def score_and_value(row, a, b, c):
        return (a + b + c).leaky_relu(slope), row

    rows, z = _by_head(program, x, w, source.shape[1])
    scores = _scores(rows, source), _scores(rows.at("dst"), target)
    out, alpha = attend(program, score_and_value, [z, *scores, relation], weights=True, narrow=True)
    if before is not None:
        kept = program.traverse(lambda row, one: widen(one, row) * row, [z, before], [("dst", "sum")])
        out, alpha = out * (1.0 - beta) + kept * beta, alpha * (1.0 - beta) + before * beta
    return _narrow([out, alpha], x)


def _finishing(build):
    """A function that gives the results of `build`, the first of which, rows of heads, are combined: side by side or, without `concat`, to
    their mean. Added to them are rows of the targets, times w where there is one, and a bias."""
    def layer(program, residual, w, bias, *given):
        *given, concat = given
        out, *more = build(program, *given)
        dtype = promoted(out.dtype, *[one.dtype for one in (residual, bias) if one is not None])
        out = (out.to(dtype) if concat else out.to(dtype).mean(axis=1)).reshape("dst", -1)
        if residual is not None:
            out = out + (residual if w is None else residual.product(w)).to(dtype)
        return [(out if bias is None else out + bias.to(dtype)).to(dtype), *more]

    return layer


gat_layer, gatv2_layer, rgat_layer, simple_hgn_layer = (_finishing(build) for build in (gat, gatv2, rgat, simple_hgn))
