//===- Artifact.h - compiled programs as data ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_ARTIFACT_H
#define DRAWLOOM_RUNTIME_ARTIFACT_H

#include "drawloom/runtime/Status.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace drawloom {

enum class ElementType { F64, F32, BF16, F16, I64, I32, I8, I1 };
int64_t elementBytes(ElementType type);

/// A dense row-major argument or result. A scalar has an empty shape. An extent
/// below 0 is open, a call has some number there: OpenExtent::ofShape says
/// which.
struct ValueType {
  ElementType element;
  std::vector<int64_t> shape;
  /// In the program's text a value of its own, not a tensor of rank 0. To a
  /// call both are the same, and files do not say.
  bool isScalar = false;
  /// What callers may name it by; "" where the program does not say.
  std::string name = {};
  bool isOpen() const;
  /// -1 where an extent is open, as are the bytes.
  int64_t elements() const;
  int64_t bytes() const {
    return isOpen() ? -1 : elements() * elementBytes(element);
  }
  bool operator==(const ValueType &other) const {
    return element == other.element && shape == other.shape;
  }
};

/// Memory that grows with open extents: so many bytes times the product of the
/// extents, rounded up to a multiple of `unit`, so that memory behind it is
/// aligned.
struct MemoryTerm {
  int64_t bytes = 0;
  /// Their numbers; one may be there twice.
  std::vector<int64_t> extents = {};
  static constexpr int64_t unit = 64;

  bool operator==(const MemoryTerm &other) const {
    return bytes == other.bytes && extents == other.extents;
  }
};

struct Signature {
  std::string name;
  std::vector<ValueType> arguments;
  std::vector<ValueType> results;
  /// Scratch memory that a call needs beyond arguments and results.
  int64_t workspaceBytes = 0;
  /// Values that a call keeps in a store for some time, and the most bytes that
  /// are there at once.
  int64_t records = 0, recordBytes = 0;
  /// How many extents are open.
  int64_t openExtents = 0;
  /// What a call needs besides, behind these bytes.
  std::vector<MemoryTerm> workspaceTerms = {};

  bool isOpen() const { return openExtents > 0; }
};

/// "argument 0", with its name if it has one "argument 0 (x)"; `kind` is
/// "argument" or "result".
std::string valueInWords(const std::string &kind, size_t index,
                         const std::vector<ValueType> &types);

/// A signature as one call has it: no extent is open.
struct BoundSignature {
  Signature signature;
  /// What the open extents are.
  std::vector<int64_t> extents;
};

/// What a target makes of a program: it can be kept, and loaded into any
/// process on a machine that runs one of its variants.
struct Artifact {
  struct Entry {
    Signature signature;
    /// Memory that each thread needs for itself, and what it needs besides.
    int64_t scratchBytes = 0;
    std::vector<MemoryTerm> scratchTerms = {};
  };
  /// The program for one instruction set of one target.
  struct Variant {
    std::string isa;
    /// CompileTarget::fingerprint of the set where the code was made.
    std::string fingerprint;
    std::vector<Entry> entries;
    /// The block programs that the entries run.
    std::vector<std::string> kernels;
    /// In the target's own form.
    std::string code;
    /// What a processor must have to run the code, as CpuFeatures.h names it.
    std::vector<std::string> features = {};
    /// Of code made for one machine: its processorWords(), all of which another
    /// one must have.
    std::string processor = {};
    /// "cpu", "cuda" and the like.
    std::string target = "cpu";
  };
  /// At least one, of different targets or sets, a target's best first; all
  /// have the same entries, but for the memory that these need.
  std::vector<Variant> variants;

  /// The targets that there is code for, each once, in the order of the
  /// variants.
  std::vector<std::string> targets() const;
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

namespace runtime {

/// `bytes` and what the terms come to where the open extents are `extents`;
/// nothing where 64 bits do not count them.
std::optional<int64_t> memoryBytes(int64_t bytes,
                                   const std::vector<MemoryTerm> &terms,
                                   const int64_t *extents);

/// The signature with the extents that the arguments have. Fails where these do
/// not fit it or each other, or where 64 bits do not count the bytes of a value
/// or of the workspace.
Result<BoundSignature>
bind(const Signature &signature,
     const std::vector<std::vector<int64_t>> &argumentShapes);

/// Counts changes of the file's form, and of how code and its host call each
/// other.
inline constexpr int64_t artifactVersion = 8;

/// The file form of an artifact: a line of text with its version, the lengths
/// and the SHA-256 of what follows (a description in JSON, then the code of one
/// variant after the other).
std::string writeArtifact(const Artifact &artifact);

/// Also of version 3, whose variants are all of one target, 4, which has no
/// open extents, 5, whose memory grows with single ones only, 6, where none is
/// larger than another one by a constant, and 7, which keeps nothing in a
/// store. Refuses bytes that are cut off, changed or of another version, and
/// variants that do not go together; says which.
Result<Artifact> readArtifact(std::string_view bytes);

/// A target, and which of its devices.
struct TargetDevice {
  std::string name;
  /// Below 0: that which the calling thread works with.
  int device = -1;

  /// "cpu", "cuda", or with a number "cuda:1".
  static Result<TargetDevice> parse(const std::string &text);
};

/// The target to load an artifact for: the one that is asked for, which it must
/// have code for; by default the CPU, else its first.
Result<TargetDevice> chooseTarget(const Artifact &artifact,
                                  const std::string &asked = "");

} // namespace runtime
} // namespace drawloom

#endif // DRAWLOOM_RUNTIME_ARTIFACT_H
