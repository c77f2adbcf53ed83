//===- npy-fuzzer.cpp - .npy and .npz readers on hostile bytes ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Numpy/Numpy.h"
#include "llvm/Support/ErrorHandling.h"

using namespace drawloom;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef contents(reinterpret_cast<const char *>(data), size);
  llvm::Expected<numpy::Array> array = numpy::parseNpy(contents);
  if (array) {
    // What was read can be written, and reads as the same array.
    llvm::Expected<numpy::Array> again =
        numpy::parseNpy(numpy::formatNpy(*array));
    if (!again || again->shape != array->shape || again->bytes != array->bytes)
      llvm::report_fatal_error("the array changed on its way");
  } else {
    llvm::consumeError(array.takeError());
  }
  llvm::Expected<std::vector<numpy::NamedArray>> arrays =
      numpy::parseNpz(contents);
  if (!arrays)
    llvm::consumeError(arrays.takeError());
  return 0;
}
