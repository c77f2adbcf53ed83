# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small library of arrays on the emulated GPU, which gives and takes them by DLPack as CuPy, JAX and torch do.

    Array     has __dlpack__ and __dlpack_device__; from_dlpack makes one
    Tensor    has the table of C functions besides, as torch's tensors have
"""

import ctypes
import sys

import numpy as np

CUDA = 2
CODES = {"float32": (2, 32), "float64": (2, 64), "int64": (0, 64), "int8": (0, 8)}


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    """DLManagedTensor."""


Destroy = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("destroy", Destroy)]

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

# What has been handed out and not been given back, by address.
handed_out = {}


@Destroy
def _given_back(managed):
    del handed_out[ctypes.addressof(managed.contents)]


def _describe(tensor, array):
    """Fills a DLTensor; gives what must live as long as it."""
    extents = (ctypes.c_int64 * max(len(array.shape), 1))(*array.shape)
    tensor.data, tensor.device_type, tensor.device_id = array.pointer, array.device_type, array.device
    tensor.ndim, tensor.lanes, tensor.byte_offset = len(array.shape), 1, 0
    tensor.code, tensor.bits = CODES[array.dtype]
    tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
    strides = array.strides and (ctypes.c_int64 * len(array.shape))(*array.strides)
    tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)) if strides else None
    return extents, strides


class Array:
    device_type, device, strides = CUDA, 0, None

    def __init__(self, driver, pointer, shape, dtype="float32", owner=None):
        self.driver, self.pointer, self.shape, self.dtype, self.owner = driver, pointer, tuple(shape), dtype, owner
        self.streams = []

    @classmethod
    def of(cls, driver, values):
        return cls(driver, driver.upload(np.ascontiguousarray(values)), values.shape, values.dtype.name)

    def numpy(self, stream=None):
        like = np.empty(self.shape, self.dtype)
        self.driver.MemcpyDtoHAsync_v2(like.ctypes.data_as(ctypes.c_void_p), self.pointer, like.nbytes, stream)
        self.driver.StreamSynchronize(stream)
        return like

    def __dlpack_device__(self):
        return self.device_type, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.streams.append(stream)
        managed = Managed(destroy=_given_back)
        handed_out[ctypes.addressof(managed)] = (managed, _describe(managed.tensor, self), self)
        return _api.PyCapsule_New(ctypes.addressof(managed), b"dltensor", None)


class Consumed:
    """What a library keeps of a capsule that it took."""

    def __init__(self, capsule):
        self.address = _api.PyCapsule_GetPointer(capsule, b"dltensor")
        _api.PyCapsule_SetName(capsule, b"used_dltensor")
        self.managed = Managed.from_address(self.address)

    def __del__(self):
        self.managed.destroy(ctypes.cast(self.address, ctypes.POINTER(Managed)))


class Library:
    """What from_dlpack needs to know: the driver, and the stream that this library is at."""

    driver, stream = None, 1


def from_dlpack(other):
    assert other.__dlpack_device__() == (CUDA, 0)
    owner = Consumed(other.__dlpack__(stream=Library.stream))
    tensor = owner.managed.tensor
    dtype = next(name for name, code in CODES.items() if code == (tensor.code, tensor.bits))
    return Array(Library.driver, tensor.data, tensor.shape[: tensor.ndim], dtype, owner)


# The table of C functions.


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p), ("destroy", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


_Pointers = ctypes.POINTER(ctypes.c_void_p)
_Allocate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor), _Pointers, ctypes.c_void_p, ctypes.c_void_p)
_Convert = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, _Pointers)
_Read = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
_Stream = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, _Pointers)


class Table(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("previous", ctypes.c_void_p), ("allocate", _Allocate),
                ("to_managed", _Convert), ("from_managed", _Convert), ("read", _Read), ("current_stream", _Stream)]


class Tensor(Array):
    current = None  # The library's current stream, a CUstream.
    made = {}
    workspaces = 0

    def __dlpack__(self, **_):
        raise AssertionError("the table is there to be used")


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroyed(managed):
    """What was asked for as memory alone."""
    tensor, *_ = Tensor.made.pop(managed)
    Library.driver.MemFree_v2(tensor.pointer)
    Tensor.workspaces += 1


@_Allocate
def _allocate(prototype, out, context, set_error):
    wanted = prototype.contents
    shape = tuple(wanted.shape[: wanted.ndim])
    dtype = next(name for name, code in CODES.items() if code == (wanted.code, wanted.bits))
    assert (wanted.device_type, wanted.device_id) == (CUDA, 0)
    pointer = Library.driver.alloc(max(int(np.prod(shape)) * wanted.bits // 8, 1))
    tensor = Tensor(Library.driver, pointer, shape, dtype)
    managed = Versioned(destroy=ctypes.cast(_destroyed, ctypes.c_void_p))
    Tensor.made[ctypes.addressof(managed)] = tensor, managed, _describe(managed.tensor, tensor)
    out[0] = ctypes.addressof(managed)
    return 0


@_Convert
def _from_managed(managed, out):
    tensor, *kept = Tensor.made.pop(managed)
    tensor.owner = kept
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(tensor))
    out[0] = id(tensor)
    return 0


@_Read
def _read(tensor, out):
    tensor.described = _describe(out.contents, tensor)
    return 0


@_Stream
def _current_stream(device_type, device, out):
    out[0] = Tensor.current
    return 0


_table = Table((1, 3), None, _allocate, _Convert(lambda *_: -1), _from_managed, _read, _current_stream)
_name = b"dlpack_exchange_api"  # Capsules do not keep their names.
Tensor.__dlpack_c_exchange_api__ = _api.PyCapsule_New(ctypes.addressof(_table), _name, None)

# A library is a package at the top, whose from_dlpack is asked for by the module of an array's class.
sys.modules["device_arrays"] = sys.modules[__name__]
Array.__module__ = Tensor.__module__ = "device_arrays"
