# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What autograd saves for the backward pass, moved to SSDs and back."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef

from .._errors import CallError, StorageError
from .._spill import size_of
from ._offload_plan import Entry, Order, Pass
from ._offload_report import Report, chrome_trace, draw
from ._offload_store import DiskStore, Store, now

__all__ = ["Offload", "Report", "offload", "offload_probe"]

# Storages below this are kept: a disk is asked for many of them in the time of one large one.
SMALL = 64 << 10
# Records are cut from storages at such places, and lie in memory as the storage did: kernels choose their ways by alignment, and
# other ways may give other bits.
ALIGNMENT = 64
_Module = TypeVar("_Module", bound=nn.Module)


def return_memory() -> None:
    """Makes glibc give what is freed back to the system from 128 KiB on, which is where it begins, instead of raising that limit to
    32 MiB with every large block that is freed. For the whole process and its rest."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(-3, 128 << 10)  # M_MMAP_THRESHOLD


class _Left:
    """A saved tensor that stays where it is."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor: Tensor, version: int) -> None:
        self.tensor, self.version = tensor, version


class _Packed:
    """A saved tensor of a span. Dies on any thread."""

    __slots__ = ("__weakref__", "conjugate", "dtype", "negative", "offset", "shape", "span", "stride", "tensor", "version")

    def __init__(self, span: _Span, tensor: Tensor) -> None:
        self.span = span
        self.dtype, self.shape, self.stride, self.offset = tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset()
        self.conjugate, self.negative = tensor.is_conj(), tensor.is_neg()
        # Shares memory and version with what was saved or loaded; None while the bytes are on the disk alone.
        self.tensor: Tensor | None = None
        self.version = 0

    def hold(self, tensor: Tensor) -> None:
        self.tensor, self.version = tensor, tensor._version

    def made_of(self, memory: Tensor) -> Tensor:
        """The tensor, where the span's bytes are `memory` [size], uint8."""
        width = self.dtype.itemsize
        elements = memory[:memory.numel() // width * width].view(self.dtype)
        made = elements.as_strided(self.shape, self.stride, self.offset - self.span.begin // width)
        made = made.conj() if self.conjugate else made
        return torch._neg_view(made) if self.negative else made

    def __del__(self) -> None:
        # No lock here: this thread may hold any.
        self.span.block.dead.append(self.span)


class _Span:
    """Bytes of a block that are one record of the store."""

    __slots__ = ("alive", "begin", "block", "loaded", "packed", "record", "size", "spoiled")

    def __init__(self, block: _Block, begin: int, size: int) -> None:
        self.block, self.begin, self.size = block, begin, size
        self.alive = 0
        self.packed: list[weakref.ref[_Packed]] = []
        self.record: Any = None
        # Bytes of the budget that hold what was read back; what the store lends is in its own part.
        self.loaded = 0
        # Changed in place after it was read back.
        self.spoiled: str | None = None

    def living(self) -> Iterator[_Packed]:
        for reference in self.packed:
            packed = reference()
            if packed is not None:
                yield packed


class _Block:
    """A storage as it was at one version."""

    __slots__ = ("counter", "dead", "entry", "key", "known", "loaded", "size", "skew", "spans", "state", "storage", "used", "version")

    def __init__(self, tensor: Tensor, storage: torch.UntypedStorage, dead: collections.deque[_Span]) -> None:
        # While there is this reference, no other storage has the key.
        self.storage, self.key = StorageWeakRef(storage), storage._cdata
        self.size, self.skew = storage.nbytes(), storage.data_ptr() % ALIGNMENT
        # Has no memory, and the version of the tensor.
        self.counter = tensor.detach()
        self.counter.data = torch.empty(0, dtype=tensor.dtype)
        self.version = tensor._version
        self.spans: list[_Span] = []
        self.dead = dead
        self.known: Pass
        self.entry: Entry
        self.state = "kept"                  # "held" by others anyway, "stored", or "stuck": changed, so that it cannot be stored
        self.loaded = 0
        self.used = False

    def is_of(self, tensor: Tensor, storage: torch.UntypedStorage) -> bool:
        return bool(self.spans) and self.version == tensor._version == self.counter._version and self.size == storage.nbytes()

    def span_of(self, tensor: Tensor) -> _Span:
        width = tensor.dtype.itemsize
        begin = int(tensor.storage_offset()) * width
        end = begin + int(sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride())) + 1) * width if tensor.numel() else begin
        for span in self.spans:
            if span.begin <= begin and end <= span.begin + span.size:
                return span
        begin -= begin % ALIGNMENT
        if 2 * (end - begin) > self.size:
            begin, end = 0, self.size
        span = _Span(self, begin, end - begin)
        self.spans.append(span)
        return span


