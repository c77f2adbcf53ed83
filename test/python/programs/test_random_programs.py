# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs (`random_programs/`): a fixed share of those that scripts/fuzz.sh programs runs, and the generator itself."""

import random
import re

import pytest
import torch

from programs.random_programs import check, fuzz, program, shrink
from programs.random_programs.build import Builder, Rejected
from programs.random_programs.graph import OPS, Graph, Step, Type
from programs.random_programs.oracle import EPSILON
from programs.random_programs.program import Program

# What fits into two minutes; scripts/fuzz.sh programs runs any number. Most seeds are chosen among the first thousands: each outcome
# that some of these have of a condition in passes/ (true, or false), one of these here has.
SHARES = {
    "graphs": ["--seeds=0,15,67,89,115,147,157,176,178,225,240,262,302,318,366,377,421,435,439,573,596,610,619,625,676,690,738,757,780,"
               "800,813,823,830,844,856,862,865,896,897,922"],
    "more graphs": ["--seeds=982,994,1017,1031,1046,1158,1165,1179,1237,1275,1349,1367,1374,1380,1403,1410,1502,1512,1519,1541,1553,1560,"
                    "1574,1609,1643,1668,1685,1755,1781,1825,1862,1934,1940,1962,1972,1973"],
    "avx512": ["--seed=1000", "--count=8", "--isa=avx512"],
    "avx2": ["--seed=2000", "--count=12", "--isa=avx2"],
    "baseline": ["--seed=3000", "--count=10", "--isa=baseline"],
    "emulator": ["--seeds=4000,4001,4002,4003,4004,4022,4032,4049,4053,4063,4077,4143", "--target=emulator"],
    "recurrences": ["--family=recurrences", "--seeds=4,15,18,41,86,123,128,141"],
}

# What /proc/cpuinfo says of processors that run a set.
FLAGS = {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}


@pytest.mark.parametrize("share", SHARES)
def test_programs_compute_what_they_say(share):
    with open("/proc/cpuinfo") as file:
        if not FLAGS.get(share, set()) <= set(file.read().split()):
            pytest.skip(f"this processor does not run {share}")
    options = fuzz.parse([*SHARES[share], "--shrink=0"])
    options.findings = None
    counts, failures = fuzz.run(options, report=lambda text: None)
    assert not failures, "\n".join(f"{fuzz.command(options, seed)}\n  {reply['kind']}: {reply['detail'][:600]}"
                                   for seed, reply in failures)
    assert counts["right"] == counts["programs"] == (len(options.seeds) if options.seeds else options.count)


def test_a_seed_is_a_program():
    for family in ("graphs", "recurrences"):
        for seed in range(10):
            one, other = program.generate(seed, family=family), program.generate(seed, family=family)
            assert one.text() == other.text()
            assert all(torch.equal(a, b) for a, b in zip(one.arguments, other.arguments))


@pytest.mark.parametrize("name", [name for name, row in OPS.items() if row.make])
def test_each_row_fits_some_program(name):
    """Each row of the table makes a step of its own, in some program of some type."""
    for seed in range(400):
        element = ("f32", "bf16", "f64")[seed % 3]
        b = Builder(random.Random(seed), element, differentiable=False)
        try:
            b.like(Type(b.shape(), element))
            OPS[name].make(b)
        except Rejected:
            continue
        if name in set(b.graph.ops()):
            return
    pytest.fail("no program has it")


def small_program(**more):
    """x * y and the exponential of that."""
    type = Type((3, 2), "f32")
    graph = Graph()
    x, y, product, result = (graph.new(type) for _ in range(4))
    graph.inputs = [x, y]
    graph.steps = [Step("arith.mulf", [x, y], [product]), Step("math.exp", [product], [result])]
    graph.outputs = [result]
    arguments = [torch.arange(6, dtype=torch.float64).reshape(3, 2) / 8 + 0.25 * i for i in range(2)]
    return Program(0, graph, arguments, **more)


