//===- NoPlugins.cpp - the library that is closed to others ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library of the wheel hides the MLIR and LLVM that are inside it. Plugins
// need both, and would bring a second copy of each.
//
//===----------------------------------------------------------------------===//

#include "lib/Embed/Embed.h"

using namespace drawloom;
using namespace drawloom::embed;

static constexpr const char *wayOut =
    "this library, which has MLIR and LLVM inside, takes no dialects or passes "
    "of others. Install Drawloom from its sources; or compile the program by "
    "its drawloom-run with --plugin, --insert-passes and --save, and load the "
    "file";

DrawloomError *drawloomLoadPlugin(const char *path) {
  return makeError(DRAWLOOM_ERROR_FILE, llvm::Twine("the plugin '") + path +
                                            "' is not loaded: " + wayOut);
}

llvm::Error embed::insertPasses(llvm::ArrayRef<const char *> texts,
                                CompileOptions &) {
  if (texts.empty())
    return llvm::Error::success();
  return llvm::createStringError(llvm::Twine("the passes '") + texts.front() +
                                 "' are not inserted: " + wayOut);
}
