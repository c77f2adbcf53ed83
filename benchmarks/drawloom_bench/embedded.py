# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libdrawloom.so from Python, by ctypes: compile a text, call its functions on NumPy arrays.

Enough for benchmarks that run Drawloom and its rivals in one process.
"""

import ctypes
import mmap

import numpy as np

from drawloom_bench import BUILD

ELEMENTS = [np.float64, np.float32, np.uint16, np.float16, np.int64, np.int32, np.int8, np.bool_]


class Source(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("contents", ctypes.c_char_p), ("bytes", ctypes.c_size_t)]


class Type(ctypes.Structure):
    _fields_ = [("element", ctypes.c_int), ("rank", ctypes.c_size_t), ("extents", ctypes.POINTER(ctypes.c_int64)),
                ("bytes", ctypes.c_int64)]


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("isa", ctypes.c_char_p),
                ("cache_folder", ctypes.c_char_p), ("cache_bytes", ctypes.c_uint64),
                ("dump_phases_to", ctypes.c_char_p), ("note", ctypes.c_void_p), ("note_context", ctypes.c_void_p)]


def load():
    library = ctypes.CDLL(str(BUILD / "lib" / "libdrawloom.so"))
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, *arguments in [
        ("CompilerCreate", pointer, pointer, pointer),
        ("Compile", pointer, pointer, pointer, ctypes.c_size_t, pointer, ctypes.c_size_t, pointer),
        ("FunctionFind", pointer, pointer, text, pointer),
        ("ArgumentCount", ctypes.c_size_t, pointer),
        ("ResultCount", ctypes.c_size_t, pointer),
        ("ArgumentType", Type, pointer, ctypes.c_size_t),
        ("ResultType", Type, pointer, ctypes.c_size_t),
        ("Call", pointer, pointer, pointer, ctypes.c_size_t, pointer, ctypes.c_size_t, ctypes.c_uint),
        ("ErrorMessage", text, pointer),
        ("ErrorLocation", text, pointer),
    ]:
        function = getattr(library, "drawloom" + name)
        function.restype, function.argtypes = result, arguments
    return library


def aligned(array):
    """A copy that starts on a cache line, as torch's and JAX's memory does; a large one on huge pages.

    Without these a stream of 50 MB takes up to twice its time in a virtual machine, and whether malloc gets them is
    a matter of luck; torch's tensors have them by the allocator that benchmarks tune.
    """
    unit = 2 << 20 if array.nbytes >= 8 << 20 else 64
    if unit > 64:
        region = mmap.mmap(-1, array.nbytes + unit)
        region.madvise(mmap.MADV_HUGEPAGE)
        memory = np.frombuffer(region, np.uint8)
    else:
        memory = np.empty(array.nbytes + unit, np.uint8)
    at = -memory.ctypes.data % unit
    copy = memory[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Function:
    """A compiled function with its results' memory, which every call overwrites."""

    def __init__(self, module, name):
        self.module, self.handle = module, ctypes.c_void_p()
        library = self.library = module.library
        module.check(library.drawloomFunctionFind(module.program, name.encode(), ctypes.byref(self.handle)))
        self.types = [library.drawloomArgumentType(self.handle, i) for i in range(library.drawloomArgumentCount(self.handle))]
        self.results = []
        for i in range(library.drawloomResultCount(self.handle)):
            kind = library.drawloomResultType(self.handle, i)
            self.results.append(aligned(np.zeros(kind.extents[: kind.rank], ELEMENTS[kind.element])))
        self.out = self.buffers(self.results)

    @staticmethod
    def buffers(arrays):
        return (Buffer * len(arrays))(*(Buffer(a.ctypes.data, a.nbytes) for a in arrays))

    def bind(self, arguments, threads=1):
        """A callable without arguments, on copies of the arrays."""
        arrays = []
        for value, kind in zip(arguments, self.types, strict=True):
            array = np.ascontiguousarray(value, ELEMENTS[kind.element])
            arrays.append(aligned(array.reshape(kind.extents[: kind.rank])))
        given = self.buffers(arrays)

        def run():
            self.module.check(self.library.drawloomCall(self.handle, given, len(arrays), self.out, len(self.results), threads))
            return self.results

        run.keep = arrays
        return run


class Module:
    def __init__(self, text, isa=None):
        self.library = load()
        options = Options(size=ctypes.sizeof(Options), isa=isa.encode() if isa else None, cache_folder=b"")
        compiler, self.program = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.drawloomCompilerCreate(ctypes.byref(options), ctypes.byref(compiler)))
        contents = text.encode()
        source = Source(b"benchmark.mlir", contents, len(contents))
        self.check(self.library.drawloomCompile(compiler, ctypes.byref(source), 1, None, 0, ctypes.byref(self.program)))

    def check(self, error):
        if error:
            place = self.library.drawloomErrorLocation(error).decode()
            raise RuntimeError(f"{place}: {self.library.drawloomErrorMessage(error).decode()}")

    def __getattr__(self, name):
        return Function(self, name)
