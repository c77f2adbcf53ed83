# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A dialect and passes of another project (examples/dialect) in drawloom.compile and in the C interface."""

import ctypes
import os
import re
import subprocess
import sys

import pytest

from support.runner import BUILD, ROOT, SANITIZED

pytestmark = pytest.mark.skipif(SANITIZED, reason="what is not sanitized cannot be loaded into a library that is")

TANH = """
func.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = kan.tanh %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
REPLACE = "differentiated:smooth-replace-tanh"


COMPILERS = {variable: re.search(rf"^CMAKE_{language}_COMPILER:[A-Z]+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)
             for variable, language in (("CC", "C"), ("CXX", "CXX"))}


def build(prefix, source, folder):
    """The plugin of a project."""
    for command in (["cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}"],
                    ["cmake", "--build", folder, "--target", "smooth"]):
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **COMPILERS})
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder / "smooth.so"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the example's build, and the page's first file."""
    folder = tmp_path_factory.mktemp("project")
    for component in ("runtime", "development"):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", folder / "prefix", "--component", component], check=True,
                       capture_output=True)
    build(folder / "prefix", ROOT / "examples/dialect", folder / "build")
    (folder / "tanh.mlir").write_text(TANH)
    return folder


# Before each test's own code. `UNIT` is the largest relative error of one rounding to float32; errors are compared with as many as the
# computation has:
# - softsign, x / (1 + |x|) < 1: the sum and the quotient, 2, and 1 for what is of second order;
# - its derivative times x, x / (1 + |x|) - x |x| / (1 + |x|)^2 with |x| <= 2: at most 5 in each of two terms that are together at most
#   1.2 in size, and their difference;
# - tanh: 2 ulp (test/unit/MathAccuracyTest.cpp), each at most 2 roundings.
START = """
import numpy as np
import drawloom

UNIT, SOFTSIGN, SLOPE, TANH = 2.0**-24, 3, 7, 4
x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
exact = x.astype(float)
softsign, slope, tanh = exact / (1 + abs(exact)), exact / (1 + abs(exact)) ** 2, np.tanh(exact)


def is_near(found, expected, roundings):
    return (abs(np.asarray(found, float) - expected) <= roundings * UNIT).all()


"""


def run(project, code, **environment):
    """In a process of its own, whose plugins no other test sees; the last line it prints."""
    code = START + code
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, timeout=240,
                          env={**os.environ, "DRAWLOOM_CACHE": "", **environment})
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.strip()


def refusal(project, code):
    """The type and the message of the error that the last line raises."""
    *before, last = code.strip().splitlines()
    return run(project, "\n".join(before) + f"""
try:
    {last}
except drawloom.Error as error:
    print(type(error).__name__, '|', error.phase, '|', error)
""")


def test_the_pages_python_runs(project):
    page = (ROOT / "docs/extending.md").read_text()
    block, = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    run(project, block)


@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_a_model_with_a_foreign_op_trains(project, target):
    run(project, f"""
drawloom.load_plugin("build/smooth.so")
import pathlib
model = drawloom.compile(pathlib.Path({str(ROOT / "examples/dialect/model.mlir")!r}), target={target!r})
random = np.random.default_rng(0)
x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((10, 8), (8, 16)))
h = x.astype(float) @ w
size, n = 1 + abs(h), h.size
y, dh = h / size, 2 / n * h / size ** 3
loss, dw = model.gradient(x, w)
# Sums of 8 products, of which y has at most the error and 5 roundings more (a quotient on a GPU is 2 ulp, 4 roundings); n squares are
# added up.
sums = 8 * (abs(x) @ abs(w))
assert is_near(loss, np.mean(y ** 2), np.mean(2 * (sums + 5)) + n * np.mean(y ** 2))
# The slope of dh is at most 2 / n; it is made of terms of at most 4 / n with 16 roundings. Then 10 products are added up.
assert is_near(dw, x.T @ dh, abs(x).T @ (2 / n * sums + 16 * 4 / n + 10 * abs(dh)))
# The derivative of a function is compiled with the same plugins.
assert np.array_equal(drawloom.grad(model, "layer", wrt=1)(x, w)[1], dw)
""")


