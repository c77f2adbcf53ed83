# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.compile(memory=, spill=): the same bits in less memory, and plans beside what integer programming (HiGHS) finds."""

import contextlib
import gc
import json
import os
import pathlib
import re

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

import drawloom
from memory import memory_programs

RATES = "operations=1e11,memory=1e10,copy=4e9,write={rate},read={rate}"


def arguments_of(function, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=shape) * 0.2).astype(np.float32) for _, shape in function.arguments]


def same_bits(ours, theirs):
    return all(np.array_equal(a.view(np.uint32), b.view(np.uint32)) for a, b in zip(ours, theirs, strict=True))


@pytest.fixture(scope="module")
def step():
    """(text, arguments, results, bytes of the workspace) of a training step that may have any memory."""
    text = memory_programs.attention_step(3)
    module = drawloom.compile(text, entry="step")
    arguments = arguments_of(module.step)
    return text, arguments, module(*arguments), module.step.specialize().workspace


@pytest.fixture(scope="module")
def saved(step, tmp_path_factory):
    """The step for two thirds of the memory, and a store's, as a file."""
    folder = tmp_path_factory.mktemp("saved")
    less = drawloom.compile(step[0], entry="step", memory=int(0.66 * step[3]) + (8 << 20), spill=folder)
    less.save(folder / "step.drawloom")
    return folder / "step.drawloom"


def test_a_step_that_computes_again_has_the_same_bits(step):
    text, arguments, wanted, workspace = step
    less = drawloom.compile(text, entry="step", memory=int(0.75 * workspace))
    assert less.step.specialize().workspace <= 0.75 * workspace
    assert less.step.specialize().stored == 0
    assert same_bits(wanted, less(*arguments))


def test_a_step_with_a_store_has_the_same_bits(step, saved, tmp_path):
    _, arguments, wanted, workspace = step
    less = drawloom.load(saved, spill=tmp_path, memory="32MiB")
    assert less.step.specialize().workspace <= 0.66 * workspace
    # More than the store's memory.
    assert less.step.specialize().stored > 9 << 20
    for _ in range(2):
        assert same_bits(wanted, less.step(*arguments))
    assert os.listdir(tmp_path) == []


def test_a_module_that_is_dropped_gives_its_space_back_at_once(saved, step, tmp_path):
    def files():
        found = []
        for link in pathlib.Path("/proc/self/fd").iterdir():
            # That of this loop is gone behind it.
            with contextlib.suppress(FileNotFoundError):
                found.append(os.readlink(link))
        return [file for file in found if file.startswith(str(tmp_path))]

    gc.collect()
    gc.disable()
    try:
        function = drawloom.load(saved, spill=tmp_path, memory="32MiB").step
        function(*step[1])
        assert files()
        del function
        assert not files()
    finally:
        gc.enable()


def test_a_derivative_keeps_to_the_memory_of_its_module(tmp_path):
    text = memory_programs.random_program(4)
    free = drawloom.grad(drawloom.compile(text))
    arguments = [*arguments_of(free)]
    workspace = free.specialize().workspace
    less = drawloom.grad(drawloom.compile(text, memory=int(0.8 * workspace) + (8 << 20), spill=tmp_path))
    assert less.specialize().workspace <= 0.8 * workspace
    assert same_bits(free(*arguments), less(*arguments))


def test_what_does_not_fit_is_an_error_that_says_what_would(step):
    with pytest.raises(drawloom.CompileError, match=r"@step needs a workspace of at least \d+ bytes, most of them here, and may have 1048576: give it more "
                       r"memory, or a store"):
        drawloom.compile(step[0], entry="step", memory="1MiB")


def test_open_extents_have_programs_of_their_own(tmp_path):
    text = """func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %y = math.exp %x : tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }"""
    module = drawloom.compile(text, memory="16MiB", spill=tmp_path)
    for rows in (3, 5):
        x = np.ones((rows, 4), np.float32)
        assert np.array_equal(module(x), drawloom.compile(text)(x))


def test_a_program_without_a_store_asks_for_one(step, saved):
    with pytest.raises(drawloom.StorageError, match="has no store for them"):
        drawloom.load(saved).step(*step[1])


def test_a_disk_that_fails_is_an_error_and_bytes_that_are_lost_once_come_again(step, saved, tmp_path, monkeypatch):
    _, arguments, wanted, _ = step
    monkeypatch.setenv("DRAWLOOM_OFFLOAD_FAULTS", "op=write;do=flip 9")
    with pytest.raises(drawloom.StorageError, match="of @step"):
        drawloom.load(saved, spill=tmp_path, memory="32MiB").step(*arguments)
    monkeypatch.setenv("DRAWLOOM_OFFLOAD_FAULTS", "op=write;nth=2;do=flip 9")
    assert same_bits(wanted, drawloom.load(saved, spill=tmp_path, memory="32MiB").step(*arguments))


