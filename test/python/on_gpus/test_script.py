# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/gpu.sh --emulated: what runs on the first GPU. Whatever goes wrong costs the item that it is of, and says why."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from support.emulated_driver import LIBRARY, needs_driver
from support.runner import BUILD, ROOT

sys.path.append(str(ROOT / "test" / "block-programs"))
from drawloom_bench.gpu import cases, driver, fragments, hopper, pack, package, probes, reports, runtime, stages  # noqa: E402

ADAMW, CSR, MLP, BACKWARD = "AdamW f32", "CSR product f32", "MLP 16 relu train bf16", "rational backward f32"
FAILED = driver.FAILED
pytestmark = [needs_driver, pytest.mark.skipif(not LIBRARY.exists() or not (BUILD / "benchmarks" / runtime.LIBRARY).exists(),
                                               reason="the emulated driver or the runner is not built")]


case_of = cases.find


def make(folder, keys, sizes=("small",)):
    pack.pack(folder, [case_of(key) for key in keys], modules=True, sizes=list(sizes), ttir=False)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A pack that no test may change: two cases, small and (CSR's) middle."""
    return make(tmp_path_factory.mktemp("gpu") / "pack", [ADAMW, CSR])


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A pack of one case that takes several kernels."""
    return make(tmp_path_factory.mktemp("gpu") / "pack", [BACKWARD])


@pytest.fixture
def changed(made, tmp_path):
    """A copy of it."""
    return pathlib.Path(shutil.copytree(made, tmp_path / "pack"))


def gpu(*arguments, **options):
    return subprocess.run([ROOT / "benchmarks" / "gpu.sh", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "DRAWLOOM_BUILD_DIR": str(BUILD)}, timeout=1200, **options)


def run(folder, out, *arguments, stages="inventory,load,small,times", code=None):
    """The results of a run by item."""
    done = gpu("--emulated", "--folder", folder, "--out", out, "--stages", stages, "--jobs", 1, *arguments)
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return driver.read(out), done


def failures(results):
    return {item: record for item, record in results.items() if reports.is_failure(item, record)}


@pytest.fixture(scope="module")
def good(made, tmp_path_factory):
    """What a run of the unchanged pack gives."""
    return run(made, tmp_path_factory.mktemp("good") / "results.jsonl", code=0)[0]


def others_are_as_they_were(results, good, *but):
    """Every item that the fault is not in has the status that it has without the fault."""
    touched = set(but)
    assert set(good) <= set(results)
    for item, record in good.items():
        if item not in touched:
            assert results[item]["status"] == record["status"], item


def test_a_run_is_one_line_an_item(good):
    assert {record["status"] for record in good.values()} == {"ok"}
    assert set(good) == {"inventory/machine", *(f"{stage}/{key}" for stage in ("load", "small", "times") for key in (ADAMW, CSR))}
    machine = good["inventory/machine"]["data"]
    assert machine["device"] == "Drawloom emulated GPU" and machine["capability"] == 90 and machine["pack"]["architecture"] == "sm_90a"
    kernels = good[f"load/{CSR}"]["data"]["kernels"]
    assert all(kernel[kind]["registers"] >= 0 and kernel[kind]["blocks"] > 0 for kernel in kernels.values() for kind in ("cubin", "ptx"))
    assert "the bits of the emulator" in good[f"small/{ADAMW}"]["says"]
    assert {"eager_us", "warm_us", "cold_us", "clocks"} <= set(good[f"times/{ADAMW}"]["data"])


# What is seeded, and what one line says of it.
SEEDED = {
    "late-failure": ("crash", {"code": "CUDA_ERROR_LAUNCH_FAILED"}, "CUDA_ERROR_LAUNCH_FAILED"),
    "abort": ("crash", {"code": "signal SIGABRT"}, "ended by signal SIGABRT, while launching"),
    "hang": ("hang", {}, "no end after 15 s, while launching"),
    "out-of-memory:2": ("out of memory", {}, "CUDA_ERROR_OUT_OF_MEMORY"),
}


@pytest.mark.parametrize("fault", SEEDED)
def test_a_fault_costs_its_own_line_and_hides_nothing(made, good, tmp_path, fault):
    status, fields, says = SEEDED[fault]
    results, done = run(made, tmp_path / "r.jsonl", "--fault", f"small/{ADAMW}={fault}", "--no-diagnosis",
                        *(["--limit", f"small/{ADAMW}=15"] if fault == "hang" else []), code=1)
    (name, record), = failures(results).items()
    assert name == f"small/{ADAMW}" and record["status"] == status, record
    assert says in record["says"] and all(record[key] == value for key, value in fields.items()), record
    if status != "out of memory":
        assert record["kernel"].startswith("step"), record
    # What needs that result is skipped, and says because of what.
    assert results[f"times/{ADAMW}"] == {"item": f"times/{ADAMW}", "status": "skipped", "says": f"because of {name}: {status}", "seconds": 0}
    others_are_as_they_were(results, good, name, f"times/{ADAMW}")
    assert sum(line.split()[0].isupper() for line in done.stdout.splitlines() if line) == 1, done.stdout
    assert done.stdout.splitlines()[-1] == f"1 {status}, 5 ok, 1 skipped" if status != "out of memory" else "1 out of memory"


def wrong_bundle(folder, key, change, name="small"):
    """The kernels of a case become those of another program, which change(text) makes of its own."""
    case = case_of(key)
    text = case.text
    case.text = lambda rows: change(text(rows))
    target = next(path.parent for path in folder.glob("*/case.json") if json.loads(path.read_text())["key"] == key)
    shutil.rmtree(target / name, ignore_errors=True)
    pack.bundle(case, case.small, target / name, "sm_90a", True)
    return target


def decay_twice(text):
    assert "weight_decay [0.01]" in text
    return text.replace("weight_decay [0.01]", "weight_decay [0.02]")


def test_a_wrong_kernel_is_one_line_with_its_worst_element(changed, good, tmp_path):
    wrong_bundle(changed, ADAMW, decay_twice)
    results, _ = run(changed, tmp_path / "r.jsonl", code=1)
    (name, record), = failures(results).items()
    assert name == f"small/{ADAMW}" and record["status"] == "wrong" and record["says"].startswith("WRONG: "), record
    worst = record["data"]["worst"]
    assert worst["result"] == 0 and worst["is"] != worst["should_be"] and len(worst["index"]) == 1
    # Wrong numbers take as long as right ones.
    others_are_as_they_were(results, good, name)
    ways = results[f"diagnosis/{name}"]["data"]["ways"]
    assert set(ways.values()) == {"wrong"} and "PTX assembled by the driver" in ways, ways
    assert "wrong in every way: the code itself is" in results[f"diagnosis/{name}"]["says"]


def modules_by_image(bundle):
    """The files that the emulated driver runs, by kernel and kind of image."""
    manifest = json.loads((bundle / "bundle.json").read_text())
    kernels = [kernel for one in manifest["architectures"] for kernel in one["kernels"]]
    return {kind: [next(bundle.glob(f"sm_90a/{hashlib.sha256((bundle / kernel[kind]).read_bytes()).hexdigest()}.*")) for kernel in kernels]
            for kind in ("cubin", "ptx")}


def test_machine_code_that_is_wrong_where_ptx_is_right_is_the_assemblers_fault(changed, tmp_path):
    """What the emulated driver runs for the machine code becomes another program's."""
    target = wrong_bundle(changed, ADAMW, decay_twice, "other")
    right, wrong = (modules_by_image(target / name) for name in ("small", "other"))
    for good_file, bad_file in zip(right["cubin"], wrong["cubin"], strict=True):
        data = bad_file.read_bytes()
        good_file.write_bytes(data)
    path = target / "small" / "bundle.json"
    manifest = json.loads(path.read_text())
    for file in manifest["files"]:
        data = (target / "small" / file["path"]).read_bytes()
        file.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    path.write_text(json.dumps(manifest))
    results, done = run(changed, tmp_path / "r.jsonl", "--only", "AdamW", stages="load,small", code=1)
    assert list(failures(results)) == [f"small/{ADAMW}"]
    explained = results[f"diagnosis/small/{ADAMW}"]
    assert explained["data"]["ways"]["again"] == "wrong" and explained["data"]["ways"]["PTX assembled by the driver"] == "ok"
    assert "right with PTX assembled by the driver" in explained["says"] and "assembler" in explained["says"]
    assert "diagnosis/small/AdamW f32: right with" in done.stdout


def test_a_missing_cubin_is_one_line(changed, good, tmp_path):
    cubin = next(path for path in changed.glob("*/small/sm_90a/*.cubin") if path.name.startswith("step"))
    cubin.unlink()
    results, _ = run(changed, tmp_path / "r.jsonl", code=1)
    (name, record), = failures(results).items()
    assert name == f"load/{ADAMW}" and record["status"] == "crash"
    assert f"the pack has no '{cubin.relative_to(changed)}': it was not carried whole" in record["says"]
    lost = [f"small/{ADAMW}", f"times/{ADAMW}"]
    assert [results[item]["status"] for item in lost] == ["skipped", "skipped"]
    others_are_as_they_were(results, good, name, *lost)
    # It still runs from PTX, and the diagnosis says so.
    assert results[f"diagnosis/{name}"]["data"]["ways"]["PTX assembled by the driver"] == "ok"


def test_machine_code_that_the_driver_refuses_is_told_from_ptx(changed, tmp_path):
    """The emulated driver does not know the machine code, and knows the PTX."""
    target = next(path.parent for path in changed.glob("*/case.json") if "AdamW" in path.read_text())
    for path in modules_by_image(target / "small")["cubin"]:
        path.unlink()
    results, _ = run(changed, tmp_path / "r.jsonl", "--no-diagnosis", stages="load", code=1)
    (name, record), = failures(results).items()
    assert name == f"load/{ADAMW}" and record["status"] == "wrong"
    assert record["says"].startswith("2 of 2 kernels: machine code is refused: small/step_0") and "CUDA_ERROR_NO_BINARY_FOR_GPU" in record["says"]
    assert all(kernel["ptx"]["registers"] >= 0 and isinstance(kernel["cubin"], str) for kernel in record["data"]["kernels"].values())


def test_a_kernel_that_fails_late_is_named_by_launches_one_at_a_time(several, tmp_path):
    """The second kernel fails; launches that do not wait learn of it from a later call."""
    folder = several
    results, _ = run(folder, tmp_path / "r.jsonl", "--fault", f"small/{BACKWARD}=late-failure:1", stages="load,small", code=1)
    explained = results[f"diagnosis/small/{BACKWARD}"]["data"]
    steps = json.loads((folder / "00/small/bundle.json").read_text())["architectures"][0]["plan"]["entries"][0]["steps"]
    assert f"kernel '{steps[1]['kernel']}'" in explained["details"]["one launch at a time"]["says"]


def test_the_first_wrong_step_is_named(several, tmp_path):
    """The pack's record of the last step says something else."""
    folder = pathlib.Path(shutil.copytree(several, tmp_path / "pack"))
    steps = folder / "00" / "steps.npz"
    with np.load(steps) as stored:
        states = {name: stored[name].copy() for name in stored.files}
    last = max(int(name.split("-")[0]) for name in states)
    assert last >= 1
    request = {"pack": str(folder), "folder": str(folder / "00"), "do": "steps"}
    setting = stages.Setting(folder, "", True, 1, 1, {})
    item = driver.Item("t", "t", request, environment=stages.emulated_modules(setting, [folder / "00"]), limit=120)
    journal = driver.Journal(tmp_path / "j")
    runner = driver.Driver(journal, float("inf"), lambda stage: 1, lambda record: None, {"DRAWLOOM_LIBCUDA": str(LIBRARY)})
    assert runner.alone(item)["status"] == "ok"
    name = next(name for name in sorted(states) if name.startswith(f"{last}-") and states[name].any())
    # Of each byte that it changes, another bit.
    states[name][states[name] != 0] ^= 0x40
    np.savez_compressed(steps, **states)
    record = runner.alone(item)
    runner.close()
    assert record["status"] == "wrong" and record["says"].startswith(f"step {last} of {last + 1}, "), record


def test_a_run_that_was_cut_off_goes_on_where_it_ended(made, good, tmp_path):
    out = tmp_path / "r.jsonl"
    results, _ = run(made, out, stages="inventory,load", code=0)
    lines = out.read_text().splitlines(keepends=True)
    # The last line was being written when the machine was taken away.
    out.write_text("".join(lines[:-1]) + lines[-1][:20])
    lost = json.loads(lines[-1])["item"]
    again, done = run(made, out, "--resume", code=0)
    assert set(again) == set(good) and again[lost]["status"] == "ok"
    assert out.read_text().startswith("".join(lines[:-1])) and all(json.loads(line) for line in out.read_text().splitlines())
    refused = gpu("--emulated", "--folder", made, "--out", out)
    assert refused.returncode == 2 and "has results already: go on with --resume" in refused.stderr and out.read_text().count("\n") == len(good)


def test_what_comes_after_the_deadline_is_skipped_and_done_by_resume(made, good, tmp_path):
    out = tmp_path / "r.jsonl"
    results, _ = run(made, out, "--fault", f"small/{ADAMW}=hang", "--deadline", 20, stages="load,small")
    skipped = [record["says"] for record in results.values() if record["status"] != "ok"]
    assert len(results) == 4 and {record["status"] for record in results.values()} <= {"ok", "skipped"} and len(skipped) >= 2
    assert all("deadline" in says for says in skipped) and sum(says.startswith("the deadline came after") for says in skipped) == 1
    results, _ = run(made, out, "--resume", code=0, stages="load,small")
    assert {record["status"] for record in results.values()} == {"ok"}


def test_a_device_that_does_not_answer_is_not_blamed_on_later_items(made, tmp_path, monkeypatch):
    """The driver finds no device."""
    monkeypatch.setenv("DRAWLOOM_EMULATED_FAULT", "no-device")
    results, _ = run(made, tmp_path / "r.jsonl", stages="load,small", code=1)
    assert len(failures(results)) == 1
    assert all("does not answer" in record["says"] for item, record in results.items() if item not in failures(results))


@pytest.mark.parametrize("code, status", [(0, "ok"), (86, "wrong")])
def test_what_a_sanitizer_finds_is_wrong(made, tmp_path, code, status):
    """It runs the worker, whose results may be right, and has its own exit status."""
    sanitizer = tmp_path / "compute-sanitizer"
    sanitizer.write_text(f"#!/bin/sh\nshift 6\n\"$@\"\necho '========= ERROR SUMMARY: {code} errors'\nexit {code}\n")
    sanitizer.chmod(0o755)
    setting = stages.Setting(made, "", True, 2, 1, {}, str(sanitizer))
    items = [item for item in stages.items(setting, "AdamW") if item.stage == "sanitizer"]
    assert [item.subject for item in items] == [f"{ADAMW} by {tool}" for tool in stages.SANITIZERS]
    runner = driver.Driver(driver.Journal(tmp_path / "j"), float("inf"), lambda stage: 1, lambda record: None, {"DRAWLOOM_LIBCUDA": str(LIBRARY)})
    record = runner.alone(items[0])
    runner.close()
    assert record["status"] == status and (not code or record["says"] == "ERROR SUMMARY: 86 errors, of compute-sanitizer"), record


def test_killing_the_driver_leaves_what_it_had_and_no_process(made, tmp_path):
    out = tmp_path / "r.jsonl"
    process = subprocess.Popen([ROOT / "benchmarks" / "gpu.sh", "--emulated", "--folder", made, "--out", out, "--stages", "load,small", "--jobs", "1",
                                "--fault", f"small/{CSR}=hang"], env={**os.environ, "DRAWLOOM_BUILD_DIR": str(BUILD)}, stdout=subprocess.PIPE,
                               # A process in the background of a shell ignores SIGINT, and its children do.
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not out.exists() or out.read_text().count("\n") < 3):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    process.stdout.close()
    assert {json.loads(line)["status"] for line in out.read_text().splitlines()} == {"ok"}
    left = subprocess.run(["pgrep", "-f", f"gpu.worker.*{out.parent.name}"], capture_output=True, text=True).stdout
    assert not left


def test_text_is_short_whatever_fails():
    import io
    out = io.StringIO()
    progress = reports.Progress(out)
    for i in range(500):
        progress.say({"item": f"small/{i}", "status": "crash", "says": "x" * 5000, "seconds": 1})
    progress.end()
    assert len(out.getvalue()) < 10 << 10 and "more of these are in the file" in out.getvalue()


@pytest.mark.parametrize("arguments, says", [
    (["--stages", "smal"], "there is no stage 'smal'; there are inventory"),
    (["--fault", "small/none=hang"], "there is no item 'small/none'"),
    (["--fault", "hang"], "--fault takes NAME=VALUE, not 'hang'"),
    (["--only", "nothing"], "the pack has no such case"),
    (["--read", "nowhere"], "No such file or directory: 'nowhere'"),
])
def test_bad_options_are_one_message(made, tmp_path, arguments, says):
    done = gpu("--emulated", "--folder", made, "--out", tmp_path / "r.jsonl", *arguments)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr


def test_help_teaches():
    done = gpu("--help")
    assert done.returncode == 0 and "--resume --deadline 560" in done.stdout and "benchmarks/results/gpu/" in done.stdout
    assert all(f"  {stage} " in done.stdout for stage in stages.STAGES)


# ---------------------------------------------------------------------------
# Sizes, references
# ---------------------------------------------------------------------------


def test_the_middle_size_is_checked_against_torch(tmp_path):
    pytest.importorskip("torch")
    folder = make(tmp_path / "pack", [CSR], ["small", "middle"])
    results, _ = run(folder, tmp_path / "r.jsonl", stages="load,small,middle", code=0)
    record = results[f"middle/{CSR}"]
    assert record["data"]["blocks"] > 132 and "error" in record["says"] and "from float64 on cpu" in record["says"]
    # A wrong answer of the middle size alone is seen there.
    case = case_of(CSR)
    text = case.text
    case.text = lambda rows: text(rows).replace("arith.mulf", "arith.addf")
    shutil.rmtree(folder / "00" / "middle")
    pack.bundle(case, case.middle, folder / "00" / "middle", "sm_90a", True)
    results, _ = run(folder, tmp_path / "s.jsonl", "--no-diagnosis", stages="load,small,middle", code=1)
    assert list(failures(results)) == [f"middle/{CSR}"]


@pytest.mark.parametrize("key", [
    "rational forward f32", "rational backward bf16", "MLP 16 relu forward f32", "MLP 16 relu train bf16", "MLP 64 rational train bf16", "AdamW f32",
    "GLA chunks f32", "GLA steps bf16", "RGCN layer f32", "RGCN segments bf16", "LoRA 768 f32", "block-sparse product f32", "CSR product f32",
    "GLA 128x256 train bf16", "scalar gate 128x256 train bf16", "gated delta rule 128x128 train bf16"])
def test_the_reference_agrees_with_the_interpreter(tmp_path, key):
    """By formulas that share nothing."""
    pytest.importorskip("torch")
    from drawloom_bench.gpu import checks, packed, reference
    case = case_of(key)
    program = tmp_path / "p.mlir"
    program.write_text(case.text(case.small))
    pack.results(case, program, tmp_path, {"expected": ["--target=interpreter", "--float64"]})
    arguments, expected = (packed.load(tmp_path / f"{name}.npz") for name in ("arguments", "expected"))
    right = reference.reference(case, arguments, case.small, "cpu")
    # Coefficients that are divided for the program in f32 are exact here; AdamW's powers of beta, too.
    assert checks.error_of(right.pick(expected), right.expected, checks.largest) <= 1e-6


def test_many_normal_numbers_are_not_all_the_same():
    numbers = cases.Generator(7).standard_normal((3, cases.Generator.PERIOD), np.float32)
    assert abs(numbers.mean()) < 1e-2 and abs(numbers.std() - 1) < 1e-2
    few = cases.Generator(7).standard_normal((4, 4))
    assert few.tobytes() == np.random.default_rng(7).standard_normal((4, 4)).tobytes()


# ---------------------------------------------------------------------------
# Instructions
# ---------------------------------------------------------------------------


def test_fragments_on_the_emulator_are_those_of_the_manual(made, tmp_path):
    """Asked of the machine that runs the kernels."""
    results, _ = run(made, tmp_path / "r.jsonl", stages="fragments", code=0)
    assert {item.split("/", 1)[1] for item in results} == set(fragments.instructions("sm_90a"))
    assert {record["status"] for record in results.values()} == {"ok"}


@pytest.mark.parametrize("instruction", fragments.instructions("sm_90a"))
def test_a_fragment_in_other_places_is_seen(monkeypatch, instruction):
    table = fragments.expected(instruction)
    other = list(reversed(table))
    assert other != table
    monkeypatch.setattr(fragments.runtime, "Library", lambda path: None)
    monkeypatch.setattr(fragments, "ask", lambda launch, asked: other)
    status, says, data = fragments.item({"pack": "", "subject": instruction})
    assert status == "wrong" and "are not what the manual says" in says and data["table"] == other


def test_every_probe_is_assembled(tmp_path):
    if not probes.find_ptxas():
        pytest.skip("no ptxas here")
    probes.pack(tmp_path / "probes")
    assert len(list((tmp_path / "probes").glob("*.cubin"))) == len(probes.PROBES) == len(list((tmp_path / "probes").glob("*.ptx")))


@pytest.mark.parametrize("major", ["k", "mn"])
@pytest.mark.parametrize("swizzle", hopper.MASKS)
def test_operands_of_wgmma_fill_their_memory_once(major, swizzle):
    operand = hopper.Operand(major, swizzle)
    assert sorted((operand.address // 2).reshape(-1)) == list(range(hopper.M * hopper.K))
    # Eight numbers that lie behind each other in the matrix do so in memory: a descriptor knows nothing finer.
    along = operand.address if major == "k" else operand.address.T
    assert (np.diff(along.reshape(-1, 8)) == 2).all() and (along[:, ::8] % 16 == 0).all()
    bits = operand.bits(0x2400, 5)
    assert bits & 0x3FFF == 0x240 and bits >> 49 & 7 == 5 and bits >> 62 == {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    assert bits >> 16 & 0x3FFF == operand.leading // 16 and bits >> 32 & 0x3FFF == operand.stride // 16


def test_fragments_of_wgmma_are_each_element_once():
    rows, columns = hopper.result_places()
    assert sorted(zip(rows.reshape(-1), columns.reshape(-1))) == [(r, c) for r in range(64) for c in range(64)]
    rows, ks = hopper.operand_places()
    assert sorted(zip(rows.reshape(-1), ks.reshape(-1))) == [(r, k) for r in range(64) for k in range(16)]


@pytest.mark.parametrize("swizzle", hopper.MASKS)
def test_boxes_of_tma_keep_what_is_inside(swizzle):
    probe = hopper.Tma(swizzle)
    matrix = np.arange(1, hopper.HEIGHT * hopper.WIDTH + 1, dtype=np.uint16).reshape(hopper.HEIGHT, hopper.WIDTH)
    inside = probe.box(matrix, 8, 3)
    assert sorted(inside) == sorted(matrix[3:3 + hopper.BOX, 8:8 + probe.columns].reshape(-1))
    assert (probe.box(matrix, hopper.WIDTH, 0) == 0).all() and np.count_nonzero(probe.box(matrix, -4, -2)) == 6 * (probe.columns - 4)


class Answers:
    """A device that answers a probe as it is told."""

    def __init__(self, answer):
        self.answer, self.given = answer, []

    def upload(self, array):
        self.given.append(array)
        return len(self.given)

    def download(self, pointer, shape, kind):
        return np.asarray(self.answer(self), kind).reshape(shape)

    def __getattr__(self, name):
        return lambda *arguments, **options: None


def wgmma_of(probe, device, flip):
    """The sums of what is in the memory that was uploaded, read as the descriptors say."""
    _, memory, registers = device.given

    def matrix(operand, words):
        return (words[operand.address // 2].astype(np.uint32) << 16).view(np.float32)
    b = matrix(probe.b, memory[hopper.B_AT // 2:])
    if probe.a:
        a = matrix(probe.a, memory[:hopper.B_AT // 2])
    else:
        a = np.empty((64, 64), np.float32)
        rows, ks = hopper.operand_places()
        for step in range(4):
            a[rows, ks + 16 * step] = (registers[:, step].astype(np.uint32) << 16).view(np.float32)
    d = a @ b.T
    if flip:
        d[5, 6] += 1
    return d[hopper.result_places()]


@pytest.mark.parametrize("name", [name for name in hopper.PROBES if name.startswith("wgmma") and "offset" not in name])
def test_a_wrong_sum_of_wgmma_is_seen(name):
    probe = hopper.PROBES[name]
    assert probe.run(Answers(lambda device: wgmma_of(probe, device, False)), b"")[0] == "ok"
    status, says, _ = probe.run(Answers(lambda device: wgmma_of(probe, device, True)), b"")
    assert status == "wrong" and says.startswith("1 of 4096 sums")


def test_another_state_of_an_mbarrier_is_seen():
    probe = hopper.PROBES["mbarrier"]
    assert probe.run(Answers(lambda device: probe.EXPECTED), b"")[0] == "ok"
    status, says, _ = probe.run(Answers(lambda device: [0, 1, *probe.EXPECTED[2:]]), b"")
    assert status == "wrong" and says == "other than the manual says: arrived, 128 bytes expected"


# ---------------------------------------------------------------------------
# Packs
# ---------------------------------------------------------------------------


def test_quick_cases_are_right_on_the_emulated_driver(tmp_path):
    """A pack that is made for it; Triton compiles what is its, too."""
    pytest.importorskip("triton")
    done = gpu("--emulated", "--quick", "--out", tmp_path / "r.jsonl", "--jobs", 2, "--stages", "load,small,prepare")
    assert done.returncode == 0, done.stdout + done.stderr
    results = driver.read(tmp_path / "r.jsonl")
    keys = [case.key for case in cases.all_cases() if case.quick]
    assert "left out" not in done.stdout and len(keys) >= 7
    for stage in ("load", "small"):
        assert {item for item, record in results.items() if item.startswith(stage + "/") and record["status"] == "ok"} == {
            f"{stage}/{key}" for key in keys}
    assert "the bits of the emulator" in results["small/GLA 64x64 forward bf16"]["says"]
    assert "rms error" in results["small/MLP 64 relu forward bf16"]["says"]
    compiled = {item for item in results if item.startswith("prepare/") and results[item]["status"] == "ok"}
    assert compiled == {f"prepare/{key} by Triton" for key in keys if not key.startswith("GLA 64")}
    assert len(done.stdout) < 10 << 10


def test_a_wrong_bias_of_a_network_in_bf16_is_wrong(tmp_path):
    """One of 80, off by a tenth."""
    folder = make(tmp_path / "pack", [MLP])
    path = folder / "00" / "arguments.npz"
    with np.load(path) as stored:
        arguments = [stored[name] for name in stored.files]
    bias = next(i for i, array in enumerate(arguments) if array.shape == (16,))
    from drawloom_bench.gpu.checks import as_float64
    from drawloom_bench.programs import gpu as gpu_programs
    wrong = as_float64(arguments[bias]).astype(np.float32)
    wrong[3] += 0.1
    arguments[bias] = gpu_programs.store(wrong, "bf16")
    np.savez(path, *arguments)
    results, _ = run(folder, tmp_path / "r.jsonl", "--no-diagnosis", stages="load,small", code=1)
    assert "WRONG: rms error" in results[f"small/{MLP}"]["says"]


def test_a_tolerance_of_nothing_makes_rounding_an_error(changed, tmp_path):
    path = next(path for path in changed.glob("*/case.json") if "AdamW" in path.read_text())
    path.write_text(json.dumps({**json.loads(path.read_text()), "tolerance": 0}))
    results, _ = run(changed, tmp_path / "r.jsonl", "--no-diagnosis", stages="load,small", code=1)
    assert list(failures(results)) == [f"small/{ADAMW}"] and "the bits of the emulator" in results[f"small/{ADAMW}"]["says"]


def test_a_pack_that_is_carried_is_one_file_with_a_limit(monkeypatch, tmp_path):
    """What comes out of it runs anywhere; what is too large is refused before anybody carries it."""
    pack.pack(tmp_path / "pack", [case_of(CSR)], sizes=["small"], ttir=False)
    # It holds no kernels of the emulated driver, and all that the scripts need.
    assert not list(tmp_path.rglob("*.mlir")) and not list(tmp_path.rglob("*.llir")) and (tmp_path / "pack/probes/mbarrier.ptx").exists()
    pack.archive(tmp_path / "pack", tmp_path / "one.tar.gz")
    shutil.rmtree(tmp_path / "pack")
    subprocess.run(["tar", "xzf", tmp_path / "one.tar.gz"], cwd=tmp_path, check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PATH"] = f"{pathlib.Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run([tmp_path / "one" / "benchmarks" / "gpu.sh", "--help"], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0 and "benchmarks/gpu.sh --pack pack.tar.gz" in done.stdout, done.stderr
    # There is no device here: that is one line, and nothing is blamed on what follows.
    done = subprocess.run([tmp_path / "one" / "benchmarks" / "gpu.sh", "--out", "r.jsonl"], capture_output=True, text=True, cwd=tmp_path,
                          env={**environment, "DRAWLOOM_LIBCUDA": "/nowhere/libcuda.so.1"})
    results = driver.read(tmp_path / "r.jsonl")
    assert done.returncode == 1 and list(failures(results)) == ["inventory/machine"] and "/nowhere/libcuda.so.1" in done.stdout, done.stdout
    monkeypatch.setattr(pack, "MOST_BYTES", 1 << 10)
    with pytest.raises(runtime.RunError, match="MiB, more than the 0.000976562 that can be carried"):
        pack.archive(tmp_path / "one", tmp_path / "two.tar.gz")
    assert not list(tmp_path.glob("two*"))


def test_a_pack_needs_no_newer_libc_than_it_says(monkeypatch, tmp_path):
    pack.copy_runtime(tmp_path)
    monkeypatch.setattr(pack, "NEWEST_GLIBC", (2, 2))
    with pytest.raises(runtime.RunError, match="needs glibc 2.[0-9]+: build it on a system that has 2.2 or less"):
        pack.copy_runtime(tmp_path)


def test_memory_of_the_device_comes_back(made, tmp_path):
    results, _ = run(made, tmp_path / "r.jsonl", stages="load,small,streams", code=0)
    assert results["streams/memory"]["data"]["lost"] == 0
    assert {record["status"] for item, record in results.items() if item.startswith("streams/")} == {"ok"}


def test_the_package_takes_tensors_of_torch(made, tmp_path):
    results, _ = run(made, tmp_path / "r.jsonl", stages="package", code=0)
    found = {item: record["status"] for item, record in results.items() if item.startswith("package/")}
    assert found == {f"package/{name}": "ok" for name in package.EMULATED_CASES}, results
    assert set(package.EMULATED_CASES) <= set(package.names(ROOT / "test" / "python"))


def test_a_pack_carries_the_package_as_a_wheel_holds_it(tmp_path):
    for name in ("one", "two"):
        with zipfile.ZipFile(tmp_path / f"{name}.whl", "w") as file:
            file.writestr(f"{name}/__init__.py", "")
    package.unpack(tmp_path / "one.whl", tmp_path / "two.whl", tmp_path / "python")
    assert sorted(path.parent.name for path in (tmp_path / "python").rglob("*.py")) == ["one", "two"]


def test_products_of_the_library_are_used(monkeypatch, tmp_path):
    """A pack with a program whose products are cuBLASLt's."""
    monkeypatch.setattr(pack, "PRODUCTS", "MLP 16 relu forward bf16")
    folder = make(tmp_path / "pack", ["MLP 16 relu forward bf16"])
    results, _ = run(folder, tmp_path / "r.jsonl", stages="load,small,streams", code=0)
    record = results["streams/products by cuBLASLt"]
    assert record["status"] == "ok" and "5 of 5 steps" in record["says"], record
