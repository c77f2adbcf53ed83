//===- Plots.h - the pictures that a run leaves behind ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_PLOTS_H
#define DRAWLOOM_EXAMPLES_IMAGE_PLOTS_H

#include "examples/image/Picture.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace image {

/// A set of curves over one axis: what a layer's activation has become.
struct Curves {
  std::string title;
  std::vector<float> x;
  /// The function before training, drawn dashed.
  std::vector<float> initial;
  std::vector<std::vector<float>> learnt;
};

/// Writes `picture` as it is.
llvm::Error writePicture(llvm::StringRef path, const Picture &picture);

/// Writes original | learnt | error side by side; the error is the absolute
/// difference, magnified so that it can be seen.
llvm::Error writeComparison(llvm::StringRef path, const Picture &original,
                            const Picture &learnt, llvm::StringRef caption);

/// Writes the loss of each step, on a logarithmic axis.
llvm::Error writeLossCurve(llvm::StringRef path, llvm::ArrayRef<float> losses,
                           llvm::StringRef caption);

/// Writes one chart for each element of `layers`, side by side.
llvm::Error writeActivations(llvm::StringRef path,
                             llvm::ArrayRef<Curves> layers,
                             llvm::StringRef caption);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_PLOTS_H
