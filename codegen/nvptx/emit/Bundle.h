//===- Bundle.h - compiled kernels as a folder or as bytes --- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/gpu-triton.md describes the folder. runtime/cuda reads it without LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_BUNDLE_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_BUNDLE_H

#include "codegen/nvptx/emit/CompileKernels.h"
#include <map>

namespace drawloom::nvptx {

/// Of bundle.json, and of how kernels are called. A reader refuses any other.
constexpr int64_t bundleVersion = 1;

struct BundleOptions {
  /// Adds each kernel's module, named by the SHA-256 of its cubin and of its
  /// PTX: the emulated driver finds by these what it runs in their place.
  bool modules = false;
  /// Adds what Triton's loader reads, and each kernel's LLVM IR.
  bool forTriton = true;
};

/// A bundle in memory: a manifest, and the files that it lists.
struct Bundle {
  llvm::json::Value manifest = nullptr;
  std::map<std::string, std::string> files; ///< By path, with '/'.
};

/// One element per architecture, in any order; the kernels may differ.
Bundle makeBundle(llvm::ArrayRef<CompiledKernels> compiled,
                  const BundleOptions &options = {});

/// Writes the folder in place of what was there: it is there whole, or not at
/// all. Refuses to replace a folder that is no bundle.
llvm::Error writeBundle(const Bundle &bundle, llvm::StringRef folder);
llvm::Expected<Bundle> readBundle(llvm::StringRef folder);

/// The bundle as one string of bytes, for artifacts: a line with the version,
/// the lengths and the SHA-256 of what follows, the manifest, then the files in
/// its order.
std::string packBundle(const Bundle &bundle);
llvm::Expected<Bundle> unpackBundle(llvm::StringRef bytes);

/// The object of one architecture in a manifest; names those that there are in
/// its error.
llvm::Expected<const llvm::json::Object *>
findArchitecture(const Bundle &bundle, llvm::StringRef name);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_BUNDLE_H
