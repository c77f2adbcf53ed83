# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs. Each has the constructor, the parameters, their names and their first values that the class of the same name in
torch_geometric has, so that seeds and checkpoints carry over; its forward pass is a function of the module alone, which `patch_pyg` gives
to the classes of that library."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn import functional as F

from .._errors import CallError, CallTypeError
from ..ops import graph_models as models
from ..ops import row_models
from . import _dense
from .graph import Edges, apply, graph_of

# --- parameters, as torch_geometric makes them ------------------------------------------------------------------------


def _glorot(tensor):
    if tensor is not None:
        bound = math.sqrt(6.0 / (tensor.size(-2) + tensor.size(-1)))
        with torch.no_grad():
            tensor.uniform_(-bound, bound)


def _kaiming(tensor, inputs):
    bound = math.sqrt(6.0 / ((1 + math.sqrt(5) ** 2) * inputs)) if inputs else 0.0
    with torch.no_grad():
        tensor.uniform_(-bound, bound)


def _of_one_type(module, x, *weights):
    for weight in weights:
        if x.is_floating_point() and x.dtype != weight.dtype:
            raise CallTypeError(f"{type(module).__name__}: x is {str(x.dtype).removeprefix('torch.')}, but the layer's parameters are "
                                f"{str(weight.dtype).removeprefix('torch.')}")


def _zeros(tensor):
    if tensor is not None:
        with torch.no_grad():
            tensor.zero_()


class _Linear(torch.nn.Module):
    """torch_geometric's Linear: glorot, or as torch.nn.Linear begins."""

    is_theirs = "Linear"

    def __init__(self, in_channels, out_channels, bias=True, glorot=False):
        super().__init__()
        self.in_channels, self.out_channels, self.glorot = in_channels, out_channels, glorot
        self.weight = Parameter(torch.empty(out_channels, in_channels))
        if bias:
            self.bias = Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        with torch.no_grad():
            if self.glorot:
                _glorot(self.weight)
            else:
                _kaiming(self.weight, self.in_channels)
            if self.bias is not None:
                bound = 1.0 / math.sqrt(self.in_channels) if self.in_channels else 0.0
                self.bias.uniform_(-bound, bound)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


def _pair(x, module, needs_both=False):
    pair = tuple(x) if isinstance(x, (tuple, list)) else (x, x)
    if len(pair) != 2 or pair[0] is None or (needs_both and pair[1] is None):
        raise CallError(f"{type(module).__name__}: x is rows of nodes, or a pair of rows of sources and of targets"
                        f"{'' if needs_both else ', of which those of targets may be None'}")
    for one in pair:
        if one is not None and one.dim() != 2:
            raise CallError(f"{type(module).__name__}: x has the shape {list(one.shape)}; it is [nodes, channels]")
    if isinstance(x, (tuple, list)) and module.flow != "source_to_target":
        raise CallError(f"{type(module).__name__}: rows of sources and targets are given for flow='source_to_target' only")
    return pair


def _dropped(module, edges, heads, like):
    """What dropout leaves of the edges' weights, None where it leaves all."""
    if not module.training or module.dropout == 0:
        return None
    return F.dropout(torch.ones(edges.graph.num_edges, heads, dtype=like.dtype), p=module.dropout)


# --- RGCN ---------------------------------------------------------------------------------------------------------------

def rgcn_forward(module, x, edge_index, edge_type=None, edge_weight=None):
    given = x
    left = given[0] if isinstance(given, (tuple, list)) else given
    if left is None:
        left = torch.arange(module.in_channels_l)
    right = given[1] if isinstance(given, (tuple, list)) else left
    edges = graph_of(edge_index, edge_type, (left.shape[0], right.shape[0]), module.num_relations, flow=module.flow)
    graph, weight = edges.graph, module.weight
    _of_one_type(module, left, weight)
    if module.num_bases is not None:
        weight = (module.comp @ weight.flatten(1)).view(module.num_relations, module.in_channels_l, module.out_channels)
    floats, combine = left.is_floating_point(), (_combiner(module),)
    if edge_weight is not None:
        if not floats or edge_weight.dim() != 1:
            raise CallError(f"RGCNConv: edge_weight has the shape {list(edge_weight.shape)}; it is [edges], for rows of features")
        edge_weight = graph.sorted(edge_weight.to(weight.dtype))
    root = (right, module.root) if module.root is not None and right.is_floating_point() else (None, None)
    own = [(root[0], "dst"), (root[1], "all"), (module.bias, "all")]
    if module.num_blocks is not None and not floats:
        raise ValueError("Block-diagonal decomposition not supported for non-continuous input features.")
    if floats:
        rows = left if module.num_blocks is None else left.view(-1, weight.size(1), weight.size(2))
        out = apply(graph, models.rgcn, [(rows, "src"), (weight, "all"), *own, (edge_weight, "edge")], combine)
        return out if root[1] is not None or module.root is None else out + F.embedding(right, module.root)
    # A node's row of a relation is one of the relation's matrix.
    node, relation = graph._on(left.device, "source_pairs")
    rows = F.embedding(relation * weight.size(1) + left[node], weight.flatten(0, 1))
    out = apply(graph, models.rgcn_of_rows, [(rows, "src_rel")], combine)
    if module.root is not None:
        out = out + (_dense.products(right, (module.root, None))[0] if right.is_floating_point() else F.embedding(right, module.root))
    return out if module.bias is None else out + module.bias


