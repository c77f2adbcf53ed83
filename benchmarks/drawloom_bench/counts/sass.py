# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine code of NVIDIA kernels is made of: counts of instructions by class, in all and in each loop.

Counts are static: how often the instructions stand there, not how often they run. `--rows` divides those of the largest
loop by the rows that one warp works on in one round of it. nvdisasm comes from $DRAWLOOM_NVDISASM, PATH, CUDA's folder
or Triton's package.
"""

import collections
import dataclasses
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess

from drawloom_bench import BenchError

# The classes in the order of tables, each with the beginnings of its instructions' names. Those of loads and stores
# with a `width` are told apart by it.
CLASSES = {
    "tensor": ["HMMA", "HGMMA", "WGMMA", "IMMA", "DMMA", "BMMA", "UTC"],
    "LDSM": ["LDSM"],
    "STSM": ["STSM"],
    "LDGSTS": ["LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG"],
    "LDG": ["LDG", "LD."],
    "STG": ["STG", "ST.", "RED", "ATOMG", "ATOM."],
    "LDS": ["LDS"],
    "STS": ["STS", "ATOMS"],
    "local": ["LDL", "STL"],
    "BAR": ["BAR", "WARPSYNC", "SYNCS", "DEPBAR", "LDGDEPBAR", "WARPGROUP", "MEMBAR", "ERRBAR", "UCGABAR", "ARRIVES"],
    "SHFL": ["SHFL", "REDUX", "VOTE", "MATCH"],
    "MUFU": ["MUFU"],
    "F2FP": ["F2FP", "F2F", "I2F", "F2I", "I2FP"],
    "packed": ["HFMA2", "HADD2", "HMUL2", "HMNMX2", "HSET", "FFMA2", "FADD2", "FMUL2"],
    "F-ops": ["FFMA", "FADD", "FMUL", "FMNMX", "FSETP", "FSEL", "FSET", "FCHK", "DFMA", "DADD", "DMUL", "DSETP", "FSWZADD"],
    "MOV": ["MOV", "IMAD.MOV", "CS2R", "UMOV", "R2UR", "PRMT", "UPRMT", "SEL", "USEL", "S2R", "S2UR"],
    "integer": ["IMAD", "IADD", "LOP3", "LEA", "SHF", "ISETP", "IMNMX", "VIADD", "VIMNMX", "IABS", "POPC", "FLO", "SGXT", "BMSK",
                "PLOP3", "UIADD", "UIMAD", "ULOP3", "USHF", "UISETP", "ULEA", "UPLOP3", "USGXT", "UFLO", "BREV", "P2R", "R2P"],
    "constant": ["LDC", "ULDC", "LDCU"],
    "branch": ["BRA", "BRX", "EXIT", "CALL", "RET", "BSSY", "BSYNC", "JMP", "NANOSLEEP", "WARPSYNC", "BPT", "YIELD", "UCLEA"],
}
WIDE = {"LDG", "STG", "LDS", "STS", "LDGSTS"}
PADDING = {"NOP"}
# What all lanes of a warp have to execute together.
COLLECTIVE = {"tensor", "LDSM", "STSM", "BAR", "SHFL"}


class SassError(BenchError):
    """Machine code that cannot be read; the message says why."""


def find_nvdisasm():
    """The path of a disassembler; where it was looked for is in the error."""
    triton = importlib.util.find_spec("triton")
    candidates = [os.environ.get("DRAWLOOM_NVDISASM"), shutil.which("nvdisasm"),
                  os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvdisasm")]
    if triton and triton.origin:
        candidates.append(str(pathlib.Path(triton.origin).parent / "backends/nvidia/bin/nvdisasm"))
    for path in candidates:
        if path and os.access(path, os.X_OK):
            return path
    raise SassError("no nvdisasm in $DRAWLOOM_NVDISASM, PATH, CUDA's folder or Triton's package; "
                    "the package nvidia-cuda-nvdisasm on PyPI has one")


def classify(instruction):
    """The class of an instruction without its predicate: `LDG.128` for LDG.E.128.CONSTANT R4, [R2.64]."""
    name = instruction.split()[0]
    if name.split(".")[0] in PADDING:
        return None
    best, length = "other", 0
    for group, beginnings in CLASSES.items():
        for beginning in beginnings:
            if name.startswith(beginning) and len(beginning) > length:
                best, length = group, len(beginning)
    if best in WIDE:
        parts = name.split(".")[1:]
        width = next((part.lstrip("US") for part in parts if part.lstrip("US") in ("8", "16", "64", "128", "256")), "32")
        return f"{best}.{width}"
    if best == "STSM":
        # A word of each matrix: STSM.16.M88.4 stores 16 bytes a lane.
        return f"{best}.{32 * int(re.search(r'[.]MT?88[.]?([24]?)', name)[1] or 1)}"
    return best


@dataclasses.dataclass
class Loop:
    """A backward branch: the instructions from its target to it."""
    first: int
    last: int
    counts: dict

    @property
    def length(self):
        return sum(self.counts.values())


@dataclasses.dataclass
class Kernel:
    name: str
    counts: dict
    loops: list  # The largest first.
    # Of each instruction: its class (None for padding), and the source line that it is of (0: unknown).
    classes: list
    lines: list
    # The instructions that end some threads, under a predicate, and not all.
    exits: list = dataclasses.field(default_factory=list)
    # Collectives under a predicate that lanes of a warp may differ in.
    predicated: list = dataclasses.field(default_factory=list)

    def innermost(self):
        """Of each instruction the number of the smallest loop that it is in, None outside of all."""
        inside = [None] * len(self.classes)
        for number, loop in enumerate(self.loops):  # The largest first.
            inside[loop.first:loop.last + 1] = [number] * (loop.last + 1 - loop.first)
        return inside

    @property
    def length(self):
        return sum(self.counts.values())


def count(instructions):
    classes = (classify(text) for text in instructions)
    return dict(collections.Counter(one for one in classes if one))


def warps_own(predicates, guard, instruction):
    """Of predicates that are known to be the same for a warp's lanes, those that still are behind an instruction."""
    if instruction.startswith("R2P"):
        return set()
    named = re.findall(r"!?\bU?P(?:T|\d)\b", instruction)
    # What an instruction names, it may write.
    left = predicates - set(named)
    target = re.match(r"PLOP3\.LUT (P\d), ", instruction)
    if target and not guard and all(re.fullmatch(r"!?(?:PT|UPT|UP\d)", one) for one in named[1:]):
        left.add(target.group(1))
    return left


