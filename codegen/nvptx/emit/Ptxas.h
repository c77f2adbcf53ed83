//===- Ptxas.h - NVIDIA's assembler, found and run ----------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_PTXAS_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_PTXAS_H

#include "codegen/nvptx/emit/Architectures.h"
#include <map>

namespace drawloom::nvptx {

/// Resource usage of one kernel, as reported by ptxas -v.
struct KernelUsage {
  unsigned registers = 0; ///< Per thread, 32 bits each.
  int64_t stackBytes = 0; ///< Per thread, as are the spills.
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
  int64_t staticSharedBytes = 0; ///< Without the dynamic arena.
  unsigned barriers = 0;
};

struct Cubin {
  std::string bytes;
  std::map<std::string, KernelUsage> usage; ///< By kernel.
  double milliseconds = 0;                  ///< Wall time of the assembler.
};

/// The assembler. It is part of CUDA and of NVIDIA's and Triton's packages on
/// PyPI, but not of Drawloom.
class Ptxas {
public:
  /// Finds the first assembler that supports the architecture's PTX: only
  /// `explicitPath` if it is not empty; else in $DRAWLOOM_PTXAS, PATH,
  /// CUDA_HOME and CUDA_PATH, /usr/local/cuda, and the Python packages of
  /// VIRTUAL_ENV and of the python3 on PATH. Does not start Python. The error
  /// lists the places searched and what is wrong with each; without an
  /// assembler, the driver can assemble the PTX when it loads it.
  static llvm::Expected<Ptxas> find(const Architecture &architecture,
                                    llvm::StringRef explicitPath = "");

  llvm::StringRef path() const { return program; }
  /// Returns the newest PTX version that it supports, as 10 * major + minor.
  unsigned ptxVersion() const { return newestPtx; }
  /// Returns the version that the assembler reports: "13.0.88".
  llvm::StringRef version() const { return release; }

  /// Assembles PTX; errors mention `what`. Warnings about serialized wgmma and
  /// similar (C75xx) are errors: the code would run several times slower. An
  /// assembler that does not finish within `seconds` is killed. Runs no shell
  /// and installs no signal handler.
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx,
                                 const Architecture &architecture,
                                 llvm::StringRef what, bool lineInfo = true,
                                 unsigned seconds = 120) const;

private:
  std::string program, release;
  unsigned newestPtx = 0;
};

/// A place where find() looks, in order; for tests and messages. `description`
/// names the place.
struct PtxasPlace {
  std::string path, description;
};
std::vector<PtxasPlace> ptxasPlaces();

/// Parses the output of ptxas -v for each kernel.
std::map<std::string, KernelUsage> parseUsage(llvm::StringRef text);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_PTXAS_H
