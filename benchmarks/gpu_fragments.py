# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which lane and register of a fragment holds which element: asked of the machine that runs, compared with the manual.

For `mma.sync` every place of A is one once while all others are zero, and every place of B has a number of its own: what
comes out says which places of A, B and D meet. For `ldmatrix` memory holds its own addresses. The tables say, for each
place of A (lane by lane, element by element), [[place of D, place of B], ...]; for `ldmatrix` the address in each place.
"""

import ctypes
import json

import numpy as np

LANES = 32
# Of mma.sync: PTX type, shape, registers of A and B, elements in a register.
PRODUCTS = {"mma.sync.m16n8k16.bf16": ("bf16", (16, 8, 16), 4, 2, 2), "mma.sync.m16n8k16.f16": ("f16", (16, 8, 16), 4, 2, 2),
            "mma.sync.m16n8k8.tf32": ("tf32", (16, 8, 8), 4, 2, 1)}
MATRICES = {"ldmatrix.x4": "row", "ldmatrix.x4.trans": "col"}
HEAD = "llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>\n"


def name_of(instruction):
    return instruction.replace(".", "_")


def function(name, parameters, body, shared):
    declared = ", ".join(f"%{p}: !llvm.ptr<1> {{drawloom.name = \"{p}\"}}" for p in parameters)
    return f"""llvm.func @{name}({declared}, %global_scratch: !llvm.ptr<1>, %profile_scratch: !llvm.ptr<1>)
    attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 32>, drawloom.shared_bytes = {shared} : i64}} {{
  %lane = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %lanes = llvm.mlir.constant(32 : i32) : i32
{body}  llvm.return
}}
"""


def load(name, source, thread, count, kind="i32"):
    """`count` values of a thread, which lie next to each other."""
    out = f"  %{name}n = llvm.mlir.constant({count} : i32) : i32\n  %{name}s = llvm.mul {thread}, %{name}n : i32\n"
    for i in range(count):
        out += f"""  %{name}c{i} = llvm.mlir.constant({i} : i32) : i32
  %{name}o{i} = llvm.add %{name}s, %{name}c{i} : i32
  %{name}p{i} = llvm.getelementptr %{source}[%{name}o{i}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {kind}
  %{name}{i} = llvm.load %{name}p{i} {{alignment = 4 : i64}} : !llvm.ptr<1> -> {kind}
"""
    return out


def save(name, target, thread, values, kind):
    out = f"  %{name}n = llvm.mlir.constant({len(values)} : i32) : i32\n  %{name}s = llvm.mul {thread}, %{name}n : i32\n"
    for i, value in enumerate(values):
        out += f"""  %{name}c{i} = llvm.mlir.constant({i} : i32) : i32
  %{name}o{i} = llvm.add %{name}s, %{name}c{i} : i32
  %{name}p{i} = llvm.getelementptr %{target}[%{name}o{i}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {kind}
  llvm.store {value}, %{name}p{i} {{alignment = 4 : i64}} : {kind}, !llvm.ptr<1>
"""
    return out


def product_kernel(instruction):
    kind, (m, n, k), of_a, of_b, _ = PRODUCTS[instruction]
    a, b = (", ".join(f"%{x}{i}" for i in range(count)) for x, count in (("a", of_a), ("b", of_b)))
    types = {"bf16": "i32, i32, f32", "tf32": "i32, i32, f32", "f16": "vector<2xf16>, vector<2xf16>, f32"}[kind]
    body = "  %warp = llvm.mul %block, %lanes : i32\n  %thread = llvm.add %warp, %lane : i32\n"
    body += load("a", "left", "%thread", of_a) + load("b", "right", "%lane", of_b)
    if kind == "f16":
        for x, count in (("a", of_a), ("b", of_b)):
            for i in range(count):
                body += f"  %h{x}{i} = llvm.bitcast %{x}{i} : i32 to vector<2xf16>\n"
        a, b = a.replace("%", "%h"), b.replace("%", "%h")
    typed = "" if kind == "f16" else f", multiplicandAPtxType = #nvvm.mma_type<{kind}>, multiplicandBPtxType = #nvvm.mma_type<{kind}>"
    body += f"""  %z = llvm.mlir.constant(0.0 : f32) : f32
  %d = nvvm.mma.sync A[{a}] B[{b}] C[%z, %z, %z, %z] {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>{typed}, shape = #nvvm.shape<m = {m}, n = {n}, k = {k}>}} : ({types}) -> !llvm.struct<(f32, f32, f32, f32)>
"""
    for i in range(4):
        body += f"  %r{i} = llvm.extractvalue %d[{i}] : !llvm.struct<(f32, f32, f32, f32)>\n"
    body += save("w", "out", "%thread", [f"%r{i}" for i in range(4)], "f32")
    return function(name_of(instruction), ["left", "right", "out"], body, 0)


def matrix_kernel(instruction):
    body = load("v", "source", "%lane", 4) + "  %arena = llvm.mlir.addressof @global_smem : !llvm.ptr<3>\n"
    for i in range(4):
        body += f"""  %q{i} = llvm.getelementptr %arena[%vo{i}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %v{i}, %q{i} {{alignment = 4 : i64}} : i32, !llvm.ptr<3>
"""
    body += f"""  nvvm.barrier0
  %m = nvvm.ldmatrix %q0 {{layout = #nvvm.mma_layout<{MATRICES[instruction]}>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
"""
    for i in range(4):
        body += f"  %r{i} = llvm.extractvalue %m[{i}] : !llvm.struct<(i32, i32, i32, i32)>\n"
    body += save("w", "out", "%lane", [f"%r{i}" for i in range(4)], "i32")
    return function(name_of(instruction), ["source", "out"], body, 512)


def module():
    """All kernels, in the dialects that the NVIDIA target ends with."""
    return HEAD + "".join(map(product_kernel, PRODUCTS)) + "".join(map(matrix_kernel, MATRICES))


def bits(values, kind):
    """Numbers as registers hold them, two to a register where they have 16 bits."""
    values = np.asarray(values, np.float32)
    if kind == "tf32":
        return values.view(np.uint32)
    half = values.astype(np.float16).view(np.uint16) if kind == "f16" else (values.view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(half).view(np.uint32)


def ask(launch, instruction):
    """The table of an instruction. `launch(kernel, blocks, inputs, shape, type)` runs one and gives what it wrote."""
    if instruction in MATRICES:
        source = np.arange(256, dtype=np.uint16).view(np.uint32)
        out = launch(name_of(instruction), 1, [source], (LANES, 4), np.uint32)
        return np.ascontiguousarray(out).view(np.uint16).reshape(-1).tolist()
    kind, _, of_a, of_b, packed = PRODUCTS[instruction]
    places, numbers = LANES * of_a * packed, LANES * of_b * packed
    left = bits(np.eye(places, dtype=np.float32).reshape(-1), kind)
    right = bits(np.arange(1, numbers + 1), kind)
    out = launch(name_of(instruction), places, [left, right], (places, LANES * 4), np.float32)
    return [[[int(place), int(row[place]) - 1] for place in np.flatnonzero(row)] for row in out]


def expected(instruction):
    """The same by the formulas of the PTX manual."""
    lanes = np.arange(LANES)[:, None]
    group, within = lanes // 4, lanes % 4
    if instruction in MATRICES:
        i = np.arange(8)[None, :]
        matrix, half = i // 2, i % 2
        row, column = group, 2 * within + half
        if instruction.endswith(".trans"):
            row, column = column, row
        return (matrix * 64 + row * 8 + column).reshape(-1).tolist()
    kind, _, of_a, of_b, packed = PRODUCTS[instruction]
    i = np.arange(of_a * packed)[None, :]
    j = np.arange(of_b * packed)[None, :]
    d = np.arange(4)[None, :]
    if kind == "tf32":
        a_row, a_k = group + 8 * (i % 2), within + 4 * (i // 2)
        b_k = within + 4 * j
    else:
        a_row, a_k = group + 8 * (i // 2 % 2), 2 * within + i % 2 + 8 * (i // 4)
        b_k = 2 * within + j % 2 + 8 * (j // 2)
    b_column = (group + 0 * j).reshape(-1)
    d_row, d_column = (group + 8 * (d // 2)).reshape(-1), (2 * within + d % 2).reshape(-1)
    out = []
    for row, k in zip(a_row.reshape(-1), a_k.reshape(-1)):
        met = []
        for place in np.flatnonzero(d_row == row):
            number, = np.flatnonzero((b_k.reshape(-1) == k) & (b_column == d_column[place]))
            met.append([int(place), int(number)])
        out.append(met)
    return out


def check(library, folder, tally):
    """Asks the device that `library` has for all tables and notes those that are not the manual's; gives them."""
    found = {}
    for instruction in (*PRODUCTS, *MATRICES):
        table = ask(lambda *what: run(library, folder, *what), instruction)
        differ = sum(a != b for a, b in zip(table, expected(instruction), strict=True))
        tally.note(not differ, f"{instruction}: " + (f"{differ} places hold other elements than the manual says" if differ
                                                    else f"{len(table)} places hold the elements that the manual says"))
        found[instruction] = table
    return found


def run(library, folder, kernel, blocks, inputs, shape, kind):
    """One launch of a kernel of the bundle; what it wrote."""
    runner, arch = ctypes.c_void_p(), ctypes.c_char_p()
    library("Open", str(folder).encode(), ctypes.byref(runner), ctypes.byref(arch))
    try:
        out = np.zeros(shape, kind)
        memories = []
        for array in (*inputs, out):
            memories.append(ctypes.c_void_p())
            library("Allocate", runner, ctypes.c_size_t(array.nbytes), ctypes.byref(memories[-1]))
            library("Upload", runner, memories[-1], array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        count = len(memories)
        library("AddLaunch", runner, kernel.encode(), ctypes.c_int64(blocks), ctypes.c_size_t(count), (ctypes.c_int * count)(),
                (ctypes.c_uint64 * count)(*(memory.value for memory in memories)))
        library("Run", runner, 1)
        library("Wait", runner)
        library("Download", runner, out.ctypes.data_as(ctypes.c_void_p), memories[-1], ctypes.c_size_t(out.nbytes))
        return out
    finally:
        library.library.drawloomGpuClose(runner)


def write(path, device, tables):
    """Goldens, a line an instruction."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(table, separators=(',', ':'))}" for name, table in tables.items())
    path.write_text(f'{{"device": {json.dumps(device)},\n{lines}}}\n')