def test_a_foreign_pass_runs_and_serves_the_derivative(project):
    run(project, f"""
drawloom.load_plugin("build/smooth.so")
for passes in ({REPLACE!r}, ["structured:canonicalize,cse", {REPLACE!r}]):
    f = drawloom.compile("tanh.mlir", insert_passes=passes).f
    assert is_near(f(x), softsign, SOFTSIGN), f(x)
    vjp = drawloom.grad(drawloom.compile("tanh.mlir", insert_passes=passes))
    assert is_near(vjp(x, x)[1], slope, SLOPE)
# A program without the pass is another program.
assert is_near(drawloom.compile("tanh.mlir").f(x), tanh, TANH)
""")


def test_passes_of_mlir_and_drawloom_need_no_plugin(project):
    run(project, """
f = drawloom.compile("tanh.mlir", insert_passes="structured:canonicalize,func.func(fold-zero-element-tensors)").f
assert is_near(f(x), tanh, TANH)
""")


def test_frameworks_do_not_mind_a_plugin(project):
    """Nothing of it, of MLIR or of LLVM is seen by libraries that are loaded later."""
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    run(project, f"""
drawloom.load_plugin("build/smooth.so")
f = drawloom.compile("tanh.mlir", insert_passes={REPLACE!r}).f
f(x)
import ctypes
everywhere = ctypes.CDLL(None)
for symbol in ("mlirGetPassPluginInfo", "drawloomLoadPlugin", "LLVMContextCreate"):
    assert not hasattr(everywhere, symbol), symbol
import torch, jax
assert is_near(f(torch.from_numpy(x)), softsign, SOFTSIGN)
assert torch.allclose(torch.compile(lambda x: torch.sin(x) * 2)(torch.ones(3)), torch.full((3,), 1.6829419))
assert abs(float(jax.jit(lambda x: jax.numpy.sin(x) * 2)(1.0)) - 1.6829419) < 1e-6
""")


def test_the_cache_tells_plugins_and_passes_apart(project, tmp_path):
    code = """
def compiled(**options):
    before = drawloom.cache.statistics().compiled
    drawloom.compile("tanh.mlir", **options).f(x)
    return drawloom.cache.statistics().compiled - before
load = lambda: drawloom.load_plugin("build/smooth.so")
"""
    def said(rest):
        return run(project, code + rest, DRAWLOOM_CACHE=str(tmp_path))
    passes = f"insert_passes=[{REPLACE!r}]"
    first = f"print(compiled(), load(), compiled(), compiled({passes}), compiled(insert_passes='blocks:cse'), compiled(insert_passes='structured:cse'))"
    assert said(first) == "1 None 1 1 1 1"
    assert said(first) == "0 None 0 0 0 0"
    # A changed plugin makes other programs.
    changed = tmp_path / "changed.so"
    changed.write_bytes((project / "build/smooth.so").read_bytes() + b"\0")
    assert said(f"drawloom.load_plugin({str(changed)!r}); print(compiled(), compiled({passes}))") == "1 1"


def test_drawloom_run_shares_the_cache_with_itself(project, tmp_path):
    command = [BUILD / "bin/drawloom-run", "tanh.mlir", "--random", "--shape=0:2x3", "--plugin=build/smooth.so", f"--cache={tmp_path}"]
    for passes, entries in (([], 1), ([f"--insert-passes={REPLACE}"], 2), ([], 2), ([f"--insert-passes={REPLACE}"], 2)):
        subprocess.run(command + passes, cwd=project, check=True, capture_output=True)
        assert len([path for path in tmp_path.iterdir() if re.fullmatch("llvmcache-[0-9a-f]{64}", path.name)]) == entries


