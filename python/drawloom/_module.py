# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs: drawloom.compile, drawloom.grad and what they return."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union

from . import (
    _drawloom,
    _library,  # First: it loads the extension module.
)
from ._errors import CallError, CallTypeError, CompileError
from ._spill import Folders, Spill, size_of

__all__ = ["Function", "Module", "compile", "grad", "load", "load_plugin"]

# Types of arguments, for type checkers.
Path = Union[str, "os.PathLike[str]"]
Source = Union[str, bytes, "os.PathLike[str]", Sequence["Source"]]
"""MLIR text, bytecode, a file's path, or a list of these."""


class SupportsDLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


if TYPE_CHECKING:
    from typing_extensions import Buffer

    Array = Union[Buffer, SupportsDLPack, float]
else:
    Array = Any
"""An array, or a number for a scalar."""

_MLIR_NAMES = {"float64": "f64", "float32": "f32", "bfloat16": "bf16", "float16": "f16", "int64": "i64", "int32": "i32",
               "int8": "i8", "bool": "i1"}


def type_text(name, shape, scalar=False):
    """MLIR's tensor type for an element type's name and a shape: ("float32", (-1, 3)) is "tensor<?x3xf32>". A scalar's is f32."""
    if scalar:
        return _MLIR_NAMES[name]
    return "tensor<" + "".join(f"{extent if extent >= 0 else '?'}x" for extent in shape) + _MLIR_NAMES[name] + ">"


def named_text(name):
    """Stands behind the type of an argument or a result whose name this is; "" is none."""
    return f' {{drawloom.name = "{name}"}}' if name else ""


# What a store counts with where a program may have any memory.
_UNLIMITED = 256 << 20

# With the object as an argument: torch.compile loses that of a bound method.
_call = _drawloom.Function.call


def _type_in_words(name, shape):
    return name + str([extent if extent >= 0 else "?" for extent in shape]).replace("'", "")


def _named_types(types, names):
    """For each type ("float32", (4, -1)) "float32[4, ?]", or behind its name, "x: float32[4, ?]"."""
    return [f"{name}: {_type_in_words(*one)}" if name else _type_in_words(*one) for name, one in zip(names, types)]


