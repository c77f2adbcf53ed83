# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which items there are for a pack, in the order of their worth: each stage is useful without those behind it."""

import dataclasses
import json
import pathlib

from drawloom_bench import BUILD, ROOT
from drawloom_bench.gpu import cases, fragments, package, probes, rivals, streams
from drawloom_bench.gpu.driver import Item

# What each stage is for, and how many of its items run side by side: those that take times run alone.
MANY, ALONE = "many", 1
STAGES = {
    "inventory": ("the machine: device, driver, packages, tools", ALONE),
    "load": ("every kernel is loaded, as machine code and from PTX, without a launch", MANY),
    "fragments": ("what the compiler's instructions do with lanes and words, beside the manual", MANY),
    "probes": ("hand-written PTX: rates, the error of approximations, wgmma, TMA and mbarriers beside the manual", ALONE),
    "small": ("a block or a few against float64 and the emulator's bits, many times", MANY),
    "middle": ("more blocks than multiprocessors, against float64 of torch", MANY),
    "times": ("our times: CUDA graphs, warm and cold", ALONE),
    "full": ("full sizes against float64 of torch", MANY),
    "streams": ("streams, graphs, memory, cuBLASLt", MANY),
    "torch": ("beside torch: its streams, its graphs, DLPack", MANY),
    "package": ("the Python package with CUDA tensors of torch", MANY),
    "prepare": ("rivals compile, side by side", MANY),
    "rivals": ("times of torch, torch.compile, Triton, FlashKAT, flash-linear-attention", ALONE),
    "sanitizer": ("compute-sanitizer on small sizes", MANY),
}
# Those of a run that names none: what is ours. Rivals take longer than all of it.
OURS = [stage for stage in STAGES if stage not in ("prepare", "rivals", "sanitizer")]
SANITIZERS = ["memcheck", "racecheck", "synccheck", "initcheck"]
RUNS = {"middle": 10, "full": 3}  # Whose bits are compared, at most.
SANITIZED = 3  # Cases; each runs a hundred times slower.


@dataclasses.dataclass
class Setting:
    """What items need to know of the run."""
    pack: pathlib.Path
    device: str
    emulated: bool
    runs: int
    processors: int
    folders: dict  # Of rivals.
    sanitizer: str | None = None


def packed(pack):
    """The cases of a pack by key, in the order of their worth, with their folders."""
    found = {json.loads(path.read_text())["key"]: path.parent for path in pack.glob("*/case.json") if path.parent.name != "products"}
    return {key: found[key] for key in sorted(found, key=cases.worth)}


def emulated_modules(setting, folders):
    """The emulated driver's kernels are beside the machine code that it stands for."""
    if not setting.emulated:
        return {}
    parts = [part for folder in folders for part in sorted({path.parent for path in folder.glob("**/sm_*/*.mlir")})]
    return {"DRAWLOOM_EMULATED_MODULES": ":".join(map(str, parts))}


def package_cases(setting):
    """Pairs of a case and the folders that its process imports from."""
    if setting.emulated:
        # The tree's own: the package of a pack brings no emulated devices.
        tests = ROOT / "test" / "python"
        paths = [str(BUILD / "python"), str(tests)]
        return [(name, paths) for name in package.EMULATED_CASES if (tests / "on_gpus" / "emulated_torch.py").exists()]
    tests, installed = setting.pack / "test" / "python", setting.pack / "python"
    return [(name, [str(installed), str(tests)]) for name in package.names(tests)] if installed.exists() else []


def items(setting, words=""):
    """All items whose case has one of the words in its key, with commas between them."""
    pack, out = setting.pack, []
    base = {"pack": str(pack), "emulated": setting.emulated, "processors": setting.processors, "device": setting.device}
    threads = max(1, setting.processors // 4)

    def add(stage, subject, do, *, folders=(), **options):
        fields = {name: options.pop(name) for name in ("limit", "needs", "prefix") if name in options}
        # The emulator takes its time.
        fields["limit"] = fields.get("limit", Item.limit) * (10 if setting.emulated else 1)
        out.append(Item(stage, subject, {**base, "do": do, "subject": subject, **options},
                        environment={**emulated_modules(setting, folders), **options.pop("environment", {})}, **fields))

    add("inventory", "machine", "inventory")
    found = {key: folder for key, folder in packed(pack).items() if any(word in key for word in words.split(","))}
    architecture = json.loads((pack / "pack.json").read_text())["architecture"]
    sizes = [size for size in cases.SIZES if not setting.emulated or size != "full"]
    for key, folder in found.items():
        add("load", key, "load", folder=str(folder), sizes=[size for size in sizes if (folder / size).exists()], folders=[folder], limit=120)
    if not words:
        for instruction in fragments.instructions(architecture):
            add("fragments", instruction, "fragments", folders=[pack / "fragments"])
        for subject in probes.SUBJECTS if architecture == "sm_90a" and not setting.emulated else []:
            add("probes", subject, "probe", limit=90)
    for key, folder in found.items():
        add("small", key, "small", folder=str(folder), runs=setting.runs, folders=[folder], needs={f"load/{key}": "runs"})
    for size, stage in (("middle", "middle"), ("full", "full")):
        for key, folder in found.items():
            if size in sizes and (folder / size).exists():
                add(stage, key, "large", key=key, size=size, folder=str(folder), runs=min(setting.runs, RUNS[size]), threads=threads, folders=[folder],
                    needs={f"small/{key}": "ok", **({f"middle/{key}": "ok"} if size == "full" else {})}, limit=120)
    quick = {"measurements": 2, "seconds": 1e-6, "flush": 1 << 16} if setting.emulated else {}
    for key, folder in found.items():
        size = "small" if setting.emulated or not (folder / "full").exists() else "full"
        add("times", key, "times", key=key, size=size, folder=str(folder), measure=quick, folders=[folder], needs={f"small/{key}": "runs"})
    if found:
        key, folder = next(iter(found.items()))
        for subject in streams.OURS:
            if subject != "products by cuBLASLt" or (pack / "products").exists():
                add("streams", subject, "streams", folder=str(folder), torch=False, folders=[folder, pack / "products"],
                    needs={f"small/{key}": "runs"})
        for subject in streams.TORCH:
            add("torch", subject, "streams", folder=str(folder), torch=True, folders=[folder], needs={f"small/{key}": "runs"})
    for subject, paths in package_cases(setting) if not words else []:
        add("package", subject, "package", paths=paths, limit=120)
    for stage in ("prepare", "rivals"):
        for key, folder in found.items():
            for rival in rivals.of(key, folder, setting.folders):
                add(stage, f"{key} by {rival}", "rival", key=key, rival=rival, folder=str(folder), measure=quick, rivals=setting.folders,
                    prepares=stage == "prepare", limit=240 if stage == "prepare" else 120,
                    needs={} if stage == "prepare" else {f"prepare/{key} by {rival}": "ok"})
    if setting.sanitizer:
        for tool in SANITIZERS:
            for key, folder in list(found.items())[:SANITIZED]:
                add("sanitizer", f"{key} by {tool}", "small", folder=str(folder), runs=1, folders=[folder], needs={f"small/{key}": "runs"},
                    limit=180, prefix=[setting.sanitizer, "--tool", tool, "--error-exitcode", "86", "--print-limit", "3"])
    # As the table of stages has them.
    return sorted(out, key=lambda item: list(STAGES).index(item.stage))