@pytest.mark.parametrize("code, wanted", [
    ('drawloom.load_plugin("none.so")', r"FileError \|  \| the plugin 'none.so' is not loaded: No such file or directory"),
    ('drawloom.load_plugin("tanh.mlir")', r"FileError .*'tanh.mlir' is not loaded: .*not recognized as a valid object file"),
    ('drawloom.load_plugin(drawloom._drawloom.__file__)', r"FileError .* it has neither mlirGetDialectPluginInfo nor mlirGetPassPluginInfo"),
    # Reading would never end.
    ('drawloom.load_plugin("/dev/zero")', r"FileError .*'/dev/zero' is not loaded: it is no regular file"),
    ('drawloom.load_plugin(3)', r"CallTypeError .*the plugin is 3; it is the path of a file"),
    ('drawloom.compile("tanh.mlir", insert_passes=3)', r"CallTypeError .*insert_passes is 3; it is a text such as"),
    ('drawloom.compile("tanh.mlir", insert_passes=["structured:cse", 3])', r"CallTypeError .*insert_passes is \['structured:cse', 3\]"),
    ('drawloom.compile("tanh.mlir", insert_passes="structred:cse")',
     r"CallError .*'structred:cse' names no passes in front of a phase: a phase \(differentiated, structured, "),
    ('drawloom.compile("tanh.mlir", insert_passes="structured:" + "func.func(" * 50000 + "cse" + ")" * 50000)',
     r"CallError .*the passes before phase structured are nested more than 100 levels deep"),
    ('drawloom.compile("tanh.mlir", insert_passes="structured:cse\\0x")', r"CallError .*a NUL character is in it"),
    # The plugin is not loaded, and so does not have the pass.
    (f'drawloom.compile("tanh.mlir", insert_passes={REPLACE!r})',
     r"CallError .*the passes 'smooth-replace-tanh' before phase differentiated are not a valid pipeline: .*does not refer to a registered pass"),
    ('drawloom.load_plugin("build/smooth.so")\ndrawloom.compile("tanh.mlir", insert_passes="structured:smooth-replace-tahn")',
     r"CallError .*did you mean 'smooth-replace-tanh'\?"),
    ('drawloom.compile("func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\\n  %y = smooth.softsign %x : tensor<3xf32>\\n  return %y : tensor<3xf32>\\n}")',
     r"CompileError \| parse \| source:2:8: .*Dialect `smooth' not found"),
])
def test_what_does_not_fit_is_refused_by_name(project, code, wanted):
    assert re.match(wanted, refusal(project, code), re.DOTALL)


def test_a_plugin_of_another_llvm_is_refused(project, tmp_path):
    (tmp_path / "empty.c").write_text("int x;\n")
    cc = COMPILERS["CC"]
    subprocess.run([cc, "-shared", "-fPIC", "empty.c", "-Wl,-soname,libMLIR.so.21.1", "-o", "libMLIR.so.21.1"], cwd=tmp_path, check=True)
    subprocess.run([cc, "-shared", "-fPIC", "empty.c", "-Wl,--no-as-needed", "libMLIR.so.21.1", "-o", "old.so"], cwd=tmp_path, check=True)
    assert re.match(r"FileError .*old.so' is not loaded: it needs libMLIR.so.21.1, and this is libMLIR.so.22.1: build it with LLVM 22.1",
                    refusal(project, f"drawloom.load_plugin({str(tmp_path / 'old.so')!r})"))


def test_a_plugin_of_another_machine_is_refused(project, tmp_path):
    image = bytearray((project / "build/smooth.so").read_bytes())
    image[18:20] = (183).to_bytes(2, "little")  # e_machine of AArch64
    (tmp_path / "arm.so").write_bytes(image)
    assert re.match(r"FileError .*arm.so' is not loaded: it is no library of this machine",
                    refusal(project, f"drawloom.load_plugin({str(tmp_path / 'arm.so')!r})"))


def test_a_plugin_that_needs_more_than_there_is_is_refused(project, tmp_path):
    (tmp_path / "more.cpp").write_text("namespace drawloom { void nowhere(); }\nextern \"C\" void mlirGetPassPluginInfo() { drawloom::nowhere(); }\n")
    subprocess.run([COMPILERS["CXX"], "-shared", "-fPIC", "more.cpp", "-o", "more.so"], cwd=tmp_path, check=True)
    said = refusal(project, f"drawloom.load_plugin({str(tmp_path / 'more.so')!r})")
    assert re.match(r"FileError .*more.so' is not loaded: .*undefined symbol: _ZN8drawloom7nowhereEv; build it with this Drawloom's headers", said)