class Offload:
    """What `offload` returns: a context to enter around each forward pass, as often as wanted. See docs/offload.md."""

    def __init__(self, store: Store, memory: int, endurance: int | None = None) -> None:
        self._store, self._endurance = store, endurance
        self._limit = memory - store.memory
        if self._limit < 0:
            raise CallError(f"offload: memory is {memory:,} bytes; the store itself needs {store.memory:,}")
        self._memory = memory
        self._lock = threading.RLock()
        self._depth = threading.local()
        self._order = Order(self._limit)
        # By the storage; the latest version of each.
        self._blocks: dict[int, _Block] = {}
        self._alive: dict[_Block, None] = {}
        # In main memory alone, by the last save; and loaded, by the last use.
        self._kept: collections.OrderedDict[_Block, None] = collections.OrderedDict()
        self._loaded: collections.OrderedDict[_Block, None] = collections.OrderedDict()
        self._kept_bytes = self._loaded_bytes = 0
        self._dead: collections.deque[_Span] = collections.deque()
        self._puts = 0
        self._expects = False
        self._closed = False
        # Statistics and trace of a store that was closed.
        self._last: tuple[dict[str, Any], list[tuple[str, int, int, int]]] | None = None
        # What the report says.
        self._start = now()
        self._saved = self._saved_bytes = self._moved_bytes = self._peak = self._stall = self._passes = 0
        self._left: dict[str, list[int]] = {}
        self._steps = self._step_time = self._step_stall = 0
        self._events: collections.deque[tuple[str, int, int, int]] = collections.deque(maxlen=65536)

    # A context, and a module's.

    def __enter__(self) -> Offload:
        if self._closed:
            raise CallError("offload: it is closed; make another one")
        try:
            torch._C._autograd._push_saved_tensors_default_hooks(*(functools.partial(hook, self) for hook in _hooks()))
        except RuntimeError as error:
            raise self._explained(error) or error from error
        depth = self._depth.__dict__.setdefault("entered", [])
        depth.append(now())
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        entered = self._depth.entered.pop()
        torch._C._autograd._pop_saved_tensors_default_hooks()
        if not self._depth.entered:
            with self._lock:
                self._reap()
                self._order.end()
                self._passes += 1
                self._events.append(("pass", entered, now(), 0))
        explained = self._explained(error)
        if explained is not None:
            raise explained from error

    @staticmethod
    def _explained(error: BaseException | None) -> CallError | None:
        if isinstance(error, RuntimeError) and "saved tensor hooks" in str(error) and not isinstance(error, CallError):
            return CallError(f"offload: {error} Leave the context of offload around this call")
        return None

    def wrap(self, module: _Module) -> _Module:
        """Makes every forward pass of the module one within the context. Returns the module."""
        known = module.__dict__.get("forward")
        inner = getattr(known, "__func__", known)

        @functools.wraps(type(module).forward)
        def forward(own: nn.Module, *inputs: Any, **options: Any) -> Any:
            with self:
                if inner is None:
                    return type(own).forward(own, *inputs, **options)
                return inner(own, *inputs, **options) if hasattr(known, "__func__") else inner(*inputs, **options)

        # A method, which copies of the module have for themselves.
        module.forward = types.MethodType(forward, module)
        return module

    def __deepcopy__(self, memo: Any) -> Offload:
        # Copies of wrapped modules share it.
        return self

    # Hooks.

    def _pack(self, tensor: Tensor) -> _Packed | _Left:
        reason = _unfit(tensor)
        if reason is not None:
            return self._leave(tensor, reason)
        storage = tensor.untyped_storage()
        if storage.nbytes() < SMALL:
            return self._leave(tensor, "below 64 KiB")
        with self._lock:
            self._reap()
            self._saved += 1
            block = self._blocks.get(storage._cdata)
            goes: bool | None = None
            if block is None or not block.is_of(tensor, storage):
                block, goes = self._new_block(tensor, storage)
            else:
                self._order.again(block.known, block.entry)
                if block in self._kept:
                    self._kept.move_to_end(block)
            span = block.span_of(tensor)
            packed = _Packed(span, tensor)
            span.alive += 1
            span.packed.append(weakref.ref(packed))
            if block.state == "stored" or goes:
                self._write(span, storage.data_ptr())
                block.state = "stored"
            else:
                packed.hold(tensor.detach())
                if block.state == "kept" and block not in self._kept:
                    self._make_room(block.size)
                    self._kept[block] = None
                    self._kept_bytes += block.size
            self._sample()
            return packed

    def _new_block(self, tensor: Tensor, storage: torch.UntypedStorage) -> tuple[_Block, bool]:
        """And whether it is to be written now."""
        block = _Block(tensor, storage, self._dead)
        signature = tuple(tensor.shape), tensor.dtype, block.size
        block.known, block.entry, goes, held = self._order.save(signature, block.size)
        if held:
            block.state = "held"
        self._blocks[block.key] = block
        self._alive[block] = None
        self._saved_bytes += block.size
        return block, bool(goes) or block.size > self._limit and not held

    def _leave(self, tensor: Tensor, reason: str) -> _Left:
        with self._lock:
            counts = self._left.setdefault(reason, [0, 0])
            counts[0] += 1
            counts[1] += tensor.nbytes if tensor.layout is torch.strided and not tensor.is_nested else 0
        # A parameter as it is, so that engines that know it by its identity go on to do so. What an op gave must not be held by it.
        return _Left(tensor if isinstance(tensor, nn.Parameter) else tensor.detach(), 0 if tensor.is_inference() else tensor._version)

    def _unpack(self, packed: _Packed | _Left) -> Tensor:
        if isinstance(packed, _Left):
            if not packed.tensor.is_inference() and packed.tensor._version != packed.version:
                raise RuntimeError(_modified(packed.tensor, packed.version))
            return packed.tensor
        with self._lock:
            self._reap()
            self._use(packed.span.block)
            tensor = packed.tensor
            if packed.span.spoiled is not None:
                raise RuntimeError(packed.span.spoiled)
            if tensor is None:
                tensor = self._load(packed)
            elif tensor._version != packed.version:
                raise RuntimeError(_modified(tensor, packed.version))
            elif packed.span.block in self._loaded:
                self._loaded.move_to_end(packed.span.block)
            self._sample()
            return tensor

    def _use(self, block: _Block) -> None:
        self._order.end()
        if self._expects:
            self._expects = False
            waiting = [span for one in sorted(self._alive, key=lambda one: (-one.known.number, one.entry.rank))
                       for span in one.spans if span.record is not None and one not in self._loaded]
            if waiting:
                self._store.expect([span.record for span in waiting])
        if block.used:
            return
        block.used = True
        self._order.use(block.known, block.entry)
        if block.state == "stored":
            block.entry.held = not block.storage.expired()
        elif block.state == "held":
            # Each tensor counts for one, and Python's object for another.
            ours = 1 + sum(packed.tensor is not None for span in block.spans for packed in span.living())
            block.entry.held = torch._C._storage_Use_Count(block.key) > ours

    # Memory.

    def _write(self, span: _Span, address: int) -> None:
        if span.record is not None:
            return
        if self._closed:
            raise CallError("offload: it was closed within its context; close it behind the last backward pass")
        start = now()
        self._puts += 1
        # The last save is the first use.
        span.record = self._store.put(address + span.begin, span.size, _site(span), (1 << 62) - self._puts)
        self._stall += now() - start
        self._events.append(("copy", start, now(), span.size))
        self._moved_bytes += span.size
        self._expects = True

    def _evict(self, block: _Block) -> None:
        """Writes a kept block, and lets go of it."""
        whole = next((packed.tensor for span in block.spans for packed in span.living() if packed.tensor is not None), None)
        if whole is not None:
            storage = whole.untyped_storage()
            if block.counter._version != block.version or storage.nbytes() != block.size:
                block.state = "stuck"
                counts = self._left.setdefault("changed in place after it was saved", [0, 0])
                counts[0] += 1
                counts[1] += block.size
            else:
                for span in block.spans:
                    self._write(span, storage.data_ptr())
                block.state = "stored"
                _let_go(block)
        del self._kept[block]
        self._kept_bytes -= block.size

    def _make_room(self, size: int) -> None:
        """For so many bytes: what was loaded and used the longest ago goes first, then what was saved first."""
        while self._kept_bytes + self._loaded_bytes + size > self._limit:
            if self._loaded:
                block, _ = self._loaded.popitem(last=False)
                self._loaded_bytes -= block.loaded
                _let_go(block)
            elif self._kept:
                self._evict(next(iter(self._kept)))
            else:
                break
            self._reap()

    def _load(self, wanted: _Packed) -> Tensor:
        if self._closed:
            raise CallError("offload: a backward pass needs saved tensors of an offload that has been closed; close it behind the last backward pass")
        span, block = wanted.span, wanted.span.block
        start, memory = now(), None
        if not block.skew:
            lent = self._store.borrow(span.record)
            memory = None if lent is None else torch.frombuffer(lent, dtype=torch.uint8, count=span.size)
        loaded = 0
        if memory is None:
            self._make_room(span.size)
            start, loaded = now(), span.size
            whole = torch.empty(span.size + 2 * ALIGNMENT, dtype=torch.uint8)
            # As far behind a multiple of 64 as the storage began.
            begin = (block.skew - whole.data_ptr()) % ALIGNMENT
            memory = torch.from_numpy(whole.numpy()[begin:begin + span.size])
            self._store.get(span.record, memory.data_ptr())
        # It takes the place of what others of the span have loaded before.
        block.loaded += loaded - span.loaded
        self._loaded_bytes += loaded - span.loaded
        span.loaded = loaded
        self._stall += now() - start
        self._events.append(("wait", start, now(), span.size))
        self._loaded[block] = None
        self._loaded.move_to_end(block)
        for packed in span.living():
            packed.hold(packed.made_of(memory))
        assert wanted.tensor is not None
        return wanted.tensor

    def _reap(self) -> None:
        """Ends what nobody can use any more."""
        while self._dead:
            span = self._dead.popleft()
            span.alive -= 1
            if span.alive:
                continue
            block = span.block
            block.spans.remove(span)
            block.loaded -= span.loaded
            self._loaded_bytes -= span.loaded
            if span.record is not None and not self._closed:
                self._store.drop(span.record)
            if not block.spans:
                del self._alive[block]
                self._order.gone(block.known, block.entry)
                if self._blocks.get(block.key) is block:
                    del self._blocks[block.key]
                if block in self._kept:
                    del self._kept[block]
                    self._kept_bytes -= block.size
                self._loaded.pop(block, None)

    def _sample(self) -> None:
        held = self._kept_bytes + self._loaded_bytes
        self._peak = max(self._peak, held)
        self._events.append(("memory", now(), 0, held))

    # Optimizers' states: see _offload_states.py.

    @contextlib.contextmanager
    def _holding(self, size: int) -> Iterator[None]:
        """An optimizer has `size` bytes of the memory meanwhile."""
        if size > self._limit:
            raise CallError(f"offload: memory is {self._memory:,} bytes; to update one piece of a parameter takes "
                            f"{self._memory - self._limit + size:,}")
        with self._lock:
            self._reap()
            self._make_room(size)
            self._loaded_bytes += size
            self._sample()
        try:
            yield
        finally:
            with self._lock:
                self._loaded_bytes -= size
                self._sample()

    @contextlib.contextmanager
    def _step(self) -> Iterator[None]:
        """A step of an optimizer, for the report."""
        start, stall = now(), self._stall
        try:
            yield
        finally:
            self._steps += 1
            self._step_time += now() - start
            self._step_stall += self._stall - stall

    @contextlib.contextmanager
    def _waiting(self, what: str, size: int) -> Iterator[None]:
        """A call of the store by an optimizer: "copy" or "wait"."""
        start = now()
        try:
            yield
        finally:
            self._stall += now() - start
            self._events.append((what, start, now(), size))

    def _expect(self, records: Sequence[Any]) -> None:
        self._store.expect(records)
        # The next backward pass says again what it needs.
        self._expects = True

    # Figures.

    @property
    def kept(self) -> int:
        """Bytes of saved tensors that are in main memory now, without those that others hold anyway."""
        with self._lock:
            self._reap()
            return self._kept_bytes + self._loaded_bytes

    def report(self) -> Report:
        """Figures since the beginning, as an object that prints as a table."""
        with self._lock:
            self._reap()
            statistics = self._last[0] if self._last else self._store.statistics()
            return Report(passes=self._passes, memory=self._memory, saves=self._saved, saved=self._saved_bytes, moved=self._moved_bytes,
                          kept=self._kept_bytes + self._loaded_bytes, peak=self._peak, written=statistics["written"], read=statistics["read"],
                          steps=self._steps, step_seconds=self._step_time * 1e-9, step_stall=self._step_stall * 1e-9,
                          stall=self._stall * 1e-9, seconds=(now() - self._start) * 1e-9, endurance=self._endurance,
                          left={reason: (count, size) for reason, (count, size) in sorted(self._left.items())})

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the latest events as a file of Chrome's trace format, for ui.perfetto.dev."""
        with self._lock:
            chrome_trace(path, list(self._events), self._last[1] if self._last else self._store.trace())

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draws the latest pass with its backward pass: copies, writes, reads, waits, memory over time. Needs pillow."""
        with self._lock:
            draw(path, list(self._events), self._last[1] if self._last else self._store.trace(), self._memory)

    def close(self) -> None:
        """Frees the folders' space. Saved tensors and states that are there are lost: no backward pass or optimizer needs them any more."""
        with self._lock:
            if not self._closed:
                self._reap()
                self._closed = True
                self._last = self._store.statistics(), self._store.trace()
                self._store.close()


