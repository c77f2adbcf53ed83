# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler's instructions do with lanes, registers and words: asked of the machine that runs, compared with the manual.

For `mma.sync` every place of A is one once while all others are zero, and every place of B has a number of its own: what
comes out says which places of A, B and D meet. For `ldmatrix` memory holds its own addresses. The tables say, for each
place of A (lane by lane, element by element), [[place of D, place of B], ...]; for `ldmatrix` the address in each place; for `stmatrix`
the place whose element came to each address; for the rest the words that came out. Kernels are written in the dialects that the
compiler ends with, so that the emulator answers the same questions.
"""

import ctypes
import pathlib

import numpy as np

from drawloom_bench.gpu import runtime

LANES = 32
# Of mma.sync: PTX type, shape, registers of A and B, elements in a register.
PRODUCTS = {"mma.sync.m16n8k16.bf16": ("bf16", (16, 8, 16), 4, 2, 2), "mma.sync.m16n8k16.f16": ("f16", (16, 8, 16), 4, 2, 2),
            "mma.sync.m16n8k8.tf32": ("tf32", (16, 8, 8), 4, 2, 1)}
MATRICES = {"ldmatrix.x4": "row", "ldmatrix.x4.trans": "col"}
# Matrices and layout; the last ones are read by the lanes that had them, with no barrier in between.
STORES = {"stmatrix.x1": (1, "row"), "stmatrix.x2": (2, "row"), "stmatrix.x4": (4, "row"), "stmatrix.x4.trans": (4, "col"),
          "stmatrix.x4 then own elements": (4, "row")}
# Of what is rounded, and chosen by signs: zeros, denormals, NaN, infinity, ties.
SPECIAL = np.array([0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x3F800000, 0xBF800000, 0x3F808000, 0x3F818000, 0x3F807FFF,
                    0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F7FFFFF, 0xFF7FFFFF], np.uint32)
WORDS = ["cp.async 16 of 0 to 16 bytes", "cvt.rn.bf16x2", "cvt.rn.relu.bf16x2", "prmt of signs"]
HEAD = "llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>\n"


def name_of(instruction):
    return "".join(c if c.isalnum() else "_" for c in instruction)


def instructions(architecture):
    """What is asked on an architecture."""
    return [*PRODUCTS, *MATRICES, *(STORES if architecture != "sm_80" else []), *WORDS]


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
  %d = nvvm.mma.sync A[{a}] B[{b}] C[%z, %z, %z, %z]
    {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>{typed}, shape = #nvvm.shape<m = {m}, n = {n}, k = {k}>}}
    : ({types}) -> !llvm.struct<(f32, f32, f32, f32)>
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
  %m = nvvm.ldmatrix %q0 {{layout = #nvvm.mma_layout<{MATRICES[instruction]}>, num = 4 : i32,
    shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
"""
    for i in range(4):
        body += f"  %r{i} = llvm.extractvalue %m[{i}] : !llvm.struct<(i32, i32, i32, i32)>\n"
    body += save("w", "out", "%lane", [f"%r{i}" for i in range(4)], "i32")
    return function(name_of(instruction), ["source", "out"], body, 512)


def store_kernel(instruction):
    count, layout = STORES[instruction]
    body = load("v", "source", "%lane", count) + "  %arena = llvm.mlir.addressof @global_smem : !llvm.ptr<3>\n"
    values = ", ".join(f"%v{i}" for i in range(count))
    body += f"""  %four = llvm.mlir.constant(4 : i32) : i32
  %start = llvm.mul %lane, %four : i32
  %at = llvm.getelementptr %arena[%start] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  nvvm.stmatrix %at, {values} {{layout = #nvvm.mma_layout<{layout}>,
    shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : !llvm.ptr<3>, {", ".join(["i32"] * count)}
"""
    own = instruction.endswith("own elements")
    if not own:
        body += "  nvvm.barrier0\n"
    # Own elements are in row lane / 4 of each matrix, words lane mod 4; rows of matrices lie behind each other: so word `lane`.
    for i in range(count):
        step = f"%lane, %x{i}" if own else f"%vs, %vc{i}"
        body += f"""  %x{i} = llvm.mlir.constant({32 * i} : i32) : i32
  %w{i} = llvm.add {step} : i32
  %wp{i} = llvm.getelementptr %arena[%w{i}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %r{i} = llvm.load %wp{i} {{alignment = 4 : i64}} : !llvm.ptr<3> -> i32
"""
    body += save("o", "out", "%lane", [f"%r{i}" for i in range(count)], "i32")
    return function(name_of(instruction), ["source", "out"], body, 128 * count)


def copy_kernel(instruction):
    """Lane i copies i mod 17 bytes of its 16."""
    body = """  %four = llvm.mlir.constant(4 : i32) : i32
  %start = llvm.mul %lane, %four : i32
  %arena = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
  %to = llvm.getelementptr %arena[%start] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %from = llvm.getelementptr %source[%start] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %most = llvm.mlir.constant(17 : i32) : i32
  %bytes = llvm.urem %lane, %most : i32
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier0
"""
    for i in range(4):
        body += f"""  %c{i} = llvm.mlir.constant({i} : i32) : i32
  %a{i} = llvm.add %start, %c{i} : i32
  %p{i} = llvm.getelementptr %arena[%a{i}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %r{i} = llvm.load %p{i} {{alignment = 4 : i64}} : !llvm.ptr<3> -> i32
"""
    body += save("o", "out", "%lane", [f"%r{i}" for i in range(4)], "i32")
    return function(name_of(instruction), ["source", "out"], body, 512)


