# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What modules do to the rows of their input, as programs.

The modules run once on fake tensors, in place of their parameters also, under a Recorder. What a program does not show must not matter: what
the modules have (their kinds, children and modes, the numbers that they read, the types of their tensors) is compared at each call, and where
it is another one, they are traced again; where a program cannot be, as with hooks, they run themselves.
"""

from __future__ import annotations

import dis
import sys
import threading
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.utils._python_dispatch import _disable_current_modes

from .._errors import Error
from ..ops import Spec, tracing
from ..ops.regions import WIDEST, Unsupported
from . import _aten, _dispatch  # noqa: F401
from ._dense import draws, unhooked
from ._op import _on_cpu, quiet
from ._recorder import Recorder, count_of, dtype_name, known

# Extents of rows that are traced for, numbers that nothing else has.
_EXTENTS = (7919, 7907, 7901, 7883, 7879)

# As often as this, calls may find numbers that the modules have not had before.
_MOST_TRACES = 16

aten = torch.ops.aten
_plain_types, _places = _dispatch._plain_types, (*_dispatch.DEVICES, "meta")
_own_names = frozenset(nn.Module().__dict__)

# A forward that asks for these does not do the same in each call.
_QUESTIONS = frozenset(["requires_grad", "is_grad_enabled", "is_inference_mode_enabled", "is_autocast_enabled", "grad_fn", "is_contiguous", "stride"])
# One that does not ask for these does to a tensor of one dimension what it does to a row.
_SHAPES = frozenset(["dim", "ndim", "ndimension", "shape", "size", "T", "mT", "transpose", "permute", "unsqueeze", "flatten"])


# What these do to a forward, a trace may not show.
_CONTEXTS = ("torch.utils._contextlib", "torch.autograd.grad_mode", "torch.amp.autocast_mode")

# Where dropout, and norms of batches, are refused in training.
_OF_DROPOUT, _OF_STATISTICS = ("empty_like", "bernoulli", "new_empty", "empty"), ("add_", "native_batch_norm", "_native_batch_norm_legit")


class _Recorder(Recorder):
    """One whose shared tensors become inputs where they are first read."""

    def __init__(self, rows, shared):
        super().__init__(tracing.Program(), rows)
        self.shared = {id(one): i for i, one in enumerate(shared)}
        self.given |= set(self.shared)
        self.read = []

    def item(self, tensor):
        number = self.shared.get(id(tensor))
        if number is not None and number not in self.read:
            self.take(tensor, -1)
            self.read.append(number)
        return super().item(tensor)

    def _write(self, func, arguments, options):
        if func.overloadpacket is aten.squeeze and self.item(arguments[0]).rows:
            dims = arguments[1:] and (arguments[1] if isinstance(arguments[1], (list, tuple)) else arguments[1:])
            if not dims or not all(isinstance(arguments[0].shape[dim], int) for dim in dims):
                raise Unsupported("it drops extents of one, which rows may have")
        if func.overloadpacket is aten.empty_like:
            raise Unsupported("it makes a tensor without numbers, as dropout does")
        return super()._write(func, arguments, options)


@dataclass
class Traced:
    """A program: its spec's text, the channels of x, which tensors of the modules it takes behind x, its products (channels in, channels out), the
    extents of a row of its result, what must be as it was (owner, name, value), and whether a tensor of one dimension is a row to it."""

    text: str
    channels: int
    tensors: list[int]
    products: list[tuple[int, int]]
    row: tuple[int, ...]
    numbers: list[tuple[Any, str, Any]]
    takes_a_row: bool


def hold(numbers):
    """Whether what must be as it was is so."""
    for owner, name, value in numbers:
        now = owner.get(name) if type(owner) is dict else getattr(owner, name, None)
        if now is not value and (type(now) is not type(value) or now != value):
            return False
    return True


class _Tree:
    """The modules that some calls lead to, with what they were like."""

    def __init__(self, calls):
        self.calls = calls
        self.modules = list(dict.fromkeys(module for call in calls for module in call.modules()))
        self.were = [(module, module.__class__, tuple(module._modules.values())) for module in self.modules]
        self.owners = [slots for module in self.modules for slots in (module._parameters, module._buffers)]

    def is_as_it_was(self, calls):
        return calls == self.calls and all(module.__class__ is kind and tuple(module._modules.values()) == children
                                           for module, kind, children in self.were)

    def tensors(self):
        return [one for slots in self.owners for one in slots.values() if one is not None]


def watched(call: Callable[[], Any], *roots: types.CodeType) -> tuple[Any, dict[types.CodeType, dict]]:
    """The result of a call, and {code: its globals} of all functions outside of torch that `roots` and the modules' forwards lead to."""
    codes: dict[types.CodeType, dict] = dict.fromkeys(roots, {})
    contexts, callers = [], ("torch.nn.modules.module", "drawloom.torch._fuse", "drawloom.torch._trace", __name__)
    before = sys.getprofile()

    def see(frame, event, _):
        back = frame.f_back
        if event != "call" or not back or (back.f_code not in codes and back.f_globals.get("__name__") not in callers):
            return
        name = frame.f_globals.get("__name__") or ""
        if name in _CONTEXTS and back.f_code in codes:
            contexts.append(name)
        elif not _of_torch(name) or frame.f_code.co_name == "forward":
            codes[frame.f_code] = frame.f_globals

    sys.setprofile(see)
    try:
        result = call()
    finally:
        sys.setprofile(before)
    if contexts:
        raise Unsupported("its forward has a context manager")
    return result, codes


