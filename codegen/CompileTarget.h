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

/// Who computes dense products that nothing fuses with, where a target has a
/// library for them.
enum class DenseProducts {
  Auto,    ///< Whoever is estimated to be faster, if the library is here.
  Assume,  ///< The same, for a machine that has the library.
  Library, ///< The library, whatever the estimates.
  Own,     ///< Kernels of our own.
};
/// "auto", "assume", "library", "own".
std::optional<DenseProducts> parseDenseProducts(llvm::StringRef name);

/// What a program may have of memory beyond arguments and results, and where
/// its values may be instead.
struct MemoryBudget {
  /// Of the workspace and, where that is the host's memory, the store's memory
  /// together; 0: no limit.
  int64_t bytes = 0;
  /// Whether calls will have a store.
  bool stores = false;
  /// What the plan goes by; 0: the target's own numbers.
  MemoryRates rates = {0, 0, 0, 0, 0, 0};
  /// File for the plan, in words or with the ending .json as data; empty: none.
  std::string explain = {};

  /// Bytes of the store's memory.
  int64_t staging() const;
  bool isGiven() const { return bytes > 0 || !explain.empty(); }
};

/// "write=1e9,read=1e9": sets what is named.
llvm::Error parseMemoryRates(llvm::StringRef text, MemoryRates &rates);

struct CodegenOptions {
  /// Which of the target's instruction sets: one, several with commas between
  /// them, or "all", which is each but "native", this machine's.
  std::string isa = "native";
  DenseProducts denseProducts = DenseProducts::Auto;
  /// Blocks of a program that run at once: what MachineFacts has, in place of
  /// the target's own number; 0: $DRAWLOOM_PROCESSORS, else that number.
  int64_t processors = 0;
  MemoryBudget memory = {};
  /// Asked now and then while machine code is made, where there is one; true
  /// makes emit() fail. Once true, it must stay so. No code depends on it.
  std::function<bool()> cancelled = {};
};

/// How large a machine likes its blocks: the options of the passes that make
/// them, which passes/Block/Passes.td explains. What it chooses decides how
/// sums are cut, so it must not depend on which machine of a kind it is.
struct BlockBudget {
  FuseRowsOptions rows;
  TileToForallOptions pieces;
  /// Whether programs that leave extents open are joined along rows.
  bool joinsRows = false;
};

/// A choice that is made by trying: the bytes of tiles with products and sums,
/// between shares of BlockBudget's. What is predicted for one set
/// decides for all, so that all cut sums alike.
struct TileTrial {
  const class CompileTarget *target = nullptr;
  std::string isa;
  /// The largest share of the ordinary budget, and the smallest: one part of so
  /// many.
  int64_t most = 1, parts = 1;
};

/// What a trial has shown of a function's kernels.
struct Prediction {
  /// In any unit.
  double time = 0;
  /// Registers that the worst of them lacks.
  int64_t lacking = 0;
};

/// A machine that programs are compiled for. It owns everything below the phase
/// `blocks`; block programs themselves know of none.
class CompileTarget {
public:
  virtual ~CompileTarget();

  /// As --target spells it.
  virtual llvm::StringRef name() const = 0;
  /// The instruction sets that CodegenOptions may name, "native" among them,
  /// the one to prefer in front.
  virtual std::vector<std::string> instructionSets() const = 0;
  /// A set that takes the place of another one in tests: neither in lists of
  /// all nor named to users.
  virtual bool isForTests(llvm::StringRef set) const { return false; }

  /// The dialects that its passes make, with the models that these call.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  virtual void registerPasses() const = 0;

  /// What it calls its phases. Those up to `Blocks`, and `Llvm`, have the same
  /// names for all.
  virtual PhaseText phaseText(Phase phase) const {
    return commonPhaseText(phase);
  }
  llvm::StringRef phaseName(Phase phase) const { return phaseText(phase).name; }
  std::optional<Phase> parsePhase(llvm::StringRef name) const;