class Function:
    """A function of a module. Calling it computes its results from arrays.

    Arguments are NumPy, torch or JAX arrays, or anything else with the buffer protocol or DLPack, dense arrays without a
    copy; numbers stand for scalars. Those that the program names (`drawloom.name`) may be given by name, as in f(x, w=w).
    Results are new arrays of the kind of the first array among the arguments, one as it is and several as a tuple;
    `out` names dense arrays to write instead. Nothing is differentiated: drawloom.torch and drawloom.jax take part in their framework's differentiation.

    Where the module runs on a GPU (target="cuda"), arrays of the host are copied there and results back. Arrays of that GPU
    are used in place: the work is put on `stream` (a CUstream's number; by default the library's current stream, else the
    legacy default stream), nothing waits, and results are arrays of the GPU.

    A `?` in an argument's type takes any extent. Where one program can take them all, it is compiled once (docs/shapes.md says
    when); elsewhere for each new combination of shapes.
    """

    def __init__(self, program: Program, parsed: _drawloom.Function) -> None:
        self.__name__ = self.name = parsed.name
        self._program = program
        # A compiled program numbers its open extents, as -1, -2, ...
        self._arguments, self._results = ([(name, tuple(max(extent, -1) for extent in shape)) for name, shape in types]
                                          for types in (parsed.arguments, parsed.results))
        self._scalars = parsed.scalars
        self._open = any(extent < 0 for _, shape in self._arguments for extent in shape)
        self._compiled: dict[tuple[tuple[int, ...], ...], _drawloom.Function] = {}
        # The one for all shapes, once it is compiled.
        self._fixed: _drawloom.Function | None = None
        # The one for any extents, once it is compiled; False where there can be none.
        self._any: _drawloom.Function | Literal[False] | None = None
        self._names = parsed.names
        # For people; `grad` says more, as "cotangent of result 0".
        self._argument_labels, self._result_labels = self._names

    @property
    def arguments(self) -> list[tuple[str, tuple[int, ...]]]:
        """For each argument its element type's name and its shape, with -1 for an extent that is open."""
        return list(self._arguments)

    @property
    def results(self) -> list[tuple[str, tuple[int, ...]]]:
        """The same for the results."""
        return list(self._results)

    @property
    def argument_names(self) -> list[str]:
        """What the program calls its arguments (`drawloom.name`); "" where it does not say."""
        return list(self._names[0])

    @property
    def result_names(self) -> list[str]:
        """The same for the results."""
        return list(self._names[1])

    def __repr__(self):
        arguments, results = (", ".join(_named_types(*one)) for one in ((self._arguments, self._argument_labels),
                                                                         (self._results, self._result_labels)))
        return f"<drawloom function @{self.name}({arguments}) -> ({results})>"

    def __call__(self, /, *arrays: Array, out: Array | Sequence[Array] | None = None, threads: int | None = None,
                 stream: int | None = None, **named: Array) -> Any:
        if named:
            arrays = self._in_order(arrays, named)
        if len(arrays) != len(self._arguments):
            raise self._count_error(len(arrays))
        compiled = self._fixed
        if compiled is None:
            compiled = self.specialize(*(self._shape(i, array) for i, array in enumerate(arrays)))
            if not self._open or self._any:
                self._fixed = compiled = self._any or compiled
        threads = self._program.most_threads if threads is None else check_threads(threads)
        if self._program.spill is not None:
            with self._program.storing(compiled):
                return _call(compiled, arrays, out, threads, stream)
        return _call(compiled, arrays, out, threads, stream)

    # torch.compile leaves a call to Python; where it may not (fullgraph=True) it says this.
    __call__._torchdynamo_disable = True  # type: ignore[attr-defined]
    __call__._torchdynamo_disable_msg = (  # type: ignore[attr-defined]
        "a drawloom.Function is compiled already, and torch cannot look into it: define an op that calls it, by "
        "torch.library.custom_op with a register_fake, or leave out fullgraph=True")

    def _in_order(self, arrays, named):
        """The arguments of a call, of which some are given by name."""
        names = self._names[0]
        if len(arrays) > len(names):
            raise self._count_error(len(arrays) + len(named))
        behind = names[len(arrays):]
        for name in named:
            if name in behind:
                continue
            if name in names:
                raise CallTypeError(f"argument '{name}' of @{self.name} is given twice, in its place and by name")
            known = ", ".join(filter(None, names))
            raise CallTypeError(f"@{self.name} has no argument '{name}'; " + (f"it has {known}" if known else "its arguments have no names"))
        missing = [name or f"argument {len(arrays) + i}" for i, name in enumerate(behind) if name not in named]
        if missing:
            raise CallTypeError(f"@{self.name} is called without {', '.join(missing)}")
        return (*arrays, *(named[name] for name in behind))

    def _shape(self, i, array):
        shape = getattr(array, "shape", None)
        if shape is None and not isinstance(array, (int, float)):
            try:
                return memoryview(array).shape
            except TypeError:
                raise CallTypeError(f"{self._in_words(i)} is a {type(array).__name__}, which is no array of numbers "
                                    "(buffer protocol or DLPack)") from None
        return shape or ()

    def specialize(self, *shapes: Sequence[int]) -> _drawloom.Function:
        """Compiles for arguments of these shapes, unless that has been done. Gives the extension module's function."""
        extents = tuple(tuple(int(extent) for extent in shape) for shape in shapes)
        key = extents if self._open else ()
        compiled = self._compiled.get(key)
        if compiled is None:
            if self._open:
                self._check(extents)
            compiled = self._compiled[key] = self._for_extents(extents) if self._open else self._program.compile(self.name, None)
        return compiled

    def _for_extents(self, extents):
        """One program takes all extents, if there can be one; else each combination of shapes has its own."""
        if self._any is None and self._program.keeps_open():
            try:
                self._any = self._program.compile(self.name, None)
            except CompileError:
                # What is wrong with the program whatever the extents are, the next compilation says.
                self._any = False
        if self._any:
            return self._any.bind(extents)
        return self._program.compile(self.name, extents)

    def _in_words(self, i):
        name = self._names[0][i] if i < len(self._names[0]) else ""
        return f"argument {i}{f' ({name})' if name else ''} of @{self.name}"

    def _count_error(self, given):
        takes = ", ".join(_named_types(self._arguments, self._argument_labels))
        return CallTypeError(f"@{self.name} takes {len(self._arguments)} arguments ({takes}), but {given} are given")

    def _check(self, shapes):
        if len(shapes) != len(self._arguments):
            raise self._count_error(len(shapes))
        for i, ((name, wanted), given) in enumerate(zip(self._arguments, shapes)):
            if len(wanted) != len(given) or any(w not in (-1, g) for w, g in zip(wanted, given)):
                raise CallError(f"{self._in_words(i)} takes {_type_in_words(name, wanted)}, but its shape is {list(given)}")


