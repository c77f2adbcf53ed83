//===- Plugins.cpp - dialects and passes of others, through C -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Embed/Embed.h"
#include "lib/RegisterAll.h"
#include "mlir/Pass/PassManager.h"
#include <mutex>

using namespace drawloom;
using namespace drawloom::embed;

DrawloomError *drawloomLoadPlugin(const char *path) {
  if (!path)
    return makeError(DRAWLOOM_ERROR_CALL, "the path of the plugin is NULL");
  if (llvm::Error error = loadPlugin(path))
    return makeError(DRAWLOOM_ERROR_FILE, toString(std::move(error)));
  return nullptr;
}

llvm::Error embed::insertPasses(llvm::ArrayRef<const char *> texts,
                                CompileOptions &options) {
  if (!texts.empty()) {
    static std::once_flag once;
    std::call_once(once, [] { registerPasses(registerCompilerPasses); });
  }
  for (const char *text : texts) {
    llvm::Expected<InsertedPasses> passes =
        InsertedPasses::parse(text, *options.target);
    if (!passes)
      return passes.takeError();
    mlir::OpPassManager tried(mlir::ModuleOp::getOperationName());
    if (llvm::Error error = passes->addTo(tried))
      return error;
    options.inserted.push_back(std::move(*passes));
  }
  return llvm::Error::success();
}
