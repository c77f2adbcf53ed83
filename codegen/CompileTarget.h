//===- CompileTarget.h - what the compiler asks of a target --- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_COMPILETARGET_H
#define DRAWLOOM_CODEGEN_COMPILETARGET_H

#include "codegen/Phase.h"
#include "codegen/Program.h"
#include "dialects/Interfaces/MachineFacts.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Block/Passes.h"
#include "passes/Memory/Plan.h"
#include <functional>
#include <memory>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace drawloom {

/// Chooses who computes dense products that nothing fuses with, on targets with
/// a library for them.
enum class DenseProducts {
  Auto,    ///< Whichever is estimated to be faster, if the library is present.
  Assume,  ///< Like Auto, but assumes that the library is present.
  Library, ///< The library, regardless of estimates.
  Own,     ///< Drawloom's own kernels.
};
/// Parses "auto", "assume", "library" or "own".
std::optional<DenseProducts> parseDenseProducts(llvm::StringRef name);

/// Limits the memory of a program beyond arguments and results, and describes
/// where its values may be kept instead.
struct MemoryBudget {
  /// Max bytes of the workspace, plus the store's memory if the workspace is in
  /// host memory; 0: no limit.
  int64_t bytes = 0;
  /// Whether calls will have a store.
  bool stores = false;
  /// Rates that the plan is based on; 0: the target's own.
  MemoryRates rates = {0, 0, 0, 0, 0, 0};
  /// File for the plan, as text or, with the ending .json, as data; empty:
  /// none.
  std::string explain = {};

  /// Returns the bytes of the store's memory.
  int64_t staging() const;
  bool isGiven() const { return bytes > 0 || !explain.empty(); }
};

/// Parses "write=1e9,read=1e9" and sets the rates that it names.
llvm::Error parseMemoryRates(llvm::StringRef text, MemoryRates &rates);

struct CodegenOptions {
  /// Instruction sets of the target: one, several separated by commas, or
  /// "all", which means each one except "native", this machine's.
  std::string isa = "native";
  DenseProducts denseProducts = DenseProducts::Auto;
  /// Number of blocks of a program that run at once, overriding MachineFacts;
  /// 0: $DRAWLOOM_PROCESSORS if set, else the target's own number.
  int64_t processors = 0;
  MemoryBudget memory = {};
  /// Polled during code generation, if set; true makes emit() fail. Once true,
  /// it must stay true. Generated code does not depend on it.
  std::function<bool()> cancelled = {};
};

/// Block sizes that suit a machine: the options of the passes that make blocks,
/// which passes/Block/Passes.td explains. They determine how sums are split, so
/// they must be equal for all machines of a kind.
struct BlockBudget {
  FuseRowsOptions rows;
  TileToForallOptions pieces;
  /// Whether programs with open extents get their row dimensions joined.
  bool joinsRows = false;
};

/// A parameter chosen by trial: the bytes of tiles with products and sums,
/// between two fractions of BlockBudget's. The prediction for one instruction
/// set decides for all, so that all split sums alike.
struct TileTrial {
  const class CompileTarget *target = nullptr;
  std::string isa;
  /// The largest multiple of the ordinary budget to try, and the divisor that
  /// gives the smallest.
  int64_t most = 1, parts = 1;
};

/// The predicted cost of a function's kernels in a trial.
struct Prediction {
  /// In arbitrary units.
  double time = 0;
  /// Registers that the worst kernel lacks.
  int64_t lacking = 0;
};

/// A machine that programs are compiled for. It owns everything below the phase
/// `blocks`; block programs themselves are independent of targets.
class CompileTarget {
public:
  virtual ~CompileTarget();

  /// Returns the name, as --target spells it.
  virtual llvm::StringRef name() const = 0;
  /// Returns the instruction sets that CodegenOptions may name, including
  /// "native", with the preferred one first.
  virtual std::vector<std::string> instructionSets() const = 0;
  /// Returns whether a set replaces another one in tests only; such a set is
  /// neither part of "all" nor shown to users.
  virtual bool isForTests(llvm::StringRef set) const { return false; }

  /// Registers the dialects that the target's passes create, with the external
  /// models that these need.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  virtual void registerPasses() const = 0;

  /// Returns the target's name and description of a phase. The phases up to
  /// `Blocks`, and `Llvm`, are named alike for all targets.
  virtual PhaseText phaseText(Phase phase) const {
    return commonPhaseText(phase);
  }
  llvm::StringRef phaseName(Phase phase) const { return phaseText(phase).name; }
  std::optional<Phase> parsePhase(llvm::StringRef name) const;

