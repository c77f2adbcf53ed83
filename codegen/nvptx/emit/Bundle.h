//===- Bundle.h - compiled kernels as a folder or as bytes --- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/gpu-triton.md describes the bundle folder. runtime/cuda reads it without
// LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_BUNDLE_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_BUNDLE_H

#include "codegen/nvptx/emit/CompileKernels.h"
#include <map>

namespace drawloom::nvptx {

/// Version of bundle.json and of the kernels' calling convention. Readers
/// refuse any other version.
constexpr int64_t bundleVersion = 1;

struct BundleOptions {
  /// Adds each kernel's module, named by the SHA-256 of its cubin and of its
  /// PTX: with these names, the emulated driver finds the module to run
  /// instead.
  bool modules = false;
  /// Adds the files that Triton's loader reads, and each kernel's LLVM IR.
  bool forTriton = true;
};

/// A bundle in memory: a manifest, and the files that it lists.
struct Bundle {
  llvm::json::Value manifest = nullptr;
  std::map<std::string, std::string> files; ///< By path, with '/' as separator.
};

/// Makes a bundle from one element per architecture, in any order; their
/// kernels may differ.
Bundle makeBundle(llvm::ArrayRef<CompiledKernels> compiled,
                  const BundleOptions &options = {});

/// Writes the folder atomically, replacing an existing one. Refuses to replace
/// a folder that is not a bundle.
llvm::Error writeBundle(const Bundle &bundle, llvm::StringRef folder);
llvm::Expected<Bundle> readBundle(llvm::StringRef folder);

/// Serializes the bundle for artifacts: a line with the version, the lengths
/// and the SHA-256 of the rest, then the manifest, then the files in the
/// manifest's order.
std::string packBundle(const Bundle &bundle);
llvm::Expected<Bundle> unpackBundle(llvm::StringRef bytes);

/// Returns the manifest's object for one architecture; on failure, the error
/// lists those that exist.
llvm::Expected<const llvm::json::Object *>
findArchitecture(const Bundle &bundle, llvm::StringRef name);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_BUNDLE_H
