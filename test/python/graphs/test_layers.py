# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers on graphs beside torch_geometric's: first values, results and gradients in float64."""

import copy
import itertools

import pytest

torch = pytest.importorskip("torch")
from torch.nn.utils import prune  # noqa: E402

theirs = pytest.importorskip("torch_geometric.nn")
import drawloom.torch  # noqa: E402
from drawloom.torch import nn as ours  # noqa: E402
from support.graph_references import ACCURACY  # noqa: E402

NODES, EDGES, RELATIONS, INPUTS, OUTPUTS = 20, 90, 4, 8, 6
torch.manual_seed(0)
# Node 19 and relation 3 have no edges.
EDGE_INDEX = torch.randint(0, NODES - 1, (2, EDGES))
EDGE_TYPE = torch.randint(0, RELATIONS - 1, (EDGES,))
EDGE_ATTR = torch.randn(EDGES, 5, dtype=torch.float64)
X = torch.randn(NODES, INPUTS, dtype=torch.float64)


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch):
    """Dense layers of the caller's are computed here, however few rows there are."""
    monkeypatch.setattr(drawloom.torch._dense, "MANY_ROWS", 0)


def both(name, *arguments, **options):
    """The two layers, begun with one seed."""
    made = []
    for library in (theirs, ours):
        torch.manual_seed(1)
        made.append(getattr(library, name)(*arguments, **options))
    return made


