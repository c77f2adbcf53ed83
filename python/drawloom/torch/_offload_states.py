# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""States of an optimizer that are records of an `Offload`'s store, and stream through main memory beside the update.

A parameter is cut into pieces, and the states of a piece are one record. To update a piece is to read its record, to compute the piece
and its states anew in memory of their own, to put the new states, and only then to change the parameter. States cannot be computed
again: the old record ends when the new one has been written and read back. So whatever fails, each piece and its states are of one step,
and a step that has failed goes on with the pieces that it lacks.
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._errors import CallError, StorageError
from ..ops.optimizers import PIECES
from ._dispatch import local_part
from ._offload import ALIGNMENT, Offload

# Elements. Pieces are cut where updates are, so that the same programs see the same elements.
CHUNK = PIECES[0]


class Update(NamedTuple):
    parameter: Tensor
    gradient: Tensor
    group: dict[str, Any]


class _Piece:
    """Elements [begin, end) of a parameter."""

    __slots__ = ("begin", "end", "older", "record")

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end
        self.record: Any = None              # None: the states are zeros
        self.older: list[Any] = []           # Records that this one is to replace


class _Streamed:
    """A parameter's states."""

    __slots__ = ("count", "kind", "left", "number", "pieces")

    def __init__(self, count: int, kind: torch.dtype, length: int) -> None:
        self.count, self.kind = count, kind
        self.pieces = [_Piece(begin, min(begin + length, count)) for begin in range(0, count, length)]
        # Of a step that has begun and not ended: its number, and the pieces that it lacks.
        self.number = 0
        self.left: list[_Piece] = []


class _Done(NamedTuple):
    """A piece whose new states are in the store."""

    streamed: _Streamed
    piece: _Piece
    record: Any
    parameter: Tensor
    values: Tensor


