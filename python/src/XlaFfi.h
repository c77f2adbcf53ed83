//===- XlaFfi.h - the part of XLA's C interface for calls that we use -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA calls functions of other libraries through a C interface that it keeps
// stable ("typed FFI"). JAX comes with its header, but the package is built
// where no JAX is. Hence the layouts are declared here, under names of our own,
// as far as a function that computes on buffers needs them.
// test/python/with_jax/test_ffi_layout.py compares each with the header that
// the installed jaxlib has.
//
// Each struct begins with its size as its maker knows it, and grows at its end
// only, so that a maker newer than this header is understood. Where the major
// version differs, XLA refuses the function when it is registered.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_XLAFFI_H
#define DRAWLOOM_PYTHON_XLAFFI_H

#include <cstddef>
#include <cstdint>

namespace drawloom::xla {

/// Of the interface as declared here.
constexpr int majorVersion = 0;
constexpr int minorVersion = 3;

enum class ExtensionType : uint32_t { metadata = 1 };

struct Extension {
  size_t structSize;
  ExtensionType type;
  Extension *next;
};

struct Version {
  size_t structSize;
  Extension *extensions;
  int major;
  int minor;
};

/// As absl::Status has them.
enum class ErrorCode : uint32_t {
  invalidArgument = 3,
  resourceExhausted = 8,
  failedPrecondition = 9,
  internal = 13
};

/// XLA's own; whoever is returned one owns it.
struct Error;

struct ErrorCreateArguments {
  size_t structSize;
  Extension *extensions;
  const char *message;
  ErrorCode code;
};
/// Without the padding behind the last field.
constexpr size_t errorCreateSize =
    offsetof(ErrorCreateArguments, code) + sizeof(ErrorCode);

enum class DataType : uint32_t {
  pred = 1,
  s8 = 2,
  s32 = 4,
  s64 = 5,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  bf16 = 16
};

struct Buffer {
  size_t structSize;
  Extension *extensions;
  DataType type;
  void *data;
  int64_t rank;
  int64_t *extents;
};

/// Not terminated by a null.
struct Text {
  const char *data;
  size_t size;
};

struct Scalar {
  DataType type;
  void *value;
};

enum class ArgumentType : uint32_t { buffer = 1 };
enum class AttributeType : uint32_t { scalar = 3, text = 4 };

/// Arguments, and in the same form results: `values` are Buffer*.
struct Operands {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  ArgumentType *types;
  void **values;
};

/// Sorted by name.
struct Attributes {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  AttributeType *types;
  Text **names;
  /// Scalar* or Text*.
  void **values;
};

struct StreamArguments {
  size_t structSize;
  Extension *extensions;
  void *context;
  void *stream; ///< Filled: a CUstream.
};

struct AllocateArguments {
  size_t structSize;
  Extension *extensions;
  void *context;
  size_t size;
  size_t alignment;
  void *data; ///< Filled.
};

struct FreeArguments {
  size_t structSize;
  Extension *extensions;
  void *context;
  size_t size;
  void *data;
};

struct DeviceArguments {
  size_t structSize;
  Extension *extensions;
  void *context;
  int32_t device; ///< Filled.
};
/// Without the padding behind the last field.
constexpr size_t deviceArgumentsSize =
    offsetof(DeviceArguments, device) + sizeof(int32_t);

struct ErrorMessageArguments {
  size_t structSize;
  Extension *extensions;
  Error *error;
  const char *message; ///< Filled.
};

struct ErrorDestroyArguments {
  size_t structSize;
  Extension *extensions;
  Error *error;
};

/// Functions that XLA offers. Older ones have fewer: see structSize.
struct Api {
  size_t structSize;
  Extension *extensions;
  Version version;
  const void *internal;
  Error *(*createError)(ErrorCreateArguments *);
  void (*messageOf)(ErrorMessageArguments *);
  void (*destroyError)(ErrorDestroyArguments *);
  const void *registerHandler;
  Error *(*stream)(StreamArguments *);
  const void *registerType;
  const void *executionContext;
  const void *setState;
  const void *state;
  Error *(*allocate)(AllocateArguments *);
  Error *(*free)(FreeArguments *);
  const void *schedule;
  const void *threads;
  const void *createFuture;
  const void *setFuture;
  const void *failFuture;
  const void *runId;
  Error *(*device)(DeviceArguments *);
};

enum class Stage : uint32_t {
  instantiate = 0,
  prepare = 1,
  initialize = 2,
  execute = 3
};

struct CallFrame {
  size_t structSize;
  Extension *extensions;
  const Api *api;
  void *context;
  Stage stage;
  Operands arguments;
  Operands results;
  Attributes attributes;
};

/// What XLA asks a function when it is registered: the extension of a frame
/// that calls nothing.
struct Metadata {
  size_t structSize;
  Version version;
  uint32_t traits;
  /// Not in the oldest versions: see structSize.
  int64_t stateType;
};

struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

using Handler = Error *(CallFrame *);

} // namespace drawloom::xla

#endif // DRAWLOOM_PYTHON_XLAFFI_H
