# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts that no parser should see, in every way in: one error with its place, and the end."""

import subprocess

import pytest

import drawloom
from support.runner import BUILD

DEEP = {
    "modules": "module {\n" * 100_000 + "}\n" * 100_000,
    "conditions": ("func.func @f(%c: i1) {\n" + "scf.if %c {\n" * 10_000 + "}\n" * 10_000 + "return\n}\n"),
    "attributes": "func.func private @f() attributes {a = " + "[" * 200_000 + "]" * 200_000 + "}\n",
    "types": "func.func private @f(" + "tuple<" * 100_000 + ">" * 100_000 + ")\n",
    "locations": "func.func private @f() loc(" + "fused[" * 100_000 + "]" * 100_000 + ")\n",
    "expressions": "func.func private @f() attributes {a = affine_map<() -> (" + "(" * 100_000 + "1" + ")" * 100_000 + ")>}\n",
    "signs": "func.func private @f() attributes {a = affine_map<(d0) -> (" + "- " * 200_000 + "d0)>}\n",
}
WHERE = {"modules": (257, 8), "conditions": (257, 11), "attributes": None, "types": None, "locations": None, "expressions": None,
         "signs": None}
TOOLS = {
    "opt": lambda path: [BUILD / "bin/drawloom-opt", path],
    "run": lambda path: [BUILD / "bin/drawloom-run", path, "--random"],
    "translate": lambda path: [BUILD / "bin/drawloom-translate", "--mlir-to-object", path],
    "reduce": lambda path: [BUILD / "bin/drawloom-reduce", path, "--reduction-tree=traversal-mode=0 test=true"],
}
MESSAGE = "is nested deeper than 256, which no program may be"


@pytest.mark.parametrize("sign", ["+", "-", "*", "mod", "floordiv", "ceildiv"])
def test_endless_expressions_are_refused(tmp_path, sign):
    path = tmp_path / "long.mlir"
    for count, status in ((9_000, 0), (100_000, 1)):
        path.write_text("func.func private @f() attributes {a = affine_map<(d0) -> (d0" + f" {sign} 3" * count + ")>}\n")
        result = subprocess.run(TOOLS["opt"](path), capture_output=True, text=True, timeout=60)
        assert result.returncode == status
        assert ("error: the expression has more than 10000 operations, which none may have" in result.stderr) == bool(status)


def test_many_numbers_with_signs_are_no_expression(tmp_path):
    path = tmp_path / "many.mlir"
    numbers = "".join(f"  %c{i} = arith.constant -1.0e-05 : f32\n" for i in range(20_000))
    path.write_text(f"func.func @f() -> f32 {{\n{numbers}  return %c0 : f32\n}}\n")
    assert subprocess.run(TOOLS["opt"](path), capture_output=True, timeout=60).returncode == 0