def test_a_right_program_is_right():
    assert check.check(small_program()).kind == "right"


@pytest.mark.parametrize("spoil, said", [
    (lambda r: r["f"][0][0].view(-1)[3:4].mul_(1 + 1e-4), "@f, result 0, element 3 of 6"),
    (lambda r: r["f"][0][0].view(-1)[0:1].fill_(float("nan")), "@f, result 0, element 0 of 6: nan"),
    (lambda r: r["f"][1][0].view(-1)[3:4].mul_(1 + 2e-7), "@f: other bits on 2 threads"),
    (lambda r: r["g"][0][2].neg_(), "@g, result 2"),
], ids=["a value", "nan", "bits", "a gradient"])
def test_a_wrong_result_is_noticed(spoil, said):
    asked = small_program(wrt=[0, 1], cotangents=[torch.ones(3, 2, dtype=torch.float64)])
    verdict = check.check(asked, spoil=spoil)
    assert verdict.kind == "wrong" and verdict.detail.startswith(said), verdict


def test_tolerances_are_small():
    """What rounding may do to a program is a small part of its values, and no more than some hundred roundings."""
    for seed in range(30):
        made = program.generate(seed)
        for expected in made.expected().values():
            assert expected.loose() < program.LOOSE
            if made.epsilon() <= EPSILON["f32"] and made.direction is None and not made.wrt:
                assert expected.loose() < 1e4 * made.epsilon(), seed


def test_operands_are_not_near_kinks():
    """A change of the arguments in their last digits moves no value by more than its tolerance."""
    for seed in range(20):
        made = program.generate(seed)
        moved = [x * (1 + made.epsilon() * (2 * torch.rand(x.shape, dtype=torch.float64) - 1)) if t.is_float else x
                 for x, t in zip(made.arguments, made.graph.input_types())]
        again = Program(seed, made.graph, moved, made.wrt, made.cotangents, made.direction)
        for name, expected in made.expected().items():
            for i, (value, other) in enumerate(zip(expected.values, again.expected()[name].values)):
                if value.is_floating_point() and value.numel():
                    assert float((value - other).abs().max()) <= 20 * expected.tolerances[i], (seed, name, i)


def erasing_program(chunk):
    """32 tokens that each leave about 0.4 of a state of one number, and the gradient of the state that comes in."""
    token, size = Type((1, 32, 1, 1), "f32"), Type((1, 1, 1, 1), "f32")
    types = [token, token, token, Type((1, 32, 1), "f32"), size]
    graph = Graph()
    graph.inputs = [graph.new(type) for type in types]
    graph.outputs = [graph.new(token), graph.new(size)]
    graph.steps = [Step("linrec.scan", list(graph.inputs), list(graph.outputs), {
        "names": ["q", "k", "v", "beta", "initial"], "along_values": False, "before_decay": False, "steps": 1, "scale": 1.0,
        "said": {"scale": 1.0, "chunk": chunk}})]
    graph.outputs = graph.outputs[1:]
    ones = torch.ones(1, 32, 1, 1, dtype=torch.float64)
    betas = (0.59 + 0.02 * torch.rand(1, 32, 1, generator=torch.Generator().manual_seed(1))).to(torch.float32).to(torch.float64)
    return Program(0, graph, [ones, ones, ones / 8, betas, ones[:, :1]], [4], [ones[:, :1]])


def test_what_erasing_leaves_is_bound_by_the_chunk():
    """A chunk of n tokens leaves 0.4^n of what comes in, and rounds by what comes in."""
    for chunk, least, most in ((1, 0, 1e-4), (16, 1e-2, 10), (32, 1e4, 1e8)):
        made = erasing_program(chunk)
        expected = made.expected()["g"]
        share = expected.tolerances[1] / float(expected.values[1].abs())
        assert least < share < most, (chunk, share)
        assert check.check(made).kind == "right", chunk


