# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What whole warps and blocks do together, and what they read, is the same in PTX as in the kernels before LLVM."""

import hashlib
import json
import re

import pytest

from drawloom_bench.programs import gpu as gpu_programs
from support.runner import ROOT, tool

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


CASES = {case.key: case for case in gpu_programs.cases() if case.quick or case.key == "GLA steps bf16"}
# Their kernels read what they have written, behind barriers.
IN_PLACE = [ROOT / "test/codegen/nvptx" / f"{name}.mlir"
            for name in ("run-adds-rows-into-large-tables", "run-changes-parts-of-results-apart")]


@pytest.fixture(scope="module", params=[*CASES, *IN_PLACE], ids=lambda p: getattr(p, "stem", p))
def kernels(request, tmp_path_factory):
    """(module, PTX) of each kernel of a program."""
    folder = tmp_path_factory.mktemp("bundle")
    case = CASES.get(request.param)
    (folder / "program.mlir").write_text(case.text(case.small) if case else request.param.read_text())
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


def results_read(module):
    """How many loads of global memory are of what the kernel also writes."""
    written, bases, loads = set(), {}, []
    for argument in re.findall(r"(%arg\d+): !llvm\.ptr<1> (\{[^}]*\})", module):
        if "drawloom.bytes" in argument[1] and "llvm.readonly" not in argument[1]:
            written.add(argument[0])
    for line in module.splitlines():
        if found := re.match(r"\s*(%\w+) = llvm\.getelementptr (?:\w+ )*(%\w+)\[", line):
            bases[found[1]] = found[2]
        elif found := re.match(r"\s*(%\w+) = llvm\.select %\w+, (%\w+), %\w+ : i1, !llvm\.ptr<1>", line):
            bases[found[1]] = found[2]
        elif found := re.match(r"\s*%\w+ = llvm\.load (%\w+) .*: !llvm\.ptr<1> ->", line):
            loads.append(found[1])

    def root(pointer):
        while pointer in bases:
            pointer = bases[pointer]
        return pointer

    return sum(root(pointer) in written for pointer in loads)


def test_no_load_of_a_result_is_taken_away(kernels):
    """Those of inputs may be shared: nobody writes there, and they go by the cache that only reads."""
    for module, ptx in kernels:
        assert count(r"\bld\.global\.(?!nc)", ptx) == results_read(module)


@pytest.mark.parametrize("kernels", IN_PLACE, ids=lambda p: getattr(p, "stem", p), indirect=True)
def test_some_kernels_read_results(kernels):
    assert any(results_read(module) for module, _ in kernels)
