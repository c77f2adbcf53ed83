# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_geometric's layers, computed by Drawloom."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections import Counter

import torch

from .._errors import CallError
from . import _graph_layers as layers
from .graph import Graph

# By the layer's name: the forward pass, and what this module needs of it.
_FORWARD = {"RGCNConv": layers.rgcn_forward, "FastRGCNConv": layers.rgcn_forward, "RGATConv": layers.rgat_forward,
            "HGTConv": layers.hgt_forward, "GATConv": layers.gat_forward, "GATv2Conv": layers.gatv2_forward,
            "SAGEConv": layers.sage_forward, "GINConv": layers.gin_forward}

# What layers combine neighbours by; the others add.
_ALL = ("add", "sum", "mean", "max", "min")
_AGGREGATIONS = {"RGCNConv": _ALL, "FastRGCNConv": ("add", "sum", "mean"), "SAGEConv": _ALL, "GINConv": _ALL}

# Calls by layer: computed here, and left to torch_geometric, with the reasons.
_taken: Counter = Counter()
_left: Counter = Counter()
_originals: dict = {}


def _reason(name, module, arguments):
    """Why a call is left to torch_geometric, or None."""
    edges = arguments.get("edge_index", arguments.get("edge_index_dict"))
    lists = list(edges.values()) if isinstance(edges, dict) else [edges]
    for one in lists:
        if isinstance(one, Graph):
            if isinstance(edges, dict):
                return "edges are a dictionary"
            continue
        if not isinstance(one, torch.Tensor) or one.layout != torch.strided:
            return "edges are a sparse matrix"
        if one.device.type != "cpu":
            return f"edges are on {one.device.type}"
    if torch.jit.is_scripting() or torch.jit.is_tracing():
        return "torch.jit traces or scripts it"
    if torch.compiler.is_compiling():
        return "torch.compile traces it"
    if getattr(module, "explain", False):
        return "an explainer looks at its messages"
    hooks = ("_propagate_forward_pre_hooks", "_propagate_forward_hooks", "_message_forward_pre_hooks", "_message_forward_hooks",
             "_aggregate_forward_pre_hooks", "_aggregate_forward_hooks", "_edge_update_forward_pre_hooks", "_edge_update_forward_hooks",
             "_message_and_aggregate_forward_pre_hooks", "_message_and_aggregate_forward_hooks")
    if any(getattr(module, hook, None) for hook in hooks):
        return "it has hooks on its messages"
    if getattr(module, "decomposed_layers", 1) > 1:
        return "it is decomposed into layers of fewer channels"
    kind = _originals[name][0]
    for method in ("message", "aggregate", "update", "edge_update", "message_and_aggregate"):
        if getattr(type(module), method, None) is not getattr(kind, method, None) or method in vars(module):
            return f"it has a {method} of its own"
    if not isinstance(module.aggr, str) or module.aggr not in _AGGREGATIONS.get(name, ("add", "sum")):
        return f"aggr is {module.aggr!r}"
    module_of = {"add": "SumAggregation", "sum": "SumAggregation", "mean": "MeanAggregation", "max": "MaxAggregation", "min": "MinAggregation"}
    if type(module.aggr_module).__name__ != module_of[module.aggr]:
        return f"it aggregates by {type(module.aggr_module).__name__}"
    x = arguments.get("x", arguments.get("x_dict"))
    if module.flow != "source_to_target" and (isinstance(x, (tuple, list, dict)) or arguments.get("size") is not None):
        return "rows of sources and targets flow from target to source"
    edge_attr = arguments.get("edge_attr")
    if isinstance(edge_attr, torch.Tensor) and not edge_attr.is_floating_point():
        return f"edge_attr is {str(edge_attr.dtype).removeprefix('torch.')}"
    for one in x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else [x]:
        if isinstance(one, torch.Tensor) and name in ("GATConv", "GATv2Conv", "SAGEConv", "GINConv") and one.dim() != 2:
            return "x has other dimensions than nodes and channels"
        if isinstance(one, torch.Tensor) and one.dtype not in (torch.float32, torch.float64, torch.int64):
            return f"x is {str(one.dtype).removeprefix('torch.')}"
    if name == "RGATConv" and isinstance(x, torch.Tensor) and x.dim() != 2:
        return "x has no features"
    if name == "GATv2Conv" and isinstance(x, (tuple, list)) and x[1] is None:
        return "targets have no features"
    return None


def _patched(name, original):
    forward = _FORWARD[name]
    signature = inspect.signature(original)

    @functools.wraps(original)
    def patched(self, *arguments, **options):
        try:
            bound = signature.bind(self, *arguments, **options)
        except TypeError:
            return original(self, *arguments, **options)
        given = dict(list(bound.arguments.items())[1:])
        reason = _reason(name, self, given)
        if reason is not None:
            edges = given.get("edge_index", given.get("edge_index_dict"))
            if any(isinstance(one, Graph) for one in (edges.values() if isinstance(edges, dict) else [edges])):
                raise CallError(f"{name}: {reason}, and torch_geometric takes no drawloom.torch.Graph: give it the edge_index")
            _left[name, reason] += 1
            return original(self, *arguments, **options)
        _taken[name] += 1
        return forward(self, **given)

    return patched


def patch_pyg() -> list[str]:
    """Has torch_geometric's layers computed by Drawloom on the CPU: RGCNConv, FastRGCNConv, RGATConv, HGTConv, GATConv, GATv2Conv, SAGEConv
    and GINConv, those that exist and those that will. Classes, parameters, `repr` and results stay what they are. Calls that Drawloom
    does not compute go to torch_geometric as before; `patch_pyg_report` counts both. Returns the names of the layers. A second call
    changes nothing; `unpatch_pyg` takes it back."""
    try:
        conv = importlib.import_module("torch_geometric.nn.conv")
    except ImportError as error:
        raise CallError("patch_pyg needs torch_geometric: pip install torch_geometric") from error
    for name in _FORWARD:
        kind = getattr(conv, name, None)
        if kind is not None and name not in _originals and "forward" in vars(kind):
            _originals[name] = kind, kind.forward
            kind.forward = _patched(name, kind.forward)
    return sorted(_originals)


def unpatch_pyg() -> None:
    """Takes `patch_pyg` back."""
    for kind, forward in _originals.values():
        kind.forward = forward
    _originals.clear()


def patch_pyg_report() -> dict:
    """How many calls of each layer Drawloom computed ("computed"), and how many it left to torch_geometric, by layer and reason ("left")."""
    return {"computed": dict(_taken), "left": dict(_left)}