  virtual BlockBudget blockBudget() const { return {}; }
  /// Returns the machine facts for decompositions. Fails if
  /// $DRAWLOOM_PROCESSORS is not a number.
  llvm::Expected<MachineFacts> machine(const CodegenOptions &options) const;

  /// Returns the sets that CodegenOptions::isa names, in the order of
  /// instructionSets(). On failure, the error lists the known sets.
  llvm::Expected<std::vector<std::string>>
  selectSets(llvm::StringRef isa) const;
  /// Returns a complete description of what code is compiled for: it differs
  /// between any two machines or option sets that must not share compiled code.
  llvm::Expected<std::string> fingerprint(const CodegenOptions &options) const;
  /// Fails, with the reason, if no code for these options could run here.
  /// Checked before compiling.
  llvm::Error checkRunsHere(const CodegenOptions &options) const;
  /// Loads the best variant that this machine runs, or the one for `isa` if it
  /// is given.
  llvm::Expected<std::unique_ptr<Program>> load(const Artifact &artifact,
                                                llvm::StringRef isa = "") const;

  /// Returns whether a program for the shapes of one call is, where possible,
  /// compiled for any shapes and bound to these at the end.
  virtual bool bindsAtTheEnd() const { return false; }

  /// Adds the passes that run on structured ops before block programs are
  /// formed. The options may name several sets.
  virtual void prepareBlocks(mlir::OpPassManager &pm,
                             const CodegenOptions &options) const {}

  // The options passed to the functions below name exactly one set.

  /// Adds the passes that lead from the phase before `phase` to `phase`, which
  /// must come after `blocks`.
  virtual void buildPhase(mlir::OpPassManager &pm, Phase phase,
                          const CodegenOptions &options) const = 0;
  /// Returns the bytes that the module's largest block needs of the memory
  /// limited by MachineFacts::blockBytes, in the phase `kernels` or if that
  /// phase failed; 0 if unknown.
  virtual int64_t blockBytesOf(mlir::ModuleOp module) const { return 0; }
  /// Returns the largest workspace of a module's functions in bytes, in the
  /// phase `kernels`; nothing if memory cannot be planned for this target.
  virtual std::optional<int64_t> workspaceBytesOf(mlir::ModuleOp module) const {
    return std::nullopt;
  }
  /// Returns whether workspaces are in the target's own memory, separate from
  /// the host's.
  virtual bool hasOwnMemory() const { return false; }
  /// Returns the bytes that a budget leaves for the workspace.
  int64_t workspaceOf(const MemoryBudget &memory) const {
    return memory.bytes - (hasOwnMemory() ? 0 : memory.staging());
  }
  /// Returns the rates that memory plans are based on.
  MemoryRates ratesOf(const MemoryBudget &memory) const;
  /// Returns the tile sizes worth trying; nothing if only the ordinary budget
  /// is.
  virtual std::optional<TileTrial> tileTrial() const { return std::nullopt; }
  /// Predicts the cost of a function's kernels, from a module in the phase
  /// `kernels`; nothing if unknown.
  virtual std::optional<Prediction> predict(mlir::ModuleOp module,
                                            llvm::StringRef function) const {
    return std::nullopt;
  }
  /// Emits code from a module in the phase `llvm`.
  virtual llvm::Expected<Artifact::Variant>
  emit(mlir::ModuleOp module, const CodegenOptions &options) const = 0;

protected:
  /// Returns the default rates for memory plans.
  virtual MemoryRates memoryRates() const { return {}; }
  /// Returns the facts about the kind of machine that a set is for, which are
  /// equal for all machines of that kind.
  virtual MachineFacts machineOf(llvm::StringRef isa) const { return {}; }
  /// Returns the fingerprint of one of instructionSets().
  virtual std::string fingerprintOf(llvm::StringRef isa) const = 0;
  /// Returns everything that code depends on besides the set and its
  /// fingerprint.
  virtual std::string choicesOf(const CodegenOptions &options) const {
    return "";
  }
  /// Returns what this machine lacks to run the set; nothing if it can run it.
  virtual std::optional<std::string> lacksFor(llvm::StringRef isa) const = 0;
  virtual llvm::Expected<std::unique_ptr<Program>>
  loadVariant(const Artifact::Variant &variant) const = 0;
};

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_COMPILETARGET_H
