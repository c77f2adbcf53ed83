# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written PTX for sm_90a, which no compiler of ours makes and no emulator runs: how fast instructions are, how far approximations are
off, and (hopper.py) what wgmma, TMA and mbarriers do.

A probe is a PTX module with the entry `probe`. The pack has it as text and, where ptxas was there, as machine code.
"""

import ctypes
import math
import pathlib
import re
import statistics
import subprocess

import numpy as np

from drawloom_bench.gpu import hopper, watch
from drawloom_bench.gpu.device import Clocks, Cuda
from drawloom_bench.gpu.inventory import find_ptxas
from drawloom_bench.gpu.runtime import RunError

ARCHITECTURE = "sm_90a"
HEADER = ".version 8.0\n.target sm_90a\n.address_size 64\n"


def name_of(subject):
    return re.sub("[^a-z0-9]+", "-", subject.lower())


# ---------------------------------------------------------------------------
# Rates: clocks of a multiprocessor that runs one block
# ---------------------------------------------------------------------------


class Rate:
    """`body` is repeated `unroll` times in a loop; `declare` and `setup` stand before it. The figure is clocks for one `body` of one warp,
    all warps of the block together. `keep` are registers of 32 bits that must not be optimized away; {i} counts the repetitions."""

    def __init__(self, body, threads, declare="", setup="", keep=(), unroll=16, shared=16384):
        self.body, self.threads, self.declare, self.setup = body, threads, declare, setup
        self.keep, self.unroll, self.shared = keep, unroll, shared

    def ptx(self):
        sums = "".join(f"  xor.b32 %sink, %sink, {register};\n" for register in self.keep)
        return f"""{HEADER}.extern .shared .align 1024 .b8 arena[];