def check_code(code, conditions=True):
    """Raises Unsupported for code of which one trace does not say all; conditions may be known not to matter."""
    where = f"({code.co_filename.rpartition('/')[2]}:{code.co_firstlineno})"
    if getattr(code, "co_exceptiontable", b"") and code.co_name != "<genexpr>":
        raise Unsupported(f"its code {where} has a context manager or catches exceptions")
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if "WITH" in name or name == "SETUP_FINALLY":
            raise Unsupported(f"its code {where} has a context manager or catches exceptions")
        if not conditions and "JUMP" in name and "IF" in name:
            raise Unsupported(f"its code {where} has a condition")
        if name in ("STORE_ATTR", "STORE_GLOBAL", "DELETE_ATTR"):
            raise Unsupported(f"its code {where} sets {instruction.argval}")


def is_number(value):
    """What is compared by its value."""
    return value is None or isinstance(value, (bool, int, float, complex, str, torch.dtype, torch.device)) or (
        isinstance(value, tuple) and all(map(is_number, value)))


def numbers_of(modules, codes):
    """(what must be as it is for a trace to hold, the names that these codes have)."""
    names = {name for code in codes for name in (*code.co_names, *(one for one in code.co_consts if isinstance(one, str)))}
    for code, namespace in codes.items():
        asked = sorted(_QUESTIONS.intersection(code.co_names))
        if asked and not _of_torch(namespace.get("__name__") or ""):
            raise Unsupported(f"its code asks for {asked[0]}")
    found = []
    for module in modules:
        kind = getattr(module, "_drawloom_kind", type(module))
        of_torch = _of_torch(kind.__module__)
        of_class = {name for base in kind.__mro__ if base not in nn.Module.__mro__ for name, one in vars(base).items() if is_number(one)}
        own = {name for name in vars(module) if name not in _own_names and not name.startswith("_drawloom")}
        for name in own if of_torch else (own | of_class) & names:
            value = getattr(module, name)
            if is_number(value) or (callable(value) and not isinstance(value, nn.Module)):
                found.append((module, name, value))
            elif not of_torch and not isinstance(value, (Tensor, nn.Module)):
                raise Unsupported(f"its forward reads self.{name}, which is neither a module nor a number")
    for code, namespace in codes.items():
        found += [(namespace, name, namespace[name]) for name in code.co_names
                  if is_number(namespace.get(name)) and name in namespace and not name.startswith("__")]
    return found, names


def _of_torch(name):
    return name.partition(".")[0] in ("torch", "drawloom")


class Kept:
    """Puts back what a trace leaves in modules, and tells of it."""

    _CONTAINERS = (list, dict, set)

    def __init__(self, modules):
        self.were = [(module, dict(vars(module)), {name: type(one)(one) for name, one in vars(module).items() if type(one) in self._CONTAINERS})
                     for module in modules]

    def put_back(self):
        """The name of an attribute that was changed, or None."""
        changed = None
        for module, were, contents in self.were:
            now = vars(module)
            for name in [name for name in {**now, **were} if now.get(name, self) is not were.get(name, self)]:
                changed = changed or name
                if name in were:
                    now[name] = were[name]
                else:
                    del now[name]
            for name, content in contents.items():
                container = were[name]
                if len(container) != len(content) or any(one is not other for one, other in zip(_items(container), _items(content))):
                    changed = changed or name
                    container.clear()
                    (container.extend if isinstance(container, list) else container.update)(content)
        return changed


