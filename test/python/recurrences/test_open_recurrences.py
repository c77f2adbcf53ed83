# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrences take any numbers of sequences and tokens from one program, with the bits of one for just these."""

import ml_dtypes  # noqa: F401, bfloat16 for NumPy
import numpy as np
import pytest

import drawloom

HEADS, KEYS, VALUES = 4, 16, 8
# Around chunks of 16 and 32, primes, none, and several chunks.
EXTENTS = ((2, 1), (1, 33), (3, 32), (2, 0), (0, 5), (1, 31), (2, 16), (1, 17), (2, 15), (1, 64), (1, 65), (5, 2), (1, 257), (7, 11), (1, 100),
           (2, 48), (1, 127), (3, 3), (1, 512), (2, 97))

# Operands beside q, k and v, by name: their dimensions behind those of tokens, or whole where they have none.
DECAYS = {"none": {}, "scalar": {"decay": ()}, "keys": {"decay": (KEYS,)}, "values": {"decay": (VALUES,)}, "heads": {"decay": None},
          "delta": {"decay": (), "beta": ()}, "low rank": {"decay": (KEYS,), "erase": (KEYS,), "lowrank": (KEYS,)}, "bonus": {"decay": (KEYS,), "bonus": None},
          "states": {"decay": (), "initial": None}}
WHOLE = {("heads", "decay"): (HEADS,), ("bonus", "bonus"): (HEADS, KEYS)}


def program(kind, element, extents, shared=HEADS, attributes=""):
    """The recurrence and its gradient for these extents, "?" for any."""
    b, t = extents

    def tensor(*shape, of=element):
        return f"tensor<{'x'.join(map(str, (*shape, of)))}>"

    wide = "f64" if element == "f64" else "f32"
    state = tensor(b, HEADS, KEYS, VALUES, of=wide)
    operands = {"q": tensor(b, t, shared, KEYS), "k": tensor(b, t, shared, KEYS), "v": tensor(b, t, HEADS, VALUES)}
    for name, own in DECAYS[kind].items():
        operands[name] = (state if name == "initial" else tensor(*WHOLE[kind, name], of=wide) if own is None else
                          tensor(b, t, HEADS, *own, of=wide if name in ("decay", "beta") else element))
    names, types = [f"%{name}" for name in operands], list(operands.values())
    clauses = "".join(f" {name}(%{name})" for name in list(operands)[3:])
    inside = ", ".join(one for one in ("decay_along_values" if kind == "values" else "", attributes) if one)
    o, parameters = operands["v"], ", ".join(f"{name}: {type}" for name, type in zip(names, types))
    all_types, gives = ", ".join(types), ", ".join([o, state, *types])
    return f"""
func.func @forward({parameters}) -> ({o}, {state}) {{
  %o, %final = linrec.scan {', '.join(names[:3])}{clauses} {{{inside}}} : ({all_types}) -> ({o}, {state})
  return %o, %final : {o}, {state}
}}
func.func @gradient({parameters}, %do: {o}, %df: {state}) -> ({", ".join(types)}) {{
  %r:{len(types) + 2} = ad.vjp @forward({', '.join(names)}) cotangents(%do, %df) wrt {list(range(len(types)))} : ({all_types}) -> ({gives})
  return {', '.join(f'%r#{i + 2}' for i in range(len(types)))} : {all_types}
}}
"""


def arguments_of(function, extents, rng):
    arrays = []
    for i, type in enumerate(function.arguments):
        shape = [extents[dim] if extent < 0 else extent for dim, extent in enumerate(type[1])]
        x = rng.uniform(-1, 1, shape)
        # Keys short enough for what is erased to be less than there is, decays negative, shares below 1.
        x = np.abs(x) / 4 if len(shape) == 3 and i > 3 else -np.abs(x) if i == 3 and type[0] == "float32" else x / 4
        arrays.append(x.astype(type[0]))
    return arrays


def bits(arrays):
    arrays = arrays if isinstance(arrays, (tuple, list)) else [arrays]
    return [(one.shape, one.tobytes()) for one in arrays]