@pytest.mark.parametrize("action", ["errno EIO", "flip 9", "stale", "drop", "short 512"])
def test_whatever_operation_fails_a_step_has_the_same_bits(action, step, saved, tmp_path, monkeypatch):
    _, arguments, wanted, _ = step
    for operation in range(1, 31):
        monkeypatch.setenv("DRAWLOOM_OFFLOAD_FAULTS", f"nth={operation};do={action}")
        assert same_bits(wanted, drawloom.load(saved, spill=tmp_path, memory="32MiB").step(*arguments))


@pytest.mark.parametrize(("options", "message"), [
    ({"memory": "much"}, "memory is 'much'; it is a number of bytes"),
    ({"memory": -1}, "memory is -1"),
    ({"memory": 2.5}, "memory is of type float"),
    ({"spill": 3}, "spill is 3; it is a folder"),
    ({"spill": []}, "spill is an empty list"),
    ({"memory_rates": "speed=3"}, "'speed=3' is none of operations="),
    ({"memory_rates": "read=0"}, "'read=0' is none of"),
    ({"plan": "plan.html"}, "it is a .txt or .json file"),
])
def test_wrong_options_are_named(options, message):
    with pytest.raises(drawloom.Error, match=message):
        drawloom.compile("func.func @f(%x: f32) -> f32 {\n  return %x : f32\n}", **options)


def test_programs_for_gpus_keep_to_their_memory(tmp_path):
    planned = 0
    for seed in range(3):
        text = memory_programs.random_program(seed, kinds=memory_programs.KINDS_OF_GPUS)
        free = drawloom.compile(text, target="emulator")
        arguments = arguments_of(free.f, seed)
        wanted, workspace = free(*arguments), free.f.specialize().workspace
        for share, spill in ((0.85, None), (0.8, tmp_path), (0.6, tmp_path)):
            memory = int(share * workspace)
            try:
                less = drawloom.compile(text, target="emulator", memory=memory, spill=spill, memory_rates="operations=1e9,memory=1e9")
            except drawloom.CompileError as error:
                assert "give it more memory" in error.message
                continue
            planned += 1
            assert less.f.specialize().workspace <= memory
            # Each block program of these is a launch of its own, so that it has the same schedule in both.
            assert same_bits(wanted, less(*arguments))
    assert planned >= 5


def test_random_programs_keep_their_bits(tmp_path):
    planned = 0
    for seed in range(6):
        text = memory_programs.random_program(seed)
        free = drawloom.compile(text)
        arguments = arguments_of(free.f, seed)
        wanted, workspace = free(*arguments), free.f.specialize().workspace
        for share, spill in ((0.9, None), (0.85, tmp_path), (0.75, tmp_path)):
            memory = int(share * workspace) + (8 << 20 if spill else 0)
            try:
                less = drawloom.compile(text, memory=memory, spill=spill)
            except drawloom.CompileError as error:
                assert "give it more memory" in error.message
                continue
            planned += 1
            assert less.f.specialize().workspace <= memory
            assert same_bits(wanted, less(*arguments))
    assert planned >= 3


def test_what_an_error_says_is_needed_is_enough():
    said = 0
    for seed in (2, 5):
        text = memory_programs.random_program(seed)
        workspace = drawloom.compile(text).f.specialize().workspace
        for share in (0.9, 0.8, 0.7, 0.6):
            try:
                drawloom.compile(text, memory=int(share * workspace))
            except drawloom.CompileError as error:
                needed = re.search(r"the program needs (\d+) bytes of memory, as far as could be found", error.message)
                if needed:
                    said += 1
                    assert drawloom.compile(text, memory=int(needed[1])).f.specialize().workspace <= int(needed[1])
    assert said > 0