_untraced: list[Callable[..., Any]] = []


def _hooks() -> Sequence[Callable[..., Any]]:
    if "torch._dynamo" not in sys.modules:
        return Offload._pack, Offload._unpack
    if not _untraced:
        # Else torch.compile, where it breaks a graph, compiles the hooks too.
        _untraced.extend((torch.compiler.disable(Offload._pack), torch.compiler.disable(Offload._unpack)))
    return _untraced


def _unfit(tensor: Tensor) -> str | None:
    """Why a tensor stays where it is."""
    if isinstance(tensor, nn.Parameter) or isinstance(tensor._base, nn.Parameter):
        return "parameters"
    if type(tensor) is not Tensor:
        return "subclasses of Tensor"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return "within torch.func"
    if tensor.device.type != "cpu":
        return f"on {tensor.device.type}"
    if tensor.numel() == 0:
        return "without elements"
    if tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized:
        return "not dense"
    return "inference tensors" if tensor.is_inference() else None


def _let_go(block: _Block) -> None:
    for span in block.spans:
        for packed in span.living():
            if packed.tensor is not None and packed.tensor._version != packed.version:
                span.spoiled = _modified(packed.tensor, packed.version)
            packed.tensor = None
        span.loaded = 0
    block.loaded = 0


def _site(span: _Span) -> str:
    shape, dtype, _ = span.block.entry.signature
    return f"{str(dtype).removeprefix('torch.')}{list(shape)}"