def assert_same(layer, own, *arguments, same_start=True, **options):
    """One forward and backward pass of each."""
    for (name, value), (own_name, own_value) in zip(layer.state_dict().items(), own.state_dict().items(), strict=True):
        assert name == own_name and (not same_start or torch.equal(value, own_value))
    own.load_state_dict(layer.state_dict())
    layer, own = layer.double(), own.double()
    inputs = [one.requires_grad_() for one in (*arguments, *options.values()) if isinstance(one, torch.Tensor) and one.is_floating_point()]

    def run(one):
        results = one(*arguments, **options)
        results = [results[0], results[1][1]] if isinstance(results, tuple) else [results]
        torch.manual_seed(2)
        cotangents = [torch.randn_like(result) for result in results]
        wanted = inputs + list(dict(one.named_parameters()).values())
        return results, torch.autograd.grad(results, wanted, cotangents, allow_unused=True)

    (results, gradients), (own_results, own_gradients) = run(layer), run(own)
    # The longest sums have 90 edges of 8 channels, and a value goes through three of them: 3 x 720 roundings of 1.1e-16 are 2.4e-13 of
    # the terms' size. Terms of some hundred may cancel, so what is small is compared by 1e-11, and the rest far below torch's own 1e-7.
    for a, b in zip(results + list(gradients), own_results + list(own_gradients), strict=True):
        if a is not None or b is not None:
            torch.testing.assert_close(torch.zeros_like(a) if b is None else b, torch.zeros_like(b) if a is None else a, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("aggr", ["mean", "add", "max", "min"])
@pytest.mark.parametrize("options", [{}, {"num_bases": 3}, {"num_blocks": 2}, {"root_weight": False, "bias": False}])
def test_rgcn(aggr, options):
    assert_same(*both("RGCNConv", INPUTS, OUTPUTS, RELATIONS, aggr=aggr, **options), X, EDGE_INDEX, EDGE_TYPE)


@pytest.mark.parametrize("options", [{}, {"num_bases": 3}])
def test_rgcn_of_node_numbers(options):
    assert_same(*both("RGCNConv", NODES, OUTPUTS, RELATIONS, **options), torch.randperm(NODES), EDGE_INDEX, EDGE_TYPE)


def test_rgcn_between_two_kinds_of_nodes():
    layer, own = both("RGCNConv", (INPUTS, 5), OUTPUTS, RELATIONS)
    left, right = X, torch.randn(7, 5, dtype=torch.float64)
    edge_index = torch.stack([EDGE_INDEX[0], EDGE_INDEX[1] % 7])
    layer, own = layer.double(), own.double()
    torch.testing.assert_close(own((left, right), edge_index, EDGE_TYPE), layer((left, right), edge_index, EDGE_TYPE))


ATTENTION = [{}, {"heads": 3}, {"heads": 3, "concat": False}, {"edge_dim": 5}, {"heads": 2, "edge_dim": 5, "fill_value": "max"},
             {"edge_dim": 5, "fill_value": 0.5}, {"add_self_loops": False}, {"residual": True}]


@pytest.mark.parametrize("name", ["GATConv", "GATv2Conv"])
@pytest.mark.parametrize("options", ATTENTION)
def test_attention(name, options):
    edge = {"edge_attr": EDGE_ATTR} if "edge_dim" in options else {}
    assert_same(*both(name, INPUTS, OUTPUTS, **options), X, EDGE_INDEX, return_attention_weights=True, **edge)
    assert_same(*both(name, INPUTS, OUTPUTS, **options), X, EDGE_INDEX, **edge)


@pytest.mark.parametrize("options", [{}, {"aggr": "max"}, {"aggr": "add", "normalize": True}, {"project": True}, {"root_weight": False},
                                     {"aggr": "min"}])
def test_sage(options):
    assert_same(*both("SAGEConv", INPUTS, OUTPUTS, **options), X, EDGE_INDEX)


@pytest.mark.parametrize("between", [[torch.nn.ReLU()], [torch.nn.ELU()], [torch.nn.BatchNorm1d(OUTPUTS), torch.nn.ReLU()], [torch.nn.PReLU()]],
                         ids=["relu", "elu", "normalized", "unknown"])
def test_gin(between):
    nn = torch.nn.Sequential(torch.nn.Linear(INPUTS, OUTPUTS), *between, torch.nn.Linear(OUTPUTS, OUTPUTS))
    assert_same(theirs.GINConv(nn, train_eps=True), ours.GINConv(copy.deepcopy(nn), train_eps=True), X, EDGE_INDEX, same_start=False)


def test_the_chain_of_gin_is_one_program_unless_somebody_looks_into_it(monkeypatch):
    chain = torch.nn.Sequential(torch.nn.Linear(INPUTS, OUTPUTS), torch.nn.ReLU(), torch.nn.Linear(OUTPUTS, OUTPUTS)).double()
    layer, calls = ours.GINConv(chain), []
    program = drawloom.torch._dense.apply
    monkeypatch.setattr(drawloom.torch._dense, "apply", lambda *given: calls.append(1) or program(*given))
    one = layer(X, EDGE_INDEX)
    assert len(calls) == 1
    seen = []
    hook = chain[1].register_forward_hook(lambda module, given, result: seen.append(result))
    torch.testing.assert_close(layer(X, EDGE_INDEX), one)
    assert len(seen) == 1 and len(calls) == 1
    hook.remove()
    with torch.autocast("cpu"):
        layer(X, EDGE_INDEX)
        assert len(calls) == 1
    for weight in chain[2].parameters():
        weight.requires_grad_(False)
    gradient, = torch.autograd.grad(layer(X, EDGE_INDEX).sum(), chain[0].weight)
    assert gradient.shape == chain[0].weight.shape and len(calls) == 2


class AlwaysDrawing(torch.nn.Dropout):
    def forward(self, x):
        return x.flip(1)


class Scaling(torch.nn.Identity):
    def forward(self, x):
        return 3 * x


class Odd(torch.nn.GELU):
    def forward(self, x):
        return x**3


@pytest.mark.parametrize("between", [[AlwaysDrawing(), torch.nn.ReLU()], [Scaling(), torch.nn.ReLU()], [Odd()]], ids=["dropout", "identity", "gelu"])
def test_the_chain_of_gin_calls_classes_that_it_does_not_know(between):
    nn = torch.nn.Sequential(torch.nn.Linear(INPUTS, OUTPUTS), *between, torch.nn.Linear(OUTPUTS, OUTPUTS))
    assert_same(theirs.GINConv(nn), ours.GINConv(copy.deepcopy(nn)), X, EDGE_INDEX, same_start=False)


@pytest.mark.parametrize("which", [None, 0, 1, 2])
def test_the_chain_of_gin_calls_forwards_of_single_modules(which):
    nn = torch.nn.Sequential(torch.nn.Linear(INPUTS, OUTPUTS), torch.nn.ReLU(), torch.nn.Linear(OUTPUTS, OUTPUTS)).double()
    layer = ours.GINConv(nn)
    module = nn if which is None else nn[which]
    forward = module.forward
    one = layer(X, EDGE_INDEX)
    module.forward = lambda x: 1 - forward(x)
    assert not torch.allclose(layer(X, EDGE_INDEX), one)


@pytest.mark.parametrize("types", [(torch.float64, torch.float32, torch.float64), (torch.bfloat16, torch.float32, torch.float32),
                                   (torch.float32, torch.float32, torch.float64)])
def test_gin_adds_rows_of_two_types_as_torch_does(types):
    left, right, own = types
    layer = ours.GINConv(torch.nn.Linear(INPUTS, OUTPUTS).double(), train_eps=True)
    layer.eps.data = layer.eps.data.to(own)
    rows = X.to(left), X.to(right)
    summed = layer.nn.to(torch.promote_types(torch.promote_types(left, right), own))(
        ours.GINConv(torch.nn.Identity())((rows[0], None), EDGE_INDEX, size=(NODES, NODES)) + (1 + layer.eps) * rows[1])
    torch.testing.assert_close(layer(rows, EDGE_INDEX), summed)


class Halved(theirs.HeteroDictLinear):
    def forward(self, rows):
        return {kind: one / 2 for kind, one in super().forward(rows).items()}


@pytest.mark.parametrize("which", ["kqv_lin", "out_lin"])
def test_hgt_calls_classes_of_linears_that_it_does_not_know(which):
    layer = theirs.HGTConv(INPUTS, INPUTS, (["a"], [("a", "x", "a")]), heads=1).double()
    getattr(layer, which).__class__ = Halved
    wanted = layer({"a": X}, {("a", "x", "a"): EDGE_INDEX})["a"]
    drawloom.torch.patch_pyg()
    try:
        torch.testing.assert_close(layer({"a": X}, {("a", "x", "a"): EDGE_INDEX})["a"], wanted)
    finally:
        drawloom.torch.unpatch_pyg()


def test_hgt_computes_types_of_many_nodes_where_another_has_few(monkeypatch):
    monkeypatch.setattr(drawloom.torch._dense, "MANY_ROWS", 10)
    metadata = ["a", "b"], [("a", "x", "b"), ("b", "y", "a")]
    layer, own = (one.double() for one in both("HGTConv", INPUTS, INPUTS, metadata))
    rows = {"a": X, "b": X[:5]}
    edges = {metadata[1][0]: EDGE_INDEX % torch.tensor([[NODES], [5]]), metadata[1][1]: EDGE_INDEX % torch.tensor([[5], [NODES]])}
    calls, program = [], drawloom.torch._dense.apply
    monkeypatch.setattr(drawloom.torch._dense, "apply", lambda *given: calls.append(1) or program(*given))
    found, wanted = own(rows, edges), layer(rows, edges)
    assert len(calls) == 2
    for kind in rows:
        torch.testing.assert_close(found[kind], wanted[kind])


def test_a_linear_layer_of_a_class_of_its_own_is_called():
    layer = ours.SAGEConv(INPUTS, OUTPUTS, project=True)

    class Twice(type(layer.lin)):
        def forward(self, x):
            return 2 * super().forward(x)

    twice = Twice(INPUTS, INPUTS)
    one = layer(X.float(), EDGE_INDEX)
    twice.load_state_dict(layer.lin.state_dict())
    layer.lin = twice
    assert not torch.allclose(layer(X.float(), EDGE_INDEX), one)


@pytest.mark.parametrize("inputs", [7, 16])
def test_gradients_of_two_products_of_the_same_rows_in_bfloat16(inputs):
    """Their sums do not fit in the registers of AMX beside each other."""
    torch.manual_seed(0)
    rows = torch.randn(600, inputs).bfloat16().requires_grad_()
    weights = [torch.randn(inputs, 8).bfloat16().requires_grad_() for _ in range(2)]
    biases = [torch.randn(8).bfloat16().requires_grad_() for _ in range(2)]
    found = torch.autograd.grad(drawloom.torch._dense.products(rows, *zip(weights, biases)), [rows, *weights], [torch.ones(600, 8).bfloat16()] * 2)
    wide = [one.detach().double().requires_grad_() for one in (rows, *weights)]
    wanted = torch.autograd.grad(sum((wide[0] @ one).sum() for one in wide[1:]), wide)
    for one, other in zip(found, wanted):
        assert (one.double() - other).norm() <= ACCURACY["bfloat16"] * other.norm()


def test_of_few_rows_dense_layers_are_those_of_torch_to_the_last_bit(monkeypatch):
    monkeypatch.undo()
    torch.manual_seed(0)
    x, chain = X.float(), torch.nn.Sequential(torch.nn.Linear(INPUTS, OUTPUTS), torch.nn.ReLU(), torch.nn.Linear(OUTPUTS, OUTPUTS))
    layer = ours.GINConv(chain)
    rows = x + drawloom.torch.message_passing(drawloom.torch.Graph(*EDGE_INDEX, num_src=NODES), lambda src: src, src=x)
    assert torch.equal(layer(x, EDGE_INDEX), chain(rows))


class Doubled(torch.nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def with_root_of_its_own_bias(layer):
    layer.lin_r = torch.nn.Linear(INPUTS, OUTPUTS).double()


def with_one_layer_for_both(layer):
    layer.lin_r = layer.lin_l


def with_another_class(layer):
    name = "lin_l" if hasattr(layer, "lin_l") else "lin"
    bias = getattr(layer, name).bias is not None
    setattr(layer, name, Doubled(INPUTS, getattr(layer, name).weight.shape[0], bias).double())


def with_another_forward(layer):
    inner = layer.lin_l if hasattr(layer, "lin_l") else layer.lin
    inner.forward = lambda x, weight=inner.weight: torch.nn.functional.linear(x, weight).cos()


def with_a_chain(layer):
    layer.lin = torch.nn.Sequential(torch.nn.Linear(INPUTS, 2 * OUTPUTS).double(), torch.nn.Tanh())


@pytest.mark.parametrize("make, change", [
    *(((lambda: theirs.SAGEConv(INPUTS, OUTPUTS)), change)
      for change in (with_root_of_its_own_bias, with_one_layer_for_both, with_another_class, with_another_forward)),
    *(((lambda: theirs.GATConv(INPUTS, OUTPUTS, heads=2)), change) for change in (with_another_class, with_another_forward, with_a_chain))])
def test_layers_that_were_replaced_compute_what_they_say(make, change):
    torch.manual_seed(0)
    layer = make().double()
    change(layer)
    wanted = layer(X, EDGE_INDEX)
    drawloom.torch.patch_pyg()
    try:
        torch.testing.assert_close(layer(X, EDGE_INDEX), wanted)
    finally:
        drawloom.torch.unpatch_pyg()


@pytest.mark.parametrize("make, dtype", [
    (lambda: ours.GATConv(INPUTS, OUTPUTS, heads=2), torch.float32), (lambda: ours.GATConv(INPUTS, OUTPUTS, bias=False), torch.bfloat16),
    (lambda: ours.SAGEConv(INPUTS, OUTPUTS), torch.bfloat16), (lambda: ours.SimpleHGNConv(INPUTS, OUTPUTS, RELATIONS, heads=2), torch.float32)])
def test_under_autocast_layers_compute_as_torch_multiplies_and_adds(make, dtype):
    torch.manual_seed(0)
    layer = make()
    relations = [EDGE_TYPE] if isinstance(layer, ours.SimpleHGNConv) else []

    def rows():
        found = layer(X.float(), EDGE_INDEX, *relations)
        return found[0] if isinstance(found, tuple) else found

    wanted = rows()
    with torch.autocast("cpu"):
        found = rows()
    assert found.dtype == dtype and (found.float() - wanted).norm() <= ACCURACY["bfloat16"] * wanted.norm()


def test_hooks_on_a_gradient_are_called():
    layer, seen = ours.SAGEConv(INPUTS, OUTPUTS).double(), []
    layer.lin_l.register_full_backward_pre_hook(lambda module, gradient: seen.append(gradient))
    layer(X, EDGE_INDEX).sum().backward()
    assert len(seen) == 1


@pytest.mark.parametrize("mod, mechanism", list(itertools.product([None, "additive", "scaled", "f-additive", "f-scaled"],
                                                                  ["within-relation", "across-relation"])))
@pytest.mark.parametrize("mode, concat", [("additive-self-attention", True), ("multiplicative-self-attention", False)])
def test_rgat(mod, mechanism, mode, concat):
    layer, own = both("RGATConv", INPUTS, OUTPUTS, RELATIONS, mod=mod, attention_mechanism=mechanism, attention_mode=mode, heads=2,
                      dim=1 if mode.startswith("additive") else 3, concat=concat, edge_dim=5)
    # Theirs leaves it as the memory was.
    layer.l2.data.fill_(0.3)
    assert_same(layer, own, X, EDGE_INDEX, EDGE_TYPE, same_start=False, edge_attr=EDGE_ATTR, return_attention_weights=True)


@pytest.mark.parametrize("options", [{"num_bases": 2}, {"num_blocks": 2}, {}])
def test_rgat_of_bases_and_blocks(options):
    layer, own = both("RGATConv", INPUTS, OUTPUTS, RELATIONS, heads=2, **options)
    layer.l2.data.fill_(0.3)
    assert_same(layer, own, X, EDGE_INDEX, EDGE_TYPE, same_start=False)


def test_hgt():
    metadata = ["a", "b"], [("a", "x", "a"), ("a", "y", "b"), ("b", "z", "a")]
    layer, own = (one.double() for one in both("HGTConv", {"a": INPUTS, "b": 5}, 8, metadata, heads=2))
    for (name, value), (own_name, own_value) in zip(layer.state_dict().items(), own.state_dict().items(), strict=True):
        assert name == own_name and torch.equal(value, own_value)
    x = {"a": torch.randn(7, INPUTS, dtype=torch.float64), "b": torch.randn(9, 5, dtype=torch.float64)}
    edges = {("a", "x", "a"): torch.randint(0, 7, (2, 15)), ("a", "y", "b"): torch.randint(0, 7, (2, 15)),
             ("b", "z", "a"): torch.stack([torch.randint(0, 9, (12,)), torch.randint(0, 7, (12,))])}
    results = [one(x, edges) for one in (layer, own)]
    gradients = [torch.autograd.grad(sum((y * y).sum() for y in result.values()), list(one.parameters()), allow_unused=True)
                 for one, result in zip((layer, own), results)]
    for kind in x:
        torch.testing.assert_close(results[1][kind], results[0][kind])
    for a, b in zip(*gradients, strict=True):
        # Of relations that no edge of a kind of nodes has, theirs is none.
        if a is not None or b is not None:
            torch.testing.assert_close(torch.zeros_like(a) if b is None else b, torch.zeros_like(b) if a is None else a)


def message_sum(weights, rows):
    return torch.zeros(NODES, *rows.shape[1:], dtype=rows.dtype).index_add(0, EDGE_INDEX[1], weights * rows)


@pytest.mark.parametrize("composition", ["sub", "mult"])
def test_compgcn(composition):
    direction = torch.tensor([0, 1, 0, 1])
    layer = ours.CompGCNConv(INPUTS, OUTPUTS, RELATIONS, composition, directions=2, direction=direction).double()
    z = torch.randn(RELATIONS, INPUTS, dtype=torch.float64)
    y, z_next = layer(X, z, EDGE_INDEX, EDGE_TYPE)
    compose = torch.sub if composition == "sub" else torch.mul
    rows = torch.einsum("ed,edo->eo", compose(X[EDGE_INDEX[0]], z[EDGE_TYPE]), layer.weight[direction[EDGE_TYPE]])
    torch.testing.assert_close(y, message_sum(1.0, rows) + compose(X, layer.loop) @ layer.weight_loop + layer.bias)
    torch.testing.assert_close(z_next, z @ layer.weight_rel)


def test_simple_hgn_keeps_a_part_of_the_weights_in_front():
    from torch_geometric.utils import softmax

    layer = ours.SimpleHGNConv(INPUTS, OUTPUTS, RELATIONS, heads=2, rel_channels=4, residual=True, beta=0.3).double()
    before = torch.rand(EDGES, 2, dtype=torch.float64)
    y, alpha = layer(X, EDGE_INDEX, EDGE_TYPE, before)
    z = layer.lin(X).view(NODES, 2, OUTPUTS)
    relation = (layer.lin_rel(layer.rel).view(RELATIONS, 2, -1) * layer.att_rel).sum(-1)
    score = (z * layer.att_src).sum(-1)[EDGE_INDEX[0]] + (z * layer.att_dst).sum(-1)[EDGE_INDEX[1]] + relation[EDGE_TYPE]
    wanted = 0.7 * softmax(torch.nn.functional.leaky_relu(score, 0.2), EDGE_INDEX[1]) + 0.3 * before
    torch.testing.assert_close(alpha, wanted)
    torch.testing.assert_close(y, message_sum(wanted[..., None], z[EDGE_INDEX[0]]).flatten(1) + layer.res(X) + layer.bias)


def test_dropout_drops_weights_of_edges():
    layer = ours.GATConv(INPUTS, OUTPUTS, heads=2, dropout=0.5).double()
    y, (_, alpha) = layer(X, EDGE_INDEX, return_attention_weights=True)
    assert 0.3 < (alpha == 0).double().mean() < 0.7
    layer.eval()
    assert (layer(X, EDGE_INDEX, return_attention_weights=True)[1][1] > 0).all()


def test_a_graph_is_built_once_and_again_after_a_change():
    layer = ours.SAGEConv(INPUTS, OUTPUTS, root_weight=False).double()
    edge_index = EDGE_INDEX.clone()
    first = layer(X, edge_index)
    graph = drawloom.torch.graph.graph_of(edge_index, None, (NODES, NODES), 1).graph
    layer(X, edge_index)
    assert drawloom.torch.graph.graph_of(edge_index, None, (NODES, NODES), 1).graph is graph
    edge_index[1, 0] = (edge_index[1, 0] + 1) % NODES
    assert not torch.equal(layer(X, edge_index), first)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_narrow_types_are_summed_in_float32(dtype):
    """float16 has three bits more than bfloat16: it may be off an eighth."""
    layer, x = ours.RGCNConv(INPUTS, OUTPUTS, RELATIONS).to(dtype), X.to(dtype)
    found = layer(x, EDGE_INDEX, EDGE_TYPE)
    wanted = layer.double()(x.double(), EDGE_INDEX, EDGE_TYPE)
    tolerance = ACCURACY["bfloat16"] / 8 if dtype == torch.float16 else ACCURACY[str(dtype).removeprefix("torch.")]
    assert (found.double() - wanted).norm() <= tolerance * wanted.norm()


def test_patched_layers_are_computed_here():
    drawloom.torch.patch_pyg()
    try:
        before = drawloom.torch.patch_pyg_report()["computed"].get("RGCNConv", 0)
        layer = theirs.RGCNConv(INPUTS, OUTPUTS, RELATIONS).double()
        y = layer(X, EDGE_INDEX, EDGE_TYPE)
        assert drawloom.torch.patch_pyg_report()["computed"]["RGCNConv"] == before + 1
        sage = theirs.SAGEConv(INPUTS, OUTPUTS, aggr="lstm").double()
        order = EDGE_INDEX[1].argsort()
        sage(X, EDGE_INDEX[:, order])
        assert any(name == "SAGEConv" and "lstm" in reason for name, reason in drawloom.torch.patch_pyg_report()["left"])
    finally:
        drawloom.torch.unpatch_pyg()
    torch.testing.assert_close(layer(X, EDGE_INDEX, EDGE_TYPE), y)


def test_patched_layers_take_a_graph_where_they_are_computed_here():
    graph = drawloom.torch.Graph(*EDGE_INDEX, EDGE_TYPE, num_src=NODES, num_relations=RELATIONS)
    layer, sage = theirs.RGCNConv(INPUTS, OUTPUTS, RELATIONS).double(), theirs.SAGEConv(INPUTS, OUTPUTS, aggr="lstm").double()
    wanted = layer(X, EDGE_INDEX, EDGE_TYPE)
    drawloom.torch.patch_pyg()
    try:
        torch.testing.assert_close(layer(X, graph), wanted)
        torch.testing.assert_close(layer(X, graph, EDGE_TYPE), wanted)
        with pytest.raises(drawloom.torch.graph.CallError, match="SAGEConv: aggr is 'lstm', and torch_geometric takes no drawloom.torch.Graph"):
            sage(X, graph)
    finally:
        drawloom.torch.unpatch_pyg()


def test_attention_adds_up():
    with pytest.raises(drawloom.torch.graph.CallError, match="aggr is 'mean'; it is one of add, sum"):
        ours.GATConv(INPUTS, OUTPUTS, aggr="mean")
    layer = theirs.GATConv(INPUTS, OUTPUTS, aggr="mean").double()
    wanted = layer(X, EDGE_INDEX)
    drawloom.torch.patch_pyg()
    try:
        torch.testing.assert_close(layer(X, EDGE_INDEX), wanted)
    finally:
        drawloom.torch.unpatch_pyg()


def test_inference_tensors_have_no_graph_that_stays():
    layer = ours.SAGEConv(INPUTS, OUTPUTS, root_weight=False).double()
    with torch.inference_mode():
        edge_index = EDGE_INDEX.clone()
        first = layer(X, edge_index)
        edge_index[1, :5] = (edge_index[1, :5] + 1) % NODES
        second = layer(X, edge_index)
    assert not torch.equal(first, second)
    torch.testing.assert_close(second, layer(X, edge_index.clone()).detach())


def test_calls_that_others_would_compute_wrongly_are_left_or_refused():
    error = drawloom.torch.graph.CallError
    with pytest.raises(error, match="edge_attr has the shape"):
        ours.GATConv(INPUTS, OUTPUTS, edge_dim=2)(X.float(), EDGE_INDEX, torch.rand(EDGES + 5, 2))
    with pytest.raises(error, match="3 entries of edge_type"):
        ours.RGCNConv(INPUTS, OUTPUTS, 1).double()(X, EDGE_INDEX, torch.full((3,), 99))
    with pytest.raises(error, match="it is .nodes, channels."):
        ours.GATConv(INPUTS, OUTPUTS)(torch.rand(NODES, 2, INPUTS), EDGE_INDEX)
    with pytest.raises(error, match="x is float64, but the layer's parameters are float32"):
        ours.RGATConv(INPUTS, OUTPUTS, RELATIONS)(X, EDGE_INDEX, EDGE_TYPE)
    with pytest.raises(drawloom.CallTypeError, match="x is float32, but the layer's parameters are float64"):
        layer = ours.RGATConv(INPUTS, OUTPUTS, RELATIONS)
        layer.k.data = layer.k.data.double()
        layer(X.float(), EDGE_INDEX, EDGE_TYPE)
    with pytest.raises(error, match=r"edge_attr has 3 rows; with a Graph it has one for each of its \d+ edges"):
        graph = drawloom.torch.Graph(*EDGE_INDEX, EDGE_TYPE, num_src=NODES, num_relations=RELATIONS)
        ours.RGATConv(INPUTS, OUTPUTS, RELATIONS, edge_dim=2)(X.float(), graph, None, torch.rand(3, 2))
    for layer, pair in ((ours.GATv2Conv((INPUTS, 3), OUTPUTS), (X.float(), None)), (ours.SAGEConv((INPUTS, 3), OUTPUTS), (None, X.float()))):
        with pytest.raises(error, match="Conv: x is rows of nodes, or a pair of rows of sources and of targets"):
            layer(pair, EDGE_INDEX)
    with pytest.raises(error, match="rows are on cpu and meta"):
        drawloom.torch.message_passing(drawloom.torch.Graph(*EDGE_INDEX), lambda src, dst: src * dst, src=X[:19], dst=X[:19].to("meta"))
    changed, replaced = (theirs.SAGEConv(INPUTS, OUTPUTS).double() for _ in range(2))
    changed.message = lambda x_j: 2 * x_j
    replaced.aggr_module = theirs.aggr.MaxAggregation()
    wanted = [layer(X, EDGE_INDEX) for layer in (changed, replaced)]
    drawloom.torch.patch_pyg()
    try:
        for layer, result in zip((changed, replaced), wanted):
            torch.testing.assert_close(layer(X, EDGE_INDEX), result)
    finally:
        drawloom.torch.unpatch_pyg()


def test_graphs_are_made_within_transforms_and_modes():
    layer = ours.SAGEConv(INPUTS, OUTPUTS).double()
    assert torch.func.grad(lambda x: layer(x, EDGE_INDEX.clone()).sum())(X.detach()).shape == X.shape
    graph = drawloom.torch.Graph(*EDGE_INDEX, num_src=NODES)

    def total(x):
        return drawloom.torch.message_passing(graph, lambda src: src.tanh(), src=x, to="edge").sum()

    for _ in range(2):
        assert torch.func.grad(lambda x: torch.func.grad(total)(x).sum())(X.detach()).shape == X.shape
    edge_index, attention = EDGE_INDEX.clone(), ours.GATConv(INPUTS, OUTPUTS, edge_dim=2).double()
    with torch.inference_mode():
        attention(X.detach(), edge_index, torch.rand(EDGES, 2).double())
    attention(X, edge_index, torch.rand(EDGES, 2).double()).sum().backward()
    hgt = ours.HGTConv(INPUTS, 6, (["a"], [("a", "x", "a")]), 2)
    with torch.autocast("cpu", torch.bfloat16):
        assert hgt({"a": X.float()}, {("a", "x", "a"): EDGE_INDEX})["a"].dtype == torch.bfloat16


def test_a_graph_is_in_no_file_of_its_edges():
    import io

    before, after = io.BytesIO(), io.BytesIO()
    edge_index = EDGE_INDEX.clone()
    torch.save(edge_index, before)
    ours.SAGEConv(INPUTS, OUTPUTS).double()(X, edge_index)
    torch.save(edge_index, after)
    assert before.getvalue() == after.getvalue()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("make", [lambda: ours.SAGEConv(INPUTS, OUTPUTS), lambda: ours.GATConv(INPUTS, OUTPUTS), lambda: ours.GATv2Conv(INPUTS, OUTPUTS),
                                  lambda: ours.GINConv(torch.nn.Linear(INPUTS, OUTPUTS))])
def test_layers_of_narrow_types_keep_them(make, dtype):
    layer = make().to(dtype)
    y = layer(X.to(dtype), EDGE_INDEX)
    y.float().sum().backward()
    assert y.dtype == dtype


def test_layers_of_one_channel_and_without_edges():
    one = torch.randn(NODES, 1, requires_grad=True)
    gradient, = torch.autograd.grad(ours.RGATConv(1, 4, RELATIONS)(one, EDGE_INDEX, EDGE_TYPE).sin().sum(), one, create_graph=True)
    gradient.sum().backward()
    blocks = ours.RGCNConv(4, 4, 2, num_blocks=4)
    x = torch.randn(5, 4, requires_grad=True)
    y = blocks(x, EDGE_INDEX[:, :0], EDGE_TYPE[:0])
    torch.testing.assert_close(y, x @ blocks.root + blocks.bias)
    y.sum().backward()
    torch.testing.assert_close(x.grad, blocks.root.sum(1).expand(5, 4))


def test_a_graph_does_not_keep_its_edges():
    import gc
    import weakref

    layer, edge_index = ours.SAGEConv(INPUTS, OUTPUTS).double(), EDGE_INDEX.clone()
    layer(X, edge_index)
    graph = weakref.ref(drawloom.torch.graph.graph_of(edge_index, None, (NODES, NODES), 1).graph)
    del edge_index
    gc.collect()
    assert graph() is None


@pytest.mark.parametrize("aggr", ["sum", "mean"])
def test_rgcn_with_weights_of_edges(aggr):
    x, weight = torch.randn(4, 3, requires_grad=True), torch.randn(5, requires_grad=True)
    source, target, relation = torch.tensor([0, 1, 1, 3, 2]), torch.tensor([1, 1, 1, 0, 3]), torch.tensor([0, 1, 1, 0, 1])
    layer = ours.RGCNConv(3, 2, 2, aggr=aggr)
    found = layer(x, torch.stack([source, target]), relation, edge_weight=weight)
    share = torch.tensor([1.0, 0.5, 0.5, 1.0, 1.0]) if aggr == "mean" else torch.ones(5)
    rows = torch.einsum("ei,eio->eo", x[source], layer.weight[relation]) * (weight * share)[:, None]
    wanted = torch.zeros(4, 2).index_add(0, target, rows) + x @ layer.root + layer.bias
    torch.testing.assert_close(found, wanted)
    for one, other in zip(*(torch.autograd.grad(y.square().sum(), (x, weight)) for y in (found, wanted))):
        torch.testing.assert_close(one, other)
    with pytest.raises(drawloom.torch.graph.CallError, match=r"edge_weight has the shape \[5, 1\]; it is \[edges\]"):
        layer(x, torch.stack([source, target]), relation, edge_weight=weight[:, None])


def test_linear_layers_that_do_more_are_called():
    metadata = ["n"], [("n", "to", "n")]
    conv = ours.HGTConv(4, 4, metadata, heads=2)
    x, edges = {"n": torch.randn(3, 4)}, {("n", "to", "n"): torch.tensor([[0, 1], [1, 2]])}
    plain = conv(x, edges)["n"]
    called = []
    handle = conv.kqv_lin.lins["n"].register_forward_hook(lambda *given: called.append(given))
    torch.testing.assert_close(conv(x, edges)["n"], plain)
    assert len(called) == 1
    handle.remove()
    prune.l1_unstructured(conv.kqv_lin.lins["n"], "weight", 0.5)
    for _ in range(2):
        conv(x, edges)["n"].sum().backward()


def test_directions_are_those_that_there_are():
    with pytest.raises(drawloom.torch.graph.CallError, match=r"direction is \[0, 1\]; there are 1 directions"):
        ours.CompGCNConv(4, 4, 2, direction=torch.tensor([0, 1]))


def test_nothing_is_kept_where_no_gradient_is_wanted(monkeypatch):
    """Also where a mode watches the ops, as torch.compile does."""
    seen = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            seen.extend(one for one in arguments if isinstance(one, str))
            return function(*arguments, **(options or {}))

    layer, x = ours.GATv2Conv(4, 4, add_self_loops=False), torch.randn(3, 4)
    edges = torch.tensor([[0, 1], [1, 2]])
    for wanted in (False, True):
        seen.clear()
        with torch.set_grad_enabled(wanted), Watch():
            layer(x, edges)
        assert any('"kept": "given"' in one for one in seen) == wanted and seen
