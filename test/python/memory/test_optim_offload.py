# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.optim with states on SSDs: the bits of states in memory, whatever fails and whenever it is interrupted."""

import copy
import gc
import io
import itertools
import pickle
import re
import sys

import pytest
import torch
from torch import nn

import drawloom
import drawloom.torch as dt
import drawloom.torch._offload_states as states_module
from drawloom.torch._offload import Offload
from memory.memory_store import MemoryStore

# Elements of a piece where the store is small.
PIECE = 65536
# Odd sizes, a scalar, none, several pieces, strides of their own.
SHAPES = [(3,), (70001,), (), (0, 4), (300, 700), (128, 64)]
# Of 2, 1 and 4 pieces.
SEVEN = [(70001,), (3,), (200000,)]


def drawn(shapes, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def parameters(start):
    return [nn.Parameter(one.clone(memory_format=torch.preserve_format)) for one in start]


def give(seed, *lists):
    """The same gradients to each list of parameters."""
    for i, parameters in enumerate(zip(*lists)):
        gradient = drawn([parameters[0].shape], parameters[0].dtype, seed * 100 + i)[0]
        for parameter in parameters:
            parameter.grad = gradient.clone()


def assert_same(ours, theirs, ours_optimizer, theirs_optimizer):
    assert all(map(torch.equal, ours, theirs))
    a, b = ours_optimizer.state_dict(), theirs_optimizer.state_dict()
    assert a["param_groups"] == b["param_groups"] and a["state"].keys() == b["state"].keys()
    for number, state in a["state"].items():
        assert list(state) == list(b["state"][number])
        for name, value in state.items():
            other = b["state"][number][name]
            assert value.dtype == other.dtype and value.stride() == other.stride() and torch.equal(value, other), (number, name)


def in_memory(memory=8 << 20):
    return Offload(MemoryStore(), memory)


def on_disk(folder, memory="16MiB", capacity="64MiB"):
    return dt.offload(folder, memory=memory, capacity=capacity, trim=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("make", [lambda folder: in_memory(), on_disk], ids=["memory", "disk"])
def test_steps_and_states_have_the_bits_of_those_in_memory(make, dtype, tmp_path):
    start = [*drawn(SHAPES, dtype), drawn([(60, 90)], dtype)[0].t(), drawn([(4, 3, 5, 6)], dtype)[0].to(memory_format=torch.channels_last)]
    ours, theirs = parameters(start), parameters(start)
    spill = make(tmp_path)
    optimizers = []
    for own, more in ((ours, {"offload": spill}), (theirs, {})):
        optimizers.append(dt.optim.AdamW([{"params": own[:2]}, {"params": own[2:], "weight_decay": 0.2, "maximize": True, "betas": (0.8, 0.95)}],
                                         lr=1e-2, eps=1e-6, **more))
    schedules = [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9) for optimizer in optimizers]
    for i in range(4):
        give(i, ours, theirs)
        for own in (ours, theirs):
            own[4].grad = torch.ones((), dtype=dtype).expand(300, 700)       # without memory of its own
            if i == 2:
                own[1].grad = own[6].grad = None
        for one in (*optimizers, *schedules):
            one.step()
    assert_same(ours, theirs, *optimizers)
    report = spill.report()
    assert report.steps == 4 and report.written > 0 and report.peak + spill._store.memory <= report.memory


def test_a_parameter_larger_than_the_memory_streams(tmp_path):
    start = drawn([(3_000_001,), (5,)])
    ours, theirs = parameters(start), parameters(start)
    spill = on_disk(tmp_path)
    optimizers = dt.optim.AdamW(ours, offload=spill), dt.optim.AdamW(theirs)
    for i in range(2):
        give(i, ours, theirs)
        for optimizer in optimizers:
            optimizer.step()
    assert all(map(torch.equal, ours, theirs))
    report, size = spill.report(), 2 * 4 * 3_000_006
    assert report.peak <= report.memory - spill._store.memory and spill._store.statistics()["most_memory"] <= spill._store.memory
    # The last of what is written is still under way, and may be asked for before.
    assert size - spill._store.memory <= report.written <= 2.1 * size
    lines = str(report).splitlines()
    assert [line.split()[0] for line in lines] == ["kept", "written", "read", "stall", "steps"]
    assert re.fullmatch(r"steps +2 of optimizers, \S+ s each, \d+ % of it stall", lines[-1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_state_dicts_go_from_each_to_each(dtype, tmp_path):
    start, names = drawn(SEVEN, dtype), itertools.count()

    def trained(first, second):
        """Two steps of one optimizer, and through a file two of another."""
        own, kept = parameters(start), None
        for i, make in enumerate((first, second)):
            optimizer = make(own)
            if i:
                optimizer.load_state_dict(torch.load(kept, mmap=True))
            for step in range(2):
                give(2 * i + step, own)
                optimizer.step()
            # What is mapped is not written to.
            kept = tmp_path / f"{next(names)}.pt"
            torch.save(optimizer.state_dict(), kept)
        return own, torch.load(kept)

    def streamed(own):
        return dt.optim.AdamW(own, lr=1e-2, offload=in_memory())

    def plain(own):
        return dt.optim.AdamW(own, lr=1e-2)

    expected, states = trained(plain, plain)
    own = parameters(start)
    optimizer = plain(own)
    for i in range(4):
        give(i, own)
        optimizer.step()
    # Moments of bfloat16 parameters are float32 behind a file, too.
    assert all(map(torch.equal, own, expected))
    for ways in ((streamed, plain), (plain, streamed), (streamed, streamed)):
        found, its = trained(*ways)
        assert all(map(torch.equal, found, expected))
        assert all(torch.equal(value, its["state"][number][name]) for number, state in states["state"].items() for name, value in state.items())

    def torchs(own):
        return torch.optim.AdamW(own, lr=1e-2)

    assert all(map(torch.equal, trained(torchs, streamed)[0], trained(torchs, plain)[0]))


def test_a_state_dict_stays_as_it_is_when_steps_follow():
    own = parameters(drawn(SEVEN))
    optimizer = dt.optim.AdamW(own, offload=in_memory())
    give(0, own)
    optimizer.step()
    kept = optimizer.state_dict()
    before = copy.deepcopy(kept)
    optimizer.step()
    assert all(torch.equal(value, kept["state"][number][name]) for number, state in before["state"].items() for name, value in state.items())


@pytest.mark.parametrize("offload", [True, False])
def test_a_state_dict_of_another_model_changes_nothing(offload):
    own, other = parameters(drawn(SEVEN)), parameters(drawn([(70002,), (3,), (200000,)]))
    spill = in_memory()
    optimizer, another = dt.optim.AdamW(own, lr=0.5, **({"offload": spill} if offload else {})), dt.optim.AdamW(other)
    for parameters_, one in ((own, optimizer), (other, another)):
        give(0, parameters_)
        one.step()
    before = copy.deepcopy(optimizer.state_dict())
    with pytest.raises(drawloom.CallError, match=re.escape("exp_avg of a state dict has shape [70002], and its parameter [70001]")):
        optimizer.load_state_dict(another.state_dict())
    after = optimizer.state_dict()
    assert after["param_groups"] == before["param_groups"] and optimizer.param_groups[0]["lr"] == 0.5
    assert all(torch.equal(value, after["state"][number][name]) for number, state in before["state"].items() for name, value in state.items())
    assert len(spill._store.records) == (7 if offload else 0)


def test_groups_may_be_added():
    start = drawn(SEVEN)
    ours, theirs = parameters(start), parameters(start)
    optimizers = dt.optim.AdamW(ours[:1], offload=in_memory()), dt.optim.AdamW(theirs[:1])
    for i in range(3):
        give(i, ours, theirs)
        for own, optimizer in zip((ours, theirs), optimizers):
            if i == 1:
                optimizer.add_param_group({"params": own[1:], "lr": 0.1})
            optimizer.step()
    assert_same(ours, theirs, *optimizers)


def test_a_closure_gives_the_loss_and_the_gradients():
    own, other = parameters(drawn(SEVEN)), parameters(drawn(SEVEN))
    optimizers = dt.optim.AdamW(own, offload=in_memory()), dt.optim.AdamW(other)
    for _ in range(2):
        losses = []
        for mine, optimizer in zip((own, other), optimizers):
            def closure(mine=mine, optimizer=optimizer):
                optimizer.zero_grad()
                loss = sum(one.square().sum() for one in mine)
                loss.backward()
                return loss
            losses.append(optimizer.step(closure))
        assert torch.equal(*losses)
    assert_same(own, other, *optimizers)


# What fails.

class FailingStore(MemoryStore):
    """The `at`th call fails, once."""

    at = None
    calls = 0

    def _count_call(self):
        self.calls += 1
        if self.calls == self.at:
            raise drawloom.StorageError("the disk has failed")

    def put(self, *arguments, **options):
        self._count_call()
        return super().put(*arguments, **options)

    def get(self, *arguments):
        self._count_call()
        super().get(*arguments)

    def expect(self, records):
        self._count_call()
        super().expect(records)

    def replace(self, old, by):
        self._count_call()
        super().replace(old, by)


class Training:
    """A step taken, and the gradients of another; beside it, the same with states in memory."""

    def __init__(self, store=None, spill=None):
        start = drawn(SEVEN)
        self.own, self.other = parameters(start), parameters(start)
        self.spill = Offload(store, 8 << 20) if spill is None else spill
        self.optimizer, self.plain = dt.optim.AdamW(self.own, lr=0.1, offload=self.spill), dt.optim.AdamW(self.other, lr=0.1)
        self.both(0)
        self.before = [one.detach().clone() for one in self.own]
        give(1, self.own, self.other)
        self.plain.step()

    def both(self, seed):
        give(seed, self.own, self.other)
        self.optimizer.step()
        self.plain.step()

    def updated(self):
        """Pieces that are as after the step. Each other one is as before it."""
        count = 0
        for own, before, after in zip(self.own, self.before, self.other):
            for piece in zip(*(one.detach().split(PIECE) for one in (own, before, after))):
                assert torch.equal(piece[0], piece[1]) or torch.equal(piece[0], piece[2])
                count += torch.equal(piece[0], piece[2])
        return count

    def end(self):
        """The step's rest, and one more."""
        self.optimizer.step()
        assert all(map(torch.equal, self.own, self.other))
        self.both(2)
        assert_same(self.own, self.other, self.optimizer, self.plain)


def test_a_step_in_which_any_call_fails_goes_on_where_it_stopped():
    seen = set()
    for at in itertools.count(1):
        store = FailingStore()
        training = Training(store)
        store.calls, store.at = 0, at
        try:
            training.optimizer.step()
            break
        except drawloom.StorageError as error:
            said, updated = str(error), training.updated()
        if updated == 0:
            assert "Parameters and states are as before this step, which can be called again" in said
            seen.add("none")
        elif updated < 7:
            assert f"{updated} of the step's 7 pieces and their states are updated, and the others as before it. Call step() again with" in said
            with pytest.raises(drawloom.CallError, match="is not finished, so that states are of two steps"):
                training.optimizer.state_dict()
            seen.add("some")
        elif "All parameters and states are updated" in said:
            seen.add("all")
        if updated == 7:
            # The step is over: nothing but reading ahead, or what the disks do not take, has failed.
            training.both(2)
            assert_same(training.own, training.other, training.optimizer, training.plain)
        else:
            training.end()
        # Old records ended.
        assert len(store.records) == 7
    assert at == 2 + 3 * 7 + 1 and seen == {"none", "some", "all"}


def test_a_step_that_is_interrupted_at_any_line_goes_on_where_it_stopped():
    where = states_module.__file__
    for at in itertools.count(1, 7):                     # 7 and the lines of a piece have no common divisor
        training, count = Training(MemoryStore()), 0

        def trace(frame, event, _):
            nonlocal count
            if frame.f_code.co_filename != where:
                return None
            count += event == "line"
            if count == at:
                count += 1
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            training.optimizer.step()
        except KeyboardInterrupt:
            sys.settrace(before)
            updated = training.updated()
            # A step that is over is not taken again.
            if updated == 7 and not training.optimizer._streamed.unfinished and training.optimizer.state[training.own[0]]["step"] == 2:
                training.both(2)
                assert_same(training.own, training.other, training.optimizer, training.plain)
            else:
                training.end()
            continue
        finally:
            sys.settrace(before)
        break
    assert at > 300


def test_the_rest_of_a_step_calls_no_closure():
    store = FailingStore()
    training, calls = Training(store), []
    store.calls, store.at = 0, 10
    with pytest.raises(drawloom.StorageError):
        training.optimizer.step(lambda: calls.append(1) or torch.tensor(7.0))
    assert training.optimizer.step(lambda: calls.append(2)) == 7.0 and calls == [1]
    assert all(map(torch.equal, training.own, training.other))
    assert training.optimizer.step(lambda: calls.append(3)) is None and calls == [1, 3]


def test_the_rest_of_a_step_needs_its_gradients():
    store = FailingStore()
    training = Training(store)
    store.calls, store.at = 0, 10
    with pytest.raises(drawloom.StorageError):
        training.optimizer.step()
    gradients = [one.grad for one in training.own]
    training.optimizer.zero_grad()
    with pytest.raises(drawloom.CallError, match="1 of its parameters have no gradient any more; step.. finishes it with the gradients that it had"):
        training.optimizer.step()
    for one, gradient in zip(training.own, gradients):
        one.grad = gradient
    training.end()


def test_a_state_dict_ends_a_step_that_has_failed():
    store = FailingStore()
    training = Training(store)
    kept = copy.deepcopy(training.plain.state_dict())
    store.calls, store.at = 0, 10
    with pytest.raises(drawloom.StorageError):
        training.optimizer.step()
    training.optimizer.load_state_dict(kept)
    with torch.no_grad():
        for own, other in zip(training.own, training.other):
            own.copy_(other)
    training.both(2)
    assert_same(training.own, training.other, training.optimizer, training.plain)


def test_a_step_goes_on_in_other_folders(tmp_path):
    """The folder is full amid the second step."""
    training = Training(spill=on_disk(tmp_path, capacity="16MiB"))
    room = training.spill._store.put
    count = itertools.count()

    def full(*arguments, **options):
        if next(count) >= 3:
            raise drawloom.StorageError("there is no room")
        return room(*arguments, **options)

    training.spill._store.put = full
    for _ in range(2):
        with pytest.raises(drawloom.StorageError, match="3 of the step's 7 pieces.*Where the folders stay full or broken, call move_states() before"
                           .replace("()", r"\(\)")):
            training.optimizer.step()
    store = FailingStore()
    store.at = 5
    with pytest.raises(drawloom.StorageError, match="the disk has failed"):
        training.optimizer.move_states(Offload(store, 8 << 20))
    assert not store.records and training.spill._store.statistics()["records"] >= 7
    training.optimizer.move_states(Offload(store, 8 << 20))
    assert len(store.records) == 7 and training.spill._store.statistics()["records"] == 0 and training.updated() == 3
    training.spill.close()
    training.end()
    with pytest.raises(drawloom.CallError, match="its states are in main memory"):
        training.plain.move_states(training.spill)


def test_a_load_that_fails_changes_nothing():
    for at in range(2, 9):
        store = FailingStore()
        training = Training(store)
        training.end()
        before, given = copy.deepcopy(training.optimizer.state_dict()), copy.deepcopy(training.plain.state_dict())
        given["param_groups"][0]["lr"] = 5.0
        store.calls, store.at = 0, at - 1
        with pytest.raises(drawloom.StorageError):
            training.optimizer.load_state_dict(given)
        assert len(store.records) == 7 and training.optimizer.param_groups[0]["lr"] == 0.1
        assert all(torch.equal(value, training.optimizer.state_dict()["state"][number][name])
                   for number, state in before["state"].items() for name, value in state.items())
        training.both(3)
        assert_same(training.own, training.other, training.optimizer, training.plain)


# Of the first steps, and of what is read back of them.
@pytest.mark.parametrize("rule", ["op=read; nth={}; do=flip 7", "op=read; nth={}; do=errno EIO", "op=write; nth={}; do=errno EIO",
                                  "op=write; nth={}; do=torn 1", "op=write; nth={}; do=drop", "op=read; nth={}; do=stale",
                                  "op=write; nth={}; do=short 512"])
def test_transfers_that_fail_once_do_no_harm(rule, tmp_path, monkeypatch):
    for nth in range(1, 14, 3):
        monkeypatch.setenv("DRAWLOOM_OFFLOAD_FAULTS", rule.format(nth))
        training = Training(spill=on_disk(tmp_path, capacity="32MiB"))
        training.end()


@pytest.mark.parametrize("rule", ["op=write; do=errno EIO", "op=read; do=errno EIO", "op=read; do=flip 3", "op=write; every=2; do=drop",
                                  "op=read; every=3; do=errno EIO", "op=write; nth=9; do=errno ENOSPC", "p=1/3,5; do=errno EIO"])
def test_disks_that_fail_on_and_on_give_the_same_bits_or_an_error(rule, tmp_path, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_OFFLOAD_FAULTS", rule)
    start = drawn([(3_000_001,)])
    ours, theirs = parameters(start), parameters(start)
    optimizers = dt.optim.AdamW(ours, lr=0.1, offload=on_disk(tmp_path)), dt.optim.AdamW(theirs, lr=0.1)
    for i in range(3):
        give(i, ours, theirs)
        before = theirs[0].detach().clone()
        optimizers[1].step()
        for _ in range(3):
            try:
                optimizers[0].step()
            except drawloom.StorageError as error:
                pieces = [one.split(PIECE) for one in (ours[0].detach(), before, theirs[0].detach())]
                updated = sum(map(torch.equal, pieces[0], pieces[2]))
                assert all(torch.equal(own, was) or torch.equal(own, now) for own, was, now in zip(*pieces))
                assert f"{updated} of the step's" in str(error) or updated == 0
            else:
                break
        else:
            # What a disk has lost stays lost.
            return
        assert all(map(torch.equal, ours, theirs))


def test_folders_that_are_too_small_are_one_error(tmp_path):
    own = parameters(drawn([(3_000_001,)]))
    optimizer = dt.optim.AdamW(own, offload=on_disk(tmp_path, capacity="16MiB"))
    give(0, own)
    with pytest.raises(drawloom.StorageError, match=r"AdamW: .*'states of float32\[3000001\] from element [\d,]+ on'.* no room.*Call step\(\) again"):
        optimizer.step()


# What is refused.

def test_copies_and_pickles_are_refused():
    own = parameters(drawn(SEVEN))
    for way in (copy.copy, copy.deepcopy, pickle.dumps, lambda one: torch.save(one, io.BytesIO())):
        with pytest.raises(drawloom.CallError, match="can be neither copied nor pickled; make another one|give it the state_dict"):
            way(dt.optim.AdamW(own, offload=in_memory()))
    plain = dt.optim.AdamW(own)
    give(0, own)
    plain.step()
    for again in (copy.deepcopy(plain), pickle.loads(pickle.dumps(plain))):
        give(1, again.param_groups[0]["params"])
        again.step()
        assert again.state_dict()["state"][0]["step"] == 2


def test_what_does_not_fit_is_named():
    own = parameters(drawn(SEVEN))
    with pytest.raises(drawloom.CallTypeError, match="offload is of type str; it is what drawloom.torch.offload"):
        dt.optim.AdamW(own, offload="/mnt/ssd")
    # States of 65536 elements, and two copies of these: 16 bytes each.
    optimizer = dt.optim.AdamW(own, offload=in_memory(16 * PIECE - 1))
    give(0, own)
    before = [one.detach().clone() for one in own]
    with pytest.raises(drawloom.CallError, match="memory is 1,048,575 bytes; to update one piece of a parameter takes 1,048,576"):
        optimizer.step()
    assert all(map(torch.equal, own, before)) and optimizer.state_dict()["state"][0]["step"] == 0
    spill = in_memory(16 * PIECE)
    optimizer = dt.optim.AdamW(own, offload=spill)
    optimizer.step()
    own[0].data = torch.zeros(5)
    own[0].grad = torch.zeros(5)
    with pytest.raises(drawloom.CallError, match="a parameter has 5 elements, and its states 70001"):
        optimizer.step()
    spill.close()
    for call in (optimizer.step, optimizer.state_dict):
        with pytest.raises(drawloom.CallError, match="its offload has been closed, and its states with it"):
            call()


def test_an_optimizer_that_is_gone_gives_its_records_back(tmp_path):
    spill, own = on_disk(tmp_path), parameters(drawn(SEVEN))
    optimizer = dt.optim.AdamW(own, offload=spill)
    give(0, own)
    for _ in range(3):
        optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    assert spill._store.statistics()["records"] == 7
    optimizer.step()
    del optimizer
    gc.collect()
    assert spill._store.statistics()["records"] == 0


def test_backward_through_what_has_changed_is_refused():
    own = parameters(drawn([(5,)]))
    loss = own[0].square().sum()
    loss.backward(retain_graph=True)
    dt.optim.AdamW(own, offload=in_memory()).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


# Together with saved tensors.

@pytest.mark.parametrize("compiled", [False, True])
def test_saved_tensors_and_states_share_one_offload(compiled, tmp_path):
    def made():
        torch.manual_seed(0)
        return nn.Sequential(*(nn.Sequential(nn.Linear(512, 512), nn.Tanh()) for _ in range(12)))

    def losses(spill, more):
        model = made()
        forward = torch.compile(model, backend="aot_eager") if compiled else model
        optimizer = dt.optim.AdamW(model.parameters(), lr=1e-3, **more)
        found = []
        for i in range(3):
            x = drawn([(512, 512)], seed=i)[0]
            with spill:
                loss = forward(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            found.append(loss.item())
        return found, [one.detach() for one in model.parameters()]

    expected, weights = losses(torch.enable_grad(), {})
    spill = on_disk(tmp_path)
    found, its = losses(spill, {"offload": spill})
    assert found == expected and all(map(torch.equal, its, weights))
    report = spill.report()
    assert report.steps == report.passes == 3 and report.moved > 0 and report.peak <= 8 << 20