class Program:
    """What a module and its functions share. It refers to none of these: with the last of them its memory goes, and its store."""

    def __init__(self, sources: list[tuple[str, bytes]] | None, compiler: _drawloom.Compiler | None, options: tuple[Any, ...],
                 threads: int | None, spill: Spill | None) -> None:
        self.sources, self.compiler, self.options, self.threads, self.spill = sources, compiler, options, threads, spill
        self.entry: str | None = None
        # Of each function its name, and whether extents are open.
        self.open: dict[str, bool] = {}
        self.built: _drawloom.Program | None = None
        self._static: dict[str, _drawloom.Function] | None = None
        self._lock = threading.Lock()
        self._processors = _library.processors()

    @property
    def most_threads(self) -> int:
        return self.threads or _library.torch_threads() or self._processors

    def load(self, built: _drawloom.Program) -> dict[str, _drawloom.Function]:
        """The functions of a program that is compiled."""
        self.built = built
        self._static = {function.name: function for function in built.functions}
        return self._static

    def compile_static(self) -> dict[str, _drawloom.Function]:
        """All functions at once, which share what they have in common."""
        with self._lock:
            if self._static is None:
                return self.load(_library.build(self.compiler, self.sources, []))
            return self._static

    def storing(self, compiled):
        """Calls of the function meanwhile have the store that they need."""
        return self.spill.used() if self.spill is not None and compiled.stored else contextlib.nullcontext()

    def keeps_open(self):
        """Whether programs may leave extents open: not where their memory is planned."""
        return not self.options or not self.options[4]

    def compile(self, name, shapes):
        """One function: for these shapes, or for any."""
        if self._static is not None or shapes is None and self.entry is None and not any(self.open.values()):
            return self.compile_static()[name]
        program = _library.build(self.compiler, only(self.sources, self.open, name),
                                 [] if shapes is None else [(name, [list(shape) for shape in shapes])])
        return next(function for function in program.functions if function.name == name)