@pytest.mark.parametrize("what", DEEP)
@pytest.mark.parametrize("tool", TOOLS)
def test_deep_nesting_is_refused(tmp_path, tool, what):
    path = tmp_path / "deep.mlir"
    path.write_text(DEEP[what])
    done = subprocess.run(TOOLS[tool](path), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and MESSAGE in done.stderr, done.stderr[-2000:]
    line, column = WHERE[what] or (1, "")
    assert f"deep.mlir:{line}:{column}" in done.stderr


@pytest.mark.parametrize("tool", ["opt", "translate"])
def test_deep_nesting_is_refused_on_the_standard_input(tool):
    done = subprocess.run(TOOLS[tool]("-"), input=DEEP["modules"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and MESSAGE in done.stderr, done.stderr[-2000:]


def test_the_standard_input_is_read_after_the_check():
    text = "func.func private @f()\n"
    done = subprocess.run(TOOLS["opt"]("-"), input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "func.func private @f()" in done.stdout


@pytest.mark.parametrize("what", DEEP)
def test_deep_nesting_is_refused_by_the_library(what):
    with pytest.raises(drawloom.CompileError, match=MESSAGE) as caught:
        drawloom.compile(DEEP[what])
    assert caught.value.phase == "parse"


@pytest.mark.parametrize("text", [
    # Signs that open nothing, brackets in strings and comments.
    "func.func private @f() attributes {a = \"" + "[" * 1000 + "\\\" \"}\n",
    "// " + "{" * 1000 + "\nfunc.func private @f()\n",
    "\n".join(f"func.func private @f{i}() -> i1" for i in range(1000)),
    "\n".join(f"#s{i} = affine_set<(d0) : (d0 - {i} >= 0)>" for i in range(1000)),
    "func.func private @f() attributes {a = [" + ", ".join(["-1"] * 1000) + "]}\n",
])
def test_what_is_not_nested_is_read(text):
    done = subprocess.run(TOOLS["opt"]("-"), input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def nested(depth):
    """As deep as is allowed: it has to fit the stack of all that comes after the parser."""
    return ("func.func @f(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {\n" + "".join(
        f"%r{i} = scf.if %c -> tensor<4xf32> {{\n" for i in range(depth)) + "%y = math.exp %x : tensor<4xf32>\nscf.yield %y : tensor<4xf32>\n"
        + "".join(f"}} else {{ scf.yield %x : tensor<4xf32> }}\nscf.yield %r{i} : tensor<4xf32>\n" for i in range(depth - 1, 0, -1))
        + "} else { scf.yield %x : tensor<4xf32> }\nreturn %r0 : tensor<4xf32>\n}\n")


@pytest.mark.parametrize("tool", ["opt", "run"])
def test_what_is_allowed_is_compiled(tmp_path, tool):
    path = tmp_path / "nested.mlir"
    path.write_text(nested(200))
    done = subprocess.run(TOOLS[tool](path), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("tool", TOOLS)
def test_what_never_ends_is_refused(tool):
    done = subprocess.run(TOOLS[tool]("/dev/zero"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "'/dev/zero' is no regular file and does not end within 256 MiB" in done.stderr


def test_pipes_are_read(tmp_path):
    script = f"{BUILD}/bin/drawloom-run <(echo 'func.func @f() -> i32 {{ %r = arith.constant 7 : i32 return %r : i32 }}') --print"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "7" in done.stdout, done.stderr


@pytest.mark.parametrize("option,said", [
    ("--threads=0", "--threads=0: it is a number of threads, from 1 to 4096"),
    ("--threads=4000000000", "--threads=4000000000: it is a number of threads, from 1 to 4096"),
    ("--processors=0", "--processors=0: it is a number of processors, from 1"),
    ("--processors=99999999999", "a schedule for 99999999999 processors is asked for; 1048576 is the most"),
])
def test_numbers_that_mean_nothing_are_refused(tmp_path, option, said):
    path = tmp_path / "f.mlir"
    path.write_text("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n")
    done = subprocess.run([BUILD / "bin/drawloom-run", path, "--random", option], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and said in done.stderr


HUGE = """func.func @f(%x: tensor<9223372036854775807x2xf32>) -> tensor<9223372036854775807x2xf32> {
  %y = math.exp %x : tensor<9223372036854775807x2xf32>
  return %y : tensor<9223372036854775807x2xf32>
}
"""


@pytest.mark.parametrize("how", ["--mlir-to-object", "--mlir-to-artifact", "--mlir-to-assembly"])
def test_extents_beyond_64_bits_are_refused(tmp_path, how):
    path = tmp_path / "f.mlir"
    path.write_text(HUGE)
    done = subprocess.run([BUILD / "bin/drawloom-translate", how, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "'tensor<9223372036854775807x2xf32>' has more bytes than 64 bits count" in done.stderr
    assert len(done.stderr.splitlines()) < 8


def test_open_extents_are_refused_in_a_few_lines(tmp_path):
    path = tmp_path / "f.mlir"
    # Each row is multiplied with each other: no block program makes it.
    path.write_text("""func.func @f(%x: tensor<?x8xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %x : tensor<?x8xf32>, tensor<?x8xf32>) outs(%s : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
""")
    done = subprocess.run([BUILD / "bin/drawloom-translate", "--mlir-to-artifact", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "has an open extent; give the function's arguments static shapes" in done.stderr
    assert len(done.stderr.splitlines()) < 8


def test_passes_are_known_by_name(tmp_path):
    path = tmp_path / "f.mlir"
    path.write_text("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = math.exp %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n")
    done = subprocess.run([BUILD / "bin/drawloom-run", path, "--random", "--mlir-print-ir-after=fuse-rows"], capture_output=True, text=True)
    assert done.returncode == 0 and "IR Dump After FuseRows" in done.stderr


@pytest.mark.parametrize("tool", ["opt", "run", "translate", "reduce", "lsp-server"])
def test_tools_say_their_version(tool):
    done = subprocess.run([BUILD / f"bin/drawloom-{tool}", "--version"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("Drawloom 0.2.0 (LLVM 22."), done.stdout


def test_a_target_that_is_not_here_is_named_without_advice_to_take_it(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_LIBCUDA", str(tmp_path / "none.so"))
    path = tmp_path / "f.mlir"
    path.write_text("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n")
    done = subprocess.run([BUILD / "bin/drawloom-run", path, "--random", "--target=cuda"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "this machine cannot run target 'cuda': there is no CUDA driver" in done.stderr
    assert "native" not in done.stderr
