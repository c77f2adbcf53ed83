# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs, with their gradients, by the interpreter, for every instruction set and by the kernels for GPUs."""

import pytest

torch = pytest.importorskip("torch")
import drawloom  # noqa: E402
import runner  # noqa: E402
from drawloom import ops  # noqa: E402
from graph_references import assert_accurate  # noqa: E402
from drawloom.torch import Graph, message_passing  # noqa: E402
from drawloom.torch import _dispatch  # noqa: E402
from drawloom.torch import nn as ours  # noqa: E402

NODES, EDGES, RELATIONS = 40, 150, 3
torch.manual_seed(0)
INDEX, RELATION = torch.randint(0, NODES - 1, (2, EDGES)), torch.randint(0, RELATIONS, (EDGES,))
LAYERS = {
    "rgcn": lambda: ours.RGCNConv(8, 6, RELATIONS),
    "rgcn-max": lambda: ours.RGCNConv(8, 6, RELATIONS, aggr="max"),
    "rgcn-bases": lambda: ours.RGCNConv(8, 6, RELATIONS, num_bases=2),
    "rgcn-blocks": lambda: ours.RGCNConv(8, 6, RELATIONS, num_blocks=2),
    "rgat": lambda: ours.RGATConv(8, 6, RELATIONS, heads=2),
    "hgt": lambda: ours.HGTConv(8, 6, (["a"], [("a", "r", "a"), ("a", "s", "a")]), heads=2),
    "gat": lambda: ours.GATConv(8, 6, heads=2),
    # Wide enough for edges to keep what both ends are told.
    "gat-wide": lambda: ours.GATConv(8, 16),
    "gatv2": lambda: ours.GATv2Conv(8, 6, heads=2),
    "sage": lambda: ours.SAGEConv(8, 6),
    "sage-max": lambda: ours.SAGEConv(8, 6, aggr="max"),
    "gin": lambda: ours.GINConv(torch.nn.Linear(8, 6)),
    "compgcn": lambda: ours.CompGCNConv(8, 6, RELATIONS),
    "simplehgn": lambda: ours.SimpleHGNConv(8, 6, RELATIONS, heads=2),
    "function": None,
}


def output(name, layer, x):
    if name == "function":
        return message_passing(Graph(*INDEX, num_src=NODES), lambda src, dst: (src.dot(dst), (src - dst).tanh()), src=x, dst=x, combine="softmax")
    if name == "hgt":
        return layer({"a": x}, {("a", "r", "a"): INDEX[:, :90], ("a", "s", "a"): INDEX[:, 90:]})["a"]
    if name == "compgcn":
        return layer(x, torch.randn(RELATIONS, 8, dtype=x.dtype), INDEX, RELATION)[0]
    if name == "simplehgn":
        return layer(x, INDEX, RELATION)[0]
    return layer(x, INDEX, RELATION) if name.startswith("rg") else layer(x, INDEX)


def calls_of(name, monkeypatch, dtype):
    """The programs of a forward and a backward pass: (text, arguments, results)."""
    seen, execute = [], _dispatch._run_spec

    def run(spec, tensors, *more):
        results = execute(spec, tensors, *more)
        arguments = [one.detach().numpy() for one in tensors]
        text = ops.text(spec, [ops.Array(str(one.dtype), one.shape) for one in arguments])
        seen.append((text, arguments, [one.detach().numpy() for one in (results if isinstance(results, (list, tuple)) else [results])]))
        return results

    monkeypatch.setattr(_dispatch, "_run_spec", run)
    torch.manual_seed(1)
    layer = LAYERS[name] and LAYERS[name]().to(dtype)
    output(name, layer, torch.randn(NODES, 8, dtype=dtype, requires_grad=True)).tanh().sum().backward()
    assert len(seen) >= 2 and any("ad.vjp" in text for text, *_ in seen)
    return seen


@pytest.mark.parametrize("name", LAYERS)
def test_the_interpreter_computes_layers(name, monkeypatch):
    """As compiled code does, in float64; and it checks that the arrays are those of one graph."""
    for text, arguments, wanted in calls_of(name, monkeypatch, torch.float64):
        assert_accurate(runner.run(text, "main", arguments, target="interpreter"), wanted, "float64")


@pytest.mark.parametrize("name", LAYERS)
def test_every_target_computes_layers(name, monkeypatch):
    for text, arguments, native in calls_of(name, monkeypatch, torch.float32):
        wanted = runner.run(text, "main", arguments, target="interpreter")
        assert_accurate(native, wanted, "float32")
        for target, isa in (("cpu", "avx2"), ("cpu", "baseline"), ("emulator", None)):
            found = drawloom.compile(text, target=target, isa=isa).main(*arguments)
            assert_accurate(found if isinstance(found, tuple) else [found], wanted, "float32")
