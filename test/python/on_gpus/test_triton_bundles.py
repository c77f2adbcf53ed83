# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles of kernels, loaded and launched by the Triton that is installed."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

from support.runner import BUILD, ROOT, tool

triton = pytest.importorskip("triton")
sys.path.insert(0, str(ROOT / "runtime" / "triton"))
import drawloom_triton  # noqa: E402

ADD = ROOT / "test/codegen/nvptx/emit/Inputs/add.mlir"
# A library with sanitizers in it cannot be loaded into a Python without.
SANITIZED = "DRAWLOOM_SANITIZE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()
PTXAS = pathlib.Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"


def make_bundle(folder, source=ADD, arch="all"):
    tool("drawloom-translate", "--mlir-to-bundle", f"--arch={arch}", f"--ptxas={PTXAS}", f"--bundle-dir={folder}",
         "--bundle-modules", source)
    return folder


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return make_bundle(tmp_path_factory.mktemp("bundle") / "add")


@pytest.mark.parametrize("capability, arch", [(80, "sm_80"), (86, "sm_80"), (90, "sm_90a"), (100, "sm_100a")])
def test_compiled_kernel_of_triton_takes_the_folder(bundle, capability, arch):
    kernel = drawloom_triton.compiled_kernel(bundle, "add", capability)
    assert kernel.name == "add"
    assert kernel.metadata.num_warps == 4 and kernel.metadata.shared == 512
    assert kernel.packed_metadata == (4, 1, 512)
    assert kernel.kernel == (bundle / arch / "add.cubin").read_bytes()
    assert f".target {arch}\n" in kernel.asm["ptx"]
    assert "define ptx_kernel void @add" in kernel.asm["llir"]


def test_metadata_has_the_keys_of_tritons_own(bundle):
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    options = CUDABackend(GPUTarget("cuda", 90, 32)).parse_options({})
    ours = json.loads((bundle / "sm_90a" / "add.json").read_text())
    stages = {"hash", "target", "triton_version", "tensordesc_meta", "shared", "tmem_size", "global_scratch_size",
              "global_scratch_align", "profile_scratch_size", "profile_scratch_align", "name"}
    assert set(ours) == set(options.__dict__) | stages | {"cluster_dims"}


def test_folder_may_move(bundle, tmp_path):
    moved = shutil.copytree(bundle, tmp_path / "moved")
    assert str(bundle) not in "".join(path.read_text() for path in moved.rglob("*.json"))
    kernel = drawloom_triton.compiled_kernel(moved, "add", 90)
    assert all(str(moved) in path for path in kernel.metadata_group.values())


def test_device_without_code_is_an_error(bundle):
    with pytest.raises(drawloom_triton.BundleError, match=r"capability 12.0; it is for sm_80, sm_90a, sm_100a"):
        drawloom_triton.compiled_kernel(bundle, "add", 120)


def test_damaged_manifest_is_an_error(bundle, tmp_path):
    damaged = shutil.copytree(bundle, tmp_path / "damaged")
    text = (damaged / "bundle.json").read_text()
    (damaged / "bundle.json").write_text(text[:-1])
    with pytest.raises(drawloom_triton.BundleError, match="cut off, damaged, or not Drawloom's"):
        drawloom_triton.read_manifest(damaged)
    (damaged / "bundle.json").write_text(text.replace('"drawloom_bundle": 1', '"drawloom_bundle": 2'))
    with pytest.raises(drawloom_triton.BundleError, match="version 2, this reads version 1"):
        drawloom_triton.read_manifest(damaged)


OPEN_ROWS = """
func.func @double(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = arith.addf %x, %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
"""