# What a program for given numbers may choose by them: how sequences and states are cut.
UNCUT = "segments = 1 : i64, value_blocks = 1 : i64"


@pytest.mark.parametrize("kind,element,shared", [(kind, "f32", HEADS) for kind in DECAYS] + [
    ("delta", "bf16", HEADS), ("keys", "f16", HEADS), ("scalar", "bf16", 2), ("none", "f64", 1)])
def test_one_program_has_the_bits_of_one_for_each_extent(rng, kind, element, shared):
    before = drawloom.cache.statistics().compiled
    module = drawloom.compile(program(kind, element, "??", shared))
    exact = {extents: drawloom.compile(program(kind, element, extents, shared, UNCUT)) for extents in ((2, 33), (3, 32))}
    for extents in EXTENTS:
        for name in ("forward", "gradient"):
            function = getattr(module, name)
            given = arguments_of(function, extents, rng)
            found = function(*given)
            assert all(np.isfinite(one.astype(np.float64)).all() for one in found)
            if extents in exact:
                assert bits(found) == bits(getattr(exact[extents], name)(*given)), (extents, name)
    # Each function once.
    assert drawloom.cache.statistics().compiled - before == 2 + len(exact)


@pytest.mark.parametrize("isa", ["avx2", "baseline"])
def test_every_instruction_set_takes_any_numbers(rng, isa):
    module = drawloom.compile(program("delta", "f32", "??"), isa=isa)
    exact = drawloom.compile(program("delta", "f32", (2, 33), attributes=UNCUT), isa=isa)
    given = arguments_of(exact.gradient, (2, 33), rng)
    assert bits(module.gradient(*given)) == bits(exact.gradient(*given))


def test_a_sequence_has_the_bits_that_it_has_alone_on_any_number_of_threads(rng):
    module = drawloom.compile(program("scalar", "f32", "??"))
    given = arguments_of(module.forward, (5, 100), rng)
    o, final = module.forward(*given)
    for threads in (1, 2, 3):
        module = drawloom.compile(program("scalar", "f32", "??"), threads=threads)
        assert bits(module.forward(*given)) == bits((o, final))
    for i in range(5):
        assert bits(module.forward(*(one[i:i + 1] for one in given))) == bits((o[i:i + 1], final[i:i + 1]))


def test_the_function_that_is_differentiated_is_the_definition(rng):
    """Against the recurrence in float64, token by token."""
    module = drawloom.compile(program("scalar", "f32", "??"))
    for extents in EXTENTS[:10]:
        q, k, v, g = given = arguments_of(module.forward, extents, rng)
        o, final = module.forward(*given)
        state = np.zeros((extents[0], HEADS, KEYS, VALUES))
        size = np.zeros_like(state)
        q, k, v, g = (one.astype(np.float64) for one in (q, k, v, g))
        for t in range(extents[1]):
            decay = np.exp(g[:, t])[..., None, None]
            state = decay * state + k[:, t, :, :, None] * v[:, t, :, None, :]
            size = decay * size + np.abs(k[:, t, :, :, None] * v[:, t, :, None, :])
            wanted = np.einsum("bhk,bhkv->bhv", q[:, t], state) / np.sqrt(KEYS)
            about = np.einsum("bhk,bhkv->bhv", np.abs(q[:, t]), size) / np.sqrt(KEYS)
            # Each of at most T + KEYS terms is rounded that often, and so are the sums of 32 decays, of size 32, that exponentials are taken of.
            assert (np.abs(o[:, t] - wanted) <= 2.0**-24 * (extents[1] + KEYS + 4 * 32) * about).all()
        assert (np.abs(final - state) <= 2.0**-24 * (extents[1] + 4 * 32) * size).all()