def _items(container):
    return [one for pair in container.items() for one in pair] if isinstance(container, dict) else list(container)


def _fakes(dtype, channels, tensors, extents):
    """(x, fake twins of the tensors by their identity): x has rows of these extents, which are symbols."""
    fake = FakeTensorMode(shape_env=ShapeEnv())

    def make(dtype, shape, lead):
        sizes = [DimDynamic.DUCK if d < lead else DimDynamic.STATIC for d in range(len(shape))]
        one = fake.from_tensor(torch.empty(shape, dtype=dtype, device="meta"), symbolic_context=StatelessSymbolicContext(dynamic_sizes=sizes))
        return _on_cpu(fake, one)

    x = make(dtype, (*extents, channels), len(extents))
    return x, {id(one): make(one.dtype, one.shape, 0) for one in tensors}


def _record(tree, compute, dtype, channels, lead, look=True):
    """(recorder, its result, the codes that ran, where somebody looks)."""
    tensors = list({id(one): one for one in tree.tensors()}.values())
    x, twins = _fakes(dtype, channels, tensors, _EXTENTS[:lead])
    rows = count_of(x.shape[:lead])
    kept, slots = Kept(tree.modules), [(owner, name, one) for owner in tree.owners for name, one in owner.items() if one is not None]
    recorder = _Recorder(rows, twins.values())
    recorder.take(x, lead)
    try:
        for owner, name, one in slots:
            owner[name] = twins[id(one)]
        # What turns gradients off then shows.
        with torch.enable_grad(), recorder:
            result, codes = watched(lambda: compute(x)) if look else (compute(x), {})
    finally:
        for owner, name, one in slots:
            owner[name] = one
        changed = kept.put_back()
    if changed:
        raise Unsupported(f"its forward sets self.{changed}")
    for code in codes:
        check_code(code)
    if not isinstance(result, Tensor):
        raise Unsupported(f"it gives a {type(result).__name__}, and not one tensor")
    item = recorder.item(result)
    if item.lead != lead:
        raise Unsupported("its result does not have the rows that its input has" if item.rows else "it gives a tensor that all rows share")
    symbols = {one.node.expr for one in x.shape[:lead]}
    if any(one.node.maybe_as_int() is not None for one in x.shape[:lead]) or any(
            guard.expr.free_symbols & symbols for guard in x.fake_mode.shape_env.guards):
        raise Unsupported("what is done depends on the number of rows")
    recorder.result(result)
    return recorder, result, codes


_lock = threading.RLock()


def trace(calls: Sequence[nn.Module], compute: Callable[[Tensor], Tensor], dtype: torch.dtype, channels: int, lead: int) -> Traced:
    """The program of compute(x), which calls these modules, for x of so many channels, with rows in `lead` dimensions. Raises Unsupported, or
    whatever the modules raise for such an x."""
    tree = _Tree(tuple(calls))
    dtype_name(dtype)
    # The call may be traced itself, or transformed.
    with _lock, _disable_current_modes(), temporarily_clear_interpreter_stack(), quiet():
        recorder, result, codes = _record(tree, compute, dtype, channels, lead)
        numbers, names = numbers_of(tree.modules, codes)
        again, *_ = _record(tree, compute, dtype, channels, lead, look=False)
    if (recorder.program.attributes(), recorder.read) != (again.program.attributes(), again.read):
        raise Unsupported("its forward is not the same each time")
    spec = _dispatch.intern(Spec("rows", recorder.program.attributes()))
    return Traced(str(spec), channels, recorder.read, recorder.program.products, known(result.shape[lead:], "a row"), numbers, not names & _SHAPES)


def blocked(calls, alone=False):
    """Why these modules run themselves whatever they compute, or None. `alone`: the one module is not called, its forward is."""
    for at, module in enumerate(module for call in calls for module in call.modules()):
        if isinstance(module, torch.jit.ScriptModule):
            return "its forward is not its class's"
        if not (alone and at == 0) and not unhooked(module):
            return "a module in it has hooks, parametrizations or a forward of its own"
    return None


def reason(error, calls):
    """Why a trace of these modules failed, in a line."""
    op = getattr(error, "op", None)
    for module in (module for call in calls for module in call.modules()):
        if op in _OF_DROPOUT and draws(module):
            return f"{type(module).__name__}(p={module.p}) draws random numbers; of a model in eval() it does not"
        if op in _OF_STATISTICS and module.training and isinstance(module, nn.modules.batchnorm._NormBase):
            return f"{type(module).__name__} goes over the rows in training; of a model in eval() it does not"
    if isinstance(error, (Unsupported, Error)):
        return str(error)
    return f"its forward cannot be traced: {str(error).partition(chr(10))[0] or type(error).__name__}"


