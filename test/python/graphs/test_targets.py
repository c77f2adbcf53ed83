# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs, with their gradients, by the interpreter, for every instruction set and by the kernels for GPUs."""

import json

import pytest

torch = pytest.importorskip("torch")
import drawloom  # noqa: E402
from drawloom import ops  # noqa: E402
from drawloom.torch import (  # noqa: E402
    Graph,
    _dispatch,  # noqa: E402
    message_passing,
)
from drawloom.torch import nn as ours  # noqa: E402
from drawloom_bench.counts import sass  # noqa: E402
from support import runner  # noqa: E402
from support.graph_references import assert_accurate  # noqa: E402

NODES, EDGES, RELATIONS = 40, 150, 3
torch.manual_seed(0)
INDEX, RELATION = torch.randint(0, NODES - 1, (2, EDGES)), torch.randint(0, RELATIONS, (EDGES,))
WIDE = {
    "rgcn": lambda: ours.RGCNConv(64, 64, RELATIONS),
    "rgat": lambda: ours.RGATConv(64, 64, 40),
    "hgt": lambda: ours.HGTConv(64, 64, (["a"], [("a", "r", "a"), ("a", "s", "a")]), heads=4),
    "gatv2": lambda: ours.GATv2Conv(64, 16, heads=4),
}
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


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch):
    """Dense layers of the caller's are computed here, however few rows there are."""
    monkeypatch.setattr(drawloom.torch._dense, "MANY_ROWS", 0)