.visible .entry probe(.param .u64 clocks, .param .u64 sink, .param .u32 turns) .reqntid {self.threads}
{{
  .reg .pred %more;
  .reg .b32 %thread, %block, %turn, %turns, %sink, %base, %at;
  .reg .b64 %clocks, %out, %wide, %start, %stop;
{self.declare}
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %sink, 0;
  mov.u32 %base, arena;
  ld.param.u64 %clocks, [clocks];
  ld.param.u64 %out, [sink];
  ld.param.u32 %turns, [turns];
{self.setup}
  mov.u32 %turn, 0;
  bar.sync 0;
  mov.u64 %start, %clock64;
LOOP:
{"".join(self.body.format(i=i) for i in range(self.unroll))}
  add.u32 %turn, %turn, 1;
  setp.lt.u32 %more, %turn, %turns;
  @%more bra LOOP;
  bar.sync 0;
  mov.u64 %stop, %clock64;
  sub.u64 %stop, %stop, %start;
{sums}
  mad.lo.u32 %at, %block, {self.threads}, %thread;
  mul.wide.u32 %wide, %at, 4;
  add.u64 %out, %out, %wide;
  st.global.u32 [%out], %sink;
  mul.wide.u32 %wide, %block, 8;
  add.u64 %clocks, %clocks, %wide;
  st.global.u64 [%clocks], %stop;
  ret;
}}
"""

    def run(self, cuda, image):
        blocks, turns = cuda.attributes()["multiprocessors"], 512
        # So much shared memory that no two blocks are on one multiprocessor.
        shared = 120 << 10
        function = cuda.function(cuda.load(image), "probe", shared)
        clocks, sink = cuda.allocate(8 * blocks), cuda.allocate(4 * blocks * self.threads)
        with Clocks() as sampled:
            for _ in range(3):
                cuda.launch(function, [clocks, sink, word(turns)], self.threads, blocks, shared, name="probe")
            cuda.wait()
        each = cuda.download(clocks, blocks, np.uint64) / (turns * self.unroll * (self.threads // 32))
        figure = float(statistics.median(each))
        return "ok", f"{figure:.3g} clocks each of a multiprocessor with {self.threads // 32} warps", {
            "clocks": figure, "least": float(each.min()), "most": float(each.max()), "warps": self.threads // 32, "sampled": sampled.found}


def word(number):
    return ctypes.c_uint32(number)


def mma(accumulators):
    """m16n8k16 of bf16, that many independent sums."""
    body = "".join("  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                   "{{{{{d}}}}}, {{{{%a0, %a1, %a2, %a3}}}}, {{{{%b0, %b1}}}}, {{{{{d}}}}};\n".format(
                       d=", ".join(f"%d{4 * n + i}" for i in range(4))) for n in range(accumulators))
    setup = "".join(f"  mov.f32 %d{i}, 0f00000000;\n" for i in range(4 * accumulators))
    setup += "".join(f"  mov.b32 %{r}, %thread;\n" for r in ("a0", "a1", "a2", "a3", "b0", "b1"))
    keep = [f"%k{i}" for i in range(4 * accumulators)]
    return body, f"  .reg .f32 %d<{4 * accumulators}>;\n  .reg .b32 %a<4>, %b<2>, %k<{4 * accumulators}>;\n", setup, keep


class Mma(Rate):
    def __init__(self, threads, accumulators):
        body, declare, setup, keep = mma(accumulators)
        super().__init__(body, threads, declare, setup, keep, unroll=8)
        self.accumulators = accumulators

    def ptx(self):
        moved = "".join(f"  mov.b32 %k{i}, %d{i};\n" for i in range(4 * self.accumulators))
        return super().ptx().replace("  sub.u64 %stop, %stop, %start;\n", "  sub.u64 %stop, %stop, %start;\n" + moved)

    def run(self, cuda, image):
        status, says, data = super().run(cuda, image)
        data["clocks"] /= self.accumulators
        return status, f"{data['clocks']:.3g} clocks an m16n8k16, {data['warps']} warps of {self.accumulators} sums each", data


LANE16 = "  mad.lo.u32 %base, %thread, 16, %base;\n"
RATES = {
    "mma.sync, one chain": Mma(32, 1), "mma.sync, 4 warps": Mma(128, 8), "mma.sync, 8 warps": Mma(256, 8), "mma.sync, 16 warps": Mma(512, 4),
    "ldmatrix.x4": Rate("  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r0, %r1, %r2, %r3}}, [%base+{i}*1024];\n  xor.b32 %x{i}, %r0, %r3;\n", 512,
                        "  .reg .b32 %r<4>, %x<16>;\n", LANE16, [f"%x{i}" for i in range(16)]),
    "ld.shared.v4": Rate("  ld.volatile.shared.v4.b32 {{%r0, %r1, %r2, %r3}}, [%base];\n  xor.b32 %x{i}, %r0, %r3;\n", 512,
                         "  .reg .b32 %r<4>, %x<16>;\n", LANE16, [f"%x{i}" for i in range(16)]),
    "stmatrix.x4": Rate("  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%base], {{%thread, %thread, %thread, %thread}};\n", 512, setup=LANE16),
    "barrier of 4 warps": Rate("  bar.sync 0;\n", 128), "barrier of 8 warps": Rate("  bar.sync 0;\n", 256),
    "shfl.sync": Rate("  shfl.sync.bfly.b32 %x, %x, 1, 31, -1;\n", 512, "  .reg .b32 %x;\n", "  mov.b32 %x, %thread;\n", ["%x"]),
    "ex2.approx": Rate("  ex2.approx.ftz.f32 %f{i}, %f{i};\n", 512, "  .reg .f32 %f<16>;\n  .reg .b32 %x<16>;\n",
                       "".join(f"  cvt.rn.f32.u32 %f{i}, %thread;\n" for i in range(16))),
    "fma.rn.f32": Rate("  fma.rn.f32 %f{i}, %f{i}, %f{i}, %f{i};\n", 512, "  .reg .f32 %f<16>;\n",
                       "".join(f"  cvt.rn.f32.u32 %f{i}, %thread;\n" for i in range(16))),
}
for one in ("ex2.approx", "fma.rn.f32"):
    # Kept as sums of their bits.
    RATES[one].body += "  mov.b32 %x{i}, %f{i};\n"
    RATES[one].declare = "  .reg .f32 %f<16>;\n  .reg .b32 %x<16>;\n"
    RATES[one].keep = [f"%x{i}" for i in range(16)]


# ---------------------------------------------------------------------------
# Memory, and launches
# ---------------------------------------------------------------------------


class Copy:
    """16 bytes a thread and turn, from one buffer to another; small ones stay in the L2 cache."""

    def ptx(self):
        return HEADER + """.visible .entry probe(.param .u64 to, .param .u64 from, .param .u32 words) .reqntid 256
{
  .reg .pred %more;
  .reg .b32 %i, %step, %words, %r<4>, %t;
  .reg .b64 %to, %from, %a, %b, %wide;
  ld.param.u64 %to, [to];
  ld.param.u64 %from, [from];
  ld.param.u32 %words, [words];
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, 256, %t;
  mov.u32 %step, %nctaid.x;
  mul.lo.u32 %step, %step, 256;
LOOP:
  setp.ge.u32 %more, %i, %words;
  @%more bra END;
  mul.wide.u32 %wide, %i, 16;
  add.u64 %a, %from, %wide;
  add.u64 %b, %to, %wide;
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%a];
  st.global.v4.b32 [%b], {%r0, %r1, %r2, %r3};
  add.u32 %i, %i, %step;
  bra LOOP;