def test_what_is_left_is_rounded_by_the_exponent_too():
    """Logarithms of decays are added up within a chunk: their sum rounds by so much of itself, and what erasing leaves by the bare state
    that such sums decay. Without decay that is 1 rounding, with 32 steps of strength 1 it is 1 + 32; the state itself is rounded in each
    step, a factor and a product, by 2^-24 each."""
    def tolerance(strength):
        made = erasing_program(32)
        made.graph.steps[0].attributes["names"].append("decay")
        type = Type((1, 32, 1), "f32")
        made.graph.inputs.append(made.graph.new(type))
        made.graph.steps[0].operands.append(made.graph.inputs[-1])
        made.arguments.append(torch.full((1, 32, 1), -strength, dtype=torch.float64))
        expected = made.expected()["g"]
        return expected.tolerances[1] / float(torch.exp(torch.tensor(-32 * strength, dtype=torch.float64)))

    assert tolerance(1.0) / tolerance(0.0) == pytest.approx(1 + 32, rel=2 * 32 * 2.0**-24)


def seed_with_product():
    """A seed whose program has a product of matrices among other ops, and gradients."""
    for seed in range(300):
        made = program.generate(seed)
        if "linalg.matmul" in set(made.graph.ops()) and made.graph.size() > 8 and made.wrt:
            return seed
    pytest.fail("no such program")


def test_shrinking_keeps_what_fails():
    """A program of many ops that fails for one of them becomes that op."""
    made = program.generate(seed_with_product())
    small = shrink.shrink(made, lambda candidate: "linalg.matmul" in set(candidate.graph.ops()))
    assert list(small.graph.ops()) == ["linalg.matmul"]
    assert not small.wrt and len(small.graph.outputs) == 1 and len(small.arguments) == 3
    assert check.check(small).kind == "right"


CRASHING = """
import json, os, signal, sys
for line in sys.stdin:
    seed = json.loads(line)["seed"]
    if seed == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if seed == 2:
        import time; time.sleep(1000)
    print(json.dumps({"kind": "right", "detail": "", "values": 1, "gradients": 0, "second": 0}), flush=True)
"""


def test_crashes_and_hangs_are_those_of_their_seed(monkeypatch):
    monkeypatch.setattr(fuzz, "WORKER", ["-c", CRASHING])
    options = fuzz.parse(["--count=5", "--limit=0.4", "--jobs=2", "--shrink=0"])
    options.findings = None
    counts, failures = fuzz.run(options, report=lambda text: None)
    assert sorted((seed, reply["kind"]) for seed, reply in failures) == [(1, "crashed"), (2, "timed out")]
    assert "SIGSEGV" in dict(failures)[1]["detail"] and counts["right"] == 3


def test_findings_are_kept_and_shrunk(tmp_path, monkeypatch):
    """The folder of findings: the program, what came of it with the command, and what is left of it."""
    monkeypatch.setattr(fuzz, "WORKER", ["-c", "from programs.random_programs import check, fuzz\n"
                                               "check.check = lambda made, *_: check.Verdict('wrong' if 'linalg.matmul' in made.text() "
                                               "else 'right', 'every product is wrong')\nfuzz.work()"])
    seed = seed_with_product()
    options = fuzz.parse([f"--seed={seed}", "--count=1", f"--findings={tmp_path}"])
    counts, _ = fuzz.run(options, report=lambda text: None)
    assert counts["wrong"] == 1
    assert f"--seed={seed} --count=1" in (tmp_path / f"graphs-{seed}.txt").read_text()
    assert "linalg.matmul" in (tmp_path / f"graphs-{seed}.mlir").read_text()
    left = (tmp_path / f"graphs-{seed}-shrunk.mlir").read_text()
    assert len(re.findall(r"^  %\w+ = (?!arith.constant|tensor.dim)", left, re.MULTILINE)) == 1 and "linalg.matmul" in left
