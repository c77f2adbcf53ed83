# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PEFT's layers that drawloom.torch.patch_peft computes are PEFT's: values, gradients, adapters, state dicts, training."""

import copy

import pytest

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
from transformers.pytorch_utils import Conv1D  # noqa: E402

from drawloom import CallError  # noqa: E402
from drawloom.torch import patch_peft, patch_peft_report, unpatch_peft  # noqa: E402

IN, OUT, ROWS = 48, 72, 6


def config(name, **options):
    """Adapters that change what the layer computes from the start."""
    untrained = "init_lora_weights" if name == "Lora" else "init_weights"
    return getattr(peft, f"{name}Config")(**{"target_modules": ["lin"], untrained: False, **options})


# By name: (tuner, configuration, inputs, whether it has a form for Conv1D).
CASES = {
    "LoRA": ("lora", lambda: config("Lora", r=4, lora_alpha=6), IN, True),
    "rsLoRA with biases": ("lora", lambda: config("Lora", r=4, use_rslora=True, lora_bias=True), IN, False),
    "DoRA": ("lora", lambda: config("Lora", r=4, lora_alpha=6, use_dora=True), IN, True),
    "VeRA": ("vera", lambda: config("Vera", r=6), IN, True),
    "RandLoRA": ("randlora", lambda: config("RandLora", r=5), IN, True),
    "RandLoRA, more inputs": ("randlora", lambda: config("RandLora", r=5), 96, False),
    "LoKr": ("lokr", lambda: config("LoKr", r=2, alpha=3), IN, False),
    "LoKr, both factors of low rank": ("lokr", lambda: config("LoKr", r=1, alpha=3, decompose_both=True, decompose_factor=4), IN, False),
    "LoKr, whole factors": ("lokr", lambda: config("LoKr", r=64, alpha=3), IN, False),
    "LoHa": ("loha", lambda: config("LoHa", r=3, alpha=2), IN, False),
    "MiSS": ("miss", lambda: config("Miss", r=8), IN, False),
    "MiSS mini": ("miss", lambda: config("Miss", r=8, mini_r=6, init_weights="mini"), IN, False),
    "OFT": ("oft", lambda: config("OFT", oft_block_size=8), IN, False),
    "OFT, Cayley's map": ("oft", lambda: config("OFT", oft_block_size=8, use_cayley_neumann=False), IN, False),
    "OFT, shared blocks": ("oft", lambda: config("OFT", oft_block_size=8, block_share=True), IN, False),
    "BOFT": ("boft", lambda: config("BOFT", boft_block_size=4), IN, False),
    "BOFT with dropout": ("boft", lambda: config("BOFT", boft_block_size=4, boft_dropout=0.5), IN, False),
    "HiRA": ("hira", lambda: config("Hira", r=3), IN, True),
    "SHiRA": ("shira", lambda: config("Shira", r=3), IN, False),
    "GraLoRA": ("gralora", lambda: config("Gralora", r=8, gralora_k=4), IN, True),
    "GraLoRA, hybrid": ("gralora", lambda: config("Gralora", r=8, gralora_k=4, hybrid_r=3), IN, False),
}
# One of each tuner; what others have besides is seen in float64.
ONE_EACH = [name for name in CASES if "," not in name and "with" not in name and "mini" not in name]


@pytest.fixture(autouse=True)
def unpatched_again():
    yield
    unpatch_peft()


class Model(torch.nn.Module):
    def __init__(self, inputs=IN, turned=False, bias=True):
        super().__init__()
        self.lin = Conv1D(OUT, inputs) if turned else torch.nn.Linear(inputs, OUT, bias=bias)

    def forward(self, x):
        return self.lin(x)


def adapted(make, adapters=("default",), **options):
    """A model with adapters whose parameters are no zeros, and a bias that trains, too."""
    torch.manual_seed(0)
    model = peft.get_peft_model(Model(**options), make(), adapter_name=adapters[0])
    for name in adapters[1:]:
        model.add_adapter(name, make())
    model.base_model.set_adapter(list(adapters))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad and not parameter.any():
                parameter.normal_(0, 0.1)
    base = model.base_model.model.lin.base_layer
    if base.bias is not None:
        base.bias.requires_grad_()
    return model.train()


def of_type(model, dtype):
    """A copy. PEFT's projections are no modules' buffers, so they stay what they are."""
    model = copy.deepcopy(model).to(dtype)
    for layer in model.modules():
        for name in ("vera_A", "vera_B", "randlora_A", "randlora_B"):
            kept = getattr(layer, name, None)
            for key in kept or ():
                kept[key] = kept[key].to(dtype)
    return model