END:
  ret;
}
"""

    def run(self, cuda, image):
        function, stream, data = cuda.function(cuda.load(image), "probe"), cuda.stream(), {}
        blocks = cuda.attributes()["multiprocessors"] * 8
        with Clocks() as sampled:
            for what, size in (("hbm", 2 << 30), ("l2", 8 << 20)):
                to, source = cuda.allocate(size), cuda.allocate(size)
                cuda.MemsetD32Async(source, word(0x12345678), size // 4, stream)

                def several():
                    for _ in range(20):
                        cuda.launch(function, [to, source, word(size // 16)], 256, blocks, stream=stream, name=f"copy {what}")
                cuda.seconds(several, stream)
                data[f"{what}_bytes_per_second"] = 2 * size * 20 / statistics.median(cuda.seconds(several, stream) for _ in range(5))
                same = cuda.download(to, 1024, np.uint32)
                cuda.free(to, source)
                if not (same == 0x12345678).all():
                    return "wrong", f"the copy of {what} is not what was copied", data
        data["sampled"] = sampled.found
        return "ok", ", ".join(f"{what} {data[f'{what}_bytes_per_second'] / 1e12:.2f} TB/s" for what in ("hbm", "l2")) + " read and written", data


class Empty:
    """Launches of a kernel that does nothing, one by one and in a graph."""

    COUNT = 1000

    def ptx(self):
        return HEADER + ".visible .entry probe() .reqntid 128\n{\n  ret;\n}\n"

    def run(self, cuda, image):
        function, stream = cuda.function(cuda.load(image), "probe"), cuda.stream()

        def several():
            for _ in range(self.COUNT):
                cuda.launch(function, [], 128, stream=stream, name="empty")
        cuda.seconds(several, stream)
        graph = cuda.capture(stream, several)
        cuda.GraphLaunch(graph, stream)
        data = {name: statistics.median(cuda.seconds(work, stream) for _ in range(7)) / self.COUNT * 1e6
                for name, work in (("launch_us", several), ("graph_us", lambda: cuda.GraphLaunch(graph, stream)))}
        return "ok", f"a launch takes {data['launch_us']:.2f} us from Python, {data['graph_us']:.2f} us in a graph", data


# ---------------------------------------------------------------------------
# Approximations: every argument there is
# ---------------------------------------------------------------------------


class Sweep:
    """The largest error of an approximation over all normal arguments whose result is a normal number, in units of the last place,
    against float64 on the device. `exact` computes %e of %d."""

    def __init__(self, instruction, exact, limit):
        self.instruction, self.exact, self.limit = instruction, exact, limit

    def ptx(self):
        return f"""{HEADER}.visible .entry probe(.param .u64 out) .reqntid 256
{{
  .reg .pred %p, %q;
  .reg .b32 %thread, %i, %step, %bits, %turn, %turns, %size, %error;
  .reg .f32 %x, %y, %f;
  .reg .f64 %d, %e, %o, %n, %g, %s, %h<16>;
  .reg .b64 %out, %best, %key, %w, %v;
  ld.param.u64 %out, [out];
  mov.u64 %best, 0;
  mov.u32 %i, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %i, %i, 256, %thread;
  mov.u32 %step, %nctaid.x;
  mul.lo.u32 %step, %step, 256;
  // As many turns for every thread; arguments beyond the last wrap around and count twice.
  mov.u32 %turns, 0xFFFFFFFF;
  div.u32 %turns, %turns, %step;
  add.u32 %turns, %turns, 1;
  mov.u32 %turn, 0;
LOOP:
  mov.b32 %x, %i;
  {self.instruction} %y, %x;
  cvt.f64.f32 %d, %x;
{self.exact}
  // Neither NaN nor infinite nor below the normal numbers.
  abs.f64 %g, %e;
  setp.ge.f64 %p, %g, 0d3810000000000000;
  setp.le.f64 %q, %g, 0d47EFFFFFE0000000;
  and.pred %p, %p, %q;
  // Arguments below the normal numbers count as zero.
  abs.f32 %f, %x;
  setp.ge.f32 %q, %f, 0f00800000;
  and.pred %p, %p, %q;
  @!%p bra NEXT;
  // A unit of the last place: 2 to the exponent, less 23.
  mov.b64 %w, %g;
  and.b64 %w, %w, 0x7FF0000000000000;
  sub.u64 %w, %w, 0x0170000000000000;
  mov.b64 %s, %w;
  cvt.f64.f32 %o, %y;
  sub.f64 %o, %o, %e;
  abs.f64 %o, %o;
  div.rn.f64 %o, %o, %s;
  cvt.rn.f32.f64 %f, %o;
  mov.b32 %error, %f;
  cvt.u64.u32 %key, %error;
  shl.b64 %key, %key, 32;
  cvt.u64.u32 %v, %i;
  or.b64 %key, %key, %v;
  max.u64 %best, %best, %key;
NEXT:
  add.u32 %i, %i, %step;
  add.u32 %turn, %turn, 1;
  setp.lt.u32 %q, %turn, %turns;
  @%q bra LOOP;
  atom.global.max.u64 %key, [%out], %best;
  ret;
}}
"""

    def run(self, cuda, image):
        out = cuda.upload(np.zeros(1, np.uint64))
        blocks = cuda.attributes()["multiprocessors"] * 8
        cuda.launch(cuda.function(cuda.load(image), "probe"), [out], 256, blocks, name=self.instruction)
        cuda.wait()
        key = int(cuda.download(out, 1, np.uint64)[0])
        error = float(np.uint32(key >> 32).view(np.float32))
        argument = float(np.uint32(key & 0xFFFFFFFF).view(np.float32))
        return ("ok" if error <= self.limit else "wrong",
                f"at most {error:.3f} units of the last place off, at {argument!r}; the manual allows {self.limit}",
                {"ulp": error, "argument": argument})


def exp2_exact():
    """2^d: the nearest whole number goes into the exponent, of the rest the series to its 13th term."""
    terms = [math.log(2)**k / math.factorial(k) for k in range(14)]
    horner = f"  mov.f64 %e, {double(terms[13])};\n" + "".join(f"  fma.rn.f64 %e, %e, %s, {double(terms[k])};\n" for k in range(12, -1, -1))
    return f"""  // Far out the result is no normal number.
  max.f64 %d, %d, {double(-300.0)};
  min.f64 %d, %d, {double(300.0)};
  cvt.rni.f64.f64 %n, %d;
  sub.f64 %s, %d, %n;
{horner}  cvt.rni.s64.f64 %w, %n;
  shl.b64 %w, %w, 52;
  mov.b64 %v, %e;
  add.s64 %v, %v, %w;
  mov.b64 %e, %v;
