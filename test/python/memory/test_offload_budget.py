# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.torch.offload: its budget, what it learns, what it refuses, what it says, and what failures leave behind."""

import copy
import gc
import json
import os
import re
import subprocess
import sys
import threading

import pytest
import torch
import torch.utils.checkpoint
from torch import nn

import drawloom
import drawloom.torch as dt
from drawloom._spill import capacity_of, size_of
from drawloom.torch._offload import Offload
from drawloom.torch._offload_plan import Order
from memory.memory_store import MemoryStore

WIDTH = 256
PIECE = 4 * WIDTH * WIDTH  # bytes of a tensor of as many rows and columns: 256 KiB


def layers(count=8, width=WIDTH):
    torch.manual_seed(0)
    return nn.Sequential(*(part for _ in range(count) for part in (nn.Linear(width, width, bias=False), nn.Tanh())))


def forward(model, x):
    return model(x).square().mean()


def step(model, spill, x):
    """The loss and the gradients."""
    model.zero_grad()
    with spill:
        loss = forward(model, x)
    loss.backward()
    return [loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())]


@pytest.fixture
def x():
    return torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(1))


class Watched(MemoryStore):
    """Notes when it is asked, fails when it is told to, and says what it needs."""

    def __init__(self, memory=0):
        super().__init__(memory)
        self.calls, self.fails = [], {}

    def _note(self, call, what):
        self.calls.append((call, what))
        number = sum(one == call for one, _ in self.calls)
        if self.fails.get(call) == number:
            raise drawloom.StorageError(f"{call} {number} fails")

    def put(self, address, size, site, due):
        self._note("put", (site, size, due))
        return super().put(address, size, site, due)

    def borrow(self, record):
        self._note("borrow", record)
        return super().borrow(record)


# The budget.

@pytest.mark.parametrize("memory", [0, 1, 3, 100])
def test_what_is_kept_never_exceeds_the_memory(memory, x):
    spill = Offload(MemoryStore(), memory * PIECE)
    model, storages = layers(), []
    most = 0

    def note(module, inputs, output):
        nonlocal most
        storages.append(torch.multiprocessing.reductions.StorageWeakRef(output.untyped_storage()))
        most = max(most, sum(not one.expired() for one in storages))

    for part in model:
        part.register_forward_hook(note)
    for _ in range(3):
        step(model, spill, x)
        storages.clear()
    # Of 9 pieces that are saved (the input of each layer, the output of the last): what is kept, and the input and the output of the layer that runs.
    assert spill.report().peak <= max(memory, 1) * PIECE
    assert most <= memory + 2 or memory == 100


def test_the_stores_own_memory_is_part_of_the_budget(x):
    spill = Offload(Watched(memory=2 * PIECE), 5 * PIECE)
    step(layers(), spill, x)
    assert spill.report().peak == 3 * PIECE
    with pytest.raises(drawloom.CallError, match="memory is 262,144 bytes; the store itself needs 524,288"):
        Offload(Watched(memory=2 * PIECE), PIECE)


@pytest.mark.parametrize("memory", [1, 2, 100])
def test_what_the_store_lends_is_used_where_it_is_and_is_within_the_stores_memory(memory, x):
    store, model = Watched(memory=memory * PIECE), layers()
    spill = Offload(store, (memory + 2) * PIECE)
    expected = step(model, torch.enable_grad(), x)
    for _ in range(2):
        assert all(map(torch.equal, step(model, spill, x), expected))
    assert spill.report().peak <= 2 * PIECE
    gotten = [record for call, record in store.calls if call == "borrow"]
    assert gotten and store.lent == 0
    # With all of the graph alive, more is needed than the store can lend.
    loss = None
    with spill:
        loss = forward(model, x)
    for _ in range(2):
        found = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
        assert all(map(torch.equal, found, expected[1:]))
        assert store.lent <= memory * PIECE and spill.kept <= 2 * PIECE