def inputs_of(dtype, *shape, inputs=IN):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(*(shape or (ROWS,)), inputs, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()


def step(model, x, seed=2):
    """y, and the gradients of x and of what trains."""
    torch.manual_seed(seed)
    y = model(x)
    cotangent = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape)
    return [y, *torch.autograd.grad(y, [x, *(p for p in model.parameters() if p.requires_grad)], cotangent)]


def assert_close(found, wanted, dtype):
    """The longest chain of sums: the inputs, the outputs, the rows, and as much again in an adapter, whose maps have some 8 products.
    That many roundings are relative to terms' sizes, and random terms of n cancel to sqrt(n) < 12 of them. Sums of bfloat16 are in
    float32: only what is kept between products is rounded, 8 times at most."""
    bound = (8 if dtype == torch.bfloat16 else 12 * (2 * (96 + OUT + ROWS) + 8)) * torch.finfo(dtype).eps
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape and one.dtype == dtype
        assert (one.double() - other.double()).norm() <= bound * other.double().norm()


def computed(tuner):
    return patch_peft_report()["computed"].get(tuner, 0)


def left(tuner):
    return {reason: count for (name, reason), count in patch_peft_report()["left"].items() if name == tuner}


def reason_of(call, tuner="lora"):
    """Why a call is left to PEFT."""
    before, after = left(tuner), (call(), left(tuner))[1]
    reasons = [reason for reason, count in after.items() if count != before.get(reason)]
    return reasons[0] if reasons else None


@pytest.mark.parametrize("name, dtype", [*((name, torch.float64) for name in CASES), *((name, torch.float32) for name in ONE_EACH),
                                         ("DoRA", torch.bfloat16)])
def test_values_and_gradients(name, dtype):
    tuner, make, inputs, _ = CASES[name]
    model = of_type(adapted(make, inputs=inputs), dtype)
    wanted = step(of_type(model, torch.float64), inputs_of(dtype, inputs=inputs).detach().double().requires_grad_())
    patch_peft(always=True)
    before = computed(tuner)
    assert_close(step(model, inputs_of(dtype, inputs=inputs)), wanted, dtype)
    assert computed(tuner) == before + 1


@pytest.mark.parametrize("name", ONE_EACH)
def test_adapters_together(name):
    tuner, make, inputs, _ = CASES[name]
    model = of_type(adapted(make, adapters=("one", "other"), inputs=inputs), torch.float64)
    wanted = step(model, inputs_of(torch.float64, inputs=inputs))
    patch_peft(always=True)
    before = computed(tuner)
    assert_close(step(model, inputs_of(torch.float64, inputs=inputs)), wanted, torch.float64)
    # DoRA multiplies what adapters before it gave.
    assert computed(tuner) == before + (name != "DoRA")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3]])
def test_conv1d(name):
    tuner, make, inputs, _ = CASES[name]
    model = of_type(adapted(lambda: copy.copy(make()), turned=True), torch.float64)
    wanted = step(model, inputs_of(torch.float64))
    patch_peft(always=True)
    before = computed(tuner)
    assert_close(step(model, inputs_of(torch.float64)), wanted, torch.float64)
    assert computed(tuner) == before + 1


@pytest.mark.parametrize("name", ["LoRA", "DoRA", "BOFT"])
def test_no_bias_rows_of_several_dimensions_and_no_gradients(name):
    tuner, make, inputs, _ = CASES[name]
    model = of_type(adapted(make, bias=False), torch.float64).eval()
    x = inputs_of(torch.float64, 2, 3)
    with torch.no_grad():
        wanted = model(x)
        patch_peft(always=True)
        before = computed(tuner)
        assert_close([model(x)], [wanted], torch.float64)
    assert computed(tuner) == before + 1


@pytest.mark.parametrize("name", ["LoKr", "LoHa", "BOFT with dropout"])
def test_random_numbers_are_those_that_peft_draws(name):
    _, make, _, _ = CASES[name]
    model = adapted(make)
    layer = model.base_model.model.lin
    if name != "BOFT with dropout":
        layer.module_dropout["default"] = 0.5
    numbers = []
    for patched in (False, True):
        if patched:
            patch_peft(always=True)
        torch.manual_seed(5)
        numbers.append([*(model(inputs_of(torch.float32)).detach().double() for _ in range(8)), torch.rand(3).double()])
    for found, wanted in zip(numbers[1], numbers[0]):
        assert (found - wanted).abs().max() < 1e-5


