# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library and the compilers of this process; a mismatch of versions is one clear error at import."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import tempfile
import threading
import warnings

from ._errors import CallError, CompileError, Error


def _extension():
    """The extension module. A process has one, also where the package is imported anew: its types and the functions that JAX
    calls belong to the process."""
    package = sys.modules[__package__]
    loaded = getattr(sys, "_drawloom_extension", None)
    if loaded is None:
        try:
            from . import _drawloom as loaded
        except ImportError as error:
            if "libMLIR" in str(error) or "libLLVM" in str(error):
                raise ImportError(f"drawloom cannot load the shared libraries of MLIR and LLVM 22.1, which it does not bring along: "
                                  f"{error}. Debian's packages libmlir-22 and libllvm22 have them") from error
            if "nanobind" in str(error):
                raise ImportError(f"{error} `pip install nanobind-backend` brings it") from error
            raise
        sys._drawloom_extension = loaded  # type: ignore[attr-defined]
    elif os.path.realpath(os.path.dirname(loaded.__file__)) != os.path.realpath(os.path.dirname(__file__)):
        raise Error(f"this process has the package '{os.path.dirname(loaded.__file__)}' already, and is about to import "
                    f"'{os.path.dirname(__file__)}': two installations are mixed; check sys.path and PYTHONPATH for the other")
    sys.modules[f"{__package__}._drawloom"] = package._drawloom = loaded  # type: ignore[attr-defined]
    return loaded


_extension()

from . import _drawloom  # noqa: E402

if _drawloom.api_version() != _drawloom.built_for_api_version:
    raise Error(
        f"the library libdrawloom.so has version {_drawloom.api_version()} of its interface, and the package "
        f"'{os.path.dirname(__file__)}' was built for version {_drawloom.built_for_api_version}: two installations are "
        "mixed. `pip install --force-reinstall .` makes one of them; check PYTHONPATH and LD_LIBRARY_PATH for the other")

_lock = threading.Lock()
_compilers: dict[tuple, _drawloom.Compiler] = {}
# A compiler knows those that were loaded before it was made.
_plugins: set[str] = set()


def default_isa():
    """The instruction set where none is asked for: $DRAWLOOM_ISA, else this machine's."""
    return os.environ.get("DRAWLOOM_ISA") or "native"


def compiler(target="cpu", isa=None, cache=True, dump_phases_to="", memory=0, stores=False, memory_rates="", plan="", insert_passes=()):
    """The compiler for these options; the same one for the same options, since it remembers its programs."""
    folder = None if cache is True else "" if cache is False or cache is None else os.fspath(cache)
    isa = isa or (default_isa() if target == "cpu" else "native")
    # The environment is read each time: tests and programs set DRAWLOOM_CACHE after the import.
    key = (target, isa, folder, dump_phases_to, memory, stores, memory_rates, plan, insert_passes, len(_plugins),
           *(os.environ.get(name) for name in ("DRAWLOOM_CACHE", "XDG_CACHE_HOME", "DRAWLOOM_PROCESSORS")))
    with _lock:
        if key not in _compilers:
            _compilers[key] = _drawloom.Compiler(target, isa, folder, 0, dump_phases_to, memory, stores, memory_rates, plan,
                                                 list(insert_passes))
        return _compilers[key]


def load_plugin(path):
    """Loads dialects and passes, which compilers know from then on."""
    with _lock:
        _drawloom.load_plugin(path)
        _plugins.add(os.path.realpath(path))


def all_compilers():
    with _lock:
        return list(_compilers.values())


def program_after(phase, sources):
    """The program as text after a phase of compiling it for this machine's processor."""
    with tempfile.TemporaryDirectory(prefix="drawloom-") as folder:
        build(_drawloom.Compiler("cpu", default_isa(), "", 0, folder, 0, False, "", ""), sources, [])
        phases = {file[file.index("-") + 1:-len(".mlir")]: file for file in sorted(os.listdir(folder))}
        if phase not in phases:
            raise CallError(f"phase is {phase!r}; the phases are {', '.join(phases)}")
        with open(os.path.join(folder, phases[phase])) as file:
            return file.read()


_written: dict[bytes, str] = {}


def _file_of(name, contents):
    """The path of a file that holds a source: itself where it is one, else a new one in the folder of temporary files."""
    if os.path.isfile(name):
        with open(name, "rb") as file:
            if file.read() == contents:
                return name
    if not os.path.isfile(_written.get(contents, "")):
        with tempfile.NamedTemporaryFile(prefix="drawloom-", suffix=".mlirbc" if contents.startswith(b"ML\xefR") else ".mlir",
                                         delete=False) as file:
            file.write(contents)
        _written[contents] = file.name
    return _written[contents]


@contextlib.contextmanager
def reproducible(sources):
    """Sources that are no files, which the command that shows an error of the program would miss, are written to files for it."""
    try:
        yield
    except CompileError as error:
        missing = " ".join(["drawloom-run", *(name for name, _ in sources)])
        if not error.reproducer.startswith(missing):
            raise
        try:
            files = [shlex.quote(_file_of(*source)) for source in sources]
        except OSError:  # Nowhere to write: the error itself matters more.
            raise error from None
        raise CompileError(error.message, error.location, error.phase,
                           " ".join(["drawloom-run", *files]) + error.reproducer.removeprefix(missing)) from None


def parse(compiler, sources):
    """The program's public functions, of which nothing is compiled."""
    with reproducible(sources):
        return compiler.parse(sources).functions


def build(compiler, sources, shapes):
    """Compiles; what the compiler noted (a damaged entry of the cache, say) becomes a warning."""
    try:
        with reproducible(sources):
            return compiler.compile(sources, shapes)
    finally:
        for note in compiler.take_notes():
            warnings.warn(note, RuntimeWarning, stacklevel=3)


def processors():
    """How many threads this process may run at once."""
    return len(os.sched_getaffinity(0))


def scheduled_processors():
    """For how many processors recurrences are cut, as the compiler reads it: it refuses what is no number."""
    said = os.environ.get("DRAWLOOM_PROCESSORS", "")
    return int(said) if said.isdecimal() else 1


def torch_threads():
    """How many threads torch's own ops use, which calls run on from now on; None while torch is not imported."""
    count = getattr(sys.modules.get("torch"), "get_num_threads", None)
    if count is None:
        return None
    _drawloom.use_openmp()
    return count()


# A lock that another thread holds while this one forks would stay locked in the child for ever.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
