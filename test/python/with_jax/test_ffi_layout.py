# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python/src/XlaFfi.h declares what the installed jaxlib's own header does."""

import shutil
import subprocess

import jax
import pytest

from support.runner import ROOT

# Ours, then theirs: fields in the same order.
STRUCTS = {
    ("Extension", "XLA_FFI_Extension_Base"): [("structSize", "struct_size"), ("type", "type"), ("next", "next")],
    ("Version", "XLA_FFI_Api_Version"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("major", "major_version"),
        ("minor", "minor_version")],
    ("ErrorCreateArguments", "XLA_FFI_Error_Create_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("message", "message"), ("code", "errc")],
    ("Buffer", "XLA_FFI_Buffer"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("type", "dtype"), ("data", "data"),
        ("rank", "rank"), ("extents", "dims")],
    ("Text", "XLA_FFI_ByteSpan"): [("data", "ptr"), ("size", "len")],
    ("Scalar", "XLA_FFI_Scalar"): [("type", "dtype"), ("value", "value")],
    ("Operands", "XLA_FFI_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("size", "size"), ("types", "types"),
        ("values", "args")],
    ("Operands ", "XLA_FFI_Rets"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("size", "size"), ("types", "types"),
        ("values", "rets")],
    ("Attributes", "XLA_FFI_Attrs"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("size", "size"), ("types", "types"),
        ("names", "names"), ("values", "attrs")],
    ("StreamArguments", "XLA_FFI_Stream_Get_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("context", "ctx"), ("stream", "stream")],
    ("AllocateArguments", "XLA_FFI_DeviceMemory_Allocate_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("context", "ctx"), ("size", "size"),
        ("alignment", "alignment"), ("data", "data")],
    ("FreeArguments", "XLA_FFI_DeviceMemory_Free_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("context", "ctx"), ("size", "size"), ("data", "data")],
    ("DeviceArguments", "XLA_FFI_DeviceOrdinal_Get_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("context", "ctx"), ("device", "device_ordinal")],
    ("ErrorMessageArguments", "XLA_FFI_Error_GetMessage_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("error", "error"), ("message", "message")],
    ("ErrorDestroyArguments", "XLA_FFI_Error_Destroy_Args"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("error", "error")],
    # The next two are longer in XLA's header: what is behind is not used.
    ("Api", "XLA_FFI_Api", "longer"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("version", "api_version"),
        ("internal", "internal_api"), ("createError", "XLA_FFI_Error_Create"), ("messageOf", "XLA_FFI_Error_GetMessage"),
        ("destroyError", "XLA_FFI_Error_Destroy"), ("stream", "XLA_FFI_Stream_Get"), ("allocate", "XLA_FFI_DeviceMemory_Allocate"),
        ("free", "XLA_FFI_DeviceMemory_Free"), ("device", "XLA_FFI_DeviceOrdinal_Get")],
    ("CallFrame", "XLA_FFI_CallFrame", "longer"): [
        ("structSize", "struct_size"), ("extensions", "extension_start"), ("api", "api"), ("context", "ctx"),
        ("stage", "stage"), ("arguments", "args"), ("results", "rets"), ("attributes", "attrs")],
    ("Metadata", "XLA_FFI_Metadata"): [
        ("structSize", "struct_size"), ("version", "api_version"), ("traits", "traits"), ("stateType", "state_type_id")],
    ("MetadataExtension", "XLA_FFI_Metadata_Extension"): [("base", "extension_base"), ("metadata", "metadata")],
}
VALUES = {
    "majorVersion": "XLA_FFI_API_MAJOR", "minorVersion": "XLA_FFI_API_MINOR",
    "errorCreateSize": "XLA_FFI_Error_Create_Args_STRUCT_SIZE",
    "deviceArgumentsSize": "XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE",
    "ExtensionType::metadata": "XLA_FFI_Extension_Metadata",
    "ErrorCode::invalidArgument": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
    "ErrorCode::resourceExhausted": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
    "ErrorCode::failedPrecondition": "XLA_FFI_Error_Code_FAILED_PRECONDITION",
    "ErrorCode::internal": "XLA_FFI_Error_Code_INTERNAL",
    **{f"DataType::{name}": f"XLA_FFI_DataType_{name.upper()}"
       for name in ("pred", "s8", "s32", "s64", "f16", "f32", "f64", "bf16")},
    "ArgumentType::buffer": "XLA_FFI_ArgType_BUFFER", "AttributeType::scalar": "XLA_FFI_AttrType_SCALAR",
    "AttributeType::text": "XLA_FFI_AttrType_STRING", "Stage::instantiate": "XLA_FFI_ExecutionStage_INSTANTIATE",
    "Stage::initialize": "XLA_FFI_ExecutionStage_INITIALIZE", "Stage::execute": "XLA_FFI_ExecutionStage_EXECUTE",
}


def compare(structs, values):
    """What the C++ compiler says of assertions that both headers agree; empty if they do."""
    lines = ["#include \"XlaFfi.h\"", "#include \"xla/ffi/api/c_api.h\"", "using namespace drawloom;"]
    for (ours, theirs, *longer), fields in structs.items():
        ours = f"xla::{ours.strip()}"
        if not longer:
            lines.append(f"static_assert(sizeof({ours}) == sizeof({theirs}), \"size of {theirs}\");")
        for one, other in fields:
            lines.append(f"static_assert(offsetof({ours}, {one}) == offsetof({theirs}, {other}) && "
                         f"sizeof({ours}::{one}) == sizeof({theirs}::{other}), \"{theirs}::{other}\");")
    for one, other in values.items():
        lines.append(f"static_assert(static_cast<long>(xla::{one}) == static_cast<long>({other}), \"{other}\");")
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("no C++ compiler")
    done = subprocess.run(
        [compiler, "-std=c++17", "-fsyntax-only", "-Wno-invalid-offsetof", "-I", ROOT / "python" / "src", "-I",
         jax.ffi.include_dir(), "-x", "c++", "-"], input="\n".join(lines), capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def test_both_headers_lay_out_the_same():
    assert compare(STRUCTS, VALUES) == ""


def test_a_difference_would_be_found():
    said = compare({("Text", "XLA_FFI_ByteSpan"): [("data", "len")]}, {"Stage::execute": "XLA_FFI_ExecutionStage_PREPARE"})
    assert "XLA_FFI_ByteSpan::len" in said and "XLA_FFI_ExecutionStage_PREPARE" in said