class Module:
    """A compiled program: each of its public functions is an attribute. See `compile`."""

    def __init__(self, program: Program, parsed: list[_drawloom.Function], entry: str | None = None) -> None:
        self._program, self.entry = program, entry
        self._functions = {function.name: Function(program, function) for function in parsed}
        program.open = {function.name: function._open for function in self._functions.values()}
        if entry is not None and entry not in self._functions:
            raise CallError(f"the program has no function @{entry}; it has {self._names()}")
        program.entry = entry

    @property
    def threads(self) -> int:
        """How many threads a call uses at most: those that were asked for; else as many as this process may use or, once torch is
        imported, as many as torch.get_num_threads() says."""
        return self._program.most_threads

    def save(self, path: Path) -> None:
        """Writes the compiled program to a file for `load`, and for the C and C++ runtime, which needs no compiler: code for
        each of the instruction sets that it was compiled for (isa="all", say). What it leaves open stays open; CompileError says
        where that cannot be."""
        program = self._program
        if program.built is None:
            program.built = _library.build(program.compiler, program.sources, [])
        program.built.save(path_text(path, "the path"))

    def _compile(self, name, shapes):
        return self._program.compile(name, shapes)

    def _names(self):
        return ", ".join("@" + name for name in self._functions) or "none"

    @property
    def functions(self) -> list[str]:
        """The names of its functions."""
        return list(self._functions)

    def __getattr__(self, name: str) -> Function:
        functions = self.__dict__.get("_functions", {})
        if name in functions:
            # The next look finds it without coming here.
            self.__dict__[name] = functions[name]
            return functions[name]
        raise AttributeError(f"the program has no function @{name}; it has {self._names()}" if functions else name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __call__(self, /, *arrays: Array, out: Array | Sequence[Array] | None = None, threads: int | None = None,
                 stream: int | None = None, **named: Array) -> Any:
        """Calls the entry, or the only function."""
        if self.entry is None and len(self._functions) != 1:
            raise CallError(f"the program has several functions, {self._names()}: name one, as in module.NAME(...), or "
                            "give compile() an entry")
        return self._functions[self.entry or next(iter(self._functions))](*arrays, out=out, threads=threads, stream=stream, **named)

    def __repr__(self):
        return f"<drawloom module with {self._names()}>"


def _compiled(sources: list[tuple[str, bytes]], entry: str | None, target: str, threads: int | None, isa: str | None, cache: bool | Path,
              memory: int, spill: Folders | None, memory_rates: str, plan: str, insert_passes: tuple[str, ...]) -> Module:
    compiler = _library.compiler(target, isa, cache if cache is None or isinstance(cache, bool) else path_text(cache, "cache"), memory=memory,
                                 stores=spill is not None, memory_rates=memory_rates, plan=plan, insert_passes=insert_passes)
    program = Program(sources, compiler, (target, threads, isa, cache, memory, spill, memory_rates, plan, insert_passes), threads,
                      None if spill is None else Spill(spill, memory or _UNLIMITED))
    module = Module(program, _library.parse(compiler, sources), entry)
    # What can be compiled is compiled now, so that errors come here and not in the first call.
    if entry is None and not any(program.open.values()):
        program.compile_static()
    elif entry is not None and not program.open[entry]:
        module._functions[entry].specialize()
    return module


def only(sources, names, name):
    """The sources, with every other public function private, so that it is compiled only as far as `name` calls it."""
    others = [other for other in names if other != name]
    if not others:
        return sources
    return [(file, _make_private(text, others)) for file, text in sources]


def _make_private(text, names):
    import re

    pattern = rb"\bfunc\.func\s+@(" + b"|".join(re.escape(name.encode()) for name in names) + rb")(?=\s*\()"
    return re.sub(pattern, rb"func.func private @\1", text)


def check_threads(threads):
    """The number of threads, if it is one."""
    if not isinstance(threads, int) or not 1 <= threads < 2**31:
        raise CallError(f"threads is {threads!r}; it is a number of threads from 1")
    return threads


def path_text(path, what):
    """The path as a string; refuses what no file can be called."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise CallTypeError(f"{what} is {path!r}; it is the path of a file")
    text = os.fsdecode(path)
    if "\0" in text:
        raise CallError(f"{what} is {text!r}: no path has a null character")
    return text


def _read(source):
    """[(name, bytes)] for text, bytecode, a file or a list of files."""
    if isinstance(source, (list, tuple)):
        return [pair for one in source for pair in _read(one)]
    if isinstance(source, bytes):
        return [("source", source)]
    if isinstance(source, str) and ("\n" in source or "{" in source or not source.endswith((".mlir", ".mlirbc"))):
        return [("source", source.encode())]
    if not isinstance(source, (str, os.PathLike)):
        raise CallTypeError(f"the source is a {type(source).__name__}; it is MLIR text or bytecode, the path of a file, or a list of "
                            "these")
    path = path_text(source, "the source")
    with open(path, "rb") as file:
        return [(path, file.read())]


def compile(source: Source, *, entry: str | None = None, target: str = "cpu", threads: int | None = None, isa: str | None = None,
            cache: bool | Path = True, memory: int | str | None = None, spill: Folders | None = None,
            memory_rates: str | None = None, plan: Path | None = None, insert_passes: str | Sequence[str] = ()) -> Module:
    """Compiles a program.

    source   MLIR text or bytecode; the path of a file (a Path, or a string that ends in .mlir); or a list of these, which
             are linked: a private function that one only declares is defined by another
    entry    the function that calling the module calls; only it is compiled at once, and others when they are first called
    target   "cpu"; "cuda" for the current NVIDIA GPU, else the first, "cuda:1" for one by its number; "emulator" runs the kernels
             for GPUs on the CPU and checks them
    threads  that a call uses at most; by default as many as this process may, once torch is imported as many as its own ops, and on
             their threads. Results have the same bits for any number
    isa      the instruction set: by default this machine's; "avx2", say; several with commas between them, or "all"
    cache    keep compiled programs for other processes: True (in the user's folder, see drawloom.cache), False, or a folder
    memory   bytes that a call may take beside its arguments and results, such as "512MiB": where it would need more, values are
             computed again, or wait in the folder of `spill`; CompileError says what is the least (docs/memory.md). On a GPU
             these are bytes of its memory, without the store's
    spill    folder of a local disk for values that leave memory, or a list of some
    memory_rates
             what the plan for the memory goes by, as drawloom-run --calibrate prints it
    plan     file for that plan: a table (.txt), or data (.json)
    insert_passes
             passes that run before those that lead into a phase, such as "structured:canonicalize,cse", or a list of such texts;
             they may be of a plugin (docs/extending.md)

    Gives a Module. Raises CompileError for a program that is wrong, with the place in the source, and TargetError.
    """
    for name, value in (("entry", entry), ("target", target), ("isa", isa)):
        if not isinstance(value, str) and not (value is None and name != "target"):
            raise CallTypeError(f"{name} is {value!r}; it is a string")
    if threads is not None:
        check_threads(threads)
    if memory_rates is not None and not isinstance(memory_rates, str):
        raise CallTypeError(f"memory_rates is {memory_rates!r}; it is a text such as 'write=1e9,read=1e9'")
    plan_file = "" if plan is None else os.path.abspath(path_text(plan, "plan"))
    if plan_file and not plan_file.endswith((".txt", ".json")):
        raise CallError(f"plan is '{plan_file}'; it is a .txt or .json file")
    return _compiled(_read(source), entry, target, threads, isa, cache, 0 if memory is None else size_of("memory", memory), spill,
                     memory_rates or "", plan_file, _passes(insert_passes))


def _passes(given):
    """The texts for the compiler."""
    texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else (given,)
    for text in texts:
        if not isinstance(text, str):
            raise CallTypeError(f"insert_passes is {given!r}; it is a text such as 'structured:canonicalize,cse', or a list of some")
        if "\0" in text:
            raise CallError(f"insert_passes has the text {text!r}: a NUL character is in it")
    return texts


def load_plugin(path: Path) -> None:
    """Loads a library with dialects and passes of another project, an MLIR plugin that was built with Drawloom's headers
    (docs/extending.md). `compile` takes programs with its ops from then on, and its passes as `insert_passes`. It stays in the
    process: loading it again does nothing, and another build of it is refused. FileError says why one does not fit."""
    _library.load_plugin(path_text(path, "the plugin"))


def load(path: Path, *, isa: str | None = None, threads: int | None = None, target: str | None = None,
         spill: Folders | None = None, memory: int | str | None = None) -> Module:
    """A module from a file that Module.save or drawloom-run --save wrote. Nothing is compiled. `isa` names one of the instruction
    sets that the file has code for; by default it is the best that this machine runs. `target` is "cpu" or "cuda", by default
    the CPU where the file has code for it. `spill` is as for compile, and
    `memory` what it was compiled for, of which the store has a part."""
    if threads is not None:
        check_threads(threads)
    if not isinstance(isa, str) and isa is not None:
        raise CallTypeError(f"isa is {isa!r}; it is a string")
    built = _drawloom.load(path_text(path, "the path"), isa or "", target or "")
    program = Program(None, None, (), threads,
                      None if spill is None else Spill(spill, _UNLIMITED if memory is None else size_of("memory", memory)))
    return Module(program, list(program.load(built).values()))


def grad(module: Module, entry: str | None = None, wrt: int | Sequence[int] = (0,), order: int = 1) -> Function:
    """The derivative of a function of a module, as a Function that is compiled when it is first called.

    For a function f of arguments x whose first result L is a float or a tensor of rank 0, order 1 gives the function
    x -> (all results of f, dL/dx_i for each i of `wrt`). For any other f it gives the vector-Jacobian products

        (x, g) -> (all results of f, sum_j (dy_j / dx_i)^T g_j for each i of wrt)

    with a cotangent g_j of the type of each result y_j. Order n takes the vector-Jacobian product of the gradients of
    order n - 1: for a loss, order 2 is (x, v) -> (gradients, Hessian times v). repr() of what this gives says what each argument
    and result is.
    """
    if not isinstance(module, Module):
        raise CallTypeError(f"grad is given a {type(module).__name__}; it takes a module, and the name of a function")
    if module._program.sources is None:
        raise CallError("the module was loaded from a file, which holds machine code and no program to differentiate")
    names = module.functions
    entry = entry or module.entry or (names[0] if len(names) == 1 else None)
    if entry not in names:
        raise CallError(f"the program has no function @{entry}; it has {module._names()}" if entry else
                        f"the program has several functions, {module._names()}: name the one to differentiate")
    wrt = (wrt,) if isinstance(wrt, int) else tuple(wrt)
    if not all(isinstance(i, int) for i in wrt):
        raise CallTypeError(f"wrt is {wrt}; it is the number of an argument, or several")
    function = getattr(module, entry)
    if not wrt or len(set(wrt)) != len(wrt) or not all(0 <= i < len(function.arguments) for i in wrt):
        raise CallError(f"wrt is {wrt}; it names arguments of @{entry}, which has {len(function.arguments)}, each once")
    for i in wrt:
        if function.arguments[i][0] not in ("float64", "float32", "bfloat16", "float16"):
            raise CallTypeError(f"argument {i} of @{entry} is {function.arguments[i][0]}: it has no derivative")
    if not isinstance(order, int) or order < 1:
        raise CallError(f"order is {order!r}; it is 1 or more")
    arguments, results = ([(*one, scalar) for one, scalar in zip(types, scalars)]
                          for types, scalars in zip((function.arguments, function.results), function._scalars))
    text, name, argument_labels, result_labels = derivative_text(entry, arguments, results, wrt, order, function._names)
    # The functions of the module itself serve the derivative, and are not compiled with it.
    sources = only(module._program.sources, names, None)
    derivative = getattr(_compiled([*sources, ("derivative", text.encode())], name, *module._program.options), name)
    derivative._argument_labels, derivative._result_labels = argument_labels, result_labels
    return derivative


def derivative_text(entry, arguments, results, wrt, order, known):
    """MLIR text of @<entry>_grad<order> beside a declaration of @entry, its name, and what its arguments and results are. Types are
    those of `type_text`; `known` are the names of the arguments and results of @entry, of which the arguments keep theirs."""
    def types(of):
        return [type_text(*one) for one in of]

    # A request needs a body to differentiate, and that of @entry is in another source: hence a function that calls it.
    names = [f"%x{i}" for i in range(len(arguments))]
    signature = f"({', '.join(types(arguments))}) -> ({', '.join(types(results))})"
    values = ", ".join(f"%y#{i}" for i in range(len(results)))
    lines = [f"func.func private @{entry}{signature}",
             f"func.func private @{entry}_called({', '.join(map(': '.join, zip(names, types(arguments))))}) -> ({', '.join(types(results))}) {{\n"
             f"  %y:{len(results)} = call @{entry}({', '.join(names)}) : {signature}\n"
             f"  return {values} : {', '.join(types(results))}\n}}"]
    callee, given, gives = f"{entry}_called", list(arguments), list(results)
    takes, makes = ([name or f"{what} {i}" for i, name in enumerate(of)] for what, of in zip(("argument", "result"), known))
    sources = takes
    for level in range(1, order + 1):
        loss = level == 1 and not gives[0][1] and gives[0][0].startswith("float")
        name = f"{entry}_grad" + (str(level) if level > 1 else "")
        gradients = [given[i] for i in wrt]
        cotangents = [] if loss else gives
        # What a level above is the derivative of: the gradients alone.
        inner = f"{name}_only"
        names = [f"%x{i}" for i in range(len(given))]
        more = [f"%g{i}" for i in range(len(cotangents))]
        callers = known[0] + [""] * (len(given + cotangents) - len(known[0]))
        parameters = ", ".join(f"{n}: {t}{named_text(c)}" for n, t, c in zip(names + more, types(given + cotangents), callers))
        all_results = gives + gradients
        request = "ad.value_and_grad" if loss else "ad.vjp"
        middle = "" if loss else f" cotangents({', '.join(more)})"
        body = (f"  %r:{len(all_results)} = {request} @{callee}({', '.join(names)}){middle} wrt {list(wrt)}\n"
                f"    : ({', '.join(types(given))}) -> ({', '.join(types(all_results))})\n")
        values = [f"%r#{i}" for i in range(len(all_results))]
        last = level == order
        for function, first in ((name, 0), (inner, len(gives))):
            if (function == name) != last:
                continue
            lines.append(f"func.func {'' if last else 'private '}@{function}({parameters}) -> ({', '.join(types(all_results[first:]))}) {{\n"
                         f"{body}  return {', '.join(values[first:])} : {', '.join(types(all_results[first:]))}\n}}")
        wanted = [f"{f'order-{level} ' if level > 1 else ''}gradient of {sources[i]}" for i in wrt]
        takes = takes if loss else takes + [f"cotangent of {'the ' if level > 1 else ''}{one}" for one in makes]
        makes = makes + wanted if last else wanted
        callee, given, gives = inner, given + cotangents, gradients
    return "\n".join(lines), name, takes, makes
