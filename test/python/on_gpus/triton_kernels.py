# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported kernels through Triton's own compiler, and what came of them. No GPU is needed."""

import collections
import pathlib
import re
import subprocess


def compile_kernel(kernel, architecture, folder):
    """Triton's CompiledKernel of an exported kernel (an entry of the JSON) for sm_<architecture>.

    Triton caches in TRITON_CACHE_DIR; set it before the first call.
    """
    import triton
    from triton.backends.compiler import GPUTarget

    path = pathlib.Path(folder) / f"{kernel['name']}.ttir"
    path.write_text(kernel["ttir"])
    return triton.compile(str(path), target=GPUTarget("cuda", architecture, 32),
                          options={"num_warps": kernel["num_warps"], "num_stages": kernel["num_stages"]})


def triton_tool(name):
    import triton

    return pathlib.Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name


def statistics(compiled, folder):
    """Of the machine code: registers of a thread, bytes of stack (spills live there) and of static and
    dynamic shared memory, the number of instructions and of each opcode."""
    path = pathlib.Path(folder) / "kernel.cubin"
    path.write_bytes(compiled.asm["cubin"])
    usage = subprocess.run([triton_tool("cuobjdump"), "-res-usage", path], check=True, capture_output=True, text=True).stdout
    number = {key: int(value) for key, value in re.findall(r"(REG|STACK|SHARED):(\d+)", usage)}
    sass = subprocess.run([triton_tool("cuobjdump"), "-sass", path], check=True, capture_output=True, text=True).stdout
    opcodes = collections.Counter(re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)", sass, re.M))
    opcodes.pop("NOP", None)
    return {"registers": number["REG"], "stack": number["STACK"], "shared": number["SHARED"] + compiled.metadata.shared,
            "instructions": sum(opcodes.values()), "opcodes": dict(opcodes)}
