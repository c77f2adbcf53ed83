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

/// A dense row-major argument or result. A scalar has an empty shape. A
/// negative extent is open, which means that each call chooses it;
/// OpenExtent::ofShape decodes it.
struct ValueType {
  ElementType element;
  std::vector<int64_t> shape;
  /// Whether the program's text declares a scalar rather than a tensor of rank
  /// 0. Calls treat both alike, and files do not record it.
  bool isScalar = false;
  /// The name by which callers may refer to the value; "" if the program gives
  /// none.
  std::string name = {};
  bool isOpen() const;
  /// Number of elements; -1 if an extent is open. The same holds for bytes().
  int64_t elements() const;
  int64_t bytes() const {
    return isOpen() ? -1 : elements() * elementBytes(element);
  }
  bool operator==(const ValueType &other) const {
    return element == other.element && shape == other.shape;
  }
};

/// Memory that grows with open extents: `bytes` times the product of the
/// extents, rounded up to a multiple of `unit` so that the memory after it is
/// aligned.
struct MemoryTerm {
  int64_t bytes = 0;
  /// Numbers of the open extents; a number may appear twice.
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
  /// Bytes of scratch memory that a call needs besides arguments and results.
  int64_t workspaceBytes = 0;
  /// Number of values that a call temporarily keeps in a store, and their max
  /// bytes at any time.
  int64_t records = 0, recordBytes = 0;
  /// Number of open extents.
  int64_t openExtents = 0;
  /// Workspace that grows with open extents; it follows the `workspaceBytes`.
  std::vector<MemoryTerm> workspaceTerms = {};

  bool isOpen() const { return openExtents > 0; }
};

/// Returns "argument 0", or "argument 0 (x)" if the argument has a name; `kind`
/// is "argument" or "result".
std::string valueInWords(const std::string &kind, size_t index,
                         const std::vector<ValueType> &types);

/// A signature bound for one call: no extent is open.
struct BoundSignature {
  Signature signature;
  /// Values of the open extents.
  std::vector<int64_t> extents;
};

/// The result of compiling a program for one or more targets. It can be saved,
/// and loaded into any process on a machine that runs one of its variants.
struct Artifact {
  struct Entry {
    Signature signature;
    /// Scratch memory of each thread: a fixed part, and a part that grows with
    /// open extents.
    int64_t scratchBytes = 0;
    std::vector<MemoryTerm> scratchTerms = {};
  };
  /// The program for one instruction set of one target.
  struct Variant {
    std::string isa;
    /// CompileTarget::fingerprint of the instruction set on the machine that
    /// compiled the code.
    std::string fingerprint;
    std::vector<Entry> entries;
    /// Names of the block programs that the entries run.
    std::vector<std::string> kernels;
    /// Code in the target's own format.
    std::string code;
    /// Features that a processor needs to run the code, named as in
    /// CpuFeatures.h.
    std::vector<std::string> features = {};
    /// For code made for one specific machine, that machine's processorWords(),
    /// all of which another machine must have.
    std::string processor = {};
    /// Name of the target: "cpu", "cuda" and so on.
    std::string target = "cpu";
  };
  /// At least one variant, of different targets or instruction sets; the best
  /// variant of each target comes first. All variants have the same entries,
  /// except for the memory they need.
  std::vector<Variant> variants;

  /// Returns each target that there is code for, once, in the order of the
  /// variants.
  std::vector<std::string> targets() const;
};

/// Records the time that calls spent in each kernel; kernels are in the order
/// of their first call.
struct KernelProfile {
  struct Kernel {
    std::string name;
    int64_t calls = 0;
    int64_t blocks = 0; ///< Over all calls.
    double seconds = 0;
  };
  std::vector<Kernel> kernels;
};

namespace runtime {

/// Returns `bytes` plus the bytes of the terms for the given open extents;
/// nothing if the sum overflows 64 bits.
std::optional<int64_t> memoryBytes(int64_t bytes,
                                   const std::vector<MemoryTerm> &terms,
                                   const int64_t *extents);

/// Binds a signature to the extents of the arguments. Fails if they do not
/// match the signature or each other, or if the bytes of a value or of the
/// workspace overflow 64 bits.
Result<BoundSignature>
bind(const Signature &signature,
     const std::vector<std::vector<int64_t>> &argumentShapes);

/// Version of the file format and of the calling convention between code and
/// host.
inline constexpr int64_t artifactVersion = 8;

/// Serializes an artifact: a line of text with the version, the lengths and the
/// SHA-256 of the rest, followed by a description in JSON and the code of each
/// variant.
std::string writeArtifact(const Artifact &artifact);

/// Reads an artifact of the current version, or of version 3 (variants of one
/// target only), 4 (no open extents), 5 (memory grows with single extents
/// only), 6 (no extent exceeds another by a constant) or 7 (no values in
/// stores). Refuses bytes that are truncated, modified or of another version,
/// and variants that do not go together; the error says which.
Result<Artifact> readArtifact(std::string_view bytes);

/// A target and one of its devices.
struct TargetDevice {
  std::string name;
  /// Number of the device; if negative, the device of the calling thread.
  int device = -1;

  /// Parses "cpu", "cuda", or a target with a device number, "cuda:1".
  static Result<TargetDevice> parse(const std::string &text);
};

/// Returns the target to load an artifact for: `asked`, which the artifact must
/// have code for; if that is empty, the CPU, or else the artifact's first
/// target.
Result<TargetDevice> chooseTarget(const Artifact &artifact,
                                  const std::string &asked = "");

} // namespace runtime
} // namespace drawloom

#endif // DRAWLOOM_RUNTIME_ARTIFACT_H