def parse(text):
    """The kernels in what nvdisasm -c prints."""
    sections, lines = [], []
    for line in text.splitlines():
        match = re.match(r"\s*\.section\s+\.text\.([\w$.]+)", line)
        if match:
            lines = []
            sections.append((match.group(1), lines))
        elif re.match(r"\s*\.section\s", line):
            lines = []
        lines.append(line)
    kernels = []
    for name, lines in sections:
        instructions, labels, source, sources, exits, predicated = [], {}, 0, [], [], []
        uniform = set()  # Predicates that are copies of uniform ones, in this stretch without labels.
        for line in lines:
            if match := re.match(r"\s*//## File .*?, line (\d+)", line):
                source = int(match.group(1))
            elif match := re.match(r"\s*\.?(L_x_\d+):", line):
                labels[match.group(1)] = len(instructions)
                uniform = set()
            elif match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@(!?U?P\w+)\s+)?([^;]+?)\s*;", line):
                # What is never executed only fills the pipeline.
                if match.group(1) not in ("!PT", "!UPT"):
                    if match.group(1) and match.group(2).split(".")[0] == "EXIT":
                        exits.append(len(instructions))
                    # Uniform predicates are the warp's own, and so are their copies.
                    if (match.group(1) and not match.group(1).lstrip("!").startswith("U") and match.group(1) != "PT"
                            and match.group(1).lstrip("!") not in uniform
                            and (classify(match.group(2)) or "").split(".")[0] in COLLECTIVE):
                        predicated.append(f"@{match.group(1)} {match.group(2)}")
                    uniform = warps_own(uniform, match.group(1), match.group(2))
                    instructions.append(match.group(2))
                    sources.append(source)
        loops = []
        for at, instruction in enumerate(instructions):
            match = re.match(r"(?:BRA|BRX)\b.*?(L_x_\d+)", instruction)
            target = labels.get(match.group(1)) if match else None
            # The branch to itself behind the end only pads.
            if target is not None and target < at:
                loops.append(Loop(target, at, count(instructions[target:at + 1])))
        loops.sort(key=lambda loop: loop.first - loop.last)
        kernels.append(Kernel(name, count(instructions), loops, [classify(text) for text in instructions], sources,
                              exits, predicated))
    return kernels


def disassemble(cubin, lines=False):
    """The kernels of a cubin; with the lines of the source where the cubin has them."""
    done = subprocess.run([find_nvdisasm(), "-c", *(["-g"] if lines else []), str(cubin)], capture_output=True, text=True)
    if done.returncode:
        raise SassError(f"nvdisasm on '{cubin}': {done.stderr.strip()}")
    kernels = parse(done.stdout)
    if not kernels:
        raise SassError(f"'{cubin}' holds no code")
    return kernels


def cubins(path):
    """The cubins that a path names: itself, or those below a folder."""
    path = pathlib.Path(path)
    found = sorted(path.rglob("*.cubin")) if path.is_dir() else [path]
    if not found:
        raise SassError(f"there is no cubin below '{path}'")
    return found


def print_counts(title, counts, rows=None):
    length = sum(counts.values())
    share = f", {length / rows:.1f} a row" if rows else ""
    print(f"  {title}: {length}{share}")
    order = list(CLASSES)
    key = lambda name: (order.index(name.split(".")[0]) if name.split(".")[0] in order else len(order), name)
    print("    " + "  ".join(f"{name} {counts[name]}" for name in sorted(counts, key=key)))


def arguments(parser):
    parser.add_argument("paths", nargs="+", metavar="PATH", help="FILE.cubin, or the folder of a bundle")
    parser.add_argument("--rows", type=float, help="rows of one warp in one round of the largest loop")
    parser.add_argument("--json", action="store_true", help="print JSON")


def main(options):
    results = []
    for path in (cubin for given in options.paths for cubin in cubins(given)):
        for kernel in disassemble(path):
            results.append({"file": str(path), "name": kernel.name, "counts": kernel.counts, "predicated": kernel.predicated,
                            "loops": [dataclasses.asdict(loop) for loop in kernel.loops]})
            if options.json:
                continue
            print(f"{path}: {kernel.name}")
            print_counts("all", kernel.counts)
            for number, loop in enumerate(kernel.loops):
                print_counts(f"loop {number}", loop.counts, options.rows if number == 0 else None)
            if kernel.predicated:
                print(f"  to be executed by a whole warp, under a predicate: {'; '.join(kernel.predicated)}")
    if options.json:
        print(json.dumps(results, indent=1))
