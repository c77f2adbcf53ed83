# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the kernel table through Triton's own compiler, as rivals: exported as TTIR, compiled, counted.

Prints what came of programs. gpu-kernels uses `measure`. How often each loop turns is counted by running the kernels' control flow on the
program's arguments (test/python/on_gpus/ttir_interpreter.py); which loop of the machine code is which of TTIR is read from line numbers.
"""

import argparse
import bisect
import collections
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

import numpy as np

from drawloom_bench import BenchError, processes
from drawloom_bench import options as common
from drawloom_bench.counts import sass
from drawloom_bench.programs import gpu as gpu_programs
from on_gpus import ttir_interpreter

CAPABILITIES = {"sm_80": 80, "sm_90a": 90, "sm_100a": 100}
# What is tried for kernels that do the work; the others are compiled as exported.
WARPS, STAGES = (4, 8), (1, 2, 3)
# Of processor time, for Triton and for ptxas each; on a busy machine that takes longer.
COMPILE_SECONDS, WAIT_SECONDS = 40, 400
# Of processor time too: no further candidate of a kernel is tried after so long.
SEARCH_SECONDS = 20
# Changes with what this file counts, so that stored counts are not taken for what they are not.
VERSION = 2
SAMPLES, MOST_PROGRAMS = 24, 1 << 15


class TritonError(BenchError):
    """The program has no form in TTIR, or Triton does not compile it; the message says why."""


def export(text):
    """The one public function of a program as TTIR, in the blocks that the GPU target takes."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        try:
            printed = processes.tool("drawloom-translate", "--mlir-to-ttir-json", "--ttir-blocks=cuda", file.name)
        except BenchError as error:
            raise TritonError(re.sub(r"^error: ", "", str(error))[:160]) from None
    function, = json.loads(printed)["functions"]
    return function


def works(kernel):
    """Whether a kernel is worth a search: the others prepare parameters or end sums."""
    return kernel["grid"][0] >= 64 or "scf.for" in kernel["ttir"]


def candidates(kernel):
    """Numbers of warps and stages, as exported in front. Triton stages the operands of products that a loop adds up."""
    own = kernel["num_warps"], kernel["num_stages"]
    if not works(kernel):
        return [own]
    stages = STAGES if "scf.for" in kernel["ttir"] and "tt.dot" in kernel["ttir"] else own[1:]
    tried = [(w, s) for s in stages for w in WARPS if (w, s) != own]
    return [own, *sorted(tried, key=lambda one: one[1] != own[1])]


def nameless(kernel):
    return kernel["ttir"].replace(kernel["name"], "kernel")