def test_the_first_step_writes_the_oldest_when_it_must_and_later_ones_write_the_same_at_once(x):
    store, model = Watched(), layers()
    spill, written = Offload(store, 4 * PIECE), []
    for _ in range(3):
        store.calls.clear()
        model.zero_grad()
        counts = []
        with spill:
            y = x.clone()
            for part in model:
                y = part(y)
                counts.append(len([call for call, _ in store.calls if call == "put"]))
            loss = y.square().mean()
        del y
        loss.backward()
        written.append(counts)
    # Saved are the input of each pair of layers and the last output, nine pieces, of which four stay.
    assert written[0] == [0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert written[1] == written[2] == [1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5]


def test_a_tensor_that_others_hold_is_kept_from_the_second_step_on_and_goes_again_when_they_do_not(x):
    spill, model, moved = Offload(MemoryStore(), 0), nn.Linear(WIDTH, WIDTH), []
    for holds in (True, True, True, False, False):
        with spill:
            y = x.tanh()
            loss = model(y).sum()
        if not holds:
            del y
        loss.backward()
        moved.append(spill.report().moved // PIECE)
    assert moved == [1, 1, 1, 1, 2]


def test_gets_are_expected_in_the_order_of_the_step_before(x):
    store, model = Watched(), layers(4)
    spill = Offload(store, 0)
    orders = []
    for _ in range(3):
        store.calls.clear()
        model.zero_grad()
        with spill:
            loss = forward(model, x)
        loss.backward()
        orders.append((store.expected, [record for call, record in store.calls if call == "borrow"]))
    for expected, gotten in orders:
        assert expected == gotten and len(gotten) > 3


def test_a_pass_is_known_by_the_ones_around_it():
    order = Order(100)

    def run(*signatures):
        found = []
        entries = [order.save(signature, 60) for signature in signatures]
        found = [goes for _, _, goes, _ in entries]
        for known, entry, _, _ in reversed(entries):
            order.use(known, entry)
        return found

    assert run("a", "b", "c") == [None, None, None]
    assert run("a", "b", "d") == [True, True, None]
    assert run("a", "b", "c") == [True, True, False]
    # Where two kinds alternate, the other kind is next.
    assert run("a", "b", "d") == [True, True, False]
    assert run("e") == [None]
    assert run("a", "b", "c", "c") == [True, True, False, None]
    assert order._past[0].entries[0].rank == 0


# What is handed over.

def test_what_is_changed_in_place_behind_its_save_counts_as_it_was_saved_if_it_was_written(x):
    x.requires_grad_()
    expected, = torch.autograd.grad(x.exp().sum(), x)
    with Offload(MemoryStore(), 0):
        y = x.exp()
        loss = y.sum()
    y.mul_(2)
    assert torch.equal(torch.autograd.grad(loss, x)[0], expected)


@pytest.mark.parametrize("memory", ["1GiB", "384KiB"])
def test_what_is_changed_in_place_behind_its_save_is_torchs_error_if_it_was_kept(memory, x):
    x.requires_grad_()
    spill = Offload(MemoryStore(), size_of("memory", memory))
    with spill:
        y = x.exp()
        loss = y.sum()
        y.mul_(2)
        # What changed cannot be written any more, when room is needed.
        z = x.sin()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.FloatTensor \[256, 256\]\] is at version 1; "
                                           r"expected version 0 instead"):
        loss.backward()
    z.sum().backward()
    del loss, y, z
    assert spill.kept == 0


def test_a_change_in_place_of_what_was_read_back_is_torchs_error(x):
    class Overwrites(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, slope):
            return ctx.saved_tensors[0].mul_(2) * slope

    x.requires_grad_()
    for memory in (0, 2 * PIECE, 1 << 40):
        for lends in (0, 4 * PIECE):
            with Offload(MemoryStore(lends), lends + memory):
                y = x.sin()
                loss = Overwrites.apply(y).sum() + y.exp().sum()
            del y
            torch.autograd.grad(loss, x, retain_graph=True)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                torch.autograd.grad(loss, x)


