//===- program-fuzzer.cpp - nonsense for the loader of programs -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is an object file, and also a compiled program without its first
// line, behind two bytes that tell how long its description is: with the line
// that fits, its checksum too, so that what reads the rest gets to see it. What
// is loaded is not run.
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CpuProgram.h"
#include "drawloom/runtime/MachineCode.h"
#include "drawloom/runtime/Sha256.h"

using namespace drawloom;
using namespace drawloom::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  (void)MachineCode::load(bytes);
  if (size < 2)
    return 0;
  std::string_view payload = bytes.substr(2);
  size_t description = (data[0] | data[1] << 8) % (payload.size() + 1);
  std::string file = "drawloom-artifact " + std::to_string(artifactVersion) +
                     " " + std::to_string(description) + " " +
                     std::to_string(payload.size() - description) + " " +
                     sha256(payload) + "\n" + std::string(payload);
  Result<Artifact> artifact = readArtifact(file);
  if (!artifact.ok())
    return 0;
  (void)chooseVariant(*artifact);
  for (const Artifact::Variant &variant : artifact->variants)
    (void)loadCpuProgram(variant);
  // What was read is written, and read again as the same.
  if (!readArtifact(writeArtifact(*artifact)).ok())
    __builtin_trap();
  return 0;
}
