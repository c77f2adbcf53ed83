# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawloom beside the frameworks in one process, each with a compiler and an LLVM of its own, imported in any order."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from support.runner import BUILD

# Each compiles something and runs it where it can run here.
PARTS = {
    "drawloom": """
import drawloom, numpy
module = drawloom.compile('''func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = kan.silu %x : tensor<64xf32>
  return %y : tensor<64xf32>
}''', cache=False)
assert abs(module.f(numpy.ones(64, numpy.float32))[0] - 0.7310586) < 1e-6
""",
    "torch": """
import torch
x = torch.linspace(0, 1, 7)
assert torch.allclose(torch.compile(lambda x: torch.sin(x) * 2)(x), torch.sin(x) * 2)
""",
    "jax": """
import jax
assert abs(float(jax.jit(lambda x: jax.numpy.sin(x) * 2)(1.0)) - 1.6829419) < 1e-6
""",
    "triton": """
import os, tempfile, triton
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
from triton.backends.compiler import GPUTarget
ttir = os.path.join(os.environ["TRITON_CACHE_DIR"], "copy.ttir")
with open(ttir, "w") as file:
    file.write('''module {
  tt.func public @copy(%from: !tt.ptr<f32>, %to: !tt.ptr<f32>) {
    %x = tt.load %from : !tt.ptr<f32>
    tt.store %to, %x : !tt.ptr<f32>
    tt.return
  }
}''')
assert triton.compile(ttir, target=GPUTarget("cuda", 90, 32)).asm["cubin"]
""",
}


@pytest.mark.parametrize("order", ["drawloom torch triton jax", "jax triton torch drawloom", "torch drawloom jax triton",
                                   "triton jax drawloom torch"])
def test_any_order_of_imports_works(order, tmp_path_factory):
    # Inductor's C++ of one run serves the next.
    cache = tmp_path_factory.getbasetemp() / "inductor"
    code = f"import os\nos.environ['TORCHINDUCTOR_CACHE_DIR'] = {str(cache)!r}\n"
    names = order.split()
    code += "".join(PARTS[name] for name in names)
    # And all of it once more, with everything loaded.
    code += "".join(PARTS[name] for name in reversed(names) if name != "triton")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240)


# The name that the extension module asks for has the interface's version.
STANDALONE = (BUILD / "lib" / "standalone" / "libdrawloom.so").resolve()


@pytest.fixture(scope="module")
def standalone(tmp_path_factory):
    """The package as the wheel has it, with LLVM inside: a folder for PYTHONPATH."""
    if not STANDALONE.exists():
        pytest.skip("this build has no library with LLVM inside")
    folder = tmp_path_factory.mktemp("standalone")
    shutil.copytree(BUILD / "python" / "drawloom", folder / "drawloom", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(STANDALONE, folder / "drawloom")
    return folder


def test_a_library_with_llvm_inside_needs_a_c_library_of_2021_only(standalone):
    dynamic = subprocess.run(["readelf", "--dynamic", "--wide", STANDALONE], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)) <= {
        "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
    versions = subprocess.run(["readelf", "--version-info", "--wide", STANDALONE], capture_output=True, text=True, check=True).stdout
    minor = [int(version) for version in re.findall(r"Name: GLIBC_2\.(\d+)", versions)]
    assert minor and max(minor) <= 34


def test_a_library_with_llvm_inside_shows_the_c_interface_only(standalone):
    symbols = subprocess.run(["nm", "--dynamic", "--defined-only", STANDALONE], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in symbols.splitlines()]
    assert "drawloomCompile" in names and not [name for name in names if not name.startswith("drawloom")]


def test_a_library_with_llvm_inside_lives_beside_another_llvm(standalone):
    # All that is loaded may look for its symbols in that of Debian, which comes first.
    with open(BUILD / "CMakeCache.txt") as cache:
        folder = re.search(r"MLIR_DIR:PATH=(.*)/cmake/mlir", cache.read())[1]
    code = f"import ctypes, glob\nctypes.CDLL(glob.glob({folder!r} + '/libMLIR.so*')[0], ctypes.RTLD_GLOBAL)\n"
    code += "".join(PARTS.values())
    code += f"assert drawloom._drawloom.__file__.startswith({str(standalone)!r})\n"
    code += "assert any('libdrawloom' in line and 'standalone' in line for line in open('/proc/self/maps'))\n"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240, env={**os.environ, "PYTHONPATH": str(standalone)})


def test_a_missing_part_of_the_extension_module_is_named_with_what_brings_it():
    code = "import sys; sys.modules['nanobind_backend'] = None\nimport drawloom"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "`pip install nanobind-backend` brings it" in done.stderr.splitlines()[-1]


FORK = """
import os, sys, torch, drawloom.torch
assert drawloom._drawloom.use_openmp()
torch.set_num_threads(2)
x, a, b = torch.randn(4096, 64), torch.randn(8, 6), torch.randn(8, 4)
torch.sin(x)
# No thread is added to those that torch has made.
mine = set(os.listdir("/proc/self/task"))
before = drawloom.torch.rational(x, a, b)
assert set(os.listdir("/proc/self/task")) == mine
child = os.fork()
if child == 0:
    y = drawloom.torch.rational(x, a, b)
    torch.set_num_threads(1)  # torch's own ops would wait for threads that the child has not.
    os._exit(0 if torch.equal(y, before) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_calls_run_on_torchs_threads_and_in_a_child_on_own_ones():
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=60)


COUNT = """
import os, drawloom, numpy as np
module = drawloom.compile('''func.func @f(%x: tensor<65536x8xf32>) -> tensor<65536x8xf32> {
  %y = math.exp %x : tensor<65536x8xf32>
  return %y : tensor<65536x8xf32>
}''')
other = drawloom.compile("func.func @g(%x: f32) -> f32 {\\n return %x : f32\\n}", threads=3)
assert (module.threads, other.threads) == (len(os.sched_getaffinity(0)), 3)
import torch
x = torch.randn(65536, 8)
for count in (1, 2):
    torch.set_num_threads(count)
    torch.sin(x)
    # No thread is added to those that torch has made.
    mine = set(os.listdir("/proc/self/task"))
    for array in (x, x.numpy()):
        module.f(array)
    assert set(os.listdir("/proc/self/task")) == mine
    assert (module.threads, other.threads) == (count, 3)
    assert drawloom.report(module.f, x, calls=1).threads == count
"""


def test_calls_of_a_module_obey_torchs_number_of_threads():
    subprocess.run([sys.executable, "-c", COUNT], check=True, timeout=60)