@pytest.mark.parametrize("what", ["parameter", "small"])
def test_a_change_in_place_of_what_is_left_is_torchs_error(what):
    w = nn.Parameter(torch.ones(WIDTH, WIDTH)) if what == "parameter" else torch.ones(3)
    x = torch.ones_like(w, requires_grad=True)
    with Offload(MemoryStore(), 0):
        loss = (x * w).sum()
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_strides_and_places_in_memory_are_those_of_what_was_saved():
    found = []

    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.save_for_backward(*tensors)
            return tensors[0].sum()

        @staticmethod
        def backward(ctx, slope):
            found.extend((one.stride(), one.data_ptr() % 64, one.clone()) for one in ctx.saved_tensors)
            return (None,) * len(ctx.saved_tensors)

    base = torch.randn(96, 1024, requires_grad=True)
    odd = torch.from_numpy(torch.randn(40001).numpy()[1:].reshape(200, 200))
    views = [base.tanh()[4:90, 3:900:7], base.tanh().t(), base.tanh()[1:20, 5:], base.tanh().view(-1)[11:70000], odd, odd.t()[3:, 2:]]
    wanted = [(view.stride(), view.data_ptr() % 64, view.detach().clone()) for view in views]
    spill = Offload(MemoryStore(), 0)
    with spill:
        loss = Saves.apply(*views)
    del views
    loss.backward()
    assert spill.report().moved > 0
    for (stride, place, value), (its_stride, its_place, its_value) in zip(found, wanted):
        assert (stride, place) == (its_stride, its_place) and torch.equal(value, its_value)


