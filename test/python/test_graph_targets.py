# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs, with their gradients, by the interpreter, for every instruction set and by the kernels for GPUs."""

import numpy
import pytest

torch = pytest.importorskip("torch")
import drawloom  # noqa: E402
import runner  # noqa: E402
from drawloom import ops  # noqa: E402
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
        return message_passing(graph(), lambda src, dst: (src.dot(dst), (src - dst).tanh()), src=x, dst=x, combine="softmax")
    if name == "hgt":
        return layer({"a": x}, {("a", "r", "a"): INDEX[:, :90], ("a", "s", "a"): INDEX[:, 90:]})["a"]
    if name == "compgcn":
        return layer(x, torch.randn(RELATIONS, 8), INDEX, RELATION)[0]
    if name == "simplehgn":
        return layer(x, INDEX, RELATION)[0]
    return layer(x, INDEX, RELATION) if name.startswith("rg") else layer(x, INDEX)


def graph():
    return Graph(*INDEX, num_src=NODES)


def calls_of(name, monkeypatch):
    """The programs of a forward and a backward pass: (spec, arguments, results)."""
    seen, execute = [], _dispatch._run_spec

    def run(spec, tensors, *more):
        results = execute(spec, tensors, *more)
        seen.append((spec, [one.detach().numpy() for one in tensors],
                     [one.detach().numpy() for one in (results if isinstance(results, (list, tuple)) else [results])]))
        return results

    monkeypatch.setattr(_dispatch, "_run_spec", run)
    torch.manual_seed(1)
    layer = LAYERS[name] and LAYERS[name]()
    x = torch.randn(NODES, 8, requires_grad=True)
    output(name, layer, x).tanh().sum().backward()
    assert {bool(spec.derivatives) for spec, *_ in seen} == {False, True}
    return seen


@pytest.fixture(scope="module", params=LAYERS)
def calls(request):
    with pytest.MonkeyPatch.context() as patch:
        yield calls_of(request.param, patch)


def text_of(spec, arguments):
    return ops.text(spec, [ops.Array(str(one.dtype), one.shape) for one in arguments])


def assert_close(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5 * max(abs(other).max(initial=0), 1))


@pytest.mark.parametrize("target, isa", [("cpu", "avx2"), ("cpu", "baseline"), ("emulator", None)])
def test_every_target_computes_layers(calls, target, isa):
    for spec, arguments, wanted in calls:
        found = drawloom.compile(text_of(spec, arguments), target=target, isa=isa).main(*arguments)
        assert_close(found if isinstance(found, tuple) else [found], wanted)


def test_the_interpreter_computes_layers(calls, tmp_path):
    """And checks that the arrays are those of one graph."""
    for spec, arguments, wanted in calls:
        (tmp_path / "program.mlir").write_text(text_of(spec, arguments))
        numpy.savez(tmp_path / "arguments.npz", *arguments)
        runner.tool("drawloom-run", tmp_path / "program.mlir", "--target=interpreter", f"--input={tmp_path / 'arguments.npz'}",
                    f"--output={tmp_path / 'results.npz'}")
        found = numpy.load(tmp_path / "results.npz")
        assert_close([found[f"result{i}"] for i in range(len(wanted))], wanted)