@pytest.fixture(scope="module")
def launch(bundle, tmp_path_factory):
    """Runs Python statements over the emulated driver, with the modules of the bundles imported as `kernels`, `products` and
    `rows`; what they print comes back."""
    if SANITIZED:
        pytest.skip("the emulated driver is built with sanitizers")
    folder = tmp_path_factory.mktemp("launch")
    product = make_bundle(folder / "product", ADD.parent / "product.mlir", "sm_90a")
    (folder / "rows.mlir").write_text(OPEN_ROWS)
    rows = make_bundle(folder / "rows", folder / "rows.mlir", "sm_90a")
    for one, name in ((bundle, "kernels.py"), (product, "products.py"), (rows, "rows.py")):
        done = subprocess.run([sys.executable, ROOT / "runtime/triton/drawloom_triton.py", one, folder / name],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    driver = BUILD / "emulated-driver"
    environment = dict(os.environ, TRITON_LIBCUDA_PATH=str(driver), LD_LIBRARY_PATH=str(driver),
                       TRITON_CACHE_DIR=str(folder / "cache"), PYTHONPATH=f"{folder}:{ROOT / 'test/python'}",
                       DRAWLOOM_EMULATED_HOST_POINTERS="1",
                       DRAWLOOM_EMULATED_MODULES=f"{bundle / 'sm_90a'}:{product / 'sm_90a'}:{rows / 'sm_90a'}")

    def run(statements):
        (folder / "program.py").write_text("import torch\nfrom on_gpus import triton_on_a_driver\ntriton_on_a_driver.activate()\n"
                                           "import kernels, products, rows\n" + textwrap.dedent(statements))
        done = subprocess.run([sys.executable, folder / "program.py"], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_tritons_launcher_launches(launch):
    launch("""
        x, y = torch.randn(1000), torch.randn(1000)
        expected = x + y
        kernels.add[(8,)](x, y, 1000)
        torch.testing.assert_close(y, expected, rtol=0, atol=0)
        # One is an argument as any other number is.
        expected[0] += x[0]
        kernels.add[(1,)](x, y, 1)
        torch.testing.assert_close(y, expected, rtol=0, atol=0)
        # Beside a kernel with other parameters.
        a, b = torch.randn(16, 16).bfloat16(), torch.randn(8, 16).bfloat16()
        c = torch.full((16, 8), float("nan"))
        products.product[(1,)](a, b, c)
        torch.testing.assert_close(c, a.float() @ b.float().T)
    """)


def test_numbers_of_rows_are_numbers_of_kernels(launch):
    """Blocks of 256 rows, of eight and of one, as the plan of the bundle says."""
    launch("""
        for n in (1, 77, 256, 1000):
            x = torch.randn(n, 8)
            y = torch.full((n, 8), float("nan"))
            rows.double_0[(n // 256 + n % 256 // 8 + n % 8,)](n, x, y)
            torch.testing.assert_close(y, 2 * x, rtol=0, atol=0)
    """)


def test_kernels_are_ops_of_torch(launch):
    launch("""
        from torch.library import triton_op, wrap_triton

        @triton_op("drawloom_test::add_", mutates_args={"y"})
        def add_(x: torch.Tensor, y: torch.Tensor) -> None:
            wrap_triton(kernels.add)[(triton_on_a_driver.triton.cdiv(x.numel(), 128),)](x, y, x.numel())

        x, y = torch.randn(300), torch.randn(300)
        expected = x + y
        torch.ops.drawloom_test.add_(x, y)
        torch.testing.assert_close(y, expected)

        @torch.compile(backend="aot_eager", fullgraph=True)
        def twice(x, y):
            y = y * 2
            torch.ops.drawloom_test.add_(x, y)
            return y
        torch.testing.assert_close(twice(x, y), x + 2 * y)
    """)


DOUBLE = """
func.func @double(%x: tensor<256x32xf32>) -> tensor<256x32xf32> {
  %y = arith.addf %x, %x : tensor<256x32xf32>
  return %y : tensor<256x32xf32>
}
"""


def test_arguments_that_overlap_are_refused(tmp_path):
    """Inputs are read through a cache that does not see what the kernel itself writes."""
    (tmp_path / "double.mlir").write_text(DOUBLE)
    folder = make_bundle(tmp_path / "double", tmp_path / "double.mlir", "sm_90a")
    kernel, = json.loads((folder / "bundle.json").read_text())["architectures"][0]["kernels"]
    inputs, results = ([one["name"] for one in kernel["parameters"] if one.get("written", False) == written]
                       for written in (False, True))
    assert len(inputs) == len(results) == 1

    class Memory:

        def __init__(self, address):
            self.address = address

        def data_ptr(self):
            return self.address

    bundled = drawloom_triton.BundledKernel.__new__(drawloom_triton.BundledKernel)
    bundled.described, bundled.__name__ = kernel["parameters"], kernel["name"]
    bytes_behind = 256 * 32 * 4
    x, after = Memory(0x10000), Memory(0x10000 + bytes_behind)
    bundled._refuse_overlaps({inputs[0]: x, results[0]: after})
    for overlapping in (x, Memory(x.address + bytes_behind - 16), Memory(x.address - 16), x.address):
        with pytest.raises(drawloom_triton.BundleError, match="which the kernel writes, overlaps argument"):
            bundled._refuse_overlaps({inputs[0]: x, results[0]: overlapping})


def test_wrong_uses_are_errors(launch):
    """Wrong arguments, and taking the declaration for the kernel, which would launch nothing that does nothing."""
    messages = launch("""
        from triton.compiler import ASTSource, compile
        from triton.backends.compiler import GPUTarget
        x = torch.zeros(257).bfloat16()
        source = ASTSource(kernels.add, {"x": "*fp32", "y": "*fp32", "n": "i32"})
        for wrong in (lambda: kernels.add[(1,)](x, 3, 4),
                      lambda: products.product[(1,)](x[1:], x, torch.zeros(128)),
                      lambda: compile(source, target=GPUTarget("cuda", 90, 32))):
            try:
                wrong()
                print("no error")
            except Exception as error:
                print(str(error).replace("\\n", " "))
    """).splitlines()
    assert messages[0] == "argument 'y' of kernel 'add' is of Triton's type i32, the kernel takes ptr"
    assert messages[1] == "argument 'a' of kernel 'product' must be aligned to 16 bytes; copy it"
    assert "the code of this kernel comes from its bundle; it cannot be compiled" in messages[2]