# By name: (options of the adapters' configurations, options of the model, the shape of x).
DROPOUTS = {
    "LoRA": ([{}], {}, (ROWS,)), "rsLoRA with biases": ([{"use_rslora": True, "lora_bias": True}], {}, (2, 3)),
    "three adapters, one without": ([{}, {"lora_dropout": 0.0}, {"r": 2}], {}, (ROWS,)), "DoRA": ([{"use_dora": True}], {}, (2, 3)),
    "DoRA without a bias": ([{"use_dora": True}], {"bias": False}, (ROWS,)),
    "LoRA of Conv1D": ([{}], {"turned": True}, (ROWS,)), "DoRA of Conv1D": ([{"use_dora": True}], {"turned": True}, (ROWS,)),
}


@pytest.mark.parametrize("name", DROPOUTS)
def test_dropout_is_that_of_peft(name):
    adapters, options, shape = DROPOUTS[name]
    makes = iter([config("Lora", **{"r": 4, "lora_alpha": 6, "lora_dropout": 0.5, **own}) for own in adapters])
    model = of_type(adapted(lambda: next(makes), [f"a{i}" for i in range(len(adapters))], **options), torch.float64)
    x = inputs_of(torch.float64, *shape)
    # Numbers are drawn in the order of memory: also where that is not the order of rows.
    inputs = x, x.transpose(0, -2)
    wanted = [step(model, rows) for rows in inputs]
    assert not torch.equal(wanted[0][0], step(model, x, seed=3)[0])
    patch_peft(always=True)
    before = computed("lora")
    for rows, results in zip(inputs, wanted):
        assert_close(step(model, rows), results, torch.float64)
    assert computed("lora") == before + 2


def test_dropout_of_other_tuners_is_pefts():
    model = of_type(adapted(lambda: config("Miss", r=8, miss_dropout=0.5)), torch.float64)
    patch_peft(always=True)
    assert reason_of(lambda: model(inputs_of(torch.float64)), "miss") == "dropout is active"
    model.eval()
    assert reason_of(lambda: model(inputs_of(torch.float64)), "miss") is None


def test_merged_and_disabled_layers_are_pefts():
    model = of_type(adapted(CASES["LoRA"][1]), torch.float64)
    layer, x = model.base_model.model.lin, inputs_of(torch.float64)
    patch_peft(always=True)
    adapted_result = model(x)
    layer.merge()
    assert reason_of(lambda: assert_close([model(x)], [adapted_result], torch.float64)) == "its adapters are merged"
    layer.unmerge()
    assert reason_of(lambda: assert_close([model(x)], [adapted_result], torch.float64)) is None
    with model.disable_adapter():
        assert reason_of(lambda: torch.testing.assert_close(model(x), layer.base_layer(x))) == "its adapters are disabled"


def test_a_scale_that_changes_counts():
    model = of_type(adapted(CASES["LoRA"][1]), torch.float64)
    layer, x = model.base_model.model.lin, inputs_of(torch.float64)
    patch_peft(always=True)
    layer.scale_layer(3.0)
    found = step(model, x)
    unpatch_peft()
    assert_close(found, step(model, x), torch.float64)


def test_dora_sees_every_change_of_its_base():
    model = of_type(adapted(CASES["DoRA"][1]), torch.float64)
    weight, x = model.base_model.model.lin.base_layer.weight, inputs_of(torch.float64)

    def in_place():
        with torch.no_grad():
            weight.mul_(1.5)

    def replaced():
        weight.data = weight.data * 0.5

    for change in (in_place, lambda: weight.data.mul_(2), replaced, replaced, lambda: weight.data.copy_(torch.randn_like(weight))):
        change()
        patch_peft(always=True)
        found = step(model, x)
        unpatch_peft()
        assert_close(found, step(model, x), torch.float64)


def test_dora_whose_adapter_takes_its_base_away():
    model = adapted(CASES["DoRA"][1])
    layer = model.base_model.model.lin
    with torch.no_grad():
        a, b = layer.lora_A["default"].weight, layer.lora_B["default"].weight
        layer.base_layer.weight.copy_(-layer.scaling["default"] * (b @ a) + 1e-4 * torch.randn(OUT, IN))
    wanted = step(of_type(model, torch.float64), inputs_of(torch.float64))
    patch_peft(always=True)
    found = step(model, inputs_of(torch.float32))
    # What is left is 1e-4 of the terms, so that much of their digits goes.
    assert (found[0] - wanted[0]).norm() < 1e4 * 2 * (IN + 4) * torch.finfo(torch.float32).eps * wanted[0].norm()


