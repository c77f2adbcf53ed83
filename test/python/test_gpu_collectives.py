# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What whole warps and blocks do together, and what they read, is the same in PTX as in the kernels before LLVM."""

import hashlib
import json
import re
import sys

import pytest

from runner import BUILD, ROOT, tool

sys.path.insert(0, str(ROOT / "benchmarks"))
import gpu_programs  # noqa: E402

# In the nvvm dialect, and in PTX.
SPELLINGS = {
    "barrier": (r"nvvm\.barrier0?\b", r"\bbar(?:rier)?\.(?:cta\.)?(?:sync|red|arrive)"),
    "warp barrier": (r"nvvm\.bar\.warp\.sync", r"\bbar\.warp\.sync"),
    "mma.sync": (r"nvvm\.mma\.sync", r"\bmma\.sync"),
    "ldmatrix": (r"nvvm\.ldmatrix", r"\bldmatrix\."),
    "stmatrix": (r"nvvm\.stmatrix", r"\bstmatrix\."),
    "shfl": (r"nvvm\.shfl\.sync", r"\bshfl\.sync"),
}


def count(pattern, text):
    return len(re.findall(pattern, text))


@pytest.fixture(scope="module", params=[case.key for case in gpu_programs.cases() if case.quick] + ["GLA steps bf16"])
def kernels(request, tmp_path_factory):
    """(module, PTX) of each kernel of a program of the table."""
    case = next(case for case in gpu_programs.cases() if case.key == request.param)
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "program.mlir").write_text(case.text(case.small))
    tool("drawloom-translate", "--mlir-to-bundle", "--arch=sm_90a", "--bundle-modules", f"--bundle-dir={folder / 'bundle'}",
         folder / "program.mlir")
    bundle, found = folder / "bundle", []
    for kernel in json.loads((bundle / "bundle.json").read_text())["architectures"][0]["kernels"]:
        # By the bytes that a driver loads.
        image = (bundle / kernel.get("cubin", kernel["ptx"])).read_bytes()
        module, = bundle.rglob(f"{hashlib.sha256(image).hexdigest()}.mlir")
        found.append((module.read_text(), (bundle / kernel["ptx"]).read_text()))
    assert found
    return found


def test_counts_are_those_of_the_kernel(kernels):
    for module, ptx in kernels:
        for name, (before, behind) in SPELLINGS.items():
            assert count(behind, ptx) == count(before, module), name


def test_noalias_takes_no_load_away(kernels):
    """With the attribute and without: the same loads of global memory, and the same barriers."""
    for module, ptx in kernels:
        plain = tool("drawloom-translate", "--mlir-to-ptx", "--arch=sm_90a", "-", text=module.replace(", llvm.noalias", ""))
        assert "llvm.noalias" in module
        for pattern in (r"\bld\.global", SPELLINGS["barrier"][1]):
            assert count(pattern, plain) == count(pattern, ptx), pattern
