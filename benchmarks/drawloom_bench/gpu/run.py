# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything about our kernels that a machine with a GPU can tell, in one run.

    benchmarks/gpu.sh --pack pack.tar.gz                        with a build: write what the machine with a GPU needs (below 60 MiB)
    tar xzf pack.tar.gz; pack/benchmarks/gpu.sh --out FILE      there (Python with NumPy, and torch for most): run it, stage by stage
    benchmarks/gpu.sh --read FILE                               anywhere: print a file of results
    benchmarks/gpu.sh --emulated                                with a build: the same run on the emulated driver, which is its test

Each item is done in a process of its own with a time limit, so a crash, a hang or a lack of memory costs that item and no other. Each
result is a line of JSON in FILE, written before the next item starts: a run that is cut off leaves all that it had. A case that fails is run
again in other ways (one launch at a time, PTX assembled by the driver, ptxas -O0 and -O1, step by step); "diagnosis/..." says what that
found. Exit status: 0 where nothing of ours failed.

A machine that is lent for ten minutes at a time:

    pack/benchmarks/gpu.sh --out results.jsonl --deadline 560                             what is ours, most worth first
    pack/benchmarks/gpu.sh --out results.jsonl --resume --deadline 560 --stages prepare,rivals
    pack/benchmarks/gpu.sh --out results.jsonl --resume --deadline 560 --stages sanitizer

Keep the file as benchmarks/results/gpu/DEVICE-DATE.jsonl, as in nvidia-h200-2026-12-01.jsonl.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time

from drawloom_bench import ROOT
from drawloom_bench.gpu import cases, diagnose, driver, pack, reports, rivals, stages
from drawloom_bench.gpu.runtime import LIBRARY, RunError

SHARED_BY = 8  # As many processes as this on one device, at most.


def arguments(parser):
    table = "\n".join(f"  {name:10} {what}" for name, (what, _) in stages.STAGES.items())
    parser.epilog = f"stages, in their order:\n{table}"
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE.tar.gz",
                        help="write a pack, or a folder where the name has no such end; with --emulated, one that the emulated driver runs too")
    parser.add_argument("--read", type=pathlib.Path, metavar="FILE", help="print a file of results")
    parser.add_argument("--emulated", action="store_true", help="run on the emulated driver of the build folder; times mean nothing there")
    parser.add_argument("--folder", type=pathlib.Path, help="the pack to run (default: where this script was packed)")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="where results go (default: gpu-DATE-TIME.jsonl here)")
    parser.add_argument("--resume", action="store_true", help="go on with the file: do what it has no result of")
    parser.add_argument("--deadline", type=float, default=float("inf"), metavar="SECONDS", help="when to have ended")
    parser.add_argument("--stages", default="", help="stages to run, with commas between them (default: all but prepare, rivals, sanitizer; "
                        "when emulated: all)")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases with one of these words in their names, with commas between them")
    parser.add_argument("--quick", action="store_true", help="some cases")
    parser.add_argument("--runs", type=int, help="runs whose bits are compared (default: 100, emulated 2)")
    parser.add_argument("--jobs", type=int, help="processes side by side, where no times are taken (default: half of the processors, "
                        f"{SHARED_BY} at most)")
    parser.add_argument("--no-diagnosis", action="store_true", help="do not run failed cases again in other ways")
    parser.add_argument("--architecture", default="sm_90a", choices=["sm_80", "sm_90a"], help="what to pack for (default: %(default)s)")
    parser.add_argument("--wheel", type=pathlib.Path, metavar="FILE.whl", help="pack the Python package, too, which scripts/wheel.sh makes: "
                        "for the stage 'package'")
    parser.add_argument("--python", default="3.12", metavar="VERSION", help="of the machine with the GPU (default: %(default)s)")
    parser.add_argument("--fault", action="append", default=[], metavar="ITEM=FAULT",
                        help="with --emulated: DRAWLOOM_EMULATED_FAULT of one item, to see what a failure costs")
    parser.add_argument("--limit", action="append", default=[], metavar="NAME=SECONDS", help="the time limit of an item, or of a stage's items")
    parser.add_argument("--flashkat", type=pathlib.Path, default=os.environ.get("DRAWLOOM_FLASHKAT"), metavar="FOLDER",
                        help="a checkout of github.com/OSU-STARLAB/FlashKAT, a rival (default: $DRAWLOOM_FLASHKAT)")
    parser.add_argument("--fla", type=pathlib.Path, default=os.environ.get("DRAWLOOM_FLA"), metavar="FOLDER",
                        help="a folder that the package flash-linear-attention was installed into (pip install --target), a rival "
                             "(default: $DRAWLOOM_FLA, or what Python finds)")


def pairs(options, what):
    """NAME=VALUE of an option that may be given several times."""
    out = {}
    for text in options:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise RunError(f"--{what} takes NAME=VALUE, not '{text}'")
        out[name] = value
    return out


def chosen_cases(options):
    return [case for case in cases.all_cases() if (not options.quick or case.quick) and any(word in case.key for word in options.only.split(","))]


