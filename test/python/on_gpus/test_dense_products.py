# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dense products that the CUDA target leaves to cuBLASLt, on the emulated driver and library."""

import json
import os
import subprocess

import numpy as np
import pytest

from support.emulated_driver import LIBRARY, needs_driver
from support.runner import BUILD, tool

CUBLASLT = LIBRARY.parent / "libcublasLt.so.13"

pytestmark = needs_driver

# Of the largest magnitude. The interpreter rounds nothing.
TOLERANCES = {"f32": 1e-5, "bf16": 2e-2, "f16": 3e-3}


def tensor(*shape, element="f32"):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def linear(name, x, w, m, n, k, element, bias=None):
    """Lines that multiply; the sum starts from the bias's rows or from zero."""
    y = tensor(m, n, element=element)
    start = (f"%{name}i = linalg.broadcast ins({bias} : {tensor(n, element=element)}) outs(%{name}e : {y}) dimensions = [0]"
             if bias else f"%{name}i = linalg.fill ins(%zero : {element}) outs(%{name}e : {y}) -> {y}")
    return f"""
  %{name}e = tensor.empty() : {y}
  {start}
  %{name} = linalg.matmul ins({x}, {w} : {tensor(m, k, element=element)}, {tensor(k, n, element=element)})
    outs(%{name}i : {y}) -> {y}"""


def kat(rows, width, hidden, element):
    """linear, group-rational, linear: the block of a Kolmogorov-Arnold transformer."""
    x, h = tensor(rows, width, element=element), tensor(rows, hidden, element=element)
    a, d = tensor(8, 6, element=element), tensor(8, 4, element=element)
    return f"""
func.func @step(%x: {x}, %v: {tensor(width, hidden, element=element)}, %b: {tensor(hidden, element=element)}, %p: {a}, %q: {d},
    %w: {tensor(hidden, width, element=element)}) -> {x} {{
  %zero = arith.constant 0.0 : {element}{linear("s", "%x", "%v", rows, hidden, width, element, "%b")}
  %r = kan.rational %s, %p, %q form(abs_sum) : {h}, {a}, {d}{linear("y", "%r", "%w", rows, width, hidden, element)}
  return %y : {x}
}}
"""


def train(rows, width, hidden, element):
    """A layer with ReLU and one without, and all their gradients."""
    x, v, b, w = (tensor(*s, element=element) for s in ((rows, width), (width, hidden), (hidden,), (hidden, width)))
    h = tensor(rows, hidden, element=element)
    return f"""
func.func private @forward(%x: {x}, %v: {v}, %b: {b}, %w: {w}) -> {x} {{
  %zero = arith.constant 0.0 : {element}{linear("s", "%x", "%v", rows, hidden, width, element, "%b")}
  %r = kan.relu %s : {h}{linear("y", "%r", "%w", rows, width, hidden, element)}
  return %y : {x}
}}
func.func @step(%x: {x}, %v: {v}, %b: {b}, %w: {w}, %dy: {x}) -> ({x}, {x}, {v}, {b}, {w}) {{
  %y, %g:4 = ad.vjp @forward(%x, %v, %b, %w) cotangents(%dy) wrt [0, 1, 2, 3] : ({x}, {v}, {b}, {w}) -> ({x}, {x}, {v}, {b}, {w})
  return %y, %g#0, %g#1, %g#2, %g#3 : {x}, {x}, {v}, {b}, {w}
}}
"""


def lone(m, n, k, element):
    a, b, c = tensor(m, k, element=element), tensor(k, n, element=element), tensor(m, n, element=element)
    return f"""
func.func @step(%x: {a}, %w: {b}) -> {c} {{
  %zero = arith.constant 0.0 : {element}{linear("y", "%x", "%w", m, n, k, element)}
  return %y : {c}
}}
"""


