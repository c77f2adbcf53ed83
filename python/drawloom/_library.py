# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library and the compilers of this process; a mismatch of versions is one clear error at import."""

from __future__ import annotations

import os
import sys
import threading
import warnings

from ._errors import Error


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


def default_isa():
    """The instruction set where none is asked for: $DRAWLOOM_ISA, else this machine's."""
    return os.environ.get("DRAWLOOM_ISA") or "native"


def compiler(target="cpu", isa=None, cache=True, dump_phases_to=""):
    """The compiler for these options; the same one for the same options, since it remembers its programs."""
    folder = None if cache is True else "" if cache is False or cache is None else os.fspath(cache)
    isa = isa or default_isa()
    # The environment is read each time: tests and programs set DRAWLOOM_CACHE after the import.
    key = (target, isa, folder, dump_phases_to,
           *(os.environ.get(name) for name in ("DRAWLOOM_CACHE", "XDG_CACHE_HOME", "DRAWLOOM_PROCESSORS")))
    with _lock:
        if key not in _compilers:
            _compilers[key] = _drawloom.Compiler(target, isa, folder, 0, dump_phases_to)
        return _compilers[key]


def build(compiler, sources, shapes):
    """Compiles; what the compiler noted (a damaged entry of the cache, say) becomes a warning."""
    try:
        return compiler.compile(sources, shapes)
    finally:
        for note in compiler.take_notes():
            warnings.warn(note, RuntimeWarning, stacklevel=3)


def default_threads():
    """As many as this process may use at once."""
    return len(os.sched_getaffinity(0))


# A lock that another thread holds while this one forks would stay locked in the child for ever.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