def test_views_of_one_storage_are_one_record_or_their_own_bytes(x):
    x = x.requires_grad_()
    store = Watched()
    with Offload(store, 0):
        y = x.tanh()                                          # tanh saves all of it
        loss = (y[:150].exp() * y[:150]).sum() + (y.t() * y).sum()
        z = x + 1
        loss = loss + (z[:32] * z[224:]).sum()                # two eighths of a storage
    sizes = sorted(size for call, (_, size, _) in store.calls if call == "put")
    assert sizes == [PIECE // 8, PIECE // 8, 150 * WIDTH * 4, PIECE]
    loss.backward()


def test_what_stays_where_it_is_is_counted():
    torch.manual_seed(0)
    spill, model = Offload(MemoryStore(), 0), nn.Linear(WIDTH, WIDTH)
    sparse = torch.eye(WIDTH).to_sparse().requires_grad_()
    dense = torch.randn(WIDTH, WIDTH, requires_grad=True)
    with spill:
        loss = torch.sparse.mm(sparse, dense).sum() + model(dense).sum() + torch.ones(3, requires_grad=True).exp().sum()
    loss.backward()
    left = spill.report().left
    assert left["parameters"] == (1, PIECE) and left["not dense"][0] >= 1 and left["below 64 KiB"][0] >= 1
    nested = torch.nested.nested_tensor([torch.randn(300, 300), torch.randn(200, 300)], layout=torch.jagged, requires_grad=True)
    with spill:
        loss = (nested * nested).values().sum()
    loss.backward()
    assert spill.report().left["subclasses of Tensor"][0] >= 1
    old = torch.nested.nested_tensor([torch.randn(300, 300), torch.randn(200, 300)], requires_grad=True)
    count = left["not dense"][0]
    with spill:
        loss = torch.nested.to_padded_tensor(old * old, 0.0).sum()
    loss.backward()
    assert spill.report().left["not dense"][0] > count
    meta = torch.ones(WIDTH, WIDTH, device="meta", requires_grad=True)
    with spill:
        meta.exp()
    assert spill.report().left["on meta"] == (1, PIECE)


def test_a_storage_whose_size_changed_is_left_alone(x):
    """As engines do that gather and free parameters."""
    x.requires_grad_()
    store, weight = Watched(), torch.randn(WIDTH, WIDTH)
    copy = weight.clone()
    spill = Offload(store, PIECE)
    with spill:
        y = x * weight
        weight.untyped_storage().resize_(0)
        loss = (y.exp() * 1).sum()
    weight.untyped_storage().resize_(PIECE)
    with torch.autograd._unsafe_preserve_version_counter(weight), torch.no_grad():
        weight.copy_(copy)
    loss.backward()
    assert torch.equal(x.grad, (x * copy).exp().detach() * copy)


def test_an_output_that_is_saved_is_freed_with_its_graph(x):
    x.requires_grad_()
    gc.disable()
    try:
        with Offload(MemoryStore(), 1 << 40):
            y = x.exp()
        storage = torch.multiprocessing.reductions.StorageWeakRef(y.untyped_storage())
        del y
        assert storage.expired()
    finally:
        gc.enable()


def test_torch_func_is_refused_with_torchs_words(x):
    with pytest.raises(drawloom.CallError, match="saved tensor hooks.*Leave the context of offload around this call"):
        with Offload(MemoryStore(), 0):
            torch.func.grad(lambda x: x.square().sum())(x)

    def inside(x):
        with Offload(MemoryStore(), 0):
            return x.square().sum()
    with pytest.raises(drawloom.CallError, match="saved tensor hooks.*Leave the context"):
        torch.func.grad(inside)(x)


@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace")
@pytest.mark.parametrize("backend, where", [("aot_eager", "context outside"), ("aot_eager", "context inside"), ("inductor", "context outside")])
def test_compiled_models(backend, where, x):
    # Of which torch.compile's backward pass overwrites what was saved.
    model, spill = nn.Sequential(layers(2), nn.LayerNorm(WIDTH), nn.GELU(), nn.Dropout(0.1)), Offload(MemoryStore(), 0)
    torch._dynamo.reset()

    def inside(x):
        with spill:
            return forward(model, x)

    compiled = torch.compile(lambda x: forward(model, x), backend=backend)
    forward_of = torch.compile(inside, backend=backend) if where == "context inside" else None
    for _ in range(3):
        found = []
        for context in (torch.enable_grad(), spill):
            model.zero_grad()
            torch.manual_seed(3)
            if forward_of and context is spill:
                loss = forward_of(x)
            else:
                with context:
                    loss = compiled(x)
            loss.backward()
            found.append([loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())])
        assert all(map(torch.equal, *found))
    assert spill.report().moved >= PIECE


# Failures.

@pytest.mark.parametrize("call, number", [("put", 1), ("put", 5), ("borrow", 1), ("borrow", 4)])
@pytest.mark.parametrize("memory", [0, 3])
def test_a_step_whose_store_fails_can_be_repeated(call, number, memory, x):
    model = layers(10)
    expected = step(model, torch.enable_grad(), x)
    weights = [parameter.clone() for parameter in model.parameters()]
    store = Watched()
    spill = Offload(store, memory * PIECE)
    for _ in range(2):
        store.calls.clear()
        store.fails = {call: number}
        with pytest.raises(drawloom.StorageError, match=f"{call} {number} fails"):
            step(model, spill, x)
        gc.collect()
        assert spill.kept == 0 and not store.records
        assert all(map(torch.equal, weights, model.parameters()))
        store.fails = {}
        assert all(map(torch.equal, step(model, spill, x), expected))


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_an_exception_of_the_user_leaves_nothing_behind(where, x):
    model = layers(4)
    expected = step(model, torch.enable_grad(), x)
    store = MemoryStore()
    spill = Offload(store, 2 * PIECE)

    def fails(*arguments):
        raise ValueError("of the user")

    step(model, spill, x)
    hook = model[4].register_forward_hook(fails) if where == "forward" else model[4].weight.register_hook(fails)
    for _ in range(2):
        with pytest.raises(ValueError, match="of the user"):
            step(model, spill, x)
    hook.remove()
    # Torch itself holds a graph whose backward pass failed until the next one.
    assert all(map(torch.equal, step(model, spill, x), expected))
    gc.collect()
    assert spill.kept == 0 and not store.records
    # And the hooks are off.
    assert torch._C._autograd._top_saved_tensors_default_hooks(False) is None