def wanted_stages(options):
    """In their order."""
    words = [word for word in options.stages.split(",") if word] or (list(stages.STAGES) if options.emulated else stages.OURS)
    for word in words:
        if word not in stages.STAGES:
            raise RunError(f"--stages: there is no stage '{word}'; there are {', '.join(stages.STAGES)}")
    return [stage for stage in stages.STAGES if stage in words]


def find_pack(options, temporary):
    """The folder to run; on the emulated driver without one, a pack that is made now."""
    if options.folder or (ROOT / LIBRARY).exists():
        folder = options.folder or ROOT
    elif options.emulated:
        folder = pathlib.Path(temporary) / "pack"
        wanted = wanted_stages(options)
        pack.pack(folder, chosen_cases(options), modules=True, sizes=["small", "middle"] if "middle" in wanted else ["small"],
                  ttir="prepare" in wanted)
    else:
        folder = ROOT
    if not (folder / LIBRARY).exists():
        raise RunError(f"'{folder}' is no pack; make one with benchmarks/gpu.sh --pack FOLDER")
    return folder.resolve()


def environment_of(options):
    if not options.emulated:
        # Rivals compile in one stage and are timed in another.
        caches = pathlib.Path(tempfile.gettempdir()) / "drawloom-gpu-caches"
        return {"TRITON_CACHE_DIR": str(caches / "triton"), "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor")}
    if not pack.DRIVER.exists():
        raise RunError(f"there is no '{pack.DRIVER}'; build it (ninja -C build EmulatedDriver), or say where a build is with "
                       "DRAWLOOM_BUILD_DIR")
    cublaslt = pack.DRIVER.parent / "libcublasLt.so.13"
    return {"DRAWLOOM_LIBCUDA": str(pack.DRIVER), **({"DRAWLOOM_LIBCUBLASLT": str(cublaslt)} if cublaslt.exists() else {})}


def seed(items, options):
    """Gives items the faults and limits that were asked for."""
    faults, limits = pairs(options.fault, "fault"), pairs(options.limit, "limit")
    if faults and not options.emulated:
        raise RunError("--fault is for --emulated: a real device has faults of its own")
    names = {item.name for item in items}
    for name in faults:
        if name not in names:
            raise RunError(f"--fault: there is no item '{name}'")
    for item in items:
        if item.name in faults:
            item.environment["DRAWLOOM_EMULATED_FAULT"] = faults[item.name]
        item.limit = float(limits.get(item.name, limits.get(item.stage, item.limit)))
    return items


def run(options, folder, out):
    processors = len(os.sched_getaffinity(0))
    setting = stages.Setting(folder, "", options.emulated, options.runs or (2 if options.emulated else 100), processors,
                             {name: str(path) for name, path in (("flashkat", options.flashkat), ("fla", options.fla)) if path},
                             None if options.emulated else shutil.which("compute-sanitizer"))
    wanted = wanted_stages(options)
    journal = driver.Journal(out, options.resume)
    jobs = options.jobs or max(1, min(SHARED_BY, processors // 2))
    progress = reports.Progress(sys.stdout)
    runner = driver.Driver(journal, options.deadline, lambda stage: jobs if stages.STAGES[stage][1] == stages.MANY else 1, progress.say,
                           environment_of(options))
    try:
        items = seed(stages.items(setting, options.only), options)
        if not any(item.stage == "load" for item in items):
            raise RunError("the pack has no such case")
        for stage in wanted:
            mine = [item for item in items if item.stage == stage]
            before = {item.name for item in mine if journal.finished(item.name)}
            runner.run(mine)
            progress.end()
            for item in [] if options.no_diagnosis else diagnose.to_explain(mine, journal.results):
                if item.name not in before and not runner.dead and runner.remaining() > driver.LEAST_SECONDS:
                    runner.record(diagnose.explain(runner, item, journal.results[item.name],
                                                   lambda folders: stages.emulated_modules(setting, folders)))
        progress.end()
    finally:
        runner.close()
    print(reports.table(journal.results))
    text, right = reports.summary(journal.results)
    print(f"results: {out}\n{text}")
    return 0 if right else 1


def write_pack(options):
    path, archived = options.pack.resolve(), options.pack.name.endswith(pack.SUFFIX)
    with tempfile.TemporaryDirectory(prefix="drawloom-gpu-pack-") as temporary:
        folder = pathlib.Path(temporary) / "pack" if archived else path
        pack.pack(folder, chosen_cases(options), options.architecture, options.emulated, ["small", "middle"] if options.emulated else cases.SIZES,
                  wheel=options.wheel, python=options.python)
        if archived:
            pack.archive(folder, path)


def main(options):
    if options.read:
        results = driver.read(options.read)
        print(reports.whole(results))
        return 0
    rivals.Folders(options.flashkat, options.fla).check()
    if options.pack:
        write_pack(options)
        return 0
    out = (options.out or pathlib.Path(time.strftime("gpu-%Y%m%d-%H%M%S.jsonl"))).resolve()
    with tempfile.TemporaryDirectory(prefix="drawloom-gpu-pack-") as temporary:
        return run(options, find_pack(options, temporary), out)
