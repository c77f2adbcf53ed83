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

/// What ptxas -v tells of one kernel.
struct KernelUsage {
  unsigned registers = 0; ///< Of a thread, 32 bits each.
  int64_t stackBytes = 0; ///< Of a thread, as are the spills.
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

/// The assembler. It comes with CUDA, with NVIDIA's and Triton's packages on
/// PyPI, and not with Drawloom.
class Ptxas {
public:
  /// The first assembler that knows the architecture's PTX: `explicitPath`
  /// alone where it is not empty; else $DRAWLOOM_PTXAS, PATH, CUDA_HOME and
  /// CUDA_PATH, /usr/local/cuda, and the Python packages of VIRTUAL_ENV and of
  /// the python3 on PATH. Starts no Python. The error says what was looked for
  /// and what is wrong with it; without an assembler the driver can assemble
  /// the PTX when it is loaded.
  static llvm::Expected<Ptxas> find(const Architecture &architecture,
                                    llvm::StringRef explicitPath = "");

  llvm::StringRef path() const { return program; }
  /// 10 * major + minor of the newest PTX that it reads.
  unsigned ptxVersion() const { return newestPtx; }
  /// As it calls itself: "13.0.88".
  llvm::StringRef version() const { return release; }

  /// Assembles; `what` is named in errors. Serialized wgmma and the like
  /// (C75xx) are errors: the code would run, several times slower. An assembler
  /// that does not end within `seconds` is killed. Runs no shell, installs no
  /// signal handler.
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx,
                                 const Architecture &architecture,
                                 llvm::StringRef what, bool lineInfo = true,
                                 unsigned seconds = 120) const;

private:
  std::string program, release;
  unsigned newestPtx = 0;
};

/// Where find() looks, in order; for tests and messages. `description` says
/// what the folder is.
struct PtxasPlace {
  std::string path, description;
};
std::vector<PtxasPlace> ptxasPlaces();

/// What the text of ptxas -v says of each kernel.
std::map<std::string, KernelUsage> parseUsage(llvm::StringRef text);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_PTXAS_H