def _modified(tensor: Tensor, version: int) -> str:
    """What torch says where no hook comes between."""
    return ("one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{tensor.type()} {list(tensor.shape)}] is at version {tensor._version}; expected version {version} instead. Hint: enable anomaly "
            "detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).")


def _folders(folder: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    folders = [os.fspath(one) for one in ([folder] if isinstance(folder, (str, os.PathLike)) else folder)]
    if not folders:
        raise CallError("offload: folder is an empty list; it names one folder or more")
    for one in folders:
        if not os.path.isdir(one):
            raise StorageError(f"offload: there is no folder '{one}'. Make it on an SSD, or name another one")
    return folders


def offload_probe(folder: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], memory: int | str = "1GiB",
                  capacity: int | str | None = None) -> str:
    """What `offload` with these arguments would use, folder by folder, and why not something better: a text. Takes the capacity for a
    moment."""
    sizes = [None if size is None else size_of(f"offload: {what}", size) for what, size in (("memory", memory), ("capacity", capacity))]
    assert sizes[0] is not None
    return DiskStore.probe(_folders(folder), sizes[1], sizes[0])


def offload(folder: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], memory: int | str, capacity: int | str | None = None, *,
            endurance: int | str | None = None, trim: bool = True) -> Offload:
    """A context in which what autograd saves for the backward pass goes to SSDs, as far as it exceeds `memory`.

        spill = drawloom.torch.offload("/mnt/ssd", memory="4GiB")
        for batch in data:
            with spill:
                loss = model(batch)
            loss.backward()

    folder      on an SSD, or several, one on each SSD
    memory      bytes of saved tensors that stay in main memory, loaded ones included: a number, or a text such as "512MiB"
    capacity    bytes that the folders may hold together, which are taken at once; None: half of the space that is free, at most 64 GiB a folder
    endurance   bytes that the SSDs are rated to take, such as "600TB": the report says how much of it was used
    trim        whether the C library gives freed memory back to the system at once, for the whole process: without it, the process may keep
                several times what it uses
    """
    folders = _folders(folder)
    sizes = [None if size is None else size_of(f"offload: {what}", size) for what, size in (("memory", memory), ("capacity", capacity), ("endurance", endurance))]
    if trim:
        with contextlib.suppress(OSError):
            return_memory()
    assert sizes[0] is not None
    return Offload(DiskStore(folders, sizes[1], sizes[0]), sizes[0], sizes[2])