def word_kernel(instruction):
    """Of two words of each lane."""
    body = load("v", "source", "%lane", 2)
    if instruction.startswith("prmt"):
        body += """  %select = llvm.mlir.constant(48025 : i32) : i32
  %r = llvm.call_intrinsic "llvm.nvvm.prmt"(%v0, %v0, %select) : (i32, i32, i32) -> i32
"""
    else:
        relu = ".relu" if "relu" in instruction else ""
        body += f"""  %f0 = llvm.bitcast %v0 : i32 to f32
  %f1 = llvm.bitcast %v1 : i32 to f32
  %h = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn{relu}"(%f1, %f0) : (f32, f32) -> vector<2xbf16>
  %r = llvm.bitcast %h : vector<2xbf16> to i32
"""
    return function(name_of(instruction), ["source", "out"], body + save("o", "out", "%lane", ["%r"], "i32"), 0)


def module(architecture="sm_90a"):
    """All kernels, in the dialects that the NVIDIA target ends with."""
    def kernel(instruction):
        makers = ((PRODUCTS, product_kernel), (MATRICES, matrix_kernel), (STORES, store_kernel), (WORDS[:1], copy_kernel), (WORDS, word_kernel))
        return next(maker for known, maker in makers if instruction in known)(instruction)
    return HEAD + "".join(map(kernel, instructions(architecture)))


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
    if instruction in STORES:
        count = STORES[instruction][0]
        source = np.arange(LANES * count * 2, dtype=np.uint16).view(np.uint32)
        out = launch(name_of(instruction), 1, [source], (LANES, count), np.uint32)
        return np.ascontiguousarray(out).view(np.uint16).reshape(-1).tolist()
    if instruction in WORDS:
        source = words_of(instruction)
        out = launch(name_of(instruction), 1, [source], (LANES, 4 if instruction == WORDS[0] else 1), np.uint32)
        return out.reshape(-1).tolist()
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
    if instruction in STORES:
        return expected_store(*STORES[instruction], instruction.endswith("own elements"))
    if instruction in WORDS:
        return expected_words(instruction)
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


def words_of(instruction):
    """What the lanes are given."""
    if instruction == WORDS[0]:
        return (np.arange(4 * LANES, dtype=np.uint32) * 0x01030507 + 0x11223344).astype(np.uint32)
    # Each special word beside each other one would be more than there are lanes: four neighbours are enough.
    return np.stack([np.tile(SPECIAL, 2), np.concatenate([np.roll(SPECIAL, 1), np.roll(SPECIAL, 5)])], 1).reshape(-1)


def expected_store(count, layout, own):
    """A lane's registers hold two neighbours of a row each, row lane / 4 of the matrix; rows go where lanes 0 to 7, 8 to 15, ... say, here
    behind each other."""
    place = np.arange(LANES * count * 2).reshape(LANES, count, 2)
    if own:
        return place.reshape(-1).tolist()
    memory = np.empty((count, 8, 8), int)
    for lane in range(LANES):
        for half in range(2):
            row, column = lane // 4, 2 * (lane % 4) + half
            memory[(slice(None), row, column) if layout == "row" else (slice(None), column, row)] = place[lane, :, half]
    return memory.reshape(-1).tolist()


def expected_words(instruction):
    words = words_of(instruction)
    if instruction == WORDS[0]:
        data = words.view(np.uint8).reshape(LANES, 16).copy()
        for lane in range(LANES):
            data[lane, lane % 17:] = 0
        return data.reshape(-1).view(np.uint32).tolist()
    pairs = words.reshape(LANES, 2)
    if instruction.startswith("prmt"):
        # Selectors 9 and b: the signs of bytes 1 and 3, all over two bytes each.
        low, high = ((pairs[:, 0] >> bit & 1) * 0xFFFF for bit in (15, 31))
        return (high << 16 | low).tolist()
    rounded = ((words.astype(np.uint64) + 0x7FFF + (words >> 16 & 1)) >> 16).astype(np.uint32)
    nan = (words & 0x7FFFFFFF) > 0x7F800000
    rounded[nan] = 0x7FFF
    if "relu" in instruction:
        # Minus zero becomes zero.
        rounded[~nan & (words >> 31 == 1)] = 0
    return (rounded.reshape(LANES, 2)[:, 1] << 16 | rounded.reshape(LANES, 2)[:, 0]).tolist()


def item(request):
    """Asks the device for the table of an instruction."""
    folder = pathlib.Path(request["pack"]) / "fragments"
    library = runtime.Library(pathlib.Path(request["pack"]) / runtime.LIBRARY)
    instruction = request["subject"]
    table = ask(lambda *what: run(library, folder, *what), instruction)
    right = expected(instruction)
    differ = [i for i, pair in enumerate(zip(table, right, strict=True)) if pair[0] != pair[1]]
    if differ:
        i = differ[0]
        says = f"{len(differ)} of {len(table)} places are not what the manual says; place {i} is {table[i]}, not {right[i]}"
        return "wrong", says, {"table": table}
    return "ok", f"{len(table)} places are what the manual says", {"table": table}


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
        library.run(runner)
        library("Wait", runner)
        library("Download", runner, out.ctypes.data_as(ctypes.c_void_p), memories[-1], ctypes.c_size_t(out.nbytes))
        return out
    finally:
        library.library.drawloomGpuClose(runner)
