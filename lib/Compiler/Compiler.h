//===- Compiler.h - phases, compilation, compiled programs ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_COMPILER_H
#define DRAWLOOM_LIB_COMPILER_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace drawloom {

/// The named states of a program on its way to machine code, in order. A tool
/// starts after one and stops at another; each can be printed and parsed.
enum class Phase {
  Input,          ///< As written: graph-level ops, differentiation requests.
  Differentiated, ///< No ad op left: gradients are plain graph-level ops.
  Structured,     ///< Domain ops decomposed into linalg, neighbours merged.
  Blocks,  ///< Block programs: scf.forall over tiles, and what is between.
  Vectors, ///< Register tiles as vectors; no linalg op left.
  Buffers, ///< Memory instead of tensors; results are arguments.
  Kernels, ///< One range function for each block program, and a host entry.
  Llvm,    ///< The llvm dialect.
};

llvm::ArrayRef<Phase> allPhases();
/// "input", "differentiated", ...
llvm::StringRef phaseName(Phase phase);
/// One sentence for --help.
llvm::StringRef phaseDescription(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);

struct CompileOptions {
  /// The state that the module is in, and the one to bring it to.
  Phase from = Phase::Input;
  Phase to = Phase::Llvm;
  /// Instruction set: "native", "avx2", "avx512" or "baseline" (x86-64-v1).
  std::string isa = "native";
  /// Where the module is written after each phase, as
  /// <folder>/<n>-<phase>.mlir; empty: nowhere.
  std::string dumpPhasesTo;
  /// Verify the IR after each pass.
  bool verify = true;
  /// Called with the pass manager of each phase, for instrumentation (timing,
  /// reproducers, printing).
  std::function<void(mlir::PassManager &)> configure;
};

/// Parses sources (text or bytecode) and links them into one module: a private
/// function that is only declared is defined by any of the other sources.
/// Diagnostics go to the context's handlers; null on failure.
mlir::OwningOpRef<mlir::ModuleOp>
parseSources(llvm::ArrayRef<std::string> files, mlir::MLIRContext &context);

/// Replaces every `?` in the signature of `entry` by the extents given (one
/// list for each argument; scalars have an empty one) and propagates them.
llvm::LogicalResult
specializeShapes(mlir::ModuleOp module, llvm::StringRef entry,
                 llvm::ArrayRef<std::vector<int64_t>> shapes);

/// Runs the phases (options.from, options.to] on `module` in place.
llvm::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options);

enum class ElementType { F64, F32, BF16, F16, I64, I32, I8, I1 };
int64_t elementBytes(ElementType type);

/// A dense row-major argument or result. A scalar has an empty shape.
struct ValueType {
  ElementType element;
  std::vector<int64_t> shape;
  int64_t elements() const;
  int64_t bytes() const { return elements() * elementBytes(element); }
};

struct Signature {
  std::string name;
  std::vector<ValueType> arguments;
  std::vector<ValueType> results;
  /// Scratch memory that a call needs beyond arguments and results.
  int64_t workspaceBytes = 0;
};

/// Machine code in this process. Immutable, callable from many threads at once.
class Program {
public:
  virtual ~Program() = default;
  /// Compiles `module` (in any phase, see options.from) and loads it.
  static llvm::Expected<std::unique_ptr<Program>>
  create(mlir::ModuleOp module, const CompileOptions &options);
  virtual llvm::ArrayRef<Signature> signatures() const = 0;
  const Signature *find(llvm::StringRef name) const;
  /// Runs an entry on up to `threads` threads. `arguments` and `results` point
  /// to dense row-major memory of the signature's types (scalars too), which
  /// must not overlap. The results' bits do not depend on `threads`.
  virtual llvm::Error run(llvm::StringRef entry,
                          llvm::ArrayRef<const void *> arguments,
                          llvm::ArrayRef<void *> results,
                          unsigned threads = 1) const = 0;
};

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_COMPILER_H
