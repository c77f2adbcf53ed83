//===- Emulator.h - running GPU kernels on the CPU --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_EMULATOR_EMULATOR_H
#define DRAWLOOM_CODEGEN_EMULATOR_EMULATOR_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/emulator/Launch.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace drawloom::emulator {

class Jit;

/// The architecture that the emulator's own target compiles for.
inline constexpr llvm::StringLiteral defaultArchitecture = "sm_90a";

struct Parameter {
  enum Kind { Pointer, Integer, Float } kind = Pointer;
  /// Bytes in memory; an i1 takes 1 byte.
  unsigned bytes = 8;
};

struct KernelInfo {
  std::string name;
  /// Including the two scratch pointers at the end.
  std::vector<Parameter> parameters;
  /// Threads per block.
  int64_t threads = 0;
  /// Shared memory that the kernel declares it needs; 0 if it declares none.
  int64_t sharedBytes = 0;
};

/// A module of `llvm` and `nvvm` ops, compiled to run on this processor with
/// every access and every barrier checked. Launches may run concurrently.
class Module {
public:
  ~Module();

  /// Compiles a copy of the module as for a GPU of that architecture, and runs
  /// the IR that the back end would get. Fails if the module contains anything
  /// that is not emulated, naming it.
  static llvm::Expected<std::unique_ptr<Module>>
  load(mlir::ModuleOp module, llvm::StringRef arch = defaultArchitecture);

  llvm::ArrayRef<KernelInfo> kernels() const { return infos; }
  const KernelInfo *find(llvm::StringRef name) const;

  /// Runs every block to its end, or up to the first fault. `parameters[i]`
  /// points to the value of parameter i, as for cuLaunchKernel. `sharedBytes`
  /// overrides the number that the kernel declares. Defects of the kernel
  /// (races, deadlocks, out-of-bounds accesses...) are described by the text of
  /// the error.
  llvm::Expected<Report> launch(llvm::StringRef kernel, Grid grid,
                                llvm::ArrayRef<const void *> parameters,
                                int64_t sharedBytes,
                                const LaunchOptions &options) const;

private:
  Module();
  std::vector<KernelInfo> infos;
  std::vector<KernelCode> codes;
  std::vector<std::string> sites;
  std::vector<Element> elements;
  std::unique_ptr<Jit> jit;
};

/// Returns the LLVM IR of a module with the emulator's calls in it, and the
/// list of its places, for inspection.
llvm::Expected<std::string>
printIntercepted(mlir::ModuleOp module,
                 llvm::StringRef arch = defaultArchitecture);

} // namespace drawloom::emulator

#endif // DRAWLOOM_CODEGEN_EMULATOR_EMULATOR_H