def test_states_that_are_kept_at_checkpoints_change_no_bit(rng):
    """Those of 256 keys and values are larger than all operands of one head, so a gradient keeps some."""
    def text(batch, tokens):
        row, state = f"tensor<{batch}x{tokens}x1x256xf32>", f"tensor<{batch}x1x256x256xf32>"
        return f"""
func.func private @forward(%q: {row}, %k: {row}, %v: {row}) -> {row} {{
  %o, %final = linrec.scan %q, %k, %v {{chunk = 16, {UNCUT}}} : ({row}, {row}, {row}) -> ({row}, {state})
  return %o : {row}
}}
func.func @gradient(%q: {row}, %k: {row}, %v: {row}, %do: {row}) -> ({row}, {row}, {row}) {{
  %r:4 = ad.vjp @forward(%q, %k, %v) cotangents(%do) wrt [0, 1, 2] : ({row}, {row}, {row}) -> ({row}, {row}, {row}, {row})
  return %r#1, %r#2, %r#3 : {row}, {row}, {row}
}}"""

    module = drawloom.compile(text("?", "?"))
    for extents in ((1, 1100), (2, 17)):
        given = arguments_of(module.gradient, extents, rng)
        assert bits(module.gradient(*given)) == bits(drawloom.compile(text(*extents)).gradient(*given))


def test_what_stands_before_a_recurrence_is_differentiated_for_each_number(rng):
    def text(batch, tokens):
        row = f"tensor<{batch}x{tokens}x4x8xf32>"
        return f"""
func.func private @forward(%x: {row}) -> {row} {{
  %q = math.tanh %x : {row}
  %o, %final = linrec.scan %q, %x, %x : ({row}, {row}, {row}) -> ({row}, tensor<{batch}x4x8x8xf32>)
  return %o : {row}
}}
func.func @gradient(%x: {row}, %do: {row}) -> {row} {{
  %r:2 = ad.vjp @forward(%x) cotangents(%do) wrt [0] : ({row}) -> ({row}, {row})
  return %r#1 : {row}
}}"""

    module = drawloom.compile(text("?", "?"))
    for extents in ((2, 5), (1, 3)):
        given = arguments_of(module.gradient, extents, rng)
        assert bits(module.gradient(*given)) == bits(drawloom.compile(text(*extents)).gradient(*given))


def test_numbers_that_must_agree_are_named(rng):
    module = drawloom.compile(program("scalar", "f32", "??"))
    given = arguments_of(module.forward, (2, 5), rng)
    for i, wrong in ((1, (2, 6)), (3, (3, 5))):
        changed = list(given)
        changed[i] = np.zeros((*wrong, *given[i].shape[2:]), np.float32)
        with pytest.raises(drawloom.Error, match=f"argument {i}"):
            module.forward(*changed)


def test_a_saved_recurrence_takes_any_numbers(rng, tmp_path):
    module = drawloom.compile(program("delta", "f32", "??"))
    module.save(tmp_path / "delta.drawloom")
    loaded = drawloom.load(tmp_path / "delta.drawloom")
    for extents in EXTENTS[:10]:
        given = arguments_of(module.gradient, extents, rng)
        assert bits(loaded.gradient(*given)) == bits(module.gradient(*given))


def test_a_model_compiles_once_for_prompts_of_any_length():
    torch = pytest.importorskip("torch")
    import drawloom.torch

    def step(batch, tokens):
        q, k, v = (torch.rand(batch, tokens, 8, 12, requires_grad=True) for _ in range(3))
        o, final = drawloom.torch.linrec.linear_recurrence(q, k, v, decay=-torch.rand(batch, tokens, 8))
        (o.sum() + final.sum()).backward()
        assert all(torch.isfinite(one.grad).all() for one in (q, k, v))

    before = drawloom.cache.statistics()
    for batch, tokens in ((1, 7), (2, 64), (1, 1), (3, 100), (1, 4096), (2, 33), (1, 0)):
        step(batch, tokens)
    after = drawloom.cache.statistics()
    built = sum(getattr(after, name) - getattr(before, name) for name in ("compiled", "loaded", "remembered", "failed"))
    assert built == 2, "the recurrence and its gradient"


