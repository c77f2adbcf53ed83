# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Hopper's own instructions do, asked before a compiler of ours emits them: operands and fragments of wgmma with every layout and swizzle
of its descriptors, boxes of TMA with swizzles and borders, the counts of mbarriers. Formulas are those of the PTX manual; an answer that
differs is kept whole.
"""

import ctypes

import numpy as np

HEADER = ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 arena[];\n"
M, N, K, STEP, THREADS = 64, 64, 64, 16, 128
B_AT = 16 << 10  # Of the second operand in shared memory.
BYTES_AT = {0: 0, 32: 3, 64: 2, 128: 1}  # Bits 62 and 63 of a descriptor, by bytes of the swizzle.
MAP_SWIZZLE = {0: 0, 32: 1, 64: 2, 128: 3}  # CUtensorMapSwizzle
MASKS = {0: 0, 32: 0x10, 64: 0x30, 128: 0x70}


def swizzled(address, swizzle):
    """Bits 4 to 6 of an address, as many as the swizzle has, change with bits 7 to 9."""
    return address ^ (address >> 3 & MASKS[swizzle])


class Operand:
    """Where element (row, k) of an operand of 64 rows and 64 k lies, in bytes, and what its descriptor says. `major` is what runs along
    memory: "k" or "mn"."""

    def __init__(self, major, swizzle):
        self.major, self.swizzle = major, swizzle
        row, k = np.meshgrid(np.arange(M), np.arange(K), indexing="ij")
        along, across = (k, row) if major == "k" else (row, k)
        span = swizzle or 16  # Bytes of what runs along memory before the next one across.
        group = 8 * span  # Eight of them across; groups lie behind each other, then comes what is further along.
        further = 8 * group
        self.address = swizzled(along // (span // 2) * further + across // 8 * group + across % 8 * span + along % (span // 2) * 2, swizzle)
        # Bytes that the descriptor calls leading and stride; without a swizzle they change places where MN runs along memory.
        self.leading, self.stride = (group, further) if major == "mn" and not swizzle else (further, group)

    def start(self, step):
        """Where 16 k begin, in bytes."""
        return int(self.address[0, STEP * step])

    def bits(self, at, base=0):
        """The descriptor of an operand that begins there."""
        return (at >> 4) & 0x3FFF | (self.leading >> 4) << 16 | (self.stride >> 4) << 32 | base << 49 | BYTES_AT[self.swizzle] << 62

    def image(self, matrix, at=0):
        """The words of shared memory that hold a matrix of bf16 that begins there; where that is in the middle of the swizzle's pattern,
        addresses are swizzled as a whole."""
        out = np.zeros(B_AT // 2, np.uint16)
        linear = swizzled(self.address, self.swizzle)  # It undoes itself.
        out[swizzled(linear + at, self.swizzle).reshape(-1) // 2] = bf16(matrix).reshape(-1)
        return out


def bf16(matrix):
    return (np.asarray(matrix, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def result_places():
    """Row and column of each of the 32 sums of 128 threads."""
    thread, i = np.meshgrid(np.arange(THREADS), np.arange(N // 2), indexing="ij")
    lane = thread % 32
    return 16 * (thread // 32) + lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2


def operand_places():
    """Row and k of the eight elements of A that each of 128 threads holds in registers for 16 k."""
    thread, i = np.meshgrid(np.arange(THREADS), np.arange(8), indexing="ij")
    lane = thread % 32
    return 16 * (thread // 32) + lane // 4 + 8 * (i // 2 % 2), 2 * (lane % 4) + i % 2 + 8 * (i // 4)


class Wgmma:
    """m64n64k16, four times: a product of 64 x 64 x 64. `a` is an Operand, or None where A is in registers."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def ptx(self):
        sums = ", ".join(f"%d{i}" for i in range(N // 2))
        transposed = "".join(f", {int(operand.major == 'mn')}" for operand in (self.a, self.b) if operand)
        body = ""
        for step in range(K // STEP):
            if self.a is None:
                body += "".join(f"  ld.global.b32 %a{4 * step + i}, [%regs+{4 * (4 * step + i)}];\n" for i in range(4))
        body += "  wgmma.fence.sync.aligned;\n"
        for step in range(K // STEP):
            left = "%ea" if self.a else "{" + ", ".join(f"%a{4 * step + i}" for i in range(4)) + "}"
            body += f"""  setp.ne.u32 %p, {step}, 0;
  add.u64 %ea, %da, {self.a.start(step) >> 4 if self.a else 0};
  add.u64 %eb, %db, {self.b.start(step) >> 4};
  wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{sums}}}, {left}, %eb, %p, 1, 1{transposed};
"""
        stores = "".join(f"  st.global.f32 [%out+{4 * i}], %d{i};\n" for i in range(N // 2))
        zeros = "".join(f"  mov.f32 %d{i}, 0f00000000;\n" for i in range(N // 2))
        return f"""{HEADER}.visible .entry probe(.param .u64 image, .param .u64 regs, .param .u64 da, .param .u64 db,
    .param .u64 out) .reqntid {THREADS}
{{
  .reg .pred %p;
  .reg .b32 %thread, %i, %v, %at, %a<16>;
  .reg .f32 %d<{N // 2}>;
  .reg .b64 %image, %regs, %da, %db, %ea, %eb, %out, %w;
  mov.u32 %thread, %tid.x;
  ld.param.u64 %image, [image];
  ld.param.u64 %regs, [regs];
  ld.param.u64 %da, [da];
  ld.param.u64 %db, [db];
  ld.param.u64 %out, [out];
  mul.wide.u32 %w, %thread, 64;
  add.u64 %regs, %regs, %w;
  mul.wide.u32 %w, %thread, {2 * N};
  add.u64 %out, %out, %w;
  mov.u32 %i, %thread;
COPY:
  mul.wide.u32 %w, %i, 4;
  add.u64 %w, %image, %w;
  ld.global.b32 %v, [%w];
  mov.u32 %at, arena;
  mad.lo.u32 %at, %i, 4, %at;
  st.shared.b32 [%at], %v;
  add.u32 %i, %i, {THREADS};
  setp.lt.u32 %p, %i, {2 * B_AT // 4};
  @%p bra COPY;
  // Descriptors hold addresses: these are relative to the arena.
  mov.u32 %at, arena;
  shr.u32 %at, %at, 4;
  cvt.u64.u32 %w, %at;
  add.u64 %da, %da, %w;
  add.u64 %db, %db, %w;
{zeros}  fence.proxy.async.shared::cta;
  bar.sync 0;
{body}  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
{stores}  ret;
}}
"""

    def values(self):
        """A of [64, k] and B of [64 columns, k]: whole numbers, whose products and sums are exact."""
        rng = np.random.default_rng(3)
        return rng.integers(-4, 5, (M, K)), rng.integers(-4, 5, (N, K))

    def ask(self, cuda, image, base=0, at=0):
        a, b = self.values()
        memory = np.zeros(B_AT, np.uint16)  # Two operands of B_AT bytes each, in words of two.
        if self.a:
            memory[:B_AT // 2] = self.a.image(a, at)
        memory[B_AT // 2:] = self.b.image(b)
        rows, ks = operand_places()
        registers = np.stack([bf16(a[rows, ks + STEP * step]) for step in range(K // STEP)], 1)
        out = cuda.upload(np.full((THREADS, N // 2), np.nan, np.float32))
        function = cuda.function(cuda.load(image), "probe", 2 * B_AT)
        cuda.launch(function, [cuda.upload(memory), cuda.upload(registers), self.a.bits(at, base) if self.a else 0, self.b.bits(B_AT),
                               out], THREADS, 1, 2 * B_AT, name="wgmma")
        cuda.wait()
        found = np.empty((M, N), np.float32)
        found[result_places()] = cuda.download(out, (THREADS, N // 2), np.float32)
        return found, a @ b.T

    def run(self, cuda, image):
        found, right = self.ask(cuda, image)
        wrong = int(np.sum(found != right))
        if wrong:
            return "wrong", f"{wrong} of {right.size} sums are not what descriptors and fragments by the manual give", {"found": plain(found)}
        return "ok", f"{right.size} sums are what descriptors and fragments by the manual give", {}


def plain(array):
    """Numbers for JSON, which has no NaN."""
    return [[float(x) if np.isfinite(x) else str(x) for x in row] for row in array]


class BaseOffset(Wgmma):
    """An operand that begins four rows into the pattern of its swizzle: which base offset gives the right product, with addresses swizzled
    as a whole? No answer is wrong here."""

    def run(self, cuda, image):
        data = {}
        for base in range(8):
            found, right = self.ask(cuda, image, base, at=512)
            data[base] = int(np.sum(found != right))
        good = [base for base, wrong in data.items() if not wrong]
        return "ok", f"base offsets that give the right product: {good or 'none'}", {"wrong sums by base offset": data}


# ---------------------------------------------------------------------------
# TMA and mbarriers
# ---------------------------------------------------------------------------

# Of a matrix of 16-bit words, and the corners of boxes: inside, and over each border.
HEIGHT, WIDTH, BOX = 40, 96, 8
CORNERS = [(0, 0), (8, 3), (-4, -2), (WIDTH - 16, HEIGHT - 4), (WIDTH, 0)]
MOST_TURNS = 1000000  # Of waiting for what should come in a microsecond.

WAIT = """  mov.u32 %turn, 0;
{label}:
  mbarrier.try_wait.parity.shared.b64 %p, [bar], {parity};
  selp.u32 %done, 1, 0, %p;
  @%p bra {label}_END;
  add.u32 %turn, %turn, 1;
  setp.lt.u32 %p, %turn, {turns};
  @%p bra {label};
{label}_END:
"""


class Tma:
    """Boxes of a tensor map into shared memory, or from there (`stores`)."""

    def __init__(self, swizzle, stores=False):
        self.swizzle, self.stores = swizzle, stores
        self.columns = (swizzle or 128) // 2

    def ptx(self):
        count = self.columns * BOX * 2
        move = """  @%other bra MOVED;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%x, %y}], [%arena];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
MOVED:
""" if self.stores else f"""  @%other bra MOVED;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], {count};
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%arena], [%map, {{%x, %y}}], [bar];
MOVED:
{WAIT.format(label="LOOP", parity=0, turns=MOST_TURNS)}"""
        return f"""{HEADER}.shared .align 8 .b64 bar;
.visible .entry probe(.param .align 64 .b8 map[128], .param .u64 memory, .param .u32 x, .param .u32 y, .param .u64 status)
    .reqntid {THREADS}
{{
  .reg .pred %p, %other;
  .reg .b32 %thread, %i, %v, %at, %x, %y, %arena, %turn, %done;
  .reg .b64 %map, %memory, %status, %w;
  mov.u32 %thread, %tid.x;
  mov.u64 %map, map;
  cvta.param.u64 %map, %map;
  ld.param.u64 %memory, [memory];
  ld.param.u32 %x, [x];
  ld.param.u32 %y, [y];
  ld.param.u64 %status, [status];
  mov.u32 %arena, arena;
  mov.u32 %done, 1;
  setp.ne.u32 %other, %thread, 0;
  @%other bra READY;
  mbarrier.init.shared.b64 [bar], 1;
READY:
  mov.u32 %i, %thread;
FILL:
  mul.wide.u32 %w, %i, 4;
  add.u64 %w, %memory, %w;
  ld.global.b32 %v, [%w];
  mad.lo.u32 %at, %i, 4, %arena;
  st.shared.b32 [%at], %v;
  add.u32 %i, %i, {THREADS};
  setp.lt.u32 %p, %i, {count // 4};
  @%p bra FILL;
  fence.proxy.async;
  bar.sync 0;
{move}  bar.sync 0;
  mov.u32 %i, %thread;
BACK:
  mad.lo.u32 %at, %i, 4, %arena;
  ld.shared.b32 %v, [%at];
  mul.wide.u32 %w, %i, 4;
  add.u64 %w, %memory, %w;
  st.global.b32 [%w], %v;
  add.u32 %i, %i, {THREADS};
  setp.lt.u32 %p, %i, {count // 4};
  @%p bra BACK;
  mul.wide.u32 %w, %thread, 4;
  add.u64 %status, %status, %w;
  st.global.u32 [%status], %done;
  ret;
}}
"""

    def encode(self, cuda, memory):
        """The tensor map; it must lie at a multiple of 64."""
        room = ctypes.create_string_buffer(192)
        at = -(-ctypes.addressof(room) // 64) * 64
        cuda.TensorMapEncodeTiled(ctypes.c_void_p(at), ctypes.c_int(1), ctypes.c_uint(2), ctypes.c_void_p(memory),  # 1: 16-bit words
                                  (ctypes.c_uint64 * 2)(WIDTH, HEIGHT), (ctypes.c_uint64 * 1)(2 * WIDTH), (ctypes.c_uint * 2)(self.columns, BOX),
                                  (ctypes.c_uint * 2)(1, 1), ctypes.c_int(0), ctypes.c_int(MAP_SWIZZLE[self.swizzle]), ctypes.c_int(0),
                                  ctypes.c_int(0))
        return (ctypes.c_char * 128).from_buffer_copy(ctypes.string_at(at, 128))

    def box(self, matrix, x, y):
        """The words of a box as they lie in shared memory; zeros beyond the matrix."""
        out = np.zeros(self.columns * BOX, np.uint16)
        for row, column, word in self.places(x, y):
            out[word] = matrix[row, column]
        return out

    def places(self, x, y):
        """Row, column and word in shared memory of each element of the matrix that is in a box."""
        for i in range(BOX):
            for j in range(self.columns):
                if 0 <= y + i < HEIGHT and 0 <= x + j < WIDTH:
                    yield y + i, x + j, int(swizzled(np.int64(2 * (i * self.columns + j)), self.swizzle)) // 2

    def run(self, cuda, image):
        function, wrong, data = cuda.function(cuda.load(image), "probe", 4096), 0, {}
        for x, y in CORNERS:
            matrix = np.arange(1, HEIGHT * WIDTH + 1, dtype=np.uint16).reshape(HEIGHT, WIDTH)
            inside = np.arange(50000, 50000 + self.columns * BOX).astype(np.uint16)
            tensor, memory, status = cuda.upload(matrix), cuda.upload(inside), cuda.upload(np.zeros(THREADS, np.uint32))
            numbers = [ctypes.c_int32(x), ctypes.c_int32(y)]
            cuda.launch(function, [self.encode(cuda, tensor), memory, *numbers, status], THREADS, 1, 4096, name=f"TMA box at {x}, {y}")
            cuda.wait()
            arrived = bool(cuda.download(status, THREADS, np.uint32).all())
            if self.stores:
                found, right = cuda.download(tensor, matrix.shape, np.uint16), matrix.copy()
                for row, column, place in self.places(x, y):
                    right[row, column] = inside[place]
            else:
                found, right = cuda.download(memory, inside.shape, np.uint16), self.box(matrix, x, y)
            if not arrived or (found != right).any():
                wrong += 1
                data[f"{x},{y}"] = {"arrived": arrived, "found": found.tolist()}
        if wrong:
            return "wrong", f"{wrong} of {len(CORNERS)} boxes are not what the manual says", data
        return "ok", f"{len(CORNERS)} boxes, inside and over the borders, are what the manual says", {}


class Barrier:
    """What test_wait says of a phase before and after arrivals and bytes."""

    EXPECTED = [0, 0, 0, 1, 0, 0, 1, 0]
    SAYS = ["a new barrier", "arrived, 128 bytes expected", "64 of them copied", "all copied", "the next phase", "64 bytes expected, then arrived",
            "they are copied", "the phase after that"]

    def ptx(self):
        def test(number, parity):
            return f"""  mbarrier.test_wait.parity.shared.b64 %p, [bar], {parity};
  selp.u32 %done, 1, 0, %p;
  st.global.u32 [%out+{4 * number}], %done;
"""

        def wait(number, parity, turns=MOST_TURNS):
            return WAIT.format(label=f"LOOP{number}", parity=parity, turns=turns) + f"  st.global.u32 [%out+{4 * number}], %done;\n"

        copy = ("  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%arena], [%from], 64, [bar];\n")
        return f"""{HEADER}.shared .align 8 .b64 bar;
.visible .entry probe(.param .u64 out, .param .u64 from) .reqntid 32
{{
  .reg .pred %p;
  .reg .b32 %thread, %turn, %done, %arena;
  .reg .b64 %out, %from, %state;
  mov.u32 %thread, %tid.x;
  setp.ne.u32 %p, %thread, 0;
  @%p bra END;
  ld.param.u64 %out, [out];
  ld.param.u64 %from, [from];
  mov.u32 %arena, arena;
  mbarrier.init.shared.b64 [bar], 1;
  fence.proxy.async;
{test(0, 0)}  mbarrier.arrive.expect_tx.shared.b64 %state, [bar], 128;
{test(1, 0)}{copy}{wait(2, 0, 20)}{copy}{wait(3, 0)}{test(4, 1)}  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64;
  mbarrier.arrive.shared.b64 %state, [bar];
{test(5, 1)}{copy}{wait(6, 1)}{test(7, 0)}END:
  ret;
}}
"""

    def run(self, cuda, image):
        out = cuda.upload(np.full(len(self.EXPECTED), 7, np.uint32))
        cuda.launch(cuda.function(cuda.load(image), "probe", 4096), [out, cuda.upload(np.zeros(64, np.uint8))], 32, 1, 4096, name="mbarrier")
        cuda.wait()
        found = cuda.download(out, len(self.EXPECTED), np.uint32).tolist()
        differ = [what for what, is_, right in zip(self.SAYS, found, self.EXPECTED) if is_ != right]
        if differ:
            return "wrong", f"other than the manual says: {', '.join(differ)}", {"found": found}
        return "ok", f"{len(found)} states of two phases are what the manual says", {"found": found}


PROBES = {
    **{f"wgmma A k {swizzle}, B k {swizzle}": Wgmma(Operand("k", swizzle), Operand("k", swizzle)) for swizzle in MASKS},
    **{f"wgmma A k 128, B mn {swizzle}": Wgmma(Operand("k", 128), Operand("mn", swizzle)) for swizzle in MASKS},
    **{f"wgmma A mn {swizzle}, B k 128": Wgmma(Operand("mn", swizzle), Operand("k", 128)) for swizzle in MASKS},
    "wgmma A in registers, B k 128": Wgmma(None, Operand("k", 128)), "wgmma A in registers, B mn 128": Wgmma(None, Operand("mn", 128)),
    "wgmma base offset": BaseOffset(Operand("k", 128), Operand("k", 128)),
    **{f"TMA load, swizzle {swizzle}": Tma(swizzle) for swizzle in MASKS},
    **{f"TMA store, swizzle {swizzle}": Tma(swizzle, True) for swizzle in MASKS},
    "mbarrier": Barrier(),
}
