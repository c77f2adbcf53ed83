//===- Kernels.cpp - kernels written for tests ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/emulator/Kernels.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace drawloom::test {

std::string kernel(const std::string &arguments, const std::string &body,
                   int threads) {
  std::string constants;
  for (int value : {0, 1, 2, 4, 32})
    constants += "  %c" + std::to_string(value) + " = llvm.mlir.constant(" +
                 std::to_string(value) + " : i32) : i32\n";
  return "llvm.mlir.global external @global_smem() {addr_space = 3 : i32, "
         "alignment = 1024 : i64} : !llvm.array<0 x i8>\n"
         "llvm.func @k(" +
         arguments +
         " %global_scratch: !llvm.ptr<1>, %profile_scratch: !llvm.ptr<1>) "
         "attributes {nvvm.kernel, nvvm.reqntid = array<i32: " +
         std::to_string(threads) + ">} {\n" + constants +
         "  %all = llvm.mlir.constant(-1 : i32) : i32\n"
         "  %tid = nvvm.read.ptx.sreg.tid.x : i32\n"
         "  %smem = llvm.mlir.addressof @global_smem : !llvm.ptr<3>\n" +
         body + "\n  llvm.return\n}\n";
}

std::string perThread(const std::string &body) {
  return R"(
  %pin = llvm.getelementptr %in[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %v = llvm.load %pin : !llvm.ptr<1> -> i32
  %pout = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
)" + body +
         R"(
  llvm.store %r, %pout : i32, !llvm.ptr<1>
)";
}

std::vector<uint32_t> runPerThread(const std::string &body,
                                   std::vector<uint32_t> in,
                                   int64_t sharedBytes, uint64_t seed) {
  Kernels kernels(kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>,",
                         perThread(body), static_cast<int>(in.size())));
  std::vector<uint32_t> out(in.size());
  const void *pin = in.data(), *pout = out.data();
  emulator::LaunchOptions options;
  options.seed = seed;
  emulator::GlobalMemory memory;
  memory.add(in.data(), static_cast<int64_t>(in.size() * 4));
  memory.add(out.data(), static_cast<int64_t>(out.size() * 4));
  options.memory = &memory;
  EXPECT_EQ(kernels.run({&pin, &pout}, sharedBytes, options), "");
  return out;
}

Kernels::Kernels(const std::string &text) {
  context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, DLTIDialect>();
  OwningOpRef<ModuleOp> parsed =
      parseSourceString<ModuleOp>(text, &context, "kernel.mlir");
  if (!parsed) {
    error = "the kernel does not parse";
    return;
  }
  auto loaded = emulator::Module::load(*parsed);
  if (loaded)
    module = std::move(*loaded);
  else
    error = llvm::toString(loaded.takeError());
}

std::string Kernels::run(llvm::ArrayRef<const void *> parameters,
                         int64_t sharedBytes,
                         const emulator::LaunchOptions &options,
                         emulator::Grid grid) {
  if (!module)
    return error;
  void *none = nullptr;
  std::vector<const void *> all(parameters.begin(), parameters.end());
  all.push_back(&none);
  all.push_back(&none);
  auto result = module->launch("k", grid, all, sharedBytes, options);
  if (!result)
    return llvm::toString(result.takeError());
  report = std::move(*result);
  return "";
}

testing::AssertionResult says(const std::string &text,
                              std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    if (text.find(part) == std::string::npos)
      return testing::AssertionFailure()
             << "no '" << part << "' in '" << text << "'";
  return testing::AssertionSuccess();
}

testing::AssertionResult saysOne(const std::string &text,
                                 std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    if (says(text, {part}))
      return testing::AssertionSuccess();
  return testing::AssertionFailure() << "none of the parts in '" << text << "'";
}

} // namespace drawloom::test