"""


def double(value):
    return f"0d{np.float64(value).view(np.uint64):016X}"


# Of the PTX manual: ex2 2 ulp of the full range, rcp 1 ulp, rsqrt a relative error of 2^-22.9, which is up to 2^1.1 units.
SWEEPS = {"ex2.approx.ftz.f32 of all arguments": Sweep("ex2.approx.ftz.f32", exp2_exact(), 2.5),
          "rcp.approx.ftz.f32 of all arguments": Sweep("rcp.approx.ftz.f32", "  rcp.rn.f64 %e, %d;\n", 1.5),
          "rsqrt.approx.ftz.f32 of all arguments": Sweep("rsqrt.approx.ftz.f32", "  sqrt.rn.f64 %e, %d;\n  rcp.rn.f64 %e, %e;\n", 2.2)}

PROBES = {"copy": Copy(), "empty launch": Empty(), **RATES, **SWEEPS, **hopper.PROBES}
SUBJECTS = list(PROBES)


# ---------------------------------------------------------------------------


def assemble(ptxas, source, target):
    """Machine code, without a warning."""
    done = subprocess.run([ptxas, "-v", f"-arch={ARCHITECTURE}", source, "-o", target], capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    if done.returncode or "C75" in said or "warning" in said.lower():
        lines = [line for line in said.splitlines() if re.search("error|warning|C75|fatal", line, re.I)]
        raise RunError(f"ptxas on '{pathlib.Path(source).name}': {(lines or ['no message'])[0][:300]}")


def pack(folder):
    """All probes as text, and as machine code where there is an assembler."""
    folder.mkdir()
    ptxas = find_ptxas()
    for subject, probe in PROBES.items():
        path = folder / f"{name_of(subject)}.ptx"
        path.write_text(probe.ptx())
        if ptxas:
            assemble(ptxas, path, path.with_suffix(".cubin"))


def item(request):
    """Runs a probe from its machine code, or where it has none from its text."""
    folder, subject = pathlib.Path(request["pack"]) / "probes", request["subject"]
    path = folder / f"{name_of(subject)}.cubin"
    if not path.exists():
        path = path.with_suffix(".ptx")
    watch.phase("opening the device")
    cuda = Cuda()
    watch.phase("probing")
    return PROBES[subject].run(cuda, path.read_bytes())