def test_backward_passes_on_several_threads(x):
    models = [layers(4) for _ in range(4)]
    expected = [step(model, torch.enable_grad(), x + i) for i, model in enumerate(models)]
    store = MemoryStore()
    spill, found = Offload(store, 3 * PIECE), {}

    def run(i):
        for _ in range(3):
            found[i] = step(models[i], spill, x + i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(all(map(torch.equal, found[i], expected[i])) for i in range(4))
    assert spill.kept == 0 and not store.records


def test_one_graph_that_threads_share_and_another_thread_frees(x):
    model, spill = layers(3), Offload(MemoryStore(), PIECE)
    with spill:
        losses = [forward(model, x), forward(model, x + 1)]
    weights = list(model.parameters())
    expected = [torch.autograd.grad(forward(model, x + i), weights) for i in range(2)]
    found = {}
    threads = [threading.Thread(target=lambda i=i: found.update({i: torch.autograd.grad(losses[i], weights)})) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(all(map(torch.equal, found[i], expected[i])) for i in range(2))
    frees = threading.Thread(target=losses.clear)
    frees.start()
    frees.join()
    assert spill.kept == 0


# The interface.

def test_a_wrapped_module_is_one_within_the_context(x):
    model = layers(3)
    expected = step(model, torch.enable_grad(), x)
    spill = Offload(MemoryStore(), 0)
    assert spill.wrap(model[2]) is model[2]
    assert all(map(torch.equal, step(model, torch.enable_grad(), x), expected))
    report = spill.report()
    assert report.passes == 1 and report.saves == 1
    step(copy.deepcopy(model), torch.enable_grad(), x)
    assert spill.report().passes == 2
    with pytest.raises(RuntimeError):
        model[2](x[:, :3])
    assert torch._C._autograd._top_saved_tensors_default_hooks(False) is None


def test_a_wrapped_module_within_a_checkpoint(x):
    def run(model):
        model.zero_grad()
        loss = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).square().mean()
        loss.backward()
        return [loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())]

    model, store = layers(3), MemoryStore()
    expected = run(model)
    spill = Offload(store, 0)
    spill.wrap(model[1])
    spill.wrap(model[4])
    for _ in range(2):
        assert all(map(torch.equal, run(model), expected))
    assert spill.report().moved > 0
    gc.collect()
    assert spill.kept == 0 and not store.records


# The runtime's store, whose least memory is 8 MiB: tensors of 1 MiB, 17 of them saved in a step.
LARGE = 512


@pytest.fixture
def wide():
    return torch.randn(LARGE, LARGE, generator=torch.Generator().manual_seed(1))


def on_disk(folder, memory="16MiB", **options):
    return dt.offload(folder, memory=memory, **{"trim": False, "capacity": "64MiB", **options})


@pytest.mark.parametrize("folders", [1, 2])
def test_files_have_no_name_and_take_and_give(folders, wide, tmp_path):
    paths = [tmp_path / str(i) for i in range(folders)]
    for path in paths:
        path.mkdir()
    model = layers(16, LARGE)
    expected = step(model, torch.enable_grad(), wide)
    spill = on_disk(paths if folders > 1 else paths[0], endurance="1 TB")
    for _ in range(3):
        assert all(map(torch.equal, step(model, spill, wide), expected))
        assert not any(os.listdir(path) for path in paths)
    report = spill.report()
    # What is asked for before it was written never is.
    assert 0 < report.written <= report.moved and report.wear == report.written / 1e12 and report.peak <= 8 << 20
    assert spill._store.statistics()["records"] == 0
    spill.close()
    spill.close()
    with pytest.raises(drawloom.CallError, match="it is closed"):
        spill.__enter__()