  virtual BlockBudget blockBudget() const { return {}; }
  /// What decompositions are told of the machine. Fails where
  /// $DRAWLOOM_PROCESSORS is not a number.
  llvm::Expected<MachineFacts> machine(const CodegenOptions &options) const;

  /// The sets that CodegenOptions::isa names, in the order of
  /// instructionSets(). Names the known ones in its error.
  llvm::Expected<std::vector<std::string>>
  selectSets(llvm::StringRef isa) const;
  /// What code is made for, in full: two machines or option sets that must not
  /// share compiled code differ in it.
  llvm::Expected<std::string> fingerprint(const CodegenOptions &options) const;
  /// Fails where no code for these options could run here, and says why. Asked
  /// before the work of compiling.
  llvm::Error checkRunsHere(const CodegenOptions &options) const;
  /// Loads the best variant that this machine runs; the one for `isa` where
  /// that is given.
  llvm::Expected<std::unique_ptr<Program>> load(const Artifact &artifact,
                                                llvm::StringRef isa = "") const;

  /// Whether a program for the shapes of one call is compiled as one for any,
  /// where that can be, and bound to them at the end.
  virtual bool bindsAtTheEnd() const { return false; }

  /// Adds the passes that run on structured ops before block programs are
  /// made of them. The options may name several sets.
  virtual void prepareBlocks(mlir::OpPassManager &pm,
                             const CodegenOptions &options) const {}

  // The options of these name one set.

  /// Adds the passes that lead from the phase before `phase` into it; `phase`
  /// is behind `blocks`.
  virtual void buildPhase(mlir::OpPassManager &pm, Phase phase,
                          const CodegenOptions &options) const = 0;
  /// Bytes that the largest block of a module needs of what
  /// MachineFacts::blockBytes limits, in the phase `kernels` or where that
  /// failed; 0 where it is not known.
  virtual int64_t blockBytesOf(mlir::ModuleOp module) const { return 0; }
  /// Bytes of the largest workspace of a module's functions, in the phase
  /// `kernels`; nothing where memory cannot be planned for this target.
  virtual std::optional<int64_t> workspaceBytesOf(mlir::ModuleOp module) const {
    return std::nullopt;
  }
  /// Whether workspaces are in memory of the target's own, beside the host's.
  virtual bool hasOwnMemory() const { return false; }
  /// What a budget leaves for the workspace, bytes.
  int64_t workspaceOf(const MemoryBudget &memory) const {
    return memory.bytes - (hasOwnMemory() ? 0 : memory.staging());
  }
  /// What plans go by.
  MemoryRates ratesOf(const MemoryBudget &memory) const;
  /// What is worth trying; nothing where the ordinary budget is all there is.
  virtual std::optional<TileTrial> tileTrial() const { return std::nullopt; }
  /// Of the kernels of a function, from a module in the phase `kernels`;
  /// nothing where it is not known.
  virtual std::optional<Prediction> predict(mlir::ModuleOp module,
                                            llvm::StringRef function) const {
    return std::nullopt;
  }
  /// Emits code from a module in the phase `llvm`.
  virtual llvm::Expected<Artifact::Variant>
  emit(mlir::ModuleOp module, const CodegenOptions &options) const = 0;

protected:
  /// What plans go by where nobody says better.
  virtual MemoryRates memoryRates() const { return {}; }
  /// Of the kind of machine that a set is for: the same on all of a kind.
  virtual MachineFacts machineOf(llvm::StringRef isa) const { return {}; }
  /// For one of instructionSets().
  virtual std::string fingerprintOf(llvm::StringRef isa) const = 0;
  /// What the options' code depends on besides the set and its fingerprint.
  virtual std::string choicesOf(const CodegenOptions &options) const {
    return "";
  }
  /// What this machine lacks to run the set; nothing where it does.
  virtual std::optional<std::string> lacksFor(llvm::StringRef isa) const = 0;
  virtual llvm::Expected<std::unique_ptr<Program>>
  loadVariant(const Artifact::Variant &variant) const = 0;
};

} // namespace drawloom

#endif // DRAWLOOM_CODEGEN_COMPILETARGET_H