def too_wide(traced):
    """Why products are not worth a program, or None."""
    widest = max((max(one) for one in traced.products), default=0)
    return f"a layer has {widest} channels; above {WIDEST} the products take all the time" if widest > WIDEST else None


def worth(traced):
    """Why a program is not worth it, or None."""
    return too_wide(traced) if len(traced.products) > 1 else "it is a single layer" if traced.products else "it has no product"


class Program:
    """Modules, called one after another, or one module's forward: called as a program where they can be."""

    def __init__(self, channels: int = 0, alone: bool = False) -> None:
        self.channels, self.alone = channels, alone
        self._forget()

    def _forget(self) -> None:
        self.tree: _Tree | None = None
        self.known: dict[Any, list[Traced | None]] = {}

    def __deepcopy__(self, memo):
        return Program(self.channels, self.alone)

    def __reduce__(self):
        return Program, (self.channels, self.alone)

    def of(self, calls, compute, x):
        """(program, tensors) for x; None where the modules run themselves."""
        if self.tree is None or not self.tree.is_as_it_was(calls):
            self._forget()
            self.tree = _Tree(calls)
        tensors = self.tree.tensors()
        shape = x.shape
        if not shape or any([type(one) not in _plain_types or one.device.type not in _places for one in (x, *tensors)]):
            return None
        modules = self.tree.modules
        for module in modules[self.alone:]:
            if not unhooked(module):
                return None
        identities = [id(one) for one in tensors]
        lead = len(shape) - 1
        kind = "cuda" if x.is_cuda else "cpu"
        autocast = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
        key = (x.dtype, lead, shape[-1], autocast, *[module.training for module in modules], *[(one.dtype, one.shape) for one in tensors],
               *([] if len(set(identities)) == len(identities) else map(identities.index, identities)))
        found = self.known.setdefault(key, [])
        for traced in found:
            if traced is None:
                return None
            if hold(traced.numbers):
                break
        else:
            traced = self._trace(calls, compute, x, lead) if len(found) < _MOST_TRACES else None
            found.append(traced)
            if traced is None:
                return None
        distinct = list({id(one): one for one in tensors}.values())
        return traced, [distinct[i] for i in traced.tensors]

    def _trace(self, calls, compute, x, lead):
        try:
            if blocked(calls, self.alone):
                return None
            traced = trace(calls, compute, x.dtype, x.shape[-1], max(lead, 1))
        except Exception:  # Modules are anybody's: whatever they raise here, they may raise themselves.
            return None
        return None if worth(traced) or (not lead and not traced.takes_a_row) else traced

    def chosen(self, calls, compute, dtype, lead):
        """(the spec's text, [(number of a call, path of a module in it, name)] of the tensors that it takes behind x, [(number, path, name,
        value)] of the numbers that must be as they are, [(number, path, name)] of functions, the channels of x, the extents of a row of the
        result) for an input of a type; None where the modules run themselves."""
        with _disable_current_modes():
            x = torch.empty((*[2] * lead, self.channels), dtype=dtype)
            found = self.of(calls, compute, x)
        if found is None:
            return None
        traced, tensors = found
        paths = {id(module): (at, path) for at, call in enumerate(calls) for path, module in call.named_modules()}
        places = {id(one): (*paths[id(module)], name) for module in self.tree.modules
                  for slots in (module._parameters, module._buffers) for name, one in slots.items() if one is not None}
        numbers = [(*paths[id(module)], "training", module.training) for module in self.tree.modules]
        read = [(*paths[id(owner)], name, value) for owner, name, value in traced.numbers if id(owner) in paths]
        numbers += [one for one in read if is_number(one[3])]
        return (traced.text, tuple(places[id(one)] for one in tensors), tuple(numbers), tuple(one[:3] for one in read if not is_number(one[3])),
                self.channels, traced.row)

    def __call__(self, calls: tuple[nn.Module, ...], compute: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """compute(x), which calls these modules."""
        found = None if torch.compiler.is_compiling() else self.of(calls, compute, x)
        if found is None:
            return compute(x)
        traced, tensors = found
        result, = _dispatch.apply([x if x.dim() == 2 else x.reshape(-1, x.shape[-1]), *tensors], traced.text)
        return result if x.dim() == 2 else result.reshape(*x.shape[:-1], *traced.row)