def test_torch_compiles_one_graph_for_sizes_of_any_number():
    torch = pytest.importorskip("torch")
    from torch._dynamo.testing import CompileCounterWithBackend

    import drawloom.torch

    mix = torch.nn.Linear(6, 8 * 12)
    norm = drawloom.torch.nn.FusedMLP(8 * 4, 5, width=16, hidden_layers=1, activation="silu")

    def model(x):
        batch, tokens, _ = x.shape
        q, k, v = mix(x).view(batch, tokens, 8, 12).split(4, -1)
        o, _ = drawloom.torch.linrec.linear_recurrence(q, k, v, decay=-torch.ones(batch, tokens, 8))
        return norm(o.reshape(batch, tokens, 8 * 4))

    graphs = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(model, dynamic=True, backend=graphs, fullgraph=True)
    before = drawloom.cache.statistics().compiled
    for batch, tokens in ((2, 5), (3, 7), (2, 64), (5, 100), (4, 33)):
        x = torch.rand(batch, tokens, 6)
        y = compiled(x)
        y.square().sum().backward()
        assert torch.equal(y, model(x))
    assert graphs.frame_count == 1
    assert drawloom.cache.statistics().compiled - before <= 4 * 2, "the recurrence, the network and their gradients: for the first numbers and for all others"


def channels(b, t, rates):
    """linrec.ew_scan and its gradient for these extents."""
    row, few, state = f"tensor<{b}x{t}x96xf32>", f"tensor<{b}x{t}x4xf32>", f"tensor<{b}x96{'x4' if rates else ''}xf32>"
    types = [row, row] + (["tensor<96x4xf32>", few, few] if rates else [])
    names = [f"%a{i}" for i in range(len(types))]
    parameters, all_types = ", ".join(f"{n}: {one}" for n, one in zip(names, types)), ", ".join(types)
    clauses = "decay(%a1)" + (" rates(%a2) write(%a3) read(%a4)" if rates else "")
    return f"""
func.func @forward({parameters}) -> ({row}, {state}) {{
  %y, %final = linrec.ew_scan %a0 {clauses} : ({all_types}) -> ({row}, {state})
  return %y, %final : {row}, {state}
}}
func.func @gradient({parameters}, %dy: {row}, %df: {state}) -> ({all_types}) {{
  %r:{len(types) + 2} = ad.vjp @forward({', '.join(names)}) cotangents(%dy, %df) wrt {list(range(len(types)))} : ({all_types}) -> ({row}, {state}, {all_types})
  return {', '.join(f'%r#{i + 2}' for i in range(len(types)))} : {all_types}
}}"""


@pytest.mark.parametrize("rates", [False, True])
def test_channels_by_themselves_have_no_tokens_or_some(rng, rates):
    """Compiled for each number of tokens, among these none, which the text leaves open or says."""
    module = drawloom.compile(channels("?", "?", rates))
    for extents in ((2, 0), (0, 3), (2, 33), (1, 1)):
        exact = drawloom.compile(channels(*extents, rates))
        for name in ("forward", "gradient"):
            given = arguments_of(getattr(module, name), extents, rng)
            given[1] = -np.abs(given[1])
            found = getattr(module, name)(*given)
            bound = module._compile(name, [one.shape for one in given]).call(given, None, 1)
            for a, b, c in zip(found, bound, getattr(exact, name)(*given)):
                assert a.shape == b.shape == c.shape
                np.testing.assert_allclose(b, c, rtol=1e-4, atol=1e-5)
                np.testing.assert_allclose(a, c, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rates", [False, True])
@pytest.mark.parametrize("t", ["?", 33])
def test_channels_are_compiled_once(rng, t, rates):
    before = drawloom.cache.statistics().compiled
    module = drawloom.compile(channels("?", t, rates))
    found = []
    for b, tokens in EXTENTS:
        extents = (b, tokens if t == "?" else t)
        for name in ("forward", "gradient"):
            given = arguments_of(getattr(module, name), extents, rng)
            given[1] = -np.abs(given[1])
            found.append((name, extents, given, getattr(module, name)(*given)))
    assert drawloom.cache.statistics().compiled - before <= 2
    for name, extents, given, results in found[::3]:
        exact = drawloom.compile(channels(*extents, rates))
        assert bits(results) == bits(getattr(exact, name)(*given)), (name, extents)
