//===- program-fuzzer.cpp - nonsense for the loader of programs -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is an object file and a launch plan, and also a compiled program,
// or a bundle of kernels, without its first line, behind two bytes that tell
// how long its description is: with the line that fits, its checksum too, so
// that what reads the rest gets to see it. What is loaded is not run.
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CpuProgram.h"
#include "drawloom/runtime/Cuda.h"
#include "drawloom/runtime/LaunchPlan.h"
#include "drawloom/runtime/MachineCode.h"
#include "drawloom/runtime/Sha256.h"

using namespace drawloom;
using namespace drawloom::runtime;

static std::string lineFor(const std::string &magic, std::string_view payload,
                           size_t description) {
  return magic + std::to_string(description) + " " +
         std::to_string(payload.size() - description) + " " + sha256(payload) +
         "\n" + std::string(payload);
}

static void readProgram(int64_t version, std::string_view payload,
                        size_t description) {
  std::string file =
      lineFor("drawloom-artifact " + std::to_string(version) + " ", payload,
              description);
  Result<Artifact> artifact = readArtifact(file);
  if (!artifact.ok())
    return;
  (void)chooseTarget(*artifact);
  (void)chooseVariant(*artifact);
  for (const Artifact::Variant &variant : artifact->variants)
    (void)loadCpuProgram(variant);
  // What was read is written, and read again as the same.
  if (!readArtifact(writeArtifact(*artifact)).ok())
    __builtin_trap();
}

static void readBundle(std::string_view payload, size_t manifest) {
  std::string file = lineFor("drawloom-bundle 1 ", payload, manifest);
  Result<std::shared_ptr<cuda::Bundle>> bundle =
      cuda::Bundle::fromMemory(file.data(), file.size());
  if (!bundle.ok())
    return;
  for (unsigned capability : {80, 90, 120})
    (void)cuda::chooseArchitecture((*bundle)->architectures(), capability);
  for (const cuda::ArchitectureInfo &info : (*bundle)->architectures()) {
    (void)cuda::parsePlan(info.plan);
    for (const cuda::KernelInfo &kernel : info.kernels)
      (void)(*bundle)->read(kernel.ptx);
  }
}

/// Follows every offset of a plan that is accepted.
static void readPlan(std::string_view bytes) {
  Result<cuda::LaunchPlan> plan = cuda::parsePlan(std::string(bytes));
  if (!plan.ok())
    return;
  for (const cuda::LaunchEntry &entry : plan->entries)
    for (const cuda::LaunchStep &step : entry.steps)
      for (const cuda::LaunchOperand &operand : step.operands)
        if (!entry.signature.isOpen() && cuda::bytesBehind(entry, operand) < 0)
          __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  (void)MachineCode::load(bytes);
  readPlan(bytes);
  if (size < 2)
    return 0;
  std::string_view payload = bytes.substr(2);
  size_t description = (data[0] | data[1] << 8) % (payload.size() + 1);
  readProgram(3, payload, description);
  readProgram(artifactVersion, payload, description);
  readBundle(payload, description);
  return 0;
}