def test_the_report_is_a_table(x):
    spill = Offload(MemoryStore(), 4 * PIECE, endurance=600 * 10 ** 12)
    step(layers(), spill, x)
    lines = str(spill.report()).splitlines()
    assert [line.split()[0] for line in lines] == ["passes", "saved", "moved", "kept", "written", "read", "stall", "wear", "left"]
    assert re.fullmatch(r"saved +2.25 MiB in 17 tensors", lines[1]) and "at most, of a memory of 1 MiB" in lines[3]


def test_the_trace_is_one_of_chromes(wide, tmp_path):
    spill = on_disk(tmp_path)
    step(layers(16, LARGE), spill, wide)
    spill.trace(tmp_path / "step.json")
    events = json.loads((tmp_path / "step.json").read_text())["traceEvents"]
    names = {event["name"] for event in events}
    assert names == {"thread_name", "context", "copies", "writes", "reads", "waits", "kept"}
    assert all(event["dur"] >= 0 for event in events if event["ph"] == "X")
    assert sum(event["args"]["bytes"] for event in events if event["name"] == "writes") == spill.report().written


def test_the_picture_shows_lanes(wide, tmp_path):
    from PIL import Image
    spill = on_disk(tmp_path)
    with pytest.raises(drawloom.CallError, match="no pass to draw yet"):
        spill.picture(tmp_path / "step.png")
    step(layers(16, LARGE), spill, wide)
    spill.picture(tmp_path / "step.png")
    colours = {colour for _, colour in Image.open(tmp_path / "step.png").getcolors(1 << 16)}
    assert {(110, 110, 118), (190, 150, 20), (206, 92, 48), (33, 90, 170), (180, 40, 60)} <= colours


@pytest.mark.parametrize("size, is_", [(4096, 4096), ("4096", 4096), ("512MiB", 512 << 20), ("1.5 GB", 1500000000), (" 2TiB ", 2 << 40), (0, 0)])
def test_sizes(size, is_):
    assert size_of("memory", size) == is_


@pytest.mark.parametrize("size, error, message", [
    ("1 gig", drawloom.CallError, "memory is '1 gig'; it is a number of bytes, or a text such as '512MiB'"),
    ("-1MiB", drawloom.CallError, "memory is '-1MiB'"),
    (-1, drawloom.CallError, "memory is -1; it is 0 or more bytes"),
    (1.5, drawloom.CallTypeError, "memory is of type float; it is a number of bytes"),
    (True, drawloom.CallTypeError, "memory is of type bool"),
])
def test_sizes_that_are_none(size, error, message, tmp_path):
    with pytest.raises(error, match=re.escape(f"offload: {message}")):
        dt.offload(tmp_path, memory=size)


def test_folders_that_are_none(tmp_path):
    with pytest.raises(drawloom.StorageError, match="there is no folder '.*nowhere'. Make it on an SSD, or name another one"):
        on_disk(tmp_path / "nowhere")
    with pytest.raises(drawloom.CallError, match="folder is an empty list"):
        on_disk([])
    with pytest.raises(drawloom.CallError, match="memory is 1,024 bytes; it is 16,777,216 or more"):
        on_disk(tmp_path, "1KiB")
    assert issubclass(drawloom.StorageError, OSError) and issubclass(drawloom.StorageError, drawloom.Error)


def test_a_capacity_that_does_not_do_is_one_error_and_the_step_can_be_repeated(wide, tmp_path):
    model = layers(48, LARGE)
    spill = on_disk(tmp_path, capacity="16MiB")
    with pytest.raises(drawloom.StorageError, match=r"float32\[512, 512\]"):
        step(model, spill, wide)
    gc.collect()
    assert spill.kept == 0 and spill._store.statistics()["records"] == 0
    assert all(map(torch.equal, step(model[:30], spill, wide), step(model[:30], torch.enable_grad(), wide)))