def heads(element):
    """Scores of attention: a batch of transposed products, of heads that lie beside each other."""
    q, s = tensor(33, 4, 16, element=element), tensor(4, 33, 33, element=element)
    return f"""
func.func @step(%q: {q}, %k: {q}) -> {s} {{
  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty() : {s}
  %f = linalg.fill ins(%zero : {element}) outs(%e : {s}) -> {s}
  %y = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (m, h, k)>, affine_map<(h, m, n, k) -> (n, h, k)>,
                                        affine_map<(h, m, n, k) -> (h, m, n)>]
    ins(%q, %k : {q}, {q}) outs(%f : {s}) -> {s}
  return %y : {s}
}}
"""


def store(array, element):
    """The numbers in an element type; bf16 is uint16."""
    if element == "bf16":
        return (np.ascontiguousarray(array, np.float32).view(np.uint32) + 0x8000 >> 16).astype(np.uint16)
    return np.asarray(array, {"f32": np.float32, "f16": np.float16}[element])


def kat_inputs(rows, width, hidden, element, folder):
    """Numbers that neither vanish nor grow: the rational functions are near to x."""
    rng = np.random.default_rng(3)
    fading = 0.1 / 4.0 ** np.arange(6)
    arrays = [rng.normal(size=(rows, width)), rng.normal(size=(width, hidden)) * width**-0.5, 0.1 * rng.normal(size=hidden),
              np.eye(6)[1] + fading * rng.normal(size=(8, 6)), fading[1:5] * rng.normal(size=(8, 4)),
              rng.normal(size=(hidden, width)) * hidden**-0.5]
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", store(array, element))
    return [f"--input={folder / f'{i}.npy'}" for i in range(len(arrays))]


def run(source, *options, **environment):
    return subprocess.run([BUILD / "bin/drawloom-run", source, "--entry=step", *options], capture_output=True, text=True,
                          env={**os.environ, **environment})


def gelu(rows, width, hidden, element):
    """A layer and its GELU by tanh."""
    x, y = tensor(rows, width, element=element), tensor(rows, hidden, element=element)
    v, b = tensor(width, hidden, element=element), tensor(hidden, element=element)
    return f"""
func.func @step(%x: {x}, %v: {v}, %b: {b}) -> {y} {{
  %zero = arith.constant 0.0 : {element}{linear("s", "%x", "%v", rows, hidden, width, element, "%b")}
  %g = kan.gelu %s {{approximate = "tanh"}} : {y}
  return %g : {y}
}}
"""


def bundle(source, folder, who):
    """The plan of the program, and where the emulated driver finds its kernels."""
    tool("drawloom-translate", source, "--mlir-to-bundle", "--bundle-modules", "--arch=sm_90a", f"--dense-products={who}",
         f"--bundle-dir={folder}")
    return json.loads((folder / "bundle.json").read_text())["architectures"][0]["plan"], str(folder / "sm_90a")


def products(plan):
    return [step["product"] for entry in plan["entries"] for step in entry["steps"] if "product" in step]


KAT = 32, 256, 1024
CASES = {
    "kat f32": (kat(*KAT, "f32"), "f32", 2),
    "kat bf16": (kat(*KAT, "bf16"), "bf16", 2),
    "train f32": (train(48, 40, 56, "f32"), "f32", 6),
    "lone": (lone(37, 53, 29, "f32"), "f32", 1),
    "one row": (lone(1, 64, 40, "bf16"), "bf16", 1),
    "one column": (lone(64, 1, 40, "f16"), "f16", 1),
    "heads": (heads("f32"), "f32", 1),
    "gelu f32": (gelu(30, 40, 56, "f32"), "f32", 1),
    "gelu f16": (gelu(30, 40, 56, "f16"), "f16", 1),
}