def test_state_dicts_go_both_ways():
    patch_peft(always=True)
    one = adapted(CASES["LoRA"][1])
    state = peft.get_peft_model_state_dict(one)
    unpatch_peft()
    other = adapted(CASES["LoRA"][1])
    assert list(peft.get_peft_model_state_dict(other)) == list(state)
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            if "lora_" in name:
                parameter.normal_()
    peft.set_peft_model_state_dict(other, state)
    patch_peft(always=True)
    x = inputs_of(torch.float32)
    assert torch.equal(one(x), other(x))


def test_what_is_left_to_peft_and_why():
    model = adapted(CASES["LoRA"][1])
    layer, x = model.base_model.model.lin, inputs_of(torch.float32)
    patch_peft(always=True)
    assert reason_of(lambda: layer(x)) is None
    for module, reason in ((layer.base_layer, "the base has hooks"), (layer.lora_A["default"], "an adapter has hooks")):
        handle = module.register_forward_hook(lambda *given: None)
        assert reason_of(lambda: layer(x)) == reason
        handle.remove()
    layer.base_layer.weight.requires_grad_(True)
    assert reason_of(lambda: layer(x)) == "the base's weight trains"
    layer.base_layer.weight.requires_grad_(False)
    layer.lora_dropout["default"] = torch.nn.AlphaDropout(0.5)
    assert reason_of(lambda: layer(x)) == "dropout is a AlphaDropout"
    layer.lora_dropout["default"] = torch.nn.Dropout(0.5, inplace=True)
    assert reason_of(lambda: layer(x.clone())) == "dropout is in place"
    layer.eval()
    assert reason_of(lambda: layer(x)) is None
    with torch.autocast("cpu", torch.bfloat16):
        assert reason_of(lambda: layer(x)) == "autocast is on"
    assert reason_of(lambda: torch.func.vjp(layer, x.detach())) == "torch.jit or torch.func looks at it"
    assert reason_of(lambda: layer(x, alora_offsets=None)) == "it is called with more than x"
    layer.base_layer.bfloat16()
    assert reason_of(lambda: layer(x.bfloat16())) == "x is bfloat16, a weight is float32"
    layer.set_adapter([])
    assert reason_of(lambda: layer(x.bfloat16())) == "no adapter is active"


def adapters_of_ranks(**options):
    """Three adapters of other ranks and scales, all of which train, in float64."""
    model = of_type(adapted(CASES["LoRA"][1], **options), torch.float64)
    model.add_adapter("wide", config("Lora", r=9, lora_alpha=3))
    model.add_adapter("unused", config("Lora", r=2))
    model.base_model.set_adapter(["default", "wide", "unused"])
    return model.double()


# "unused" is no name of any sample.
NAMES = ["wide", "__base__", "default", "wide", "default", "default"]


@pytest.mark.parametrize("options", [{}, {"turned": True, "bias": False}], ids=["Linear", "Conv1D"])
@pytest.mark.parametrize("shape", [(len(NAMES),), (len(NAMES), 3)], ids=["rows", "rows of samples"])
def test_adapters_by_samples_train(shape, options):
    model, x = adapters_of_ranks(**options), inputs_of(torch.float64, *shape)
    layer = model.base_model.model.lin
    with torch.no_grad():
        of_peft = model.eval()(x, adapter_names=NAMES)
    parameters = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    cotangent = torch.randn_like(of_peft)
    samples = []
    for sample, name in zip(x, NAMES):
        y = layer.base_layer(sample)
        if name != "__base__":
            y = y + layer.scaling[name] * (sample @ layer.lora_A[name].weight.T @ layer.lora_B[name].weight.T)
        samples.append(y)
    wanted = torch.autograd.grad(torch.stack(samples), [x, *parameters.values()], cotangent, allow_unused=True)
    patch_peft(always=True, train_samples=True)
    before = computed("lora")
    y = model.train()(x, adapter_names=NAMES)
    assert computed("lora") == before + 1 and model.base_model.training
    found = torch.autograd.grad(y, [x, *parameters.values()], cotangent, allow_unused=True)
    assert [name for name, one in zip(parameters, found[1:]) if one is None] == [name for name in parameters if "unused" in name]
    assert [one is None for one in found] == [one is None for one in wanted]
    assert_close([y, *(one for one in found if one is not None)], [of_peft, *(one for one in wanted if one is not None)], torch.float64)