@pytest.mark.parametrize("rule", ["op=read; nth=3; do=flip 7", "op=read; every=4; do=errno EIO", "op=write; every=3; do=torn 1",
                                  "op=write; nth=2; do=drop", "op=write; every=5; do=errno ENOSPC", "op=read; every=2; do=short 512",
                                  "op=read; nth=5; do=stale"])
def test_a_disk_that_fails_gives_the_same_bits_or_an_error(rule, wide, tmp_path, monkeypatch):
    monkeypatch.setenv("DRAWLOOM_OFFLOAD_FAULTS", rule)
    model = layers(16, LARGE)
    expected = step(model, torch.enable_grad(), wide)
    spill, right = on_disk(tmp_path), 0
    for _ in range(4):
        try:
            assert all(map(torch.equal, step(model, spill, wide), expected))
            right += 1
        except drawloom.StorageError as error:
            assert "float32[512, 512]" in str(error)
            gc.collect()
    assert right or "every" in rule


def in_a_process(code, folder):
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_may_fork_within_the_context_and_end_amid_a_step(tmp_path):
    assert in_a_process("""
import torch, drawloom.torch as dt
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.full((64,), float(i))

model = torch.nn.Sequential(torch.nn.Linear(64, 1024), torch.nn.Tanh(), torch.nn.Linear(1024, 1024), torch.nn.Tanh())
spill = dt.offload(".", memory="16MiB", capacity="64MiB")
with spill:
    kept = model(torch.ones(1024, 64))
    for rows in DataLoader(Rows(), batch_size=4, num_workers=2, multiprocessing_context="fork"):
        loss = model(rows.repeat(256, 1)).square().sum()
        loss.backward()
assert spill.report().moved
print("done")
""", tmp_path) == "done\n"


def test_memory_is_given_back(tmp_path):
    """Blocks that glibc would keep in its heap go back at once."""
    assert in_a_process("""
import torch, drawloom.torch as dt
def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096
dt.offload(".", memory="16MiB", capacity="16MiB")
torch.empty(30 << 20, dtype=torch.uint8).fill_(1)
blocks = [torch.ones(1 << 20, dtype=torch.uint8) for _ in range(200)]
before = resident()
del blocks[::2]
print(before - resident() > 90 << 20)
""", tmp_path) == "True\n"


def test_a_view_without_elements_stays(x):
    spill = Offload(MemoryStore(), 0)
    given = x.clone().requires_grad_()
    with spill:
        loss = (given[64:64] * x[64:64]).sum() + (given * x).sum()
    loss.backward()
    assert torch.equal(given.grad, x) and spill.report().left["without elements"][0] == 1


def test_an_interrupt_leaves_no_hooks_behind(x):
    class Interrupted(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    spill = Offload(MemoryStore(), 0)
    with pytest.raises(KeyboardInterrupt):
        spill.wrap(Interrupted())(x)
    assert torch._C._autograd._top_saved_tensors_default_hooks(False) is None and spill.report().passes == 1


def test_what_is_saved_again_after_it_was_read_back_counts_once(x):
    spill, weight = Offload(MemoryStore(), PIECE), torch.ones(1, requires_grad=True)
    kept = [x + i for i in range(4)]
    with spill:
        first = sum((one * weight).sum() for one in kept)
    first.backward(retain_graph=True)
    with spill:
        second = sum((one * weight).sum() for one in kept)
    (first + second).backward()
    del first, second
    gc.collect()
    assert spill.kept == 0 and spill.report().peak <= PIECE


def test_a_closed_offload_still_has_its_figures(wide, tmp_path):
    spill = on_disk(tmp_path)
    step(layers(16, LARGE), spill, wide)
    written = spill.report().written
    spill.close()
    assert spill.report().written == written > 0
    spill.trace(tmp_path / "step.json")


def test_folders_on_one_disk_leave_half_of_it(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    status = os.statvfs(tmp_path)
    assert capacity_of([str(tmp_path / "a"), str(tmp_path / "b")]) <= status.f_bavail * status.f_frsize // 2 + (1 << 30)
