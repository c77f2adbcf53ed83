# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs AVX-512 code in Bochs, on whatever machine this is.

A program is compiled for avx512, linked with a boot sector and a loop over its
results (test/emulated), and booted; there is no operating system.
"""

import re
import subprocess

import numpy as np

from support.runner import BUILD, ROOT, ToolError, tool

SOURCES = ROOT / "test" / "emulated"

CONFIGURATION = """
megs: 64
cpu: model=corei7_icelake_u, count=1, ips=100000000, reset_on_triple_fault=0
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path=disk.img, mode=flat, cylinders=20, heads=16, spt=63
boot: disk
port_e9_hack: enabled=1
display_library: rfb, options="timeout=0"
sound: driver=dummy
log: bochs.log
panic: action=fatal
clock: sync=none
"""
SECTORS = 20 * 16 * 63


def command(folder, *words):
    done = subprocess.run([str(w) for w in words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise ToolError(f"{words[0]} failed:\n{done.stderr}{done.stdout}")


def run_avx512(folder, module, entry, arrays, results):
    """The results of a function as arrays like `results` (zeros of their types)."""
    path = folder / "program.mlir"
    path.write_text(module)
    attributes = tool("drawloom-run", path, f"--entry={entry}", "--isa=avx512", "--compile-to=llvm")
    sizes = {key: int(re.search(rf"{key} = (\d+) : i64", attributes)[1]) for key in ("workspace_bytes", "scratch_bytes")}
    (folder / "program.o").write_bytes(
        subprocess.run([BUILD / "bin/drawloom-translate", "--mlir-to-object", "--isa=avx512", path],
                       check=True, capture_output=True).stdout)

    code = subprocess.run(["objdump", "-d", folder / "program.o"], check=True, capture_output=True, text=True).stdout
    if "%zmm" not in code:
        raise ToolError("the code for avx512 has no 512-bit vector: the emulator would show nothing")

    data = [".data"]
    for i, array in enumerate(arrays):
        (folder / f"argument{i}").write_bytes(np.ascontiguousarray(array).tobytes())
        data.append(f'.balign 64\nargument{i}: .incbin "argument{i}"')
    pointers = [f"argument{i}" for i in range(len(arrays))] + [f"result{i}" for i in range(len(results))] + ["workspace"]
    data.append(".balign 8\n.globl arguments, results, result_count, scratch\narguments: .quad " + ", ".join(pointers))
    data.append("results: " + "\n".join(f".quad result{i}, {r.nbytes}" for i, r in enumerate(results)))
    data.append(f"result_count: .quad {len(results)}\n.bss")
    for name, size in [*((f"result{i}", r.nbytes) for i, r in enumerate(results)),
                       ("workspace", sizes["workspace_bytes"]), ("scratch", sizes["scratch_bytes"])]:
        data.append(f".balign 64\n{name}: .skip {max(size, 64)}")
    (folder / "data.S").write_text("\n".join(data) + "\n")

    command(folder, "gcc", "-c", SOURCES / "boot.S", "-o", "boot.o")
    command(folder, "ld", "-Ttext=0x7c00", "--oformat=binary", "boot.o", "-o", "boot.bin")
    command(folder, "gcc", "-c", "data.S", "-o", "data.o")
    command(folder, "gcc", "-O1", "-ffreestanding", "-fno-pic", "-mno-red-zone", "-fno-stack-protector", "-mcmodel=large",
            "-I", ROOT / "include", "-c", SOURCES / "harness.c", "-o", "harness.o", f"-Dprogram=drawloom_{entry}")
    command(folder, "ld", "-static", "-T", SOURCES / "image.ld", "harness.o", "program.o", "data.o", "-o", "image.elf")
    command(folder, "objcopy", "-O", "binary", "-j", ".text", "-j", ".rodata", "-j", ".data", "image.elf", "image.bin")
    image = (folder / "boot.bin").read_bytes() + (folder / "image.bin").read_bytes()
    (folder / "disk.img").write_bytes(image.ljust(SECTORS * 512, b"\0"))

    (folder / "bochsrc").write_text(CONFIGURATION)
    (folder / "commands").write_text("c\n")
    done = subprocess.run(["bochs", "-q", "-f", "bochsrc", "-rc", "commands"], cwd=folder, capture_output=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    lines = done.stdout.decode(errors="replace").splitlines()
    if "end" not in lines:
        log = (folder / "bochs.log").read_text(errors="replace")[-3000:]
        raise ToolError(f"the program did not come to its end in Bochs:\n{log}")
    found = [bytes.fromhex(line.removeprefix("result ")) for line in lines if line.startswith("result ")]
    return [np.frombuffer(b, r.dtype).reshape(r.shape) for b, r in zip(found, results, strict=True)]
