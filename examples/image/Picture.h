//===- Picture.h - pictures in memory ---------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_PICTURE_H
#define DRAWLOOM_EXAMPLES_IMAGE_PICTURE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace image {

/// `height` rows of `width` pixels of red, green and blue in [0, 1].
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<float> rgb;

  int64_t pixels() const { return width * height; }
  /// Identifies the contents: a checkpoint belongs to one picture.
  uint64_t fingerprint() const;
};

/// Reads a PNG or JPEG file (and whatever else stb_image knows). Grey becomes
/// RGB, transparency is dropped.
llvm::Expected<Picture> readPicture(llvm::StringRef path);

/// 10 log10(1 / mean squared error) of two pictures of one size.
double psnr(const Picture &x, const Picture &y);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_PICTURE_H