class Integers:
    """The plan's problem for HiGHS: gaps are kept, computed again or stored. Bytes at each step as a plan counts them, and transfers as
    they must be at least: one after the other, half of the store's memory ahead. Its time is a lower bound."""

    def __init__(self, plan, budget, rates):
        self.plan, self.rates = plan, rates
        gaps, runs, steps = plan["gaps"], plan["runs"], len(plan["steps"])
        # again and store of each gap, each run, and each step's wait.
        self.again, self.store = range(len(gaps)), range(len(gaps), 2 * len(gaps))
        self.runs = range(2 * len(gaps), 2 * len(gaps) + len(runs))
        self.waits = range(self.runs.stop, self.runs.stop + steps)
        self.rows, self.bounds = [], []
        cost = np.zeros(self.waits.stop)
        for i, gap in enumerate(gaps):
            cost[self.store[i]] = 2 * gap["bytes"] / rates["copy"]
            self.at_most({self.again[i]: 1, self.store[i]: 1}, 1)
            if not gap["runs"]:
                self.at_most({self.again[i]: 1}, 0)
            for run in gap["runs"]:
                self.at_most({self.again[i]: 1, self.runs[run]: -1}, 0)
            for other, needed in enumerate(gaps):
                if needed["value"] in gap["needs"] and needed["from"] < gap["to"] < needed["to"]:
                    self.at_most({self.again[i]: 1, self.again[other]: 1, self.store[other]: 1}, 1)
        for i, (_, seconds, _) in enumerate(runs):
            cost[self.runs[i]] = seconds
        cost[list(self.waits)] = 1
        self.cost = cost
        for step in range(steps):
            self.limit_memory(step, budget)
            self.limit_link("to", "read", range(step + 1), 0)
            for last in range(step, steps):
                self.limit_link("to", "read", range(step, last + 1), rates["staging"] / 2)
                self.limit_link("from", "write", range(step, last + 1), rates["staging"] / 2)

    def at_most(self, terms, bound):
        self.rows.append(terms)
        self.bounds.append(bound)

    def limit_memory(self, step, budget):
        alive = sum(size for size, first, last in self.plan["buffers"] if first <= step <= last)
        terms = {}
        for i, gap in enumerate(self.plan["gaps"]):
            if gap["from"] < step < gap["to"]:
                terms[self.again[i]] = terms[self.store[i]] = -gap["bytes"]
        for i, (at, _, size) in enumerate(self.plan["runs"]):
            if at == step:
                terms[self.runs[i]] = size
        self.at_most(terms, budget - alive)

    def limit_link(self, side, link, steps, ahead):
        """What is moved at these steps takes no more than the time from the first of them to the last, but for `ahead` bytes that the
        store has before, or keeps. A step gets values, computes, and puts values."""
        computes = steps[:-1] if side == "to" else steps[1:]
        gets, puts = (steps, computes) if side == "to" else (computes, steps)
        terms = {self.waits[step]: -1 for step in steps}
        for i, (at, seconds, _) in enumerate(self.plan["runs"]):
            if at in computes:
                terms[self.runs[i]] = -seconds
        for i, gap in enumerate(self.plan["gaps"]):
            copies = ((gap["to"] in gets) + (gap["from"] in puts)) * gap["bytes"] / self.rates["copy"]
            terms[self.store[i]] = (gap["bytes"] / self.rates[link] if gap[side] in steps else 0) - copies
        self.at_most(terms, sum(self.plan["steps"][step] for step in computes) + ahead / self.rates[link])

    def seconds(self):
        matrix = scipy.sparse.lil_array((len(self.rows), self.cost.size))
        for row, terms in enumerate(self.rows):
            for column, factor in terms.items():
                matrix[row, column] = factor
        upper = np.ones(self.cost.size)
        upper[list(self.waits)] = np.inf
        integral = np.ones(self.cost.size)
        integral[list(self.waits)] = 0
        found = scipy.optimize.milp(self.cost, constraints=scipy.optimize.LinearConstraint(matrix.tocsr(), ub=self.bounds),
                                    bounds=scipy.optimize.Bounds(0, upper), integrality=integral, options={"mip_rel_gap": 1e-3, "time_limit": 20})
        assert found.status == 0, found.message
        return sum(self.plan["steps"]) + found.mip_dual_bound


@pytest.mark.parametrize("share", [0.8, 0.65])
@pytest.mark.parametrize("rate", [1e10, 1e9])
def test_plans_are_near_the_best(share, rate, step, tmp_path):
    text, _, _, workspace = step
    budget = int(share * workspace)
    drawloom.compile(text, entry="step", memory=budget + (8 << 20), spill=tmp_path, memory_rates=RATES.format(rate=rate),
                     plan=tmp_path / "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert len(plan["gaps"]) >= 30
    rates = {"copy": 4e9, "read": rate, "write": rate, "staging": 8 << 20}
    assert plan["bytes"] <= budget
    assert plan["seconds"] <= 1.05 * Integers(plan, plan["budget"], rates).seconds()
