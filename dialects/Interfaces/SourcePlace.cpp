//===- SourcePlace.cpp - places for people --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/SourcePlace.h"

namespace drawloom {

std::string placeOf(mlir::Location location) {
  std::string place;
  location->walk([&](mlir::Location part) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(part);
    if (!file)
      return mlir::WalkResult::advance();
    llvm::StringRef name = file.getFilename().getValue();
    place = (name.substr(name.find_last_of('/') + 1) + ":" +
             llvm::Twine(file.getLine()))
                .str();
    return mlir::WalkResult::interrupt();
  });
  return place;
}

} // namespace drawloom