def digest(function, version):
    """Of all that counts are of."""
    parts = [VERSION, version, WARPS, STAGES, [(nameless(k), k["grid"], k["num_warps"]) for k in function["kernels"]]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


# ---------------------------------------------------------------------------
# Triton, in a process of its own: one that does not end, or crashes, takes nothing with it
# ---------------------------------------------------------------------------


def compile_one(triton, kernel, arch, warps, stages, cubin):
    from triton.backends.compiler import GPUTarget
    path = pathlib.Path(cubin).with_suffix(".ttir")
    path.write_text(kernel["ttir"])
    compiled = triton.compile(str(path), target=GPUTarget("cuda", CAPABILITIES[arch], 32),
                              options={"num_warps": warps, "num_stages": stages})
    pathlib.Path(cubin).write_bytes(compiled.asm["cubin"])
    tool = pathlib.Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    usage = subprocess.run([tool, "-res-usage", cubin], check=True, capture_output=True, text=True).stdout
    number = {key: int(value) for key, value in re.findall(r"(REG|STACK|SHARED):(\d+)", usage)}
    return {"registers": number["REG"], "stack": number["STACK"], "shared": number["SHARED"] + compiled.metadata.shared}


def worker():
    """Answers jobs. A child does the work, in bounded time; here nothing of Triton is called, whose threads a child would miss."""
    import multiprocessing

    import triton
    context = multiprocessing.get_context("fork")

    def work(job, pipe):
        sys.stdout = sys.stderr = open(os.devnull, "w")
        resource.setrlimit(resource.RLIMIT_CPU, (COMPILE_SECONDS, COMPILE_SECONDS))
        try:
            if "parse" in job:
                pipe.send({"text": ttir_interpreter.parse_with_triton(job["parse"], pathlib.Path(job["folder"]))})
            else:
                pipe.send(compile_one(triton, job["kernel"], job["arch"], job["warps"], job["stages"], job["cubin"]))
        except BaseException as error:  # Triton raises what it likes.
            pipe.send({"error": (str(error).strip().splitlines() or [type(error).__name__])[0][:160]})

    def reply(job):
        here, there = context.Pipe(False)
        child = context.Process(target=work, args=(job, there))
        child.start()
        there.close()
        answer = {"error": f"does not compile in {COMPILE_SECONDS} s"}
        try:
            if here.poll(WAIT_SECONDS):
                answer = here.recv()
        except EOFError:
            child.join()
            if child.exitcode not in (-signal.SIGXCPU, -signal.SIGKILL):
                answer = {"error": "Triton's compiler crashed"}
        child.kill()
        child.join()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {**answer, "used": used.ru_utime + used.ru_stime}

    processes.answer(reply)


class Compiler(processes.Worker):
    """A process that compiles with the Triton that is installed."""

    def __init__(self, folder):
        super().__init__("gpu-triton", "--worker", TRITON_CACHE_DIR=str(folder / "cache"))
        self.folder, self.used = folder, 0.0

    def ask(self, job):
        answer = super().ask(job)
        self.used = answer.pop("used")
        return answer

    def parse(self, text):
        """What Triton prints of a kernel."""
        answer = self.ask({"parse": text, "folder": str(self.folder)})
        if "error" in answer:
            raise TritonError(answer["error"])
        return answer["text"]


def version():
    """The Triton that is installed; empty without one."""
    import importlib.metadata
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return ""


# ---------------------------------------------------------------------------
# How often loops turn
# ---------------------------------------------------------------------------


class Returned(Exception):
    """A program has nothing to do."""


def without_blocks(text):
    """A kernel whose only blocks are those of early returns, with `return_if` and `return_unless` in their place."""
    ends = re.findall(r"^ *(\^bb\d+):.*\n *tt\.return$", text, re.M)
    text = re.sub(r"^ *\^bb\d+:.*\n( *tt\.return\n(?! *\}))?", "", text, flags=re.M)

    def early(match):
        condition, yes, no = match.groups()
        if (yes in ends) == (no in ends):
            raise TritonError("it has branches that are no early returns")
        return f"return_{'if' if yes in ends else 'unless'} {condition}"

    text = re.sub(r"cf\.cond_br (%\S+), (\^bb\d+), (\^bb\d+)", early, text)
    if re.search(r"\bcf\.", text):
        raise TritonError("it has branches that are no early returns")
    return text


class Turns(ttir_interpreter.Kernel):
    """Runs only what decides about control flow, and counts the turns of each loop."""

    def __init__(self, text):
        super().__init__(without_blocks(text))
        # Loops next to each other have the same names: one of those may be wanted and the others are run for nothing.
        self.loops, self.wanted, makers = [], set(), collections.defaultdict(list)

        def walk(ops):
            for op in ops:
                head = op.line.split(" iter_args(")[0] if op.name == "scf.for" else op.line
                used = self.operands(head)
                for result in op.results:
                    makers[result].append(op)
                if op.name == "scf.for":
                    self.loops.append(op)
                    self.wanted.update(used[1:4])
                if op.name in ("scf.if", "return_if", "return_unless"):
                    self.wanted.add(used[0])
                if op.name == "scf.while":
                    raise TritonError("it has loops whose turns are not known before")
                for _, inner in op.regions:
                    walk(inner)

        walk(self.body[1])
        pending = list(self.wanted)
        while pending:
            used = [name for op in makers[pending.pop()] if not op.regions or op.name == "tt.reduce"
                    for name in self.operands(op.line)]
            pending += [name for name in used if name not in self.wanted]
            self.wanted.update(used)
        # Dimensions of the grid by whose numbers programs differ.
        self.axes = {"xyz".index(op.line.split()[1]) for op in self.body[1]
                     if op.name == "tt.get_program_id" and op.results[0] in self.wanted}
        self.counts, self.share = [0] * len(self.loops), 1.0
        self.numbers = {id(op): number for number, op in enumerate(self.loops)}

    @property
    def loads(self):
        """Whether memory decides about control flow."""
        def walk(ops):
            return any((op.name == "tt.load" and op.results[0] in self.wanted) or any(walk(inner) for _, inner in op.regions)
                       for op in ops)
        return walk(self.body[1])

    def run_block(self, ops, env):
        for op in ops:
            if op.name in ("return_if", "return_unless"):
                if bool(env[self.operands(op.line)[0]]) == (op.name == "return_if"):
                    raise Returned
            elif op.name == "scf.for":
                counter, lower, upper, step = re.match(r"scf\.for (%[\w-]+) = (%\S+) to (%\S+) step (%\S+)", op.line).groups()
                number, ((_, inside),) = self.numbers[id(op)], op.regions
                for i in range(int(env[lower]), int(env[upper]), int(env[step])):
                    self.counts[number] += 1
                    self.run_block(inside, {**env, counter: np.asarray(i).astype(np.asarray(env[lower]).dtype)[()]})
            elif op.name == "scf.if":
                condition = env[self.operands(op.line)[0]]
                if condition or len(op.regions) > 1:
                    self.run_block(op.regions[0 if condition else 1][1], dict(env))
            elif "tensor<" not in op.line and any(name in self.wanted for name in op.results):
                # Tiles, what other loops compute and memory that kernels write are not known; a loop that turns by them is an error.
                with contextlib.suppress(KeyError, AttributeError):
                    env.update(zip(op.results, self.execute(op, env)))
        return []

    def programs(self, grid):
        """Some of a grid of one dimension, evenly; of one of three, all that control flow tells apart."""
        if len(grid) == 1:
            return sorted({round(i * (grid[0] - 1) / (SAMPLES - 1)) for i in range(SAMPLES)})
        places = [range(extent) if axis in self.axes else range(1) for axis, extent in enumerate(grid)]
        if np.prod([len(one) for one in places]) > MOST_PROGRAMS:
            raise TritonError("too many programs differ")
        return list(itertools.product(*places))

    def a_program(self, arguments, grid):
        """How often a program enters the body of each loop, on average; `share` is of the programs that do not return early."""
        programs, returned = self.programs(grid), 0
        with np.errstate(all="ignore"):
            for self.program in programs:
                self.epoch = next(ttir_interpreter.EPOCHS)
                env = {}
                for (name, kind), value in zip(self.parameters, arguments):
                    env[name] = (ttir_interpreter.Pointer(value, np.int64(0)) if kind.pointer
                                 else np.asarray(value).astype(ttir_interpreter.DTYPES[kind.element]))
                try:
                    self.run_block(self.body[1], env)
                except Returned:
                    returned += 1
        self.share = 1 - returned / len(programs)
        return [count / len(programs) for count in self.counts]


def turns_of(kernel, function, text, arguments):
    """Of one kernel, by loop; `text` is what Triton prints, `arguments()` the function's."""
    if "scf.for" not in text:
        return []
    run = Turns(text)
    memories = [None] * len(kernel["parameters"])
    for i, parameter in enumerate(kernel["parameters"]):
        if "argument" in parameter:
            memories[i] = arguments()[parameter["argument"]]
        elif run.loads:
            buffer = function["buffers"][parameter["buffer"]]
            element = buffer["element"]
            kind = ttir_interpreter.DTYPES["i8" if element == "i1" else element]
            if buffer["kind"] == "argument" and np.dtype(kind).kind == "i":
                memories[i] = ttir_interpreter.Memory(np.asarray(arguments()[buffer["index"]]).astype(kind), element)
            elif buffer["kind"] == "constant":
                memories[i] = ttir_interpreter.Memory(np.frombuffer(bytes.fromhex(buffer["data"]), kind), element)
    try:
        return run.a_program(memories, kernel["grid"][:1])
    except (KeyError, ttir_interpreter.TtirError) as error:
        raise TritonError(f"the turns of a loop depend on what a kernel computes: {error}") from None


# ---------------------------------------------------------------------------
# What a warp executes
# ---------------------------------------------------------------------------


def source_loops(text):
    """First and last line (from 1) of each scf.for, and the number of the loop around it (None outside)."""
    loops, stack = [], []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("}"):
            opened = stack.pop()
            if opened is not None:
                loops[opened][1] = number
        if bare.endswith("{") or bare.endswith("({"):
            loop = None
            if re.match(r"(%\S+ = )?scf\.for ", bare):
                loop = len(loops)
                loops.append([number, None, next((one for one in reversed(stack) if one is not None), None)])
            stack.append(loop)
    return loops


def executed(code, text, turns, share=1.0):
    """Instructions by class that a warp executes, where the loops of the source turn as often as `turns` says, and `share` of
    all programs do not return early."""
    # Others that end under a predicate, before the last store, end with the program.
    early = {number for number, line in enumerate(text.splitlines(), 1) if "cf.cond_br" in line}
    last_exit = max((at for at in code.exits if code.lines[at] in early), default=-1)
    if share < 1 and last_exit < 0:
        raise TritonError("where programs return early was not found")

    def once(at):
        return share if at > last_exit else 1.0

    sources = source_loops(text)
    if len(sources) != len(turns):
        raise TritonError("loops of the exported and the printed kernel differ")
    starts = [first for first, _, _ in sources]

    def innermost(line):
        at = bisect.bisect_right(starts, line) - 1
        while at is not None and at >= 0 and sources[at][1] < line:
            at = sources[at][2]
        return at if at is not None and at >= 0 else None

    inside = code.innermost()
    owners = {}
    for number in range(len(code.loops)):
        votes = collections.Counter(innermost(code.lines[at]) for at, loop in enumerate(inside) if loop == number)
        del votes[None]
        owners[number] = votes.most_common(1)[0][0] if votes else None
    # By place, where there are as many.
    order = sorted(range(len(code.loops)), key=lambda i: (code.loops[i].first, -code.loops[i].last))
    if len(order) == len(sources):
        owners = dict(zip(order, range(len(sources))))
    # ptxas writes a body several times, and once more for the rest: the largest has most of the turns.
    times = {}
    sizes = collections.defaultdict(list)
    for number, owner in owners.items():
        sizes[owner].append(number)
    for owner, numbers in sorted(sizes.items(), key=lambda one: one[0] is None):
        numbers.sort(key=lambda n: -code.loops[n].length)
        apart = [n for n in numbers[1:] if code.loops[n].first > code.loops[numbers[0]].last
                 or code.loops[n].last < code.loops[numbers[0]].first]
        # No body is written more than eight times: what is shorter only waits for a copy or a product.
        waits = [n for n in apart if owner is not None and 8 * code.loops[n].length < code.loops[numbers[0]].length]
        apart = [n for n in apart if n not in waits]
        for n in numbers:
            if owner is None:
                around = [m for m in order if m != n and code.loops[m].first <= code.loops[n].first
                          and code.loops[m].last >= code.loops[n].last]
                times[n] = times.get(around[-1], 1.0) if around else once(code.loops[n].first)
            elif n in waits:
                times[n] = once(code.loops[n].first)
            elif n in apart:
                times[n] = 0.0
            else:
                copies = max(round(code.loops[numbers[0]].length / code.loops[apart[-1]].length), 1) if apart else 1
                times[n] = turns[owner] / copies
    out = collections.Counter()
    for at, (name, number) in enumerate(zip(code.classes, inside)):
        if name:
            out[name.split(".")[0]] += once(at) if number is None else times[number]
    return out


GROUPS = {"tensor": ("tensor",), "shared": ("LDS", "LDSM", "STS", "STSM"), "MUFU": ("MUFU",), "SHFL": ("SHFL",),
          "local": ("local",), "global": ("LDG", "STG", "LDGSTS")}


def grouped(counts):
    """Sums of the groups of the table, `all` of them in front."""
    return {"all": sum(counts.values()), **{name: sum(counts.get(one, 0) for one in group) for name, group in GROUPS.items()}}


def candidate(kernel, arch, compiler, turns, warps, stages, cubin, programs, share=1.0):
    """What Triton makes of a kernel with so many warps and stages, and the instructions that all programs execute."""
    answer = compiler.ask({"kernel": kernel, "arch": arch, "warps": warps, "stages": stages, "cubin": str(cubin)})
    if "error" in answer:
        return answer
    code, = sass.disassemble(cubin, lines=True)
    counts = executed(code, kernel["ttir"], turns, share)
    return {"warps": warps, "stages": stages, **answer, "instructions": code.length, "local": code.counts.get("local", 0),
            "run": {name: count * programs * warps for name, count in grouped(counts).items()}}


def best_of(kernel, arch, compiler, turns, choices, number):
    """The candidate that executes least without local memory, else the one that executes least; and the first's error."""
    found, failed, began = None, None, compiler.used
    for warps, stages in choices:
        if found and compiler.used - began > SEARCH_SECONDS:
            break
        cubin = compiler.folder / f"{number}-{arch}-{warps}-{stages}.cubin"
        one = candidate(kernel, arch, compiler, turns, warps, stages, cubin, kernel["grid"][0])
        if "error" in one:
            failed = failed or one["error"]
            if "does not compile in" in one["error"] and found is None:
                break
            continue
        key = (one["local"] > 0, one["run"]["all"])
        if found is None or key < found[0]:
            found = key, one
    if found is None:
        raise TritonError(failed)
    return found[1]


def measure_function(function, case, architectures):
    """By architecture, what Triton makes of an exported function; {"error"} where it makes nothing."""
    made = []

    def arguments():
        if not made:
            made.extend(case.arguments(np.random.default_rng(7), case.rows))
        return made

    out = {arch: {"kernels": len(function["kernels"]), "registers": 0, "stack": 0, "local": 0, "shared": 0,
                  "run": collections.Counter(), "main": None} for arch in architectures}
    with tempfile.TemporaryDirectory(prefix="drawloom-triton-") as name, Compiler(pathlib.Path(name)) as compiler:
        known = {}
        for number, kernel in enumerate(function["kernels"]):
            choices = candidates(kernel)
            try:
                text = compiler.parse(kernel["ttir"]) if "scf.for" in kernel["ttir"] else ""
                turns = turns_of(kernel, function, text, arguments)
            except TritonError as error:
                return {arch: {"error": str(error)} for arch in architectures}
            # The search is done for one architecture, the others follow it.
            for arch in sorted(architectures, key=lambda one: one != "sm_90a"):
                row = out[arch]
                if "error" in row:
                    continue
                key = nameless(kernel), arch, kernel["grid"][0]
                try:
                    if key not in known:
                        known[key] = best_of(kernel, arch, compiler, turns, choices, number)
                except TritonError as error:
                    # What takes too long for one takes too long for all.
                    slow = "does not compile in" in str(error)
                    out.update({one: {"error": str(error)} for one in (architectures if slow else [arch])})
                    continue
                one = known[key]
                if arch == "sm_90a":
                    choices = list(dict.fromkeys([(one["warps"], one["stages"]), choices[0]]))
                for cell, combine in (("registers", max), ("stack", lambda a, b: a + b), ("local", lambda a, b: a + b),
                                      ("shared", max)):
                    row[cell] = combine(row[cell], one[cell])
                row["run"].update(one["run"])
                if row["main"] is None or one["run"]["all"] > row["main"][0]:
                    row["main"] = one["run"]["all"], [one["warps"], one["stages"]], one["instructions"]
    for row in out.values():
        if "error" not in row:
            _, row["config"], row["instructions"] = row.pop("main")
            row["run"] = {name: round(count) for name, count in row["run"].items()}
    return out


def is_current(case, stored):
    """Whether what is stored is of the kernels that are exported now, by the Triton that it was compiled with."""
    try:
        return stored.get("hash") == digest(export(case.text(case.rows)), stored.get("triton", ""))
    except TritonError:
        return stored.get("hash") == ""


def measure(case, architectures, stored=None):
    """Triton's rows by architecture, and "hash". `stored` is given back where nothing changed."""
    try:
        function = export(case.text(case.rows))
    except TritonError as error:
        return {"hash": "", **{arch: {"error": f"no TTIR: {error}"} for arch in architectures}}
    installed = version()
    now = digest(function, installed)
    if stored and stored.get("hash") == now and all(arch in stored for arch in architectures):
        return stored
    if not installed:
        raise TritonError("triton is not installed, and what is stored is of other kernels")
    return {"hash": now, "triton": installed, **measure_function(function, case, architectures)}


def arguments(parser):
    common.add_only(parser, "programs")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)


def main(options):
    if options.worker:
        return worker()
    for case in common.chosen(options, gpu_programs.cases()):
        print(case.key, json.dumps(measure(case, options.arch.split(","))), flush=True)
