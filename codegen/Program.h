//===- Program.h - compiled programs, as data and loaded ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_PROGRAM_H
#define DRAWLOOM_CODEGEN_PROGRAM_H

#include "drawloom/runtime/Artifact.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace drawloom {

namespace runtime {
class DeviceCalls;
} // namespace runtime

/// Returns the element type of a scalar or shaped type; `index` counts as I64.
/// Returns nothing for a type without a representation in host memory.
std::optional<ElementType> elementTypeOf(mlir::Type type);

/// Returns nothing for a type without a representation in memory, or of more
/// than 2^63 bytes. For a type with open extents, `numbers` has their numbers,
/// by dimension.
std::optional<ValueType> valueTypeOf(mlir::Type type,
                                     llvm::ArrayRef<int64_t> numbers = {});

/// Code loaded into this process. Immutable; callable from many threads at
/// once.
class Program {
public:
  virtual ~Program() = default;
  /// Returns the instruction set that the code is for, as CompileTarget names
  /// it.
  virtual llvm::StringRef isa() const = 0;
  virtual llvm::ArrayRef<Signature> signatures() const = 0;
  const Signature *find(llvm::StringRef name) const;
  /// Runs an entry on up to `threads` threads. `arguments` and `results` point
  /// to dense row-major memory of the signature's types (also for scalars),
  /// which must not overlap. The results' bits do not depend on `threads`. Adds
  /// to `profile` unless it is null. `extents` are the entry's open extents, as
  /// runtime::bind() finds them.
  virtual llvm::Error run(llvm::StringRef entry,
                          llvm::ArrayRef<const void *> arguments,
                          llvm::ArrayRef<void *> results, unsigned threads = 1,
                          KernelProfile *profile = nullptr,
                          llvm::ArrayRef<int64_t> extents = {}) const = 0;
  /// Bytes of loaded code, and of memory kept for later calls; 0 if the target
  /// does not report them.
  virtual int64_t codeBytes() const { return 0; }
  virtual int64_t keptBytes() const { return 0; }
  /// Frees the kept memory.
  virtual void trim() const {}
  /// Null for a program that cannot be called with device memory.
  virtual const runtime::DeviceCalls *onDevice() const { return nullptr; }
};

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_PROGRAM_H