class States:
    """owner: the optimizer's name, for messages. names: of the states that each element has."""

    def __init__(self, owner: str, spill: Offload, names: Sequence[str]) -> None:
        self._owner, self._spill, self._names = owner, spill, tuple(names)
        self._streamed: dict[Tensor, _Streamed] = {}
        # The parameters of a step that has begun and not ended, and the number of its pieces.
        self._under_way: dict[Tensor, _Streamed] = {}
        self._total = 0
        self._done: _Done | None = None
        self._keep_until_the_end()

    def _keep_until_the_end(self) -> None:
        self._end = weakref.finalize(self, _retire, self._spill, self._streamed)
        self._end.atexit = False

    @property
    def unfinished(self) -> bool:
        """Whether a step has failed when some pieces were updated and some were not."""
        self._settle()
        return bool(self._under_way)

    # A step.

    def step(self, state: MutableMapping[Tensor, dict[str, Any]], updates: Sequence[Update], kind_of: Callable[[torch.dtype], torch.dtype],
             change: Callable[[dict[str, Any], int, list[Tensor]], None]) -> None:
        """A step, or the rest of one that has failed. state: the optimizer's, whose "step" counts. kind_of: the type of states. change(group,
        number of the step, [parameter, gradient, states ...]) updates pieces in place."""
        self._begin(state, updates, kind_of)
        order = [(update, piece) for update in updates if update.parameter in self._under_way
                 for piece in self._under_way[update.parameter].left]
        try:
            needed = self._needed([update for update, _ in order])
            with self._spill._step(), self._spill._holding(needed):
                self._spill._expect([piece.record for _, piece in order if piece.record is not None])
                # One for all pieces: memory that is freed and taken again piles up in the C library.
                memory = torch.empty(needed, dtype=torch.uint8)
                for update, piece in order:
                    self._advance(update, piece, memory, change)
        except BaseException as error:
            self._settle()
            stopped = self._stopped(error)
            if stopped is None:
                raise
            raise stopped from error
        finally:
            self._count(state)
            # A backward pass through what is no more there has to be refused.
            torch.autograd.graph.increment_version([update.parameter for update in updates])
        # The next step's, which are read while the model computes.
        self._spill._expect([piece.record for update in updates for piece in self._streamed[update.parameter].pieces])

    def _begin(self, state: MutableMapping[Tensor, dict[str, Any]], updates: Sequence[Update],
               kind_of: Callable[[torch.dtype], torch.dtype]) -> None:
        self._check_open()
        if self.unfinished:
            given = {update.parameter for update in updates}
            missing = sum(parameter not in given for parameter in self._under_way)
            if missing:
                raise CallError(f"{self._owner}: a step that failed is not finished, and {missing} of its parameters have no gradient any more; "
                                "step() finishes it with the gradients that it had, so call zero_grad() behind it")
        for update in updates:
            parameter = local_part(update.parameter)
            streamed = self._of(update.parameter, kind_of(parameter.dtype))
            if streamed.count != parameter.numel():
                raise CallError(f"{self._owner}: a parameter has {parameter.numel()} elements, and its states {streamed.count}; make the optimizer "
                                "anew for parameters of other shapes")
            if "step" not in state[update.parameter]:
                state[update.parameter]["step"] = torch.zeros((), dtype=torch.float32)
        if not self._under_way:
            for update in updates:
                streamed = self._streamed[update.parameter]
                streamed.number, streamed.left = int(state[update.parameter]["step"].item()) + 1, list(streamed.pieces)
            self._total = sum(len(self._streamed[update.parameter].pieces) for update in updates)
            self._under_way = {update.parameter: self._streamed[update.parameter] for update in updates}

    def _of(self, parameter: Tensor, kind: torch.dtype) -> _Streamed:
        if parameter not in self._streamed:
            self._streamed[parameter] = _Streamed(local_part(parameter).numel(), kind, self._length(kind))
        return self._streamed[parameter]

    def _length(self, kind: torch.dtype) -> int:
        """Elements of a piece: so few that many records are under way at once."""
        return max(1, self._spill._store.memory // 16 // (len(self._names) * kind.itemsize * CHUNK)) * CHUNK

    def _needed(self, updates: Sequence[Update]) -> int:
        """Bytes that one piece at a time needs: its states, a copy of the piece and of its gradient, and where strides are others the places of
        elements."""
        most = 0
        for update in updates:
            streamed, own = self._streamed[update.parameter], local_part(update.parameter)
            element = 2 * own.dtype.itemsize + (0 if own.is_contiguous() and local_part(update.gradient).is_contiguous() else 8)
            most = max(most, self._bytes(streamed, streamed.pieces[0]) + streamed.pieces[0].end * element)
        return most

    def _bytes(self, streamed: _Streamed, piece: _Piece) -> int:
        return len(self._names) * self._stride(streamed, piece)

    @staticmethod
    def _stride(streamed: _Streamed, piece: _Piece) -> int:
        """Bytes from one state to the next."""
        return -(-(piece.end - piece.begin) * streamed.kind.itemsize // ALIGNMENT) * ALIGNMENT

    def _advance(self, update: Update, piece: _Piece, memory: Tensor, change: Callable[[dict[str, Any], int, list[Tensor]], None]) -> None:
        streamed, parameter = self._streamed[update.parameter], local_part(update.parameter)
        size = self._bytes(streamed, piece)
        self._read(streamed, piece, memory)
        values = memory[size:size + (piece.end - piece.begin) * parameter.dtype.itemsize].view(parameter.dtype)
        _move(values, _part(parameter, piece))
        change(update.group, streamed.number, [values, _part(local_part(update.gradient), piece), *self._states(streamed, piece, memory)])
        record = self._put(update.parameter, streamed, piece, memory, self._spill)
        # From here on the piece counts as done: an interrupt in what follows is made up for by the next call.
        self._done = _Done(streamed, piece, record, parameter, values)
        self._settle()

    def _settle(self) -> None:
        """Ends a piece whose new states are in the store. Can be begun again wherever it was interrupted."""
        if self._done is None:
            return
        streamed, piece, record, parameter, values = self._done
        _set_part(parameter, piece, values)
        if piece in streamed.left:
            streamed.left.remove(piece)
        if piece.record != record:
            if piece.record is not None and piece.record not in piece.older:
                piece.older.append(piece.record)
            piece.record = record
        self._done = None
        while piece.older:
            old = piece.older.pop()
            try:
                self._spill._store.replace(old, record)
            except StorageError:
                # The disks do not take the new one, which memory has. The next one may replace both.
                piece.older.append(old)
                raise

    def _count(self, state: MutableMapping[Tensor, dict[str, Any]]) -> None:
        """Parameters that lack no piece are at the next step."""
        for parameter, streamed in list(self._under_way.items()):
            if not streamed.left:
                state[parameter]["step"].fill_(streamed.number)
                del self._under_way[parameter]

    def _stopped(self, error: BaseException) -> StorageError | None:
        """What the user hears of a step that ended early."""
        left = sum(len(streamed.left) for streamed in self._under_way.values())
        if left == self._total:
            self._under_way.clear()
            says = "Parameters and states are as before this step, which can be called again"
        elif left:
            says = (f"{self._total - left} of the step's {self._total} pieces and their states are updated, and the others as before it. Call step() "
                    "again with the same gradients, which updates the others. Where the folders stay full or broken, call move_states() before, with "
                    "an offload to others; where a disk has lost states, load state dicts of model and optimizer")
        else:
            says = "All parameters and states are updated, but memory holds what the folders do not take"
        return StorageError(f"{self._owner}: {error}. {says}") if isinstance(error, StorageError) else None

    # Records.

    def _check_open(self) -> None:
        if self._spill._closed:
            raise CallError(f"{self._owner}: its offload has been closed, and its states with it; close it behind the last step")

    def _states(self, streamed: _Streamed, piece: _Piece, memory: Tensor) -> list[Tensor]:
        stride, used = self._stride(streamed, piece), (piece.end - piece.begin) * streamed.kind.itemsize
        return [memory[i * stride:i * stride + used].view(streamed.kind) for i in range(len(self._names))]

    def _read(self, streamed: _Streamed, piece: _Piece, memory: Tensor) -> None:
        size = self._bytes(streamed, piece)
        if piece.record is None:
            memory[:size].zero_()
            return
        with self._spill._waiting("wait", size):
            self._spill._store.get(piece.record, memory.data_ptr())

    def _put(self, parameter: Tensor, streamed: _Streamed, piece: _Piece, memory: Tensor, spill: Offload) -> Any:
        site = f"states of {str(parameter.dtype).removeprefix('torch.')}{list(parameter.shape)} from element {piece.begin:,} on"
        size = self._bytes(streamed, piece)
        with spill._waiting("copy", size):
            return spill._store.put(memory.data_ptr(), size, site, 1 << 62, persistent=True)

    @contextlib.contextmanager
    def _memory_of(self, streamed: _Streamed) -> Iterator[Tensor]:
        """For the states of each of its pieces."""
        size = max((self._bytes(streamed, piece) for piece in streamed.pieces), default=0)
        with self._spill._holding(size):
            yield torch.zeros(size, dtype=torch.uint8)

    # State dicts.

    def read(self) -> Iterator[tuple[Tensor, dict[str, Tensor]]]:
        """All states, in memory: (parameter, {name: tensor})."""
        self._check_open()
        if self.unfinished:
            raise CallError(f"{self._owner}: a step that failed is not finished, so that states are of two steps; call step() again before "
                            "state_dict()")
        self._spill._expect([piece.record for streamed in self._streamed.values() for piece in streamed.pieces if piece.record is not None])
        for parameter, streamed in self._streamed.items():
            whole = {name: torch.zeros_like(parameter, dtype=streamed.kind, memory_format=torch.contiguous_format, requires_grad=False)
                     for name in self._names}
            with self._memory_of(streamed) as memory:
                for piece in streamed.pieces:
                    self._read(streamed, piece, memory)
                    for into, part in zip(whole.values(), self._states(streamed, piece, memory)):
                        _set_part(local_part(into), piece, part)
            yield parameter, whole

    def load(self, given: Mapping[Tensor, Mapping[str, Tensor]], kind_of: Callable[[torch.dtype], torch.dtype]) -> None:
        """Makes {parameter: {name: tensor}} all states there are, or changes nothing."""
        self._check_open()
        loaded: dict[Tensor, _Streamed] = {}
        try:
            for parameter, tensors in given.items():
                own = local_part(parameter)
                kind = kind_of(own.dtype)
                loaded[parameter] = streamed = _Streamed(own.numel(), kind, self._length(kind))
                with self._memory_of(streamed) as memory:
                    for piece in streamed.pieces:
                        for name, into in zip(self._names, self._states(streamed, piece, memory)):
                            into.copy_(_part(local_part(tensors[name]), piece))
                        piece.record = self._put(parameter, streamed, piece, memory, self._spill)
        except BaseException:
            _drop(self._spill, loaded)
            raise
        self._done = None
        self._under_way.clear()
        self._end()
        self._streamed = loaded
        self._keep_until_the_end()

    def move(self, spill: Offload) -> None:
        """To the store of another `Offload`, or changes nothing."""
        self._check_open()
        self._settle()
        moved: dict[Tensor, _Streamed] = {}
        try:
            for parameter, streamed in self._streamed.items():
                moved[parameter] = copy = _Streamed(streamed.count, streamed.kind, max(streamed.count, 1))
                copy.number, copy.pieces = streamed.number, [_Piece(piece.begin, piece.end) for piece in streamed.pieces]
                copy.left = [new for new, old in zip(copy.pieces, streamed.pieces) if old in streamed.left]
                with self._memory_of(streamed) as memory:
                    for new, old in zip(copy.pieces, streamed.pieces):
                        if old.record is not None:
                            self._read(streamed, old, memory)
                            new.record = self._put(parameter, streamed, old, memory, spill)
        except BaseException:
            _drop(spill, moved)
            raise
        self._end()
        self._spill, self._streamed = spill, moved
        self._under_way = {parameter: moved[parameter] for parameter in self._under_way}
        self._keep_until_the_end()


def _part(tensor: Tensor, piece: _Piece) -> Tensor:
    """The piece's elements, in the order of a dense tensor."""
    return tensor.view(-1)[piece.begin:piece.end] if tensor.is_contiguous() else tensor.take(torch.arange(piece.begin, piece.end))


def _set_part(tensor: Tensor, piece: _Piece, values: Tensor) -> None:
    if tensor.is_contiguous():
        _move(_part(tensor, piece), values)
    else:
        tensor.put_(torch.arange(piece.begin, piece.end), values)


def _move(to: Tensor, values: Tensor) -> None:
    # On this thread alone: torch's team would wait for cores that the store's thread uses.
    ctypes.memmove(to.data_ptr(), values.data_ptr(), values.nbytes)


def _drop(spill: Offload, streamed: Mapping[Tensor, _Streamed]) -> None:
    for one in streamed.values():
        for piece in one.pieces:
            for record in [*piece.older, *([] if piece.record is None else [piece.record])]:
                spill._store.drop(record)


def _retire(spill: Offload, streamed: Mapping[Tensor, _Streamed]) -> None:
    """Ends records that have replaced others."""
    if spill._closed:
        return
    # One that ends before it was read back leaves the one that it was to replace.
    with contextlib.suppress(StorageError):
        spill._store.finish()
    _drop(spill, streamed)