def _combiner(module):
    aggr = {"add": "sum"}.get(module.aggr, module.aggr)
    if aggr not in ("sum", "mean", "max", "min"):
        raise CallError(f"{type(module).__name__}: aggr is {module.aggr!r}; it is 'sum', 'mean', 'max' or 'min'")
    return aggr


class _Layer(torch.nn.Module):
    # How neighbours may be combined.
    _aggregations: tuple[str, ...] = ("add", "sum")

    def __init__(self, aggr="add", flow="source_to_target"):
        super().__init__()
        if aggr not in self._aggregations:
            raise CallError(f"{type(self).__name__}: aggr is {aggr!r}; it is one of {', '.join(self._aggregations)}")
        if flow not in ("source_to_target", "target_to_source"):
            raise CallError(f"{type(self).__name__}: flow is {flow!r}; it is 'source_to_target' or 'target_to_source'")
        self.aggr, self.flow = aggr, flow

    def reset_parameters(self) -> None:
        """Gives all parameters first values anew."""
        raise NotImplementedError


class RGCNConv(_Layer):
    r"""Relational graph convolution (arXiv 1703.06103):

        y_v = x_v root + bias + sum over relations r of (the mean, or `aggr`, over the edges (u -> v, r) of x_u) W_r.

    num_bases  W_r = sum_b comp_rb weight_b
    num_blocks W_r is block-diagonal, of so many blocks
    x          [N, in], or node numbers [N], or None (each node its own): then a row of W_r stands for x_u W_r; or a pair of these for
               sources and targets
    edge_weight
               [E]: factors of x_u (which torch_geometric's class does not have)
    """

    _aggregations = ("add", "sum", "mean", "max", "min")

    def __init__(self, in_channels: int | tuple[int, int], out_channels: int, num_relations: int, num_bases: int | None = None,
                 num_blocks: int | None = None, aggr: str = "mean", root_weight: bool = True, is_sorted: bool = False,
                 bias: bool = True, **options: Any) -> None:
        super().__init__(aggr, **options)
        if num_bases is not None and num_blocks is not None:
            raise ValueError("Can not apply both basis-decomposition and block-diagonal-decomposition at the same time.")
        self.in_channels, self.out_channels, self.num_relations = in_channels, out_channels, num_relations
        self.num_bases, self.num_blocks = num_bases, num_blocks
        sources, targets = in_channels if isinstance(in_channels, (tuple, list)) else (in_channels, in_channels)
        self.in_channels_l = sources
        if num_bases is not None:
            self.weight = Parameter(torch.empty(num_bases, sources, out_channels))
            self.comp = Parameter(torch.empty(num_relations, num_bases))
        elif num_blocks is not None:
            if sources % num_blocks or out_channels % num_blocks:
                raise CallError(f"RGCNConv: {num_blocks} blocks do not divide {sources} and {out_channels} channels")
            self.weight = Parameter(torch.empty(num_relations, num_blocks, sources // num_blocks, out_channels // num_blocks))
        else:
            self.weight = Parameter(torch.empty(num_relations, sources, out_channels))
        if num_bases is None:
            self.register_parameter("comp", None)
        self.register_parameter("root", Parameter(torch.empty(targets, out_channels)) if root_weight else None)
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for tensor in (self.weight, self.comp, self.root):
            _glorot(tensor)
        _zeros(self.bias)

    def forward(self, x: Any, edge_index: Any, edge_type: Tensor | None = None, edge_weight: Tensor | None = None) -> Tensor:
        return rgcn_forward(self, x, edge_index, edge_type, edge_weight)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, num_relations={self.num_relations})"


# --- GAT and GATv2 ------------------------------------------------------------------------------------------------------

def _with_loops(module, edge_index, edge_attr, sources, targets):
    if not module.add_self_loops:
        return graph_of(edge_index, None, (sources, targets), 1, flow=module.flow), edge_attr
    edges = graph_of(edge_index, None, (sources, targets), 1, loops=True, flow=module.flow)
    return edges, None if edge_attr is None else edges.with_loops(edge_attr, module.fill_value)


def gat_forward(module, x, edge_index, edge_attr=None, size=None, return_attention_weights=None):
    heads = module.heads
    left, right = _pair(x, module)
    lin, other = (module.lin, module.lin) if module.lin is not None else (module.lin_src, module.lin_dst)
    z, w = _factors(lin, left)
    targets = size[1] if size is not None else left.shape[0] if right is None else right.shape[0]
    # Sources and targets may be the same rows.
    is_one = right is left and other is lin and targets == left.shape[0]
    zr, wr = (None, None) if right is None or is_one else _factors(other, right)
    edges, edge_attr = _with_loops(module, edge_index, edge_attr, z.shape[0], targets)
    edge = None
    if edge_attr is not None and module.lin_edge is not None:
        edge, = _dense.products(_of_edges(module, edges.graph, edge_attr), (_by_head(module.att_edge), None))
    mask = _dropped(module, edges, heads, z)
    out, *weights = _listed(apply(
        edges.graph, models.gat_layer,
        [*_ends(module, right), (z, "src"), (w, "all"), (zr, "dst"), (wr, "all"), (_by_head(module.att_src), "all"),
         (None if right is None else _by_head(module.att_dst), "all"), (edge, "edge"), (mask, "edge")],
        (module.negative_slope, bool(return_attention_weights), module.concat)))
    return _attention(edges, out, weights, mask) if return_attention_weights else out


def _factors(linear, x):
    """(x, w) where the layer is a product that the program does; else (what it gives, None)."""
    return (x, linear.weight.t()) if _dense.is_product(linear, x) and linear.bias is None else (_dense.linear(linear, x), None)


def _of_edges(module, graph, edge_attr):
    """What lin_edge makes of the edges' rows, in the graph's order; modules of the caller's get them as they were given."""
    rows = edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr
    if _dense.is_product(module.lin_edge, rows):
        return _dense.linear(module.lin_edge, graph.sorted(rows))
    return graph.sorted(module.lin_edge(rows))


def _by_head(attention):
    """[1, H, C] as a matrix [H C, H], by which rows of all heads give the score of each. A row that overflows in one head has no score in any."""
    return torch.block_diag(*attention[0]).T


def _listed(result):
    return result if isinstance(result, (list, tuple)) else [result]


def _ends(module, right):
    """What is added to the combined heads: rows of targets, their matrix, and a bias."""
    res = getattr(module, "res", None)
    rows, w = (None, None) if res is None or right is None else _factors(res, right)
    return [(rows, "dst"), (w, "all"), (module.bias, "all")]


def _attention(edges, out, weights, mask):
    alpha = weights[0] if mask is None else weights[0] * mask
    return out, (edges.graph if edges.edge_index is None else edges.edge_index, edges.graph.given(alpha))


class GATConv(_Layer):
    r"""Graph attention (arXiv 1710.10903): with z = x W^T, head by head,

        y_v = sum over edges (u -> v) of alpha_uv z_u,  alpha_uv = softmax over v's edges of leaky_relu(a_src z_u + a_dst z_v + a_edge z_e).
    """

    def __init__(self, in_channels: int | tuple[int, int], out_channels: int, heads: int = 1, concat: bool = True,
                 negative_slope: float = 0.2, dropout: float = 0.0, add_self_loops: bool = True, edge_dim: int | None = None,
                 fill_value: float | Tensor | str = "mean", bias: bool = True, residual: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.in_channels, self.out_channels, self.heads, self.concat = in_channels, out_channels, heads, concat
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.edge_dim, self.fill_value, self.residual = edge_dim, fill_value, residual
        self.lin = self.lin_src = self.lin_dst = None
        if isinstance(in_channels, int):
            self.lin = _Linear(in_channels, heads * out_channels, False, glorot=True)
        else:
            self.lin_src = _Linear(in_channels[0], heads * out_channels, False, glorot=True)
            self.lin_dst = _Linear(in_channels[1], heads * out_channels, False, glorot=True)
        self.att_src = Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None
        self.register_parameter("att_edge", None)
        if edge_dim is not None:
            self.lin_edge = _Linear(edge_dim, heads * out_channels, False, glorot=True)
            self.att_edge = Parameter(torch.empty(1, heads, out_channels))
        _finish_attention(self, in_channels, heads * out_channels if concat else out_channels, residual, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for linear in (self.lin, self.lin_src, self.lin_dst, self.lin_edge, self.res):
            if linear is not None:
                linear.reset_parameters()
        for tensor in (self.att_src, self.att_dst, self.att_edge):
            _glorot(tensor)
        _zeros(self.bias)

    def forward(self, x: Any, edge_index: Any, edge_attr: Tensor | None = None, size: tuple[int, int] | None = None,
                return_attention_weights: bool | None = None) -> Any:
        return gat_forward(self, x, edge_index, edge_attr, size, return_attention_weights)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads})"


def _finish_attention(module, in_channels, total, residual, bias):
    if residual:
        module.res = _Linear(in_channels if isinstance(in_channels, int) else in_channels[1], total, False, glorot=True)
    else:
        module.register_parameter("res", None)
    module.register_parameter("bias", Parameter(torch.empty(total)) if bias else None)


def gatv2_forward(module, x, edge_index, edge_attr=None, return_attention_weights=None):
    heads, channels = module.heads, module.out_channels
    left, right = _pair(x, module, needs_both=True)
    if right is not left:
        both = [_dense.linear(module.lin_l, left), _dense.linear(module.lin_r, right)]
    else:
        both = _dense.linears([module.lin_l] if module.share_weights else [module.lin_l, module.lin_r], left)
    z, zr = both[0].view(-1, heads, channels), both[-1].view(-1, heads, channels)
    edges, edge_attr = _with_loops(module, edge_index, edge_attr, z.shape[0], zr.shape[0])
    edge = None
    if edge_attr is not None:
        if module.lin_edge is None:
            raise CallError("GATv2Conv: there is an edge_attr, but the layer was made without edge_dim")
        edge = _of_edges(module, edges.graph, edge_attr).view(-1, heads, channels)
    mask = _dropped(module, edges, heads, z)
    out, *weights = _listed(apply(
        edges.graph, models.gatv2_layer,
        [*_ends(module, right), (z, "src"), (zr, "dst"), (module.att[0], "all"), (edge, "edge"), (mask, "edge")],
        (module.negative_slope, bool(return_attention_weights), module.concat)))
    return _attention(edges, out, weights, mask) if return_attention_weights else out


class GATv2Conv(_Layer):
    r"""Graph attention whose scores see both ends before the nonlinearity (arXiv 2105.14491): with l = x W_l^T, r = x W_r^T,

        y_v = sum over edges (u -> v) of alpha_uv l_u,  alpha_uv = softmax over v's edges of a . leaky_relu(l_u + r_v + e_uv).
    """

    def __init__(self, in_channels: int | tuple[int, int], out_channels: int, heads: int = 1, concat: bool = True,
                 negative_slope: float = 0.2, dropout: float = 0.0, add_self_loops: bool = True, edge_dim: int | None = None,
                 fill_value: float | Tensor | str = "mean", bias: bool = True, share_weights: bool = False,
                 residual: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.in_channels, self.out_channels, self.heads, self.concat = in_channels, out_channels, heads, concat
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.edge_dim, self.fill_value, self.residual, self.share_weights = edge_dim, fill_value, residual, share_weights
        sources, targets = in_channels if isinstance(in_channels, (tuple, list)) else (in_channels, in_channels)
        self.lin_l = _Linear(sources, heads * out_channels, bias, glorot=True)
        self.lin_r = self.lin_l if share_weights else _Linear(targets, heads * out_channels, bias, glorot=True)
        self.att = Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None if edge_dim is None else _Linear(edge_dim, heads * out_channels, False, glorot=True)
        _finish_attention(self, in_channels, heads * out_channels if concat else out_channels, residual, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for linear in (self.lin_l, self.lin_r, self.lin_edge, self.res):
            if linear is not None:
                linear.reset_parameters()
        _glorot(self.att)
        _zeros(self.bias)

    def forward(self, x: Any, edge_index: Any, edge_attr: Tensor | None = None, return_attention_weights: bool | None = None) -> Any:
        return gatv2_forward(self, x, edge_index, edge_attr, return_attention_weights)

    __repr__ = GATConv.__repr__


# --- GraphSAGE and GIN --------------------------------------------------------------------------------------------------

def _graph_of(module, x, edge_index, size):
    left, right = x
    targets = right.shape[0] if right is not None else size[1] if size is not None else left.shape[0]
    return graph_of(edge_index, None, (left.shape[0], targets), 1, flow=module.flow).graph


def _neighbours(module, x, edge_index, size, combine):
    return apply(_graph_of(module, x, edge_index, size), models.aggregate, [(x[0], "src")], (combine,))


def sage_forward(module, x, edge_index, size=None):
    left, right = _pair(x, module)
    if module.project:
        left = _dense.linear(module.lin, left).relu()
    root = module.lin_r if module.root_weight and right is not None else None
    if not _dense.is_product(module.lin_l, left) or (root is not None and (not _dense.is_product(root, right) or root.bias is not None)):
        out = module.lin_l(_neighbours(module, (left, right), edge_index, size, _combiner(module)))
        out = out if root is None else out + root(right)
    else:
        out = apply(_graph_of(module, (left, right), edge_index, size), models.sage,
                    [(left, "src"), (module.lin_l.weight.t(), "all"), (None if root is None else right, "dst"),
                     (None if root is None else root.weight.t(), "all"), (module.lin_l.bias, "all")], (_combiner(module),))
    return F.normalize(out, p=2.0, dim=-1) if module.normalize else out


class SAGEConv(_Layer):
    r"""GraphSAGE (arXiv 1706.02216): y_v = W_l (the mean, or `aggr`, of v's neighbours) + W_r x_v, with `normalize` of length 1."""

    _aggregations = ("add", "sum", "mean", "max", "min")

    def __init__(self, in_channels: int | tuple[int, int], out_channels: int, aggr: str = "mean", normalize: bool = False,
                 root_weight: bool = True, project: bool = False, bias: bool = True, **options: Any) -> None:
        super().__init__(aggr, **options)
        self.in_channels, self.out_channels, self.normalize = in_channels, out_channels, normalize
        self.root_weight, self.project = root_weight, project
        sources, targets = in_channels if isinstance(in_channels, (tuple, list)) else (in_channels, in_channels)
        if project:
            self.lin = _Linear(sources, sources)
        self.lin_l = _Linear(sources, out_channels, bias)
        if root_weight:
            self.lin_r = _Linear(targets, out_channels, False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.project:
            self.lin.reset_parameters()
        self.lin_l.reset_parameters()
        if self.root_weight:
            self.lin_r.reset_parameters()

    def forward(self, x: Any, edge_index: Any, size: tuple[int, int] | None = None) -> Tensor:
        return sage_forward(self, x, edge_index, size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, aggr={self.aggr})"


def gin_forward(module, x, edge_index, size=None):
    from ._chains import chain_of, fused  # which need .nn, where the classes below are

    left, right = _pair(x, module)
    graph, combine = _graph_of(module, (left, right), edge_index, size), (_combiner(module),)
    if right is None:
        return fused(module.nn, apply(graph, models.aggregate, [(left, "src")], combine))
    if left.dtype != right.dtype or torch.promote_types(module.eps.dtype, right.dtype) != right.dtype:
        # PyTorch knows of which type the sum is.
        return fused(module.nn, apply(graph, models.aggregate, [(left, "src")], combine) + (1 + module.eps) * right)
    chain, eps = chain_of(module.nn, right), module.eps.to(right.dtype)
    if chain and row_models.ACTIVATIONS.keys() >= set(chain[1:]):
        rows = apply(graph, models.aggregate, [(left, "src")], combine)
        return _dense.apply(row_models.gin_chain, [rows, right], [eps, *chain[0]], chain[1:])[0]
    return fused(module.nn, apply(graph, models.gin, [(left, "src"), (right, "dst"), (eps, "all")], combine))


class GINConv(_Layer):
    r"""Graph isomorphism network (arXiv 1810.00826): y_v = nn((1 + eps) x_v + the sum of v's neighbours)."""

    _aggregations = ("add", "sum", "mean", "max", "min")

    def __init__(self, nn: Callable, eps: float = 0.0, train_eps: bool = False, **options: Any) -> None:
        super().__init__(**{"aggr": "add", **options})
        self.nn, self.initial_eps = nn, eps
        if train_eps:
            self.eps = Parameter(torch.empty(1))
        else:
            self.register_buffer("eps", torch.empty(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        _reset(self.nn)
        self.eps.data.fill_(self.initial_eps)

    def forward(self, x: Any, edge_index: Any, size: tuple[int, int] | None = None) -> Tensor:
        return gin_forward(self, x, edge_index, size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(nn={self.nn})"


def _reset(module):
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
    else:
        for child in module.children() if hasattr(module, "children") else []:
            _reset(child)


# --- RGAT ---------------------------------------------------------------------------------------------------------------

def rgat_forward(module, x, edge_index, edge_type=None, edge_attr=None, size=None, return_attention_weights=None):
    edges = graph_of(edge_index, edge_type, size or (x.shape[0], x.shape[0]), module.num_relations, flow=module.flow)
    graph, heads, dim = edges.graph, module.heads, module.dim
    if x.dim() != 2:
        raise CallError(f"{type(module).__name__}: x has the shape {list(x.shape)}; it is [nodes, channels]")
    read = (getattr(module, name, None) for name in ("weight", "att", "basis", "q", "k", "e", "w", "l1", "b1", "l2", "b2", "bias"))
    _of_one_type(module, x, *[one for one in read if one is not None])
    if module.num_bases is not None:
        weight = (module.att @ module.basis.flatten(1)).view(module.num_relations, module.in_channels, -1)
    elif module.num_blocks is not None:
        # Blocks as one matrix: scores need all of a row.
        weight = torch.stack([torch.block_diag(*blocks) for blocks in module.weight])
    else:
        weight = module.weight
    edge = None
    if edge_attr is not None:
        if module.lin_edge is None:
            raise AssertionError("Please set 'edge_dim = edge_attr.size(-1)' while calling the RGATConv layer")
        if edge_attr.shape[0] == graph.num_edges:
            edge, = _dense.products(_of_edges(module, graph, edge_attr), (module.e, None))
        elif edge_type is None:
            raise CallError(f"RGATConv: edge_attr has {edge_attr.shape[0]} rows; with a Graph it has one for each of its {graph.num_edges} edges")
        else:
            rows = _dense.linear(module.lin_edge, edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr)
            edge = F.embedding(graph.sorted(edge_type), _dense.products(rows, (module.e, None))[0])
    extra = None
    if module.mod == "additive":
        extra = module.w, "all"
    elif module.mod in ("scaled", "f-scaled"):
        degree = graph._on(x.device, "degrees").to(x.dtype)
        if module.mod == "scaled":
            degree = _degree_scale(module, degree[:, None])
        extra = degree, "dst"
    mask = _dropped(module, edges, heads * dim, x) if module.mod is None else None
    wanted = isinstance(return_attention_weights, bool)
    out, *weights = _listed(apply(
        graph, models.rgat_layer, [*_ends(module, None), (x, "src"), (x, "dst"), (weight, "all"), (module.q, "all"), (module.k, "all"),
                                   (edge, "edge"), (mask, "edge"), extra or (None, "all")],
        ((heads, module.attention_mode, module.attention_mechanism, module.mod, module.negative_slope, wanted), module.concat)))
    return (out, (edges.edge_index, graph.given(weights[0]))) if wanted else out


def _degree_scale(module, degree):
    if not _dense.multiplies(degree, module.l1, module.l2):
        return (degree @ module.l1 + module.b1).relu() @ module.l2 + module.b2
    return _dense.apply(row_models.degree_scale, [degree], [module.l1, module.b1, module.l2, module.b2])[0]


class RGATConv(_Layer):
    r"""Relational graph attention (arXiv 1904.05811): with z_ur = x_u W_r, queries z_vr q and keys z_ur k, head by head,

        y_v = sum over edges (u -> v, r) of alpha z_ur,  alpha = softmax of leaky_relu(z_vr q + z_ur k + e) ("additive-self-attention"),
                                                         or of z_vr q . z_ur k . e ("multiplicative-self-attention", `dim` scores a head)

    attention_mechanism  the softmax goes over the edges of a target ("across-relation"), or of a target and a relation
    mod                  alpha + w ("additive"), times a function of the degree ("scaled"), alpha + 1 ("f-additive"), alpha times the
                         degree ("f-scaled")
    """

    def __init__(self, in_channels: int, out_channels: int, num_relations: int, num_bases: int | None = None,
                 num_blocks: int | None = None, mod: str | None = None, attention_mechanism: str = "across-relation",
                 attention_mode: str = "additive-self-attention", heads: int = 1, dim: int = 1, concat: bool = True,
                 negative_slope: float = 0.2, dropout: float = 0.0, edge_dim: int | None = None, bias: bool = True,
                 **options: Any) -> None:
        super().__init__(**options)
        if attention_mechanism not in ("within-relation", "across-relation"):
            raise ValueError('attention mechanism must either be "within-relation" or "across-relation"')
        if attention_mode not in ("additive-self-attention", "multiplicative-self-attention"):
            raise ValueError('attention mode must either be "additive-self-attention" or "multiplicative-self-attention"')
        if attention_mode == "additive-self-attention" and dim > 1:
            raise ValueError('"additive-self-attention" mode cannot be applied when value of d is greater than 1. Use '
                             '"multiplicative-self-attention" instead.')
        if dropout > 0.0 and mod in ("additive", "scaled", "f-additive", "f-scaled"):
            raise ValueError("mod must be None with dropout value greater than 0 in order to sample attention coefficients stochastically")
        if num_bases is not None and num_blocks is not None:
            raise ValueError("Can not apply both basis-decomposition and block-diagonal-decomposition at the same time.")
        self.in_channels, self.out_channels, self.num_relations = in_channels, out_channels, num_relations
        self.num_bases, self.num_blocks, self.mod = num_bases, num_blocks, mod
        self.attention_mechanism, self.attention_mode = attention_mechanism, attention_mode
        self.heads, self.dim, self.concat, self.negative_slope = heads, dim, concat, negative_slope
        self.dropout, self.edge_dim = dropout, edge_dim
        outer = heads * out_channels
        self.q = Parameter(torch.empty(outer, heads * dim))
        self.k = Parameter(torch.empty(outer, heads * dim))
        self.register_parameter("bias", Parameter(torch.empty((heads if concat else 1) * dim * out_channels)) if bias else None)
        self.lin_edge = None
        self.register_parameter("e", None)
        if edge_dim is not None:
            self.lin_edge = _Linear(edge_dim, outer, False, glorot=True)
            self.e = Parameter(torch.empty(outer, heads * dim))
        if num_bases is not None:
            self.att = Parameter(torch.empty(num_relations, num_bases))
            self.basis = Parameter(torch.empty(num_bases, in_channels, outer))
        elif num_blocks is not None:
            if in_channels % num_blocks or outer % num_blocks:
                raise AssertionError("both 'in_channels' and 'heads * out_channels' must be multiple of 'num_blocks' used")
            self.weight = Parameter(torch.empty(num_relations, num_blocks, in_channels // num_blocks, outer // num_blocks))
        else:
            self.weight = Parameter(torch.empty(num_relations, in_channels, outer))
        self.w = Parameter(torch.ones(out_channels))
        self.l1 = Parameter(torch.empty(1, out_channels))
        self.b1 = Parameter(torch.empty(1, out_channels))
        self.l2 = Parameter(torch.full((out_channels, out_channels), 1 / out_channels))
        self.b2 = Parameter(torch.empty(1, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for tensor in (self.basis, self.att) if self.num_bases is not None else (self.weight,):
            _glorot(tensor)
        _glorot(self.q)
        _glorot(self.k)
        _zeros(self.bias)
        with torch.no_grad():
            self.l1.fill_(1.0)
        _zeros(self.b1)
        _zeros(self.b2)
        if self.lin_edge is not None:
            _glorot(self.lin_edge.weight)
            _glorot(self.e)

    def forward(self, x: Tensor, edge_index: Any, edge_type: Tensor | None = None, edge_attr: Tensor | None = None,
                size: tuple[int, int] | None = None, return_attention_weights: bool | None = None) -> Any:
        return rgat_forward(self, x, edge_index, edge_type, edge_attr, size, return_attention_weights)

    __repr__ = GATConv.__repr__


# --- CompGCN and SimpleHGN ----------------------------------------------------------------------------------------------

class CompGCNConv(_Layer):
    r"""Composition-based convolution (arXiv 1911.03082): with z_r an embedding of relation r, and W by direction,

        y_v = sum over edges (u -> v, r) of (x_u o z_r) W_dir(r) + (x_v o z_loop) W_loop + bias,   z'_r = z_r W_rel.

    composition  x o z: "sub" is x - z, "mult" is x z
    direction    [R]: which of the `directions` matrices a relation has; None for the same for all

    forward(x, z, edge_index, edge_type) -> (y, z').
    """

    def __init__(self, in_channels: int, out_channels: int, num_relations: int, composition: str = "sub", directions: int = 1,
                 direction: Tensor | None = None, bias: bool = True, **options: Any) -> None:
        super().__init__(**options)
        if composition not in ("sub", "mult"):
            raise CallError(f"CompGCNConv: composition is {composition!r}; it is 'sub' or 'mult' (circular correlation is not there)")
        if direction is not None and tuple(direction.shape) != (num_relations,):
            raise CallError(f"CompGCNConv: direction has the shape {list(direction.shape)}; it is [{num_relations}]")
        if direction is not None and ((direction < 0) | (direction >= directions)).any():
            raise CallError(f"CompGCNConv: direction is {direction.tolist()}; there are {directions} directions, from 0 on")
        self.in_channels, self.out_channels, self.num_relations, self.composition = in_channels, out_channels, num_relations, composition
        self.register_buffer("direction", torch.zeros(num_relations, dtype=torch.long) if direction is None else direction.long())
        self.weight = Parameter(torch.empty(directions, in_channels, out_channels))
        self.weight_loop = Parameter(torch.empty(in_channels, out_channels))
        self.weight_rel = Parameter(torch.empty(in_channels, out_channels))
        self.loop = Parameter(torch.empty(1, in_channels))
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for tensor in (self.weight, self.weight_loop, self.weight_rel, self.loop):
            _glorot(tensor)
        _zeros(self.bias)

    def forward(self, x: Tensor, z: Tensor, edge_index: Any, edge_type: Tensor | None = None) -> tuple[Tensor, Tensor]:
        edges = graph_of(edge_index, edge_type, (x.shape[0], x.shape[0]), self.num_relations, flow=self.flow)
        _of_one_type(self, x, self.weight)
        if x.dim() != 2 or z.dim() != 2:
            raise CallError(f"CompGCNConv: x and z have the shapes {list(x.shape)} and {list(z.shape)}; they are [nodes, channels] and "
                            "[relations, channels]")
        # One matrix for all relations multiplies what is added up.
        weight = self.weight[0] if len(self.weight) == 1 else self.weight.index_select(0, self.direction)
        return tuple(apply(edges.graph, models.compgcn,
                           [(x, "src"), (z, "rel"), (weight, "all"), (self.loop, "all"), (self.weight_loop, "all"), (self.weight_rel, "all"),
                            (self.bias, "all")], (self.composition,)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, num_relations={self.num_relations})"


class SimpleHGNConv(_Layer):
    r"""Simple-HGN (arXiv 2112.14936): graph attention with an embedding of the relation in the score, and a part of the weights of the
    layer in front. With z = x W^T, head by head,

        y_v = sum over edges (u -> v, r) of alpha_e z_u (+ x_v W_res^T),
        alpha_e = (1 - beta) softmax over v's edges of leaky_relu(a_src z_u + a_dst z_v + a_rel W_rel t_r) + beta alpha_e of the layer in front.

    forward(x, edge_index, edge_type, alpha=None) -> (y, alpha [E, heads]).
    """

    def __init__(self, in_channels: int, out_channels: int, num_relations: int, heads: int = 1, rel_channels: int = 64,
                 concat: bool = True, negative_slope: float = 0.2, beta: float = 0.05, residual: bool = False, bias: bool = True,
                 **options: Any) -> None:
        super().__init__(**options)
        self.in_channels, self.out_channels, self.num_relations, self.heads = in_channels, out_channels, num_relations, heads
        self.concat, self.negative_slope, self.beta = concat, negative_slope, beta
        self.lin = _Linear(in_channels, heads * out_channels, False, glorot=True)
        self.rel = Parameter(torch.empty(num_relations, rel_channels))
        self.lin_rel = _Linear(rel_channels, heads * rel_channels, False, glorot=True)
        self.att_src = Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = Parameter(torch.empty(1, heads, out_channels))
        self.att_rel = Parameter(torch.empty(1, heads, rel_channels))
        _finish_attention(self, in_channels, heads * out_channels if concat else out_channels, residual, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for linear in (self.lin, self.lin_rel, self.res):
            if linear is not None:
                linear.reset_parameters()
        for tensor in (self.rel, self.att_src, self.att_dst, self.att_rel):
            _glorot(tensor)
        _zeros(self.bias)

    def forward(self, x: Tensor, edge_index: Any, edge_type: Tensor | None = None, alpha: Tensor | None = None) -> tuple[Tensor, Tensor]:
        edges = graph_of(edge_index, edge_type, (x.shape[0], x.shape[0]), self.num_relations, flow=self.flow)
        z, w = _factors(self.lin, x)
        relation = (self.lin_rel(self.rel).view(self.num_relations, self.heads, -1) * self.att_rel).sum(-1)
        before = None if alpha is None else edges.graph.sorted(alpha)
        out, weights = apply(edges.graph, models.simple_hgn_layer,
                             [*_ends(self, x), (z, "src"), (w, "all"), (_by_head(self.att_src), "all"), (_by_head(self.att_dst), "all"),
                              (relation, "rel"), (before, "edge")], (self.negative_slope, self.beta, self.concat))
        return out, edges.graph.given(weights)

    __repr__ = GATConv.__repr__


# --- HGT ----------------------------------------------------------------------------------------------------------------

def _in_three(linears, x_dict):
    """Three times as many columns as a third of a Linear's for each type of node, by type: thirds lie apart in memory."""
    lins = _dense.lins_of(linears)
    if not lins or not all(map(_dense.is_linear, lins.values())):
        rows = {kind: one.tensor_split(3, dim=1) for kind, one in linears(x_dict).items()}
        return {kind: [one.contiguous() for one in parts] for kind, parts in rows.items()}

    def parts(linear, x):
        biases = [None] * 3 if linear.bias is None else linear.bias.tensor_split(3)
        return _dense.products(x, *zip([one.t() for one in linear.weight.tensor_split(3)], biases))

    return {kind: parts(lins[kind], x_dict[kind]) for kind in lins.keys() if kind in x_dict}


def _out(module, rows, x_dict):
    """What HGT gives for the rows of each type of node that has some: a product, and what skips it where widths are the same."""
    lins, out = _dense.lins_of(module.out_lin), {}
    called = rows if not lins else {kind: m for kind, m in rows.items() if not _dense.is_product(lins[kind], m)}
    made = module.out_lin({kind: F.gelu(m) for kind, m in called.items()}) if called else {}
    for kind, m in rows.items():
        x, skip = x_dict[kind], module.skip[kind]
        if kind in called:
            share = skip.sigmoid()
            out[kind] = share * made[kind] + (1 - share) * x if made[kind].shape[-1] == x.shape[-1] else made[kind]
        else:
            weight, bias = lins[kind].weight, lins[kind].bias
            skips = weight.shape[0] == x.shape[-1]
            out[kind] = _dense.apply(row_models.hgt_out, [m, x if skips else None], [weight.t(), bias, skip if skips else None])[0]
    return out


def hgt_forward(module, x_dict, edge_index_dict):
    heads, dim = module.heads, module.out_channels // module.heads
    rows = _in_three(module.kqv_lin, x_dict)
    nodes = {kind: len(one[0]) for kind, one in rows.items()}
    keys, queries, values = ((torch.cat(one) if len(one) > 1 else one[0]).view(-1, heads, dim) for one in zip(*rows.values()))
    edges = Edges.of_types(edge_index_dict, module.edge_types_map, nodes, flow=module.flow)
    count = len(module.edge_types)
    # torch_geometric keeps matrices by head, then type of edge.
    k_rel, v_rel = (one.weight.view(heads, count, dim, dim).transpose(0, 1) for one in (module.k_rel, module.v_rel))
    scale = torch.cat([module.p_rel["__".join(kind)] for kind in module.edge_types]) / math.sqrt(dim)
    k_rel, v_rel = k_rel.to(keys.dtype), v_rel.to(keys.dtype)
    out = apply(edges.graph, models.hgt, [(keys, "src"), (queries, "dst"), (values, "src"), (k_rel, "all"), (v_rel, "all"),
                                          (scale, "rel")]).flatten(1)
    parts = zip(nodes, out.split(list(nodes.values())))
    return _out(module, {kind: part for kind, part in parts if kind in module.dst_node_types}, x_dict)


class _ByType(torch.nn.Module):
    """A Linear for each type of node: torch_geometric's HeteroDictLinear."""

    is_theirs = "HeteroDictLinear"

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lins = torch.nn.ModuleDict({kind: _Linear(size, out_channels) for kind, size in in_channels.items()})
        self.reset_parameters()

    def reset_parameters(self):
        for linear in self.lins.values():
            linear.reset_parameters()

    def forward(self, x_dict):
        return {kind: linear(x_dict[kind]) for kind, linear in self.lins.items() if kind in x_dict}


class _ByRelation(torch.nn.Module):
    """Matrices by head and type of edge: torch_geometric's HeteroLinear without bias."""

    def __init__(self, dim, count):
        super().__init__()
        self.weight = Parameter(torch.empty(count, dim, dim))
        self.reset_parameters()

    def reset_parameters(self):
        _kaiming(self.weight, self.weight.size(-1))


class HGTConv(_Layer):
    r"""Heterogeneous graph transformer (arXiv 2003.01332). With k, q, v = x W by type of node, head by head, for types of edges r

        m_v = sum over edges (u -> v, r) of alpha v_u V_r,  alpha = softmax over v's edges of p_r q_v . (k_u K_r) / sqrt(D),
        y_v = s W_out gelu(m_v) + (1 - s) x_v,  s = sigmoid(skip), by type of node; without x_v where widths differ.

    forward(x_dict, edge_index_dict) -> a dictionary by type of node.
    """

    def __init__(self, in_channels: int | dict[str, int], out_channels: int, metadata: tuple, heads: int = 1, **options: Any) -> None:
        super().__init__(**options)
        if out_channels % heads:
            raise ValueError(f"'out_channels' (got {out_channels}) must be divisible by the number of heads (got {heads})")
        if not isinstance(in_channels, dict):
            in_channels = {kind: in_channels for kind in metadata[0]}
        self.in_channels, self.out_channels, self.heads = in_channels, out_channels, heads
        self.node_types, self.edge_types = metadata
        self.edge_types_map = {tuple(kind): i for i, kind in enumerate(self.edge_types)}
        self.dst_node_types = {kind[-1] for kind in self.edge_types}
        dim = out_channels // heads
        self.kqv_lin = _ByType(in_channels, out_channels * 3)
        self.out_lin = _ByType({kind: out_channels for kind in self.node_types}, out_channels)
        self.k_rel = _ByRelation(dim, heads * len(self.edge_types))
        self.v_rel = _ByRelation(dim, heads * len(self.edge_types))
        self.skip = torch.nn.ParameterDict({kind: Parameter(torch.empty(1)) for kind in self.node_types})
        # Of a dictionary they would be sorted.
        self.p_rel = torch.nn.ParameterDict()
        for kind in self.edge_types:
            self.p_rel["__".join(kind)] = Parameter(torch.empty(1, heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for one in (self.kqv_lin, self.out_lin, self.k_rel, self.v_rel):
            one.reset_parameters()
        with torch.no_grad():
            for one in (*self.skip.values(), *self.p_rel.values()):
                one.fill_(1.0)

    def forward(self, x_dict: dict, edge_index_dict: dict) -> dict:
        return hgt_forward(self, x_dict, edge_index_dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(-1, {self.out_channels}, heads={self.heads})"