def test_a_process_has_one_build_of_a_plugin(project, tmp_path):
    other = tmp_path / "other.so"
    other.write_bytes((project / "build/smooth.so").read_bytes() + b"\0")
    said = refusal(project, f"""
drawloom.load_plugin("build/smooth.so")
drawloom.load_plugin("build/../build/smooth.so")
drawloom.load_plugin({str(other)!r})
""")
    assert re.match(r"FileError .*other.so' is not loaded: this process has another plugin 'smooth', from '.*/build/smooth.so', and keeps it", said)
    # Nothing of the second one is left.
    run(project, f"""
drawloom.load_plugin("build/smooth.so")
try:
    drawloom.load_plugin({str(other)!r})
except drawloom.FileError:
    f = drawloom.compile("tanh.mlir", insert_passes={REPLACE!r}).f
assert is_near(f(x), softsign, SOFTSIGN)
""")


BREAKING = """
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
struct BreakPass : PassWrapper<BreakPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakPass)
  StringRef getArgument() const override { return "smooth-break"; }
  // Functions return nothing, whatever their types say.
  void runOnOperation() override {
    getOperation()->walk([](func::ReturnOp op) { op->setOperands({}); });
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "breaking", "1", [] { PassRegistration<BreakPass>(); }};
}
"""


def test_a_pass_that_leaves_an_invalid_program_is_named_with_its_phase(project, tmp_path):
    (tmp_path / "Break.cpp").write_text(BREAKING)
    (tmp_path / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.25)
project(breaking LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Drawloom REQUIRED COMPONENTS development)
add_library(smooth MODULE Break.cpp)
target_compile_options(smooth PRIVATE -fno-exceptions)
set_target_properties(smooth PROPERTIES PREFIX "")
target_link_libraries(smooth PRIVATE Drawloom::headers)
""")
    library = build(project / "prefix", tmp_path, tmp_path / "build")
    said = refusal(project, f"""
drawloom.load_plugin({str(library)!r})
drawloom.compile("tanh.mlir", insert_passes="structured:smooth-break").f(x)
""")
    assert re.match(r"CompileError \| structured \| .*the passes 'smooth-break' before phase structured fail, or leave an invalid program", said,
                    re.DOTALL)
    # The command shows the same.
    command = re.search(r"drawloom-run .*", said).group()
    environment = {**os.environ, "PATH": os.pathsep.join([str(BUILD / "bin"), os.environ["PATH"]])}
    done = subprocess.run(command, shell=True, cwd=project, capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "the passes 'smooth-break' before phase structured fail" in done.stderr


def test_the_c_interface_needs_no_python_package(project):
    """libdrawloom.so by itself, as the library of a program, compiles a program with a foreign op."""
    code = f"""
import sys
sys.path.insert(0, {str(ROOT / "test/python")!r})
import numpy as np
from package import c_interface
library = c_interface.open_library({str(BUILD / "lib/libdrawloom.so")!r})
c_interface.invoke(library, "drawloomLoadPlugin", b"build/smooth.so")
program = c_interface.compiled(library, '''func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = smooth.softsign %x : tensor<4xf32>
  return %y : tensor<4xf32>
}}''')
y, = c_interface.call(library, program, "f", [np.ones(4, np.float32)])
assert (y == 0.5).all()
try:
    c_interface.invoke(library, "drawloomLoadPlugin", b"/none")
except RuntimeError as error:
    assert str(error) == "the plugin '/none' is not loaded: No such file or directory"
else:
    raise AssertionError
assert "drawloom" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], cwd=project, check=True, timeout=120, env={**os.environ, "DRAWLOOM_CACHE": ""})


STANDALONE = BUILD / "lib" / "standalone" / "libdrawloom.so"


@pytest.mark.skipif(not STANDALONE.exists(), reason="this build has no library with LLVM inside")
def test_the_library_of_the_wheel_says_the_way_out(project):
    library = ctypes.CDLL(str(STANDALONE))
    library.drawloomErrorMessage.restype = ctypes.c_char_p
    library.drawloomLoadPlugin.restype = ctypes.c_void_p
    error = library.drawloomLoadPlugin(os.fsencode(project / "build/smooth.so"))
    said = library.drawloomErrorMessage(ctypes.c_void_p(error)).decode()
    assert re.search("smooth.so' is not loaded: this library, which has MLIR and LLVM inside, takes no dialects or passes of others. "
                     "Install Drawloom from its sources; or compile the program by its drawloom-run with --plugin", said)
