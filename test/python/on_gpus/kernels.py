# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU kernels in the llvm and nvvm dialects, written by hand for tests.

They share nothing with the compiler, so that a mistake of the compiler and one of
the emulator do not cancel out.
"""

from support.emulated_driver import ARENA

MATRIX = (
    "shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>, "
    "layout = #nvvm.mma_layout<row>"
)
FOUR_WORDS = "!llvm.struct<(i32, i32, i32, i32)>"
FOUR_FLOATS = "!llvm.struct<(f32, f32, f32, f32)>"


class Kernel:
    """Writes one kernel line by line; values are names."""

    def __init__(self, name, arguments, threads):
        self.name, self.arguments, self.threads = name, arguments, threads
        self.lines, self.constants, self.count = [], {}, 0
        self.tid = self.op("nvvm.read.ptx.sreg.tid.x : i32")
        self.smem = self.op("llvm.mlir.addressof @global_smem : !llvm.ptr<3>")

    def say(self, line):
        self.lines.append("  " + line)

    def op(self, text):
        self.count += 1
        self.say(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def const(self, value, kind="i32"):
        key = (value, kind)
        if key not in self.constants:
            self.constants[key] = f"%c{len(self.constants)}"
        return self.constants[key]

    def value(self, x):
        return self.const(x) if isinstance(x, int) else x

    def binary(self, name, a, b, kind="i32"):
        return self.op(f"llvm.{name} {self.value(a)}, {self.value(b)} : {kind}")

    def compare(self, predicate, a, b):
        return self.op(f'llvm.icmp "{predicate}" {self.value(a)}, {self.value(b)} : i32')

    def at(self, base, index, element, space):
        pointer = f"!llvm.ptr<{space}>"
        if isinstance(index, int):
            return self.op(f"llvm.getelementptr {base}[{index}] : ({pointer}) -> {pointer}, {element}")
        return self.op(f"llvm.getelementptr {base}[{index}] : ({pointer}, i32) -> {pointer}, {element}")

    def load(self, pointer, kind, space):
        return self.op(f"llvm.load {pointer} : !llvm.ptr<{space}> -> {kind}")

    def store(self, value, pointer, kind, space):
        self.say(f"llvm.store {value}, {pointer} : {kind}, !llvm.ptr<{space}>")

    def where(self, condition, body):
        """Runs body() where the condition holds."""
        self.count += 1
        inside, behind = f"^in{self.count}", f"^out{self.count}"
        self.say(f"llvm.cond_br {condition}, {inside}, {behind}")
        self.lines.append(f"{inside}:")
        body()
        self.say(f"llvm.br {behind}")
        self.lines.append(f"{behind}:")

    def shuffle(self, kind, value, offset, clamp=31, type="f32"):
        everyone, offset, clamp = self.const(-1), self.const(offset), self.const(clamp)
        return self.op(f"nvvm.shfl.sync {kind} {everyone}, {value}, {offset}, {clamp} : {type} -> {type}")

    def text(self):
        arguments = "".join(f"%{name}: {kind}, " for name, kind in self.arguments)
        head = (
            f"llvm.func @{self.name}({arguments}%scratch: !llvm.ptr<1>, %profile: !llvm.ptr<1>)\n"
            f"    attributes {{nvvm.kernel, nvvm.reqntid = array<i32: {self.threads}>}} {{\n"
        )
        constants = [f"  {name} = llvm.mlir.constant({v} : {k}) : {k}" for (v, k), name in self.constants.items()]
        return ARENA + head + "\n".join([*constants, *self.lines]) + "\n  llvm.return\n}\n"


def reduction(threads=128):
    """out[0] = sum of x[0..n), out[1] = their maximum, n <= threads."""
    k = Kernel("reduction", [("x", "!llvm.ptr<1>"), ("out", "!llvm.ptr<1>"), ("n", "i32")], threads)
    lane, warp = k.binary("urem", k.tid, 32), k.binary("udiv", k.tid, 32)
    scratch = k.at(k.smem, k.tid, "f32", 3)
    zero = k.const("0.0", "f32")
    k.store(zero, scratch, "f32", 3)
    k.where(
        k.compare("ult", k.tid, "%n"),
        lambda: k.store(k.load(k.at("%x", k.tid, "f32", 1), "f32", 1), scratch, "f32", 3),
    )
    mine = k.load(scratch, "f32", 3)
    for place, combine in enumerate(["fadd", "intr.maxnum"]):

        def both(a, b, combine=combine):
            return k.op(
                f"llvm.{combine} {a}, {b} : f32" if combine == "fadd" else f"llvm.{combine}({a}, {b}) : (f32, f32) -> f32"
            )

        value = mine
        for step in (16, 8, 4, 2, 1):
            value = both(value, k.shuffle("bfly", value, step))
        # The scratch of the round before is free again.
        k.say("nvvm.barrier0")
        slot = k.at(k.smem, warp, "f32", 3)
        k.where(k.compare("eq", lane, 0), lambda v=value, s=slot: k.store(v, s, "f32", 3))
        k.say("nvvm.barrier0")

        def finish(place=place, both=both):
            total = k.load(k.smem, "f32", 3)
            for other in range(1, threads // 32):
                total = both(total, k.load(k.at(k.smem, other * 4, "i8", 3), "f32", 3))
            k.store(total, k.at("%out", place, "f32", 1), "f32", 1)

        k.where(k.compare("eq", k.tid, 0), finish)
    return k.text()


def scan(threads=128):
    """y = inclusive prefix sums of x, one number a thread: within warps through
    shared memory, then over the warps' totals."""
    k = Kernel("scan", [("x", "!llvm.ptr<1>"), ("y", "!llvm.ptr<1>")], threads)
    lane, warp = k.binary("urem", k.tid, 32), k.binary("udiv", k.tid, 32)
    mine = k.at(k.smem, k.tid, "i32", 3)
    everyone = k.const(-1)
    k.store(k.load(k.at("%x", k.tid, "i32", 1), "i32", 1), mine, "i32", 3)
    for step in (1, 2, 4, 8, 16):
        k.say(f"nvvm.bar.warp.sync {everyone} : i32")
        take = k.compare("uge", lane, step)
        before = k.op(f"llvm.select {take}, {k.binary('sub', k.tid, step)}, {k.tid} : i1, i32")
        other = k.load(k.at(k.smem, before, "i32", 3), "i32", 3)
        own = k.load(mine, "i32", 3)
        total = k.op(f"llvm.select {take}, {k.binary('add', own, other)}, {own} : i1, i32")
        k.say(f"nvvm.bar.warp.sync {everyone} : i32")
        k.store(total, mine, "i32", 3)
    k.say("nvvm.barrier0")
    total = k.load(mine, "i32", 3)
    for other in range(threads // 32 - 1):
        end = k.load(k.at(k.smem, (other * 32 + 31) * 4, "i8", 3), "i32", 3)
        earlier = k.compare("ugt", warp, other)
        total = k.op(f"llvm.select {earlier}, {k.binary('add', total, end)}, {total} : i1, i32")
    k.store(total, k.at("%y", k.tid, "i32", 1), "i32", 1)
    return k.text()


def gemm(steps=3):
    """c[m, 16] (f32) = a[m, 32 steps] b[16, 32 steps]^T (bf16); blocks of 64 rows.

    Two stages of cp.async, rows of 64 bytes whose four chunks are exchanged by
    the row, ldmatrix and mma.sync. Rows behind `m` are zeros.
    """
    arguments = [("a", "!llvm.ptr<1>"), ("b", "!llvm.ptr<1>"), ("c", "!llvm.ptr<1>"), ("m", "i32")]
    k = Kernel("gemm", arguments, 128)
    stage_bytes, row_bytes = (64 + 16) * 64, steps * 64
    block = k.op("nvvm.read.ptx.sreg.ctaid.x : i32")
    first_row = k.binary("mul", block, 64)
    lane, warp = k.binary("urem", k.tid, 32), k.binary("udiv", k.tid, 32)

    def chunk_offset(row, chunk):
        mixed = k.binary("xor", chunk, k.binary("urem", k.binary("udiv", row, 2), 4))
        return k.binary("add", k.binary("mul", row, 64), k.binary("mul", mixed, 16))

    chunk, line = k.binary("urem", k.tid, 4), k.binary("udiv", k.tid, 4)
    targets = []  # where in a stage, from where, bytes
    for half in range(2):
        row = k.binary("add", line, half * 32)
        global_row = k.binary("add", first_row, row)
        valid = k.compare("ult", global_row, "%m")
        size = k.op(f"llvm.select {valid}, {k.const(16)}, {k.const(0)} : i1, i32")
        start = k.binary("add", k.binary("mul", global_row, row_bytes), k.binary("mul", chunk, 16))
        targets.append((chunk_offset(row, chunk), k.at("%a", start, "i8", 1), size))
    start = k.binary("add", k.binary("mul", line, row_bytes), k.binary("mul", chunk, 16))
    b_target = (k.binary("add", chunk_offset(line, chunk), 64 * 64), k.at("%b", start, "i8", 1))
    loads_b = k.compare("ult", k.tid, 64)

    def fill(step):
        base = k.at(k.smem, step % 2 * stage_bytes, "i8", 3)
        for offset, start, size in targets:
            to, source = k.at(base, offset, "i8", 3), k.at(start, step * 64, "i8", 1)
            k.say(
                f"nvvm.cp.async.shared.global {to}, {source}, 16, cache = cg, {size} : "
                "!llvm.ptr<3>, !llvm.ptr<1>, i32"
            )

        def copy_b():
            to, source = k.at(base, b_target[0], "i8", 3), k.at(b_target[1], step * 64, "i8", 1)
            k.say(f"nvvm.cp.async.shared.global {to}, {source}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>")

        k.where(loads_b, copy_b)
        k.say("nvvm.cp.async.commit.group")

    a_row = k.binary("add", k.binary("mul", warp, 16), k.binary("urem", lane, 16))
    b_row = k.binary("add", k.binary("mul", k.binary("udiv", lane, 16), 8), k.binary("urem", lane, 8))
    a_chunk, b_chunk = k.binary("udiv", lane, 16), k.binary("urem", k.binary("udiv", lane, 8), 2)
    a_offsets = [chunk_offset(a_row, k.binary("add", a_chunk, 2 * i)) for i in range(2)]
    b_offsets = [k.binary("add", chunk_offset(b_row, k.binary("add", b_chunk, 2 * i)), 64 * 64) for i in range(2)]
    zero = k.const("0.0", "f32")
    sums = [[zero] * 4, [zero] * 4]
    fill(0)
    for step in range(steps):
        if step + 1 < steps:
            fill(step + 1)
        k.say(f"nvvm.cp.async.wait.group {1 if step + 1 < steps else 0}")
        k.say("nvvm.barrier0")
        base = k.at(k.smem, step % 2 * stage_bytes, "i8", 3)
        for i in range(2):

            def matrices(offset, base=base):
                loaded = k.op(
                    f"nvvm.ldmatrix {k.at(base, offset, 'i8', 3)} {{num = 4 : i32, {MATRIX}}} : "
                    f"(!llvm.ptr<3>) -> {FOUR_WORDS}"
                )
                return [k.op(f"llvm.extractvalue {loaded}[{j}] : {FOUR_WORDS}") for j in range(4)]

            a, b = matrices(a_offsets[i]), matrices(b_offsets[i])
            for half in range(2):
                product = k.op(
                    f"nvvm.mma.sync A[{', '.join(a)}] B[{b[2 * half]}, {b[2 * half + 1]}] "
                    f"C[{', '.join(sums[half])}] {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
                    "multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, "
                    f"shape = #nvvm.shape<m = 16, n = 8, k = 16>}} : (i32, i32, f32) -> {FOUR_FLOATS}"
                )
                sums[half] = [k.op(f"llvm.extractvalue {product}[{j}] : {FOUR_FLOATS}") for j in range(4)]
        if step + 2 < steps:
            k.say("nvvm.barrier0")  # before this stage is filled again
    group, pair = k.binary("udiv", lane, 4), k.binary("mul", k.binary("urem", lane, 4), 2)
    for lower in range(2):
        row = k.binary("add", k.binary("add", first_row, k.binary("mul", warp, 16)), k.binary("add", group, 8 * lower))

        def write(lower=lower, row=row):
            for half in range(2):
                place = k.binary("add", k.binary("mul", row, 16), k.binary("add", pair, 8 * half))
                for j in range(2):
                    to = k.at("%c", k.binary("add", place, j), "f32", 1)
                    k.store(sums[half][2 * lower + j], to, "f32", 1)

        k.where(k.compare("ult", row, "%m"), write)
    return k.text()
