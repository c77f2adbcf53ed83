# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DoRALinear is its paper's formula and notices every change of its base; layers are merged and unmerged without losing a bit; states go to
PEFT's names and back."""

import copy
import io

import pytest
import torch
from torch.nn import Linear

from drawloom import CallError
from drawloom.torch.nn import DoRALinear, LoRALinear, MonarchLinear

# Weights of a size whose memory is given out again as soon as it is free.
IN, OUT, R = 12, 400, 3


def trained(layer):
    """With parameters that are drawn, reproducibly."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return layer


def make(kind=DoRALinear, bias=True, **options):
    return trained(kind(Linear(IN, OUT, bias=bias, dtype=torch.float64), r=R, alpha=6.0, **options))


@pytest.fixture
def x():
    return torch.randn(2, 5, IN, generator=torch.Generator().manual_seed(4), dtype=torch.float64)


def dora(layer, x, detached=True):
    """Equation 5 of arXiv 2402.09353 and section 4.3, by torch."""
    direction = layer.weight + layer.scale * layer.lora_b @ layer.lora_a
    lengths = torch.linalg.norm(direction, dim=1)
    return torch.nn.functional.linear(x, (layer.magnitude / (lengths.detach() if detached else lengths))[:, None] * direction, layer.bias)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rslora", [True, False])
def test_dora_is_its_formula(x, bias, rslora):
    layer = make(bias=bias, rslora=rslora)
    x.requires_grad_()
    inputs = [x, layer.lora_a, layer.lora_b, layer.magnitude]
    ours, theirs = layer(x), dora(layer, x)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    gradients, others = (torch.autograd.grad(y.sin().sum(), inputs) for y in (ours, theirs))
    for one, other in zip(gradients, others):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-11)
    # The test tells detached lengths from others.
    full = torch.autograd.grad(dora(layer, x, detached=False).sin().sum(), layer.lora_a)[0]
    assert (full - gradients[1]).abs().max() > 1e-3


def test_dora_starts_as_its_base(x):
    base = Linear(IN, OUT, dtype=torch.float64)
    layer = DoRALinear(base, r=R)
    torch.testing.assert_close(layer(x), base(x), rtol=1e-14, atol=1e-14)
    torch.testing.assert_close(layer.magnitude, torch.linalg.norm(base.weight, dim=1), rtol=1e-15, atol=0)
    assert {name for name, _ in layer.named_parameters()} == {"lora_a", "lora_b", "magnitude"}


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 2e-6), (torch.bfloat16, 2e-2), (torch.float16, 2e-3)])
def test_dora_in_other_types(x, dtype, tolerance):
    layer = make().to(dtype)
    y = layer(x.to(dtype))
    assert y.dtype == dtype
    want = dora(layer.double(), x.to(dtype).double())
    assert (y.double() - want).norm() < tolerance * want.norm()


def test_dora_under_autocast(x):
    layer = make().float()
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x.float())
    assert y.dtype == torch.bfloat16
    want = dora(layer.double(), x)
    assert (y.double() - want).norm() < 2e-2 * want.norm()


def test_rows_that_the_adapter_takes_away_have_no_nan(x):
    layer = make()
    with torch.no_grad():
        layer.weight.copy_(-layer.scale * layer.lora_b @ layer.lora_a)
        layer.weight[0], layer.lora_b[0], layer.magnitude[0] = 0, 0, 0
    layer(x).sum().backward()
    assert layer(x).isfinite().all() and all(parameter.grad.isfinite().all() for parameter in layer.parameters())


def new(layer):
    return torch.randn(layer.weight.shape, generator=torch.Generator().manual_seed(7), dtype=layer.weight.dtype)


def in_place(layer):
    layer.weight.add_(1.0)


def of_a_part(layer):
    layer.weight[2].mul_(3.0)


def by_data(layer):
    layer.weight.data = new(layer)


def by_data_at_the_same_address(layer):
    # The memory of what is freed is given out again, soon.
    address = layer.weight.data_ptr()
    for _ in range(50):
        layer.weight.data = new(layer)
        if layer.weight.data_ptr() == address:
            break


def by_copy(layer):
    with torch.no_grad():
        layer.weight.copy_(new(layer))


def by_state_dict(layer):
    layer.load_state_dict({**layer.state_dict(), "weight": new(layer)})


def by_assigned_state_dict(layer):
    layer.load_state_dict({**layer.state_dict(), "weight": new(layer)}, assign=True)


def by_another_tensor(layer):
    layer.weight = new(layer)


def by_its_base(layer):
    base = Linear(IN, OUT, dtype=torch.float64)
    layer.weight = base.weight.detach()
    layer(torch.zeros(1, IN, dtype=torch.float64))
    torch.nn.init.normal_(base.weight)


def by_set(layer):
    layer.weight.set_(new(layer))


def in_inference_mode(layer):
    with torch.inference_mode():
        layer.weight.add_(1.0)


def by_a_fused_optimizer(layer):
    weight = layer.weight
    del layer.weight
    layer.weight = torch.nn.Parameter(weight)
    layer(torch.zeros(1, IN, dtype=torch.float64))
    weight = layer.weight
    weight.grad = new(layer)
    torch.optim.SGD([weight], 1.0, fused=True).step()


def past_torch(layer):
    layer.weight.numpy()[:] += 1.0
    torch.autograd.graph.increment_version(layer.weight)


@pytest.mark.parametrize("change", [in_place, of_a_part, by_data, by_data_at_the_same_address, by_copy, by_state_dict,
                                    by_assigned_state_dict, by_another_tensor, by_its_base, by_set, in_inference_mode,
                                    by_a_fused_optimizer, past_torch])
def test_every_change_of_the_base_is_noticed(x, change):
    layer = make()
    layer(x)
    before = layer.weight.clone()
    change(layer)
    assert not torch.equal(before, layer.weight)
    torch.testing.assert_close(layer(x), dora(layer, x), rtol=1e-12, atol=1e-12)


def test_a_base_of_another_type_is_noticed(x):
    layer = make()
    layer(x)
    layer.to(torch.float32).to(torch.float64)
    torch.testing.assert_close(layer(x), dora(layer, x), rtol=1e-12, atol=1e-12)
    layer.bfloat16()(x.bfloat16())
    layer.double()
    torch.testing.assert_close(layer(x), dora(layer, x), rtol=1e-12, atol=1e-12)


def test_a_base_in_inference_mode_is_noticed(x):
    with torch.inference_mode():
        layer = make()
        layer(x)
        layer.weight.add_(1.0)
        torch.testing.assert_close(layer(x), dora(layer, x), rtol=1e-12, atol=1e-12)


def test_copies_have_their_own_lengths(x):
    layer = make()
    layer(x)
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    for other in (copy.deepcopy(layer), torch.load(file, weights_only=False)):
        other.weight.add_(1.0)
        torch.testing.assert_close(other(x), dora(other, x), rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(layer(x), dora(layer, x), rtol=1e-12, atol=1e-12)


def test_the_lengths_of_an_unchanged_base_are_computed_once(x, monkeypatch):
    counted = []
    norm = torch.linalg.vector_norm
    monkeypatch.setattr(torch.linalg, "vector_norm", lambda *args, **kwargs: counted.append(1) or norm(*args, **kwargs))
    layer = make()
    for _ in range(3):
        layer(x).sum().backward()
        with torch.no_grad():
            layer.lora_b.mul_(0.5)
    torch.testing.assert_close(layer(x), dora(layer, x), rtol=1e-12, atol=1e-12)
    assert len(counted) == 1


def nodes_of(y):
    """The names of what autograd will call."""
    found, left = [], [y.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in found:
            found.append(node)
            left += [one for one, _ in node.next_functions]
    return [node.name() for node in found]


def test_the_gradient_of_the_magnitude_takes_no_product(x):
    layer = make()
    assert nodes_of(layer(x)).count("_DifferentiableBackward") == 1
    layer.lora_a.requires_grad_(False)
    layer.lora_b.requires_grad_(False)
    assert nodes_of(layer(x)).count("_DifferentiableBackward") == 0
    layer(x).sum().backward()
    assert layer.magnitude.grad is not None


def test_dora_is_traced_by_torch_compile(x):
    layer = make()
    layer(x)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), dora(layer, x), rtol=1e-12, atol=1e-12)
    layer.weight.add_(1.0)
    torch.testing.assert_close(compiled(x), dora(layer, x), rtol=1e-12, atol=1e-12)


def test_dora_under_torch_func(x):
    layer = make()
    weights = torch.stack([layer.weight, layer.weight + 1])
    got = torch.vmap(lambda weight: torch.func.functional_call(layer, {"weight": weight}, (x,)))(weights)
    for weight, one in zip(weights, got):
        layer.weight = weight
        torch.testing.assert_close(one, dora(layer, x), rtol=1e-12, atol=1e-12)


# --- merging ------------------------------------------------------------------------------------------------------------

KINDS = {"LoRA": lambda: make(LoRALinear), "DoRA": make, "DoRA without a bias": lambda: make(bias=False),
         "Monarch": lambda: trained(MonarchLinear(IN, OUT, 4, dtype=torch.float64))}


@pytest.mark.parametrize("kind", KINDS)
def test_merging_in_place_is_merging_and_loses_no_bit(kind, x):
    layer = KINDS[kind]()
    state, y = {name: one.clone() for name, one in layer.state_dict().items()}, layer(x)
    with torch.no_grad():
        assert layer.merge_() is layer and layer.merged
        assert torch.equal(layer(x), layer.merge()(x))
        torch.testing.assert_close(layer(x), y, rtol=1e-12, atol=1e-12)
    assert layer.state_dict().keys() == state.keys()
    assert layer.unmerge_() is layer and not layer.merged
    assert torch.equal(layer(x), y) and all(torch.equal(one, state[name]) for name, one in layer.state_dict().items())


def test_what_a_merged_layer_refuses(x):
    layer = make(LoRALinear)
    with pytest.raises(CallError, match="LoRALinear: the layer is not merged"):
        layer.unmerge_()
    layer.merge_()
    for refused, message in ((lambda: layer(x), "its parameters would get no gradient; call unmerge_"),
                             (layer.merge_, "the layer is merged already; unmerge_"),
                             (lambda: layer.load_state_dict(layer.state_dict()), "would go on with the weight from before"),
                             (lambda: layer.load_peft_state_dict(layer.peft_state_dict()), "would go on with the weight from before")):
        with pytest.raises(CallError, match=message):
            refused()
    layer.requires_grad_(False)
    x.requires_grad_()
    torch.testing.assert_close(torch.autograd.grad(layer(x).sum(), x)[0], layer.materialize().sum(0).expand(x.shape))


def test_a_merged_layer_moves_as_a_whole(x):
    layer = make(LoRALinear).merge_().to(torch.float32)
    with torch.no_grad():
        assert layer(x.float()).dtype == torch.float32


# --- PEFT's names -------------------------------------------------------------------------------------------------------


def test_states_have_pefts_names():
    # As PEFT 0.21 has them.
    assert list(make().peft_state_dict()) == ["base_layer.weight", "base_layer.bias", "lora_A.default.weight", "lora_B.default.weight",
                                              "lora_magnitude_vector.default.weight"]
    assert list(make().peft_state_dict(None)) == ["lora_A.weight", "lora_B.weight", "lora_magnitude_vector"]
    assert list(make(LoRALinear, bias=False).peft_state_dict("mine")) == ["base_layer.weight", "lora_A.mine.weight", "lora_B.mine.weight"]


@pytest.mark.parametrize("kind", [LoRALinear, DoRALinear])
@pytest.mark.parametrize("adapter", ["default", "mine", None])
def test_states_come_back_from_pefts_names(kind, adapter, x):
    one, other = make(kind), kind(Linear(IN, OUT, dtype=torch.float64), r=R, alpha=6.0)
    other(x)
    if adapter is None:
        other.weight.copy_(one.weight)
        other.bias.copy_(one.bias)
    extra = {} if adapter is None else {"lora_A.another.weight": torch.zeros(7, IN)}
    other.load_peft_state_dict({**one.peft_state_dict(adapter), **extra}, adapter)
    assert torch.equal(one(x), other(x))


def test_states_that_do_not_fit_are_refused_and_change_nothing():
    layer, state = make(LoRALinear), make(DoRALinear).peft_state_dict()
    before = {name: one.clone() for name, one in layer.state_dict().items()}
    small = {name: one for name, one in state.items() if "magnitude" not in name}
    for given, message in (
            (state, "the layer has nothing for 'lora_magnitude_vector.default.weight'; it takes base_layer.weight, "),
            ({"lora_A.default.weight": state["lora_A.default.weight"]}, "there is no 'lora_B.default.weight' in the state; it has lora_A"),
            ({**small, "lora_A.default.weight": torch.zeros(4, IN)}, "'lora_A.default.weight' has the shape [4, 12], but lora_a [3, 12]")):
        with pytest.raises(CallError) as caught:
            layer.load_peft_state_dict(given)
        assert message in str(caught.value)
    with pytest.raises(CallError, match="nothing for 'base_layer.bias'"):
        make(LoRALinear, bias=False).load_peft_state_dict(small)
    assert all(torch.equal(one, before[name]) for name, one in layer.state_dict().items())
