# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of flash-linear-attention, compiled by Triton and counted, without a GPU.

    drawloom-bench gpu-fla gla bf16 64x64     prints what came of one cell

Its own functions are called with tensors that have no memory, by a process that tells them which GPU there is. What they would
launch is recorded instead: kernel, grid, constants, settings. Every kernel then goes through triton.py: Triton compiles it for
the target, loops turn as often as its control flow says when it is run for all numbers of programs that it tells apart.
gpu-recurrences uses `measure`.
"""

import argparse
import collections
import hashlib
import importlib.metadata
import json
import pathlib
import tempfile

from drawloom_bench import BenchError, processes
from drawloom_bench.counts import triton as gpu_triton

VERSION = "0.6.0"
# Changes with what this file counts, so that stored counts are not taken for what they are not.
COUNTED = 1
# Names, bytes of shared memory that a block may have, and multiprocessors, of the GPUs that the package is told of.
DEVICES = {"sm_80": ("NVIDIA A100", 166912, 108), "sm_90a": ("NVIDIA H200", 232448, 132)}
# What is tried of the settings that the package offers to Triton's search: the largest blocks that are no larger than the data, and
# the next ones where those need local memory; all numbers of warps; the fewest stages, which hardly change what is executed.
BLOCKS = 2
# By the name of a block's extent, that of the data.
EXTENTS = {"BK": "K", "BV": "V", "BS": "S"}


class FlaError(BenchError):
    """The package is not there, is another version, or does something else than was expected."""


def check_installed():
    """Raises FlaError unless the package and Triton are there and are what the table is of."""
    for package in ("flash-linear-attention", "fla-core"):
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise FlaError(f"{package} is not installed; pip install flash-linear-attention=={VERSION}, or --keep-fla to leave its "
                           "side of the table as it is stored") from None
        if found != VERSION:
            raise FlaError(f"{package} is {found}, the table is of {VERSION}; pip install flash-linear-attention=={VERSION}")
    if not gpu_triton.version():
        raise FlaError("triton is not installed; test/requirements.txt says which")


# ---------------------------------------------------------------------------
# What it launches, recorded by a process of its own, in which a GPU seems to be there
# ---------------------------------------------------------------------------


class Recorder:
    """Takes the place of Triton's launches."""

    def __init__(self, arch):
        import torch
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.runtime import autotuner, driver, jit
        name, shared, processors = DEVICES[arch]
        capability = gpu_triton.CAPABILITIES[arch]
        self.torch, self.triton, self.launches, self.tuned = torch, triton, [], None
        self.target, self.capability = GPUTarget("cuda", capability, 32), capability

        class Utils:
            def get_device_properties(self, _):
                return {"max_shared_mem": shared, "multiprocessor_count": processors}

        class Driver:
            utils = Utils()

            def get_current_target(this):
                return self.target

            def get_current_device(this):
                return 0

        driver.set_active(Driver())
        torch.cuda.is_available = lambda: True
        torch.cuda.device_count = lambda: 1
        torch.cuda.get_device_name = lambda *_: name
        torch.cuda.get_device_capability = lambda *_: divmod(capability, 10)
        autotuner.Autotuner.run = lambda *arguments, **named: self.tune(*arguments, **named)
        jit.JITFunction.run = lambda *arguments, **named: self.launch(*arguments, **named)

    def tune(self, tuner, *arguments, **named):
        """Records what is tried of a kernel's settings, all of those for the same blocks of data in one go."""
        tuner.nargs = dict(zip(tuner.arg_names, arguments))
        offered = tuner.prune_configs(named) if len(tuner.configs) > 1 else tuner.configs
        by_blocks = collections.defaultdict(list)
        for config in offered:
            by_blocks[tuple(sorted(config.kwargs.items()))].append(config)

        given = {**tuner.nargs, **named}

        def order(blocks):
            """Those with the fewest elements that are none of the data first, then the largest."""
            size, inside = 1, 1
            for name, value in blocks:
                size *= value
                inside *= min(value, given.get(EXTENTS.get(name), value))
            return size / inside, -size

        self.tuned = []
        for blocks in sorted(by_blocks, key=order)[:BLOCKS]:
            configs = by_blocks[blocks]
            stages = min(config.num_stages for config in configs)
            for config in configs:
                if config.num_stages == stages:
                    tuner.fn.run(*arguments, **named, **config.all_kwargs())
                    self.tuned[-1]["tuned"] = config.kwargs
        self.launches.append({"name": tuner.base_fn.__name__, "offered": len(offered), "tried": self.tuned})
        self.tuned = None

    def launch(self, function, *arguments, grid, warmup, **named):
        """Records one setting of a kernel with its text in TTIR, as Triton's compiler makes it from Python."""
        from triton._C.libtriton import ir
        from triton.compiler import ASTSource, make_backend
        named.update(debug=False, instrumentation_mode="")
        _, _, _, backend, bind = function.device_caches[0]
        bound, specialization, options = bind(*arguments, **named)
        options, signature, constants, attributes = function._pack_args(backend, named, bound, specialization, options)
        grid = tuple(grid(bound) if callable(grid) else grid)
        context = ir.context()
        ir.load_dialects(context)
        backend = make_backend(self.target)
        backend.load_dialects(context)
        module = ASTSource(function, signature, constants, attributes).make_ir(
            self.target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
        text = backend.make_ttir(module, {}, options, self.capability).str_nodebug()
        tensors = {id(value): value for value in bound.values() if isinstance(value, self.torch.Tensor)}
        one = {"ttir": text, "grid": (*grid, 1, 1)[:3], "warps": options.num_warps, "stages": options.num_stages,
               "tuned": {},
               # Pointers are None: control flow that needs what is in memory is an error.
               "arguments": [bound[name] if isinstance(bound[name], (int, float)) else None
                             for name, kind in signature.items() if kind != "constexpr"],
               "bytes": sum(value.numel() * value.element_size() for value in tensors.values())}
        if self.tuned is None:
            self.launches.append({"name": function.fn.__name__, "offered": 1, "tried": [one]})
        else:
            self.tuned.append(one)

    def record(self, kind, element, shape):
        """By "forward" and "backward", the launches of one call. `shape` is B, T, H, K, V."""
        torch, (batch, tokens, heads, keys, values) = self.torch, shape
        from fla.ops.common import chunk_o
        from fla.ops.gated_delta_rule import chunk_gated_delta_rule
        from fla.ops.gla import chunk_gla
        from fla.ops.simple_gla import chunk_simple_gla
        # It refuses one backward kernel on Hopper with this Triton, which is said to compute wrong numbers. It is counted.
        chunk_o.TRITON_ABOVE_3_7_1 = True
        half = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[element]

        def tensor(*extents, dtype=half):
            return torch.empty(extents, dtype=dtype, device="meta", requires_grad=True)

        q, k, v = (tensor(batch, tokens, heads, extent) for extent in (keys, keys, values))
        g = tensor(batch, tokens, heads, *([keys] if kind == "gla" else []), dtype=torch.float32)
        if kind == "gated_delta":
            o, _ = chunk_gated_delta_rule(q, k, v, g, tensor(batch, tokens, heads))
        else:
            o, _ = {"gla": chunk_gla, "scalar": chunk_simple_gla}[kind](q, k, v, g)
        forward, self.launches = self.launches, []
        o.backward(torch.empty_like(o))
        backward, self.launches = self.launches, []
        return {"forward": forward, "backward": backward}


def recorder(arch):
    """Answers (kind, element, shape) with what is launched."""
    recording = Recorder(arch)

    def reply(request):
        try:
            return recording.record(*request)
        except Exception as error:  # What a stranger's code raises.
            return {"error": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"}

    processes.answer(reply)


class Launches(processes.Worker):
    """A process that records for one architecture."""

    def __init__(self, arch):
        check_installed()
        super().__init__("gpu-fla", "--record", arch)

    def ask(self, kind, element, shape):
        answer = super().ask([kind, element, shape])
        if "error" in answer:
            raise FlaError(f"flash-linear-attention, {kind} {element} {shape}: {answer['error'][:200]}")
        return answer


class Recorders(dict):
    """Launches by architecture."""

    def __init__(self, architectures):
        super().__init__((arch, Launches(arch)) for arch in architectures)

    def __enter__(self):
        return self

    def __exit__(self, *given):
        for one in self.values():
            one.__exit__(*given)


# ---------------------------------------------------------------------------
# What the kernels are made of
# ---------------------------------------------------------------------------

# Of texts of kernels, how often loops turn, and what Triton makes of them: many cells have the same.
TURNS, COMPILED = {}, {}


def turns_of(one):
    """How often loops turn, and the share of the programs that do not return early."""
    key = one["ttir"], tuple(one["grid"])
    if key not in TURNS:
        run = gpu_triton.Turns(one["ttir"])
        try:
            TURNS[key] = run.a_program([0 if value is None else value for value in one["arguments"]], tuple(one["grid"])), run.share
        except KeyError as error:
            raise gpu_triton.TritonError(f"the turns of a loop depend on what is in memory: {error}") from None
    return TURNS[key]


def compiled(one, arch, compiler):
    text = one["ttir"]
    key = text, tuple(one["grid"]), arch, one["warps"], one["stages"]
    if key not in COMPILED:
        turns, share = turns_of(one)
        cubin = compiler.folder / f"{len(COMPILED)}.cubin"
        programs = one["grid"][0] * one["grid"][1] * one["grid"][2]
        COMPILED[key] = gpu_triton.candidate({"ttir": text}, arch, compiler, turns, one["warps"], one["stages"], cubin, programs, share)
    return COMPILED[key]


def setting(one):
    return [one["tuned"], one["warps"], one["stages"]]


def count(launch, arch, compiler, wanted=None):
    """The best setting of a launch: of those without local memory that fit into shared memory, the one that executes least.
    `wanted` is the number of warps that was best elsewhere: it is tried first, and others only if it needs local memory."""
    largest = launch["tried"][0]["tuned"]
    groups = [[one for one in launch["tried"] if one["tuned"] == largest and one["warps"] == wanted]]
    for one in launch["tried"]:
        if not groups[-1] or groups[-1][0]["tuned"] != one["tuned"] or len(groups) == 1:
            groups.append([])
        groups[-1].append(one)
    best, failed = None, "no setting fits into shared memory"
    for group in groups:
        for one in group:
            made = compiled(one, arch, compiler)
            if "error" in made or made["shared"] > DEVICES[arch][1]:
                failed = made.get("error", failed)
                continue
            key = made["local"] > 0, made["run"]["all"]
            if best is None or key < best[0]:
                best = key, one, made
        if best and not best[0][0]:
            break
    if best is None:
        raise gpu_triton.TritonError(f"{launch['name']}: {failed}")
    _, one, made = best
    return {"name": launch["name"], "offered": launch["offered"], "tried": len(launch["tried"]), "setting": setting(one),
            "grid": one["grid"], "bytes": one["bytes"],
            **{cell: made[cell] for cell in ("registers", "stack", "local", "shared", "instructions")},
            "run": {name: round(n) for name, n in made["run"].items()}}


def digest(launches):
    """Of all that the counts of a cell are of."""
    parts = [COUNTED, gpu_triton.VERSION, gpu_triton.version(), VERSION, launches]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def measure(kind, element, shape, recorders, compiler, stored=None, best=None):
    """By architecture, the kernels of the forward and of the backward pass as `count` gives them; {"error"} where one is missing.
    `recorders` are Launches by architecture. `stored` rows are given back where they are of the same kernels. `best` are numbers
    of warps by pass and place that are tried first; those of kernels that it lacks are added."""
    out, best = {}, {} if best is None else best
    # The search is done for one architecture, the others follow it.
    for arch in sorted(recorders, key=lambda one: one != "sm_90a"):
        launches = recorders[arch].ask(kind, element, shape)
        now = digest(launches)
        if stored and stored.get(arch, {}).get("hash") == now:
            out[arch] = stored[arch]
        else:
            try:
                out[arch] = {"hash": now, "triton": gpu_triton.version(), **{
                    part: [count(launch, arch, compiler, best.get((part, number))) for number, launch in enumerate(launches[part])]
                    for part in ("forward", "backward")}}
            except gpu_triton.TritonError as error:
                out[arch] = {"hash": now, "error": str(error)}
        for part in ("forward", "backward"):
            for number, kernel in enumerate(out[arch].get(part, [])):
                best.setdefault((part, number), kernel["setting"][1])
    return out


def arguments(parser):
    parser.add_argument("kind", nargs="?", default="gla", choices=["gla", "scalar", "gated_delta"])
    parser.add_argument("element", nargs="?", default="bf16")
    parser.add_argument("extents", nargs="?", default="64x64", help="K and V")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--record", help=argparse.SUPPRESS)


def main(options):
    if options.record:
        return recorder(options.record)
    shape = [8, 2048, 16, *map(int, options.extents.split("x"))]
    heads = shape[0] * shape[1] * shape[2]
    with tempfile.TemporaryDirectory() as name, Launches(options.arch) as launches, \
            gpu_triton.Compiler(pathlib.Path(name)) as compiler:
        row = measure(options.kind, options.element, shape, {options.arch: launches}, compiler)[options.arch]
    if "error" in row:
        raise FlaError(row["error"])
    for part in ("forward", "backward"):
        for kernel in row[part]:
            counts = " ".join(f"{name} {n / heads:.3g}" for name, n in kernel["run"].items())
            print(f"{part} {kernel['name']} {kernel['setting']}, {kernel['registers']} registers, local {kernel['local']}, "
                  f"shared {kernel['shared']}: {counts}")
        print(f"{part}: {sum(kernel['run']['all'] for kernel in row[part]) / heads:.1f} instructions a token and head")