def output(name, layer, x, index=INDEX, relation=RELATION):
    edges = index.shape[1]
    if name == "function":
        return message_passing(Graph(*index, num_src=x.shape[0]), lambda src, dst: (src.dot(dst), (src - dst).tanh()), src=x, dst=x, combine="softmax")
    if name == "hgt":
        return layer({"a": x}, {("a", "r", "a"): index[:, :edges // 2], ("a", "s", "a"): index[:, edges // 2:]})["a"]
    if name == "compgcn":
        return layer(x, torch.randn(RELATIONS, 8, dtype=x.dtype), index, relation)[0]
    if name == "simplehgn":
        return layer(x, index, relation)[0]
    return layer(x, index, relation) if name.startswith("rg") else layer(x, index)


def array(tensor):
    """NumPy's array of a tensor; uint16 of bfloat16, which NumPy has not."""
    tensor = tensor.detach()
    return tensor.view(torch.uint16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def calls_of(name, monkeypatch, dtype, nodes=NODES, index=INDEX, relation=RELATION, opened=False, make=None, width=8):
    """The programs of a forward and a backward pass: (text, arguments, results). Extents of the text are open, if this is said."""
    seen, execute = [], _dispatch._run_spec

    def run(spec, tensors, *more):
        results = execute(spec, tensors, *more)
        arguments = [array(one) for one in tensors]
        types = [ops.Array(str(one.dtype).removeprefix("torch."), tuple(one.shape)) for one in tensors]
        text = ops.text(spec, list(spec.opened(types)) if opened else types)
        seen.append((text, arguments, [array(one) for one in (results if isinstance(results, (list, tuple)) else [results])]))
        return results

    torch.manual_seed(1)
    make = make or LAYERS[name]
    layer = make and make().to(dtype)
    with monkeypatch.context() as patch:
        patch.setattr(_dispatch, "_run_spec", run)
        output(name, layer, torch.randn(nodes, width, dtype=dtype, requires_grad=True), index, relation).tanh().sum().backward()
    assert len(seen) >= 2 and any("ad.vjp" in text for text, *_ in seen)
    return seen


@pytest.mark.parametrize("name", LAYERS)
def test_the_interpreter_computes_layers(name, monkeypatch):
    """As compiled code does, in float64; and it checks that the arrays are those of one graph."""
    for text, arguments, wanted in calls_of(name, monkeypatch, torch.float64):
        assert_accurate(runner.run(text, "main", arguments, target="interpreter"), wanted, "float64")


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_layers_are_those_of_central_differences(name):
    """Of rows and of all parameters, on a graph with nodes without edges."""
    torch.manual_seed(3)
    index, relation = torch.randint(0, 8, (2, 20)), torch.randint(0, RELATIONS, (20,))
    layer = LAYERS[name] and LAYERS[name]().double()
    names, parameters = zip(*layer.named_parameters()) if layer else ((), ())

    def computed(x, *given):
        torch.manual_seed(4)  # Embeddings of relations are drawn where there are some.
        if layer is None:
            return output(name, None, x, index, relation)
        return torch.func.functional_call(_Output(name, layer, index, relation), {f"layer.{one}": value for one, value in zip(names, given)}, (x,))

    x = torch.randn(9, 8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(computed, (x, *[one.detach().clone().requires_grad_() for one in parameters]))


class _Output(torch.nn.Module):
    """`output` as a module, so that it can be called with other parameters."""

    def __init__(self, name, layer, index, relation):
        super().__init__()
        self.name, self.layer, self.index, self.relation = name, layer, index, relation

    def forward(self, x):
        return output(self.name, self.layer, x, self.index, self.relation)


@pytest.mark.parametrize("name", LAYERS)
def test_every_target_computes_layers(name, monkeypatch):
    for text, arguments, native in calls_of(name, monkeypatch, torch.float32):
        wanted = runner.run(text, "main", arguments, target="interpreter")
        assert_accurate(native, wanted, "float32")
        for target, isa in (("cpu", "avx2"), ("cpu", "baseline"), ("emulator", None)):
            found = drawloom.compile(text, target=target, isa=isa).main(*arguments)
            assert_accurate(found if isinstance(found, tuple) else [found], wanted, "float32")


@pytest.mark.parametrize("name", LAYERS)
def test_kernels_for_gpus_serve_graphs_of_any_size(name, monkeypatch):
    """One program, of several blocks of nodes the last of which is not full, on two graphs."""
    monkeypatch.setattr(drawloom.ops.graphs, "ROWS_PER_BLOCK", 16)
    torch.manual_seed(2)
    known = {}
    for nodes, edges in ((NODES, EDGES), (60, 200)):
        index, relation = torch.randint(0, nodes - 1, (2, edges)), torch.randint(0, RELATIONS, (edges,))
        for i, (text, arguments, native) in enumerate(calls_of(name, monkeypatch, torch.float32, nodes, index, relation, opened=True)):
            assert "tensor<?x" in text
            if i not in known:
                function = drawloom.compile(text, target="emulator").main
                known[i] = text, function._program.compile("main", None), function
            assert known[i][0] == text
            found = known[i][2](*arguments)
            assert known[i][2]._any, "one program for all"
            assert_accurate(found if isinstance(found, tuple) else [found], native, "float32")


@pytest.mark.parametrize("name", WIDE)
def test_kernels_for_any_graph_are_assembled_and_spill_nothing_in_loops(name, monkeypatch, tmp_path):
    for i, (text, *_) in enumerate(calls_of(name, monkeypatch, torch.float32, opened=True, make=WIDE[name], width=64)):
        (tmp_path / "it.mlir").write_text(text)
        folder = tmp_path / str(i)
        runner.tool("drawloom-translate", tmp_path / "it.mlir", "--mlir-to-bundle", "--arch=all", f"--bundle-dir={folder}")
        for one in json.loads((folder / "bundle.json").read_text())["architectures"]:
            assert one["kernels"]
            for kernel in one["kernels"]:
                # ptxas may keep some registers of a block in memory, at far fewer than there are, but not in loops over edges.
                assert kernel["spill_store_bytes"] <= 32
                if kernel["spill_store_bytes"]:
                    code, = sass.disassemble(folder / kernel["cubin"], lines=True)
                    inner = {i for i, one in enumerate(code.loops)
                             if not any(one.first <= other.first and other.last <= one.last for other in code.loops if other is not one)}
                    assert not [where for where, loop in zip(code.classes, code.innermost()) if loop in inner and (where or "").startswith("local")]


def test_products_of_many_shapes_share_the_tiles_of_amx(monkeypatch):
    """In bfloat16, for any graph: a kernel multiplies 8 rows and rows one by one by matrices, and columns of rows by rows."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    text, arguments, native = calls_of("rgcn", monkeypatch, torch.bfloat16, opened=True, make=WIDE["rgcn"], width=64)[-1]
    assert "tensor<?x64xbf16>" in text
    arguments = [one.view(bfloat16) if one.dtype == "uint16" else one for one in arguments]
    found = drawloom.compile(text, isa="amx-replaced").main(*arguments)
    for one, other in zip(found, native):
        wanted = other.view(bfloat16).astype("float32")
        assert abs(one.astype("float32") - wanted).max() <= 2.0**-6 * abs(wanted).max()


@pytest.mark.parametrize("rows", [1024, 8])
@pytest.mark.parametrize("of", ["all", "edge", "rel"])
def test_gradients_of_maxima_of_one_space(of, rows, monkeypatch):
    """Where no row of a node is read; of a graph in one block, and in two."""
    monkeypatch.setattr(drawloom.ops.graphs, "ROWS_PER_BLOCK", rows)
    index = INDEX[:, (INDEX < 12).all(0)]
    given = torch.randn({"all": (), "edge": (index.shape[1],), "rel": (1,)}[of], requires_grad=True)
    seen, execute = [], _dispatch._run_spec

    def run(spec, tensors, *more):
        types = [ops.Array(str(one.dtype).removeprefix("torch."), tuple(one.shape)) for one in tensors]
        result = execute(spec, tensors, *more)
        seen.append((ops.text(spec, list(spec.opened(types))), [array(one) for one in tensors],
                     [array(one) for one in (result if isinstance(result, (tuple, list)) else [result])]))
        return result

    monkeypatch.setattr(_dispatch, "_run_spec", run)
    y = message_passing(Graph(*index, num_src=12), lambda **rows: rows[of] * rows[of], combine="max", **{of: given})
    torch.autograd.grad(y.sum(), given)
    text, arguments, native = seen[-1]
    assert_accurate(native, runner.run(text, "main", arguments, target="interpreter"), "float32")
    assert_accurate([drawloom.compile(text, target="emulator").main(*arguments)], native, "float32")