def test_adapters_by_samples_that_are_left_to_peft():
    model, x = adapters_of_ranks(), inputs_of(torch.float64)
    layer = model.base_model.model.lin
    wanted = model.eval()(x, adapter_names=NAMES)
    patch_peft(always=True, train_samples=True)
    layer.lora_dropout["wide"] = torch.nn.Dropout(0.0)
    model.train()
    handle = layer.lora_A["wide"].register_forward_hook(lambda *given: None)
    assert reason_of(lambda: assert_close([model(x, adapter_names=NAMES)], [wanted], torch.float64)) == "an adapter has hooks"
    handle.remove()
    assert reason_of(lambda: model(x, adapter_names=["__base__"] * ROWS)) == "no adapter is active"


def test_wrong_adapters_by_samples_are_refused_as_by_peft():
    model, x = adapters_of_ranks(), inputs_of(torch.float64)
    for option in (None, False):
        if option is not None:
            patch_peft(always=True, train_samples=option)
        with pytest.raises(ValueError, match="training mode"):
            model(x, adapter_names=NAMES)
    patch_peft(always=True, train_samples=True)
    with pytest.raises(ValueError, match="non-existing adapter"):
        model(x, adapter_names=["other"] * ROWS)
    with pytest.raises(ValueError, match="Length of `adapter_names`"):
        model.base_model.model.lin(x, adapter_names=["wide"])
    assert model.base_model.training
    model.base_model.model.gradient_checkpointing = True
    with pytest.raises(CallError, match="gradient checkpointing"):
        model(x, adapter_names=NAMES)


def test_shapes_that_do_not_pay_are_left_to_peft():
    patch_peft()
    model = adapted(CASES["LoRA"][1])
    # The fewest rows that have 2^18 elements of x and y.
    rows = -(-2**18 // (IN + OUT))
    assert reason_of(lambda: model(inputs_of(torch.float32, rows - 1))) == "PEFT's own is as fast for these shapes"
    assert reason_of(lambda: model(inputs_of(torch.float32, rows))) is None


def test_compiled_models_are_pefts():
    model = of_type(adapted(CASES["LoRA"][1]), torch.float64)
    x = inputs_of(torch.float64)
    wanted = step(model, x)
    patch_peft(always=True)
    before = patch_peft_report()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    assert_close(step(compiled, x), wanted, torch.float64)
    assert patch_peft_report() == before


def test_patched_twice_and_taken_back():
    kinds = [peft.tuners.lora.layer.Linear, peft.tuners.lokr.layer.Linear, peft.tuners.oft.layer.Linear]
    before, hooks = [kind.forward for kind in kinds], peft.LoraModel._enable_peft_forward_hooks
    names = patch_peft()
    assert names == patch_peft() and "lora" in names
    assert all(kind.forward is not forward for kind, forward in zip(kinds, before))
    unpatch_peft()
    assert [kind.forward for kind in kinds] == before and "forward" not in vars(kinds[1])
    assert peft.LoraModel._enable_peft_forward_hooks is hooks


def test_another_version_is_refused(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.1.0")
    with pytest.raises(CallError, match="this is PEFT 0.1.0; it was tested with 0.21.2"):
        patch_peft()


@pytest.mark.parametrize("method, dropout", [("LoRA", 0.0), ("LoRA", 0.1), ("DoRA", 0.0), ("DoRA", 0.1)])
def test_a_language_model_trains_as_unpatched(method, dropout):
    from transformers import LlamaConfig, LlamaForCausalLM

    layers = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    make = CASES[method][1]
    losses = []
    for patched in (False, True):
        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                 "vocab_size": 50}
        model = LlamaForCausalLM(LlamaConfig(**sizes)).double()
        options = make()
        options.target_modules, options.lora_dropout = layers, dropout
        model = peft.get_peft_model(model, options).double().train()
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable({"use_reentrant": False})
        tokens = torch.randint(0, 50, (2, 16))
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
        if patched:
            patch_peft(always=True)
            before = computed(CASES[method][0])
        losses.append([])
        for _ in range(5):
            optimizer.zero_grad()
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    # 14 layers, and once more for checkpoints all but the last of each of 2 blocks.
    assert computed(CASES[method][0]) == before + 5 * (14 + 12)
    assert losses[0][-1] < losses[0][0]
    # AdamW divides by roots of small numbers in its first steps: a gradient that is off by some 2^-53 moves a parameter by the rate, 1e-2, times
    # 1e-15 / 1e-8, its epsilon.
    torch.testing.assert_close(torch.tensor(losses[1], dtype=torch.float64), torch.tensor(losses[0], dtype=torch.float64), rtol=1e-9, atol=0)
