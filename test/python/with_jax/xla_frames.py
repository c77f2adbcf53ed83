# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls XLA's way, as its GPU client does, for a jaxlib that has none: python/src/XlaFfi.h's structs, which a test of its own holds to
jaxlib's header."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p, cast, pointer, sizeof

DTYPES = {"int8": 2, "int32": 4, "int64": 5, "float16": 10, "float32": 11, "float64": 12, "bfloat16": 16}
INSTANTIATE, PREPARE, INITIALIZE, EXECUTE = range(4)
_HEAD = [("size", c_size_t), ("extensions", c_void_p)]


class ErrorCreate(Structure):
    _fields_ = [*_HEAD, ("message", c_char_p), ("code", c_uint32)]


class ErrorMessage(Structure):
    _fields_ = [*_HEAD, ("error", c_void_p), ("message", c_char_p)]


class StreamGet(Structure):
    _fields_ = [*_HEAD, ("context", c_void_p), ("stream", c_void_p)]


class Allocate(Structure):
    _fields_ = [*_HEAD, ("context", c_void_p), ("bytes", c_size_t), ("alignment", c_size_t), ("data", c_void_p)]


class Free(Structure):
    _fields_ = [*_HEAD, ("context", c_void_p), ("bytes", c_size_t), ("data", c_void_p)]


class Device(Structure):
    _fields_ = [*_HEAD, ("context", c_void_p), ("device", c_int32)]


def _of(kind):
    return CFUNCTYPE(c_void_p, POINTER(kind))


class Api(Structure):
    _fields_ = [*_HEAD, ("version", c_size_t * 2), ("versions", c_int * 2), ("internal", c_void_p), ("create", _of(ErrorCreate)),
                ("message", _of(ErrorMessage)), ("destroy", c_void_p * 1), ("register", c_void_p), ("stream", _of(StreamGet)),
                ("more", c_void_p * 4), ("allocate", _of(Allocate)), ("free", _of(Free)), ("rest", c_void_p * 6), ("device", _of(Device))]


class Buffer(Structure):
    _fields_ = [*_HEAD, ("dtype", c_uint32), ("data", c_void_p), ("rank", c_int64), ("extents", POINTER(c_int64))]


class Span(Structure):
    _fields_ = [("data", c_char_p), ("length", c_size_t)]


class Scalar(Structure):
    _fields_ = [("dtype", c_uint32), ("value", c_void_p)]


class Operands(Structure):
    _fields_ = [*_HEAD, ("count", c_int64), ("types", POINTER(c_uint32)), ("values", POINTER(c_void_p))]


class Attributes(Structure):
    _fields_ = [*_HEAD, ("count", c_int64), ("types", POINTER(c_uint32)), ("names", POINTER(POINTER(Span))), ("values", POINTER(c_void_p))]


class Frame(Structure):
    _fields_ = [*_HEAD, ("api", POINTER(Api)), ("context", c_void_p), ("stage", c_uint32), ("arguments", Operands), ("results", Operands),
                ("attributes", Attributes)]


class Client:
    """What a handler asks of XLA: a device, its stream and memory for workspaces."""

    def __init__(self, driver, device=0, stream=None):
        self.driver, self.asked, self.memory, self.limit = driver, [], {}, None
        self._messages = []

        def create(arguments):
            self._messages.append(arguments.contents.message.decode())
            return len(self._messages)

        def message(arguments):
            arguments.contents.message = self._messages[arguments.contents.error - 1].encode()

        def give_stream(arguments):
            arguments.contents.stream = stream

        def allocate(arguments):
            if self.limit is not None and arguments.contents.bytes > self.limit:
                self._messages.append("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")
                return len(self._messages)
            assert arguments.contents.alignment == 256
            arguments.contents.data = driver.alloc(arguments.contents.bytes)
            self.memory[arguments.contents.data] = arguments.contents.bytes
            self.asked.append(arguments.contents.bytes)

        def free(arguments):
            assert self.memory.pop(arguments.contents.data) == arguments.contents.bytes

        def give_device(arguments):
            arguments.contents.device = device

        kinds = dict(Api._fields_)
        self._kept = [kinds[name](one) for name, one in (("create", create), ("message", message), ("stream", give_stream),
                                                         ("allocate", allocate), ("free", free), ("device", give_device))]
        self._destroyed = CFUNCTYPE(None, c_void_p)(lambda _: None)
        create, message, give_stream, allocate, free, give_device = self._kept
        self.api = Api(sizeof(Api), None, create=create, message=message, stream=give_stream, allocate=allocate, free=free, device=give_device)
        self.api.destroy[0] = cast(self._destroyed, c_void_p)

    def call(self, handler, stage, attributes, arguments=(), results=()):
        """`arguments` and `results` are (device pointer, shape, dtype). Gives the error's text, or None."""
        kept = []

        def operands(given):
            values = (c_void_p * max(len(given), 1))()
            for i, (data, shape, dtype) in enumerate(given):
                extents = (c_int64 * max(len(shape), 1))(*shape)
                buffer = Buffer(sizeof(Buffer), None, DTYPES[dtype], data, len(shape), extents)
                kept.append((buffer, extents))
                values[i] = ctypes.addressof(buffer)
            types = (c_uint32 * max(len(given), 1))(*[1] * len(given))
            return Operands(sizeof(Operands), None, len(given), types, values)

        names, types, values = [], [], []
        for name, value in sorted(attributes.items()):
            names.append(pointer(Span(name.encode(), len(name))))
            if isinstance(value, str):
                text = value.encode()
                kept.append(Span(text, len(text)))
                types.append(4)
            else:
                number = c_int64(value)
                kept.append(number)
                kept.append(Scalar(DTYPES["int64"], ctypes.addressof(number)))
                types.append(3)
            values.append(ctypes.addressof(kept[-1]))
        count = len(names)
        described = Attributes(sizeof(Attributes), None, count, (c_uint32 * count)(*types), (POINTER(Span) * count)(*names),
                               (c_void_p * count)(*values))
        frame = Frame(sizeof(Frame), None, pointer(self.api), None, stage, operands(arguments), operands(results), described)
        number = CFUNCTYPE(c_void_p, c_void_p)(handler)(byref(frame))
        return self._messages[number - 1] if number else None