def numbers(path, element):
    with np.load(path) as stored:
        arrays = [stored[name] for name in stored.files] if hasattr(stored, "files") else [stored]
    if element == "bf16":
        arrays = [(array.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for array in arrays]
    return [array.astype(np.float64) for array in arrays]


@pytest.mark.parametrize("name", CASES)
def test_products_of_the_library_give_what_the_definition_gives(name, tmp_path):
    text, element, count = CASES[name]
    source = tmp_path / "program.mlir"
    source.write_text(text)
    plan, modules = bundle(source, tmp_path / "bundle", "library")
    assert len(products(plan)) == count
    given = kat_inputs(*KAT, element, tmp_path) if name.startswith("kat") else ["--random"]
    done = run(source, *given, "--target=cuda", "--dense-products=library", "--isa=sm_90a", f"--output={tmp_path}/cuda.npz",
               DRAWLOOM_LIBCUDA=str(LIBRARY), DRAWLOOM_LIBCUBLASLT=str(CUBLASLT), DRAWLOOM_EMULATED_MODULES=modules)
    assert done.returncode == 0, done.stderr
    done = run(source, *given, "--target=interpreter", "--float64", f"--output={tmp_path}/expected.npz")
    assert done.returncode == 0, done.stderr
    results = numbers(tmp_path / "cuda.npz", element)
    expected = numbers(tmp_path / "expected.npz", "f64")
    for result, array in zip(results, expected, strict=True):
        assert np.max(np.abs(result - array)) <= TOLERANCES[element] * np.max(np.abs(array))


def test_epilogues_are_the_librarys(tmp_path):
    source = tmp_path / "program.mlir"
    source.write_text(train(48, 40, 56, "bf16"))
    plan, _ = bundle(source, tmp_path / "bundle", "library")
    first = products(plan)[0]
    assert first["bias"] and first["result"] == "bf16" and (first["m"], first["n"], first["k"]) == (48, 56, 40)
    assert sum(bool(one.get("transpose_left") or one.get("transpose_right")) for one in products(plan)) == 4


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_gelu_by_tanh_is_the_librarys_and_by_erf_is_not(tmp_path, element):
    source = tmp_path / "program.mlir"
    for text, taken in ((gelu(32, 40, 56, element), True), (gelu(32, 40, 56, element).replace('"tanh"', '"none"'), False)):
        source.write_text(text)
        plan, _ = bundle(source, tmp_path / f"bundle{taken}", "library")
        product, = products(plan)
        # Nothing is left for a kernel where the library does it all.
        assert bool(product.get("gelu")) == taken and (len(plan["kernels"]) == 0) == taken


@pytest.mark.parametrize("who, library, used", [("auto", str(CUBLASLT), True), ("auto", "/there/is/none", False),
                                                ("own", str(CUBLASLT), False)])
def test_default_uses_the_library_where_it_is(who, library, used, tmp_path):
    """What is compiled says so: a product that is expected to be worth it, in the phase `blocks`."""
    source = tmp_path / "program.mlir"
    source.write_text(lone(2048, 2048, 2048, "bf16"))
    done = run(source, "--random", "--target=cuda", f"--dense-products={who}", "--compile-to=blocks", DRAWLOOM_LIBCUDA=str(LIBRARY),
               DRAWLOOM_LIBCUBLASLT=library)
    assert done.returncode == 0, done.stderr
    assert ("drawloom.product" in done.stdout) == used and ("scf.forall" in done.stdout) != used


def test_missing_library_is_an_error_with_a_way_out(tmp_path):
    source = tmp_path / "program.mlir"
    source.write_text(lone(8, 8, 8, "f32"))
    done = run(source, "--random", "--target=cuda", "--dense-products=library", DRAWLOOM_LIBCUDA=str(LIBRARY),
               DRAWLOOM_LIBCUBLASLT="/there/is/none")
    assert done.returncode == 1
    for text in ("there is no cuBLASLt", "/there/is/none", "--dense-products=own"):
        assert text in done.stderr, done.stderr


@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_targets_without_a_library_refuse_it(target, tmp_path):
    source = tmp_path / "program.mlir"
    source.write_text(lone(8, 8, 8, "f32"))
    done = run(source, "--random", f"--target={target}", "--dense-products=library")
    assert done.returncode == 1 and "only --target=cuda has a library" in done.stderr, done.stderr
