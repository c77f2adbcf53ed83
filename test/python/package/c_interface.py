# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface through ctypes, without the Python package: compiles a text by libdrawloom.so, or loads a file by
libdrawloom_runtime.so, and calls a function with NumPy arrays.

Run as a program: c_interface.py LIBRARY PROGRAM ARGUMENTS.npz RESULTS.npz THREADS
"""

import ctypes
import sys

import numpy as np

_ELEMENTS = ["f64", "f32", "bf16", "f16", "i64", "i32", "i8", "i1"]
_DTYPES = {"f64": np.float64, "f32": np.float32, "bf16": np.uint16, "f16": np.float16, "i64": np.int64, "i32": np.int32,
           "i8": np.int8, "i1": np.bool_}


class Type(ctypes.Structure):
    _fields_ = [("element", ctypes.c_int), ("rank", ctypes.c_size_t), ("extents", ctypes.POINTER(ctypes.c_int64)),
                ("bytes", ctypes.c_int64)]


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Source(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("contents", ctypes.c_char_p), ("bytes", ctypes.c_size_t)]


def open_library(path):
    library = ctypes.CDLL(str(path))
    library.drawloomErrorMessage.restype = ctypes.c_char_p
    library.drawloomResultType.restype = Type
    library.drawloomResultCount.restype = ctypes.c_size_t
    return library


def check(library, error):
    if error:
        raise RuntimeError(library.drawloomErrorMessage(ctypes.c_void_p(error)).decode())


def invoke(library, function, *arguments):
    call = getattr(library, function)
    call.restype = ctypes.c_void_p
    check(library, call(*arguments))


def compiled(library, text):
    compiler, program, source = ctypes.c_void_p(), ctypes.c_void_p(), Source(b"text.mlir", text.encode(), len(text.encode()))
    invoke(library, "drawloomCompilerCreate", None, ctypes.byref(compiler))
    invoke(library, "drawloomCompile", compiler, ctypes.byref(source), ctypes.c_size_t(1), None, ctypes.c_size_t(0),
           ctypes.byref(program))
    library.drawloomCompilerDestroy(compiler)
    return program


def loaded(library, path):
    program = ctypes.c_void_p()
    invoke(library, "drawloomProgramLoad", str(path).encode(), None, ctypes.byref(program))
    return program


def buffers(arrays):
    return (Buffer * len(arrays))(*(Buffer(array.ctypes.data, array.nbytes) for array in arrays))


def call(library, program, name, arrays, threads=1):
    """The results; bfloat16 as its bits."""
    function = ctypes.c_void_p()
    invoke(library, "drawloomFunctionFind", program, name.encode(), ctypes.byref(function))
    arrays = [np.array(array, order="C") for array in arrays]
    results = []
    for i in range(library.drawloomResultCount(function)):
        given = library.drawloomResultType(function, ctypes.c_size_t(i))
        results.append(np.empty([given.extents[d] for d in range(given.rank)], _DTYPES[_ELEMENTS[given.element]]))
    invoke(library, "drawloomCall", function, buffers(arrays), ctypes.c_size_t(len(arrays)), buffers(results),
           ctypes.c_size_t(len(results)), ctypes.c_uint(threads))
    return results


if __name__ == "__main__":
    opened = open_library(sys.argv[1])
    with np.load(sys.argv[3]) as given:
        found = call(opened, loaded(opened, sys.argv[2]), "main", [given[key] for key in given.files], int(sys.argv[5]))
    np.savez(sys.argv[4], *found)
