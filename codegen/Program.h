//===- Program.h - compiled programs, as data and loaded ------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_PROGRAM_H
#define DRAWLOOM_CODEGEN_PROGRAM_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace drawloom {

enum class ElementType { F64, F32, BF16, F16, I64, I32, I8, I1 };
int64_t elementBytes(ElementType type);
/// Of a type or of the elements of a shaped one; `index` counts as I64. Nothing
/// for a type that has no form in the host's memory.
std::optional<ElementType> elementTypeOf(mlir::Type type);

/// A dense row-major argument or result. A scalar has an empty shape.
struct ValueType {
  /// Nothing where the type has no form in memory, or more than 2^63 bytes.
  static std::optional<ValueType> of(mlir::Type type);

  ElementType element;
  std::vector<int64_t> shape;
  int64_t elements() const;
  int64_t bytes() const { return elements() * elementBytes(element); }
  bool operator==(const ValueType &other) const {
    return element == other.element && shape == other.shape;
  }
};

struct Signature {
  std::string name;
  std::vector<ValueType> arguments;
  std::vector<ValueType> results;
  /// Scratch memory that a call needs beyond arguments and results.
  int64_t workspaceBytes = 0;
};

/// What a target makes of a program: it can be kept, and loaded into any
/// process on a machine that runs one of its variants.
struct Artifact {
  struct Entry {
    Signature signature;
    /// Memory that each thread needs for itself.
    int64_t scratchBytes = 0;
  };
  /// The program for one instruction set.
  struct Variant {
    std::string isa;
    /// CompileTarget::fingerprint of the set where the code was made.
    std::string fingerprint;
    std::vector<Entry> entries;
    /// The block programs that the entries run.
    std::vector<std::string> kernels;
    /// In the target's own form.
    std::string code;
  };
  std::string target;
  /// At least one, of different sets; all have the same entries, but for the
  /// memory that these need.
  std::vector<Variant> variants;
};

/// Where the time of calls went: into the kernels, by name in the order of
/// their first call.
struct KernelProfile {
  struct Kernel {
    std::string name;
    int64_t calls = 0;
    int64_t blocks = 0; ///< Of all calls.
    double seconds = 0;
  };
  std::vector<Kernel> kernels;
};

/// Code loaded into this process. Immutable, callable from many threads at
/// once.
class Program {
public:
  virtual ~Program() = default;
  /// The instruction set that its code is for, as CompileTarget names it.
  virtual llvm::StringRef isa() const = 0;
  virtual llvm::ArrayRef<Signature> signatures() const = 0;
  const Signature *find(llvm::StringRef name) const;
  /// Runs an entry on up to `threads` threads. `arguments` and `results` point
  /// to dense row-major memory of the signature's types (scalars too), which
  /// must not overlap. The results' bits do not depend on `threads`. Adds to
  /// `profile` where there is one.
  virtual llvm::Error run(llvm::StringRef entry,
                          llvm::ArrayRef<const void *> arguments,
                          llvm::ArrayRef<void *> results, unsigned threads = 1,
                          KernelProfile *profile = nullptr) const = 0;
};

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_PROGRAM_H
