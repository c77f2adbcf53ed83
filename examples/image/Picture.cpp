//===- Picture.cpp - pictures in memory -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/image/Picture.h"
#include "examples/image/Files.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <stb/stb_image.h>

using namespace llvm;
using namespace image;

uint64_t Picture::fingerprint() const {
  return xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(rgb.data()),
                              rgb.size() * sizeof(float))) +
         static_cast<uint64_t>(width);
}

Expected<Picture> image::readPicture(StringRef path) {
  // Reading the file apart from decoding tells "no such file" from "no image".
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError("cannot read '" + path +
                     "': " + file.getError().message());
  if ((*file)->getBufferSize() > INT32_MAX)
    return makeError("'" + path + "' is larger than 2 GB");
  int width = 0, height = 0, channels = 0;
  stbi_uc *bytes = stbi_load_from_memory(
      reinterpret_cast<const stbi_uc *>((*file)->getBufferStart()),
      static_cast<int>((*file)->getBufferSize()), &width, &height, &channels,
      3);
  if (!bytes)
    return makeError("'" + path + "' is not a PNG or JPEG picture (" +
                     stbi_failure_reason() + ")");
  Picture picture;
  picture.width = width;
  picture.height = height;
  picture.rgb.resize(picture.pixels() * 3);
  for (size_t i = 0; i < picture.rgb.size(); ++i)
    picture.rgb[i] = static_cast<float>(bytes[i]) / 255.0f;
  stbi_image_free(bytes);
  return picture;
}

double image::psnr(const Picture &x, const Picture &y) {
  double sum = 0;
  for (size_t i = 0; i < x.rgb.size(); ++i) {
    double difference = static_cast<double>(x.rgb[i]) - y.rgb[i];
    sum += difference * difference;
  }
  return 10 * std::log10(static_cast<double>(x.rgb.size()) / sum);
}
