//===- CompileKernels.cpp - from kernel modules to cubins -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/CompileKernels.h"
#include "dialects/Drawloom/Attributes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <thread>

using namespace llvm;

namespace drawloom::nvptx {

/// Runs the assembler on every kernel, on as many threads as there are
/// processors. The first kernel's error is reported, in the module's order.
static Error assembleAll(const Ptxas &ptxas, bool lineInfo,
                         CompiledKernels &compiled) {
  std::vector<CompiledKernel> &kernels = compiled.kernels;
  std::vector<std::string> errors(kernels.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next++) < kernels.size();) {
      CompiledKernel &kernel = kernels[i];
      Expected<Cubin> cubin =
          ptxas.assemble(kernel.ptx, *compiled.architecture,
                         "kernel '" + kernel.info.name + "'", lineInfo);
      if (!cubin) {
        errors[i] = toString(cubin.takeError());
        continue;
      }
      kernel.cubin = std::move(cubin->bytes);
      kernel.ptxasMilliseconds = cubin->milliseconds;
      kernel.usage = cubin->usage[kernel.info.name];
    }
  };
  size_t count = std::min<size_t>(
      kernels.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError(error);
  return Error::success();
}

Expected<CompiledKernels> compileKernels(mlir::ModuleOp kernelModule,
                                         const Architecture &architecture,
                                         const KernelOptions &options) {
  // A program that a library computes all of has a plan, and nothing else.
  if (kernelModule->hasAttr(planAttr) && kernelModule.getBody()->empty()) {
    CompiledKernels none;
    none.architecture = &architecture;
    return none;
  }
  Expected<std::vector<KernelInfo>> infos =
      describeKernels(kernelModule, architecture);
  if (!infos)
    return infos.takeError();
  CompiledKernels compiled;
  compiled.architecture = &architecture;
  for (KernelInfo &info : *infos) {
    mlir::OwningOpRef<mlir::ModuleOp> own =
        extractKernel(kernelModule, info.name);
    Expected<DeviceCode> code =
        emitDeviceCode(*own, architecture.name, options.ptx);
    if (!code)
      return code.takeError();
    CompiledKernel kernel;
    kernel.info = std::move(info);
    kernel.llvmIr = std::move(code->llvmIr);
    kernel.ptx = std::move(code->ptx);
    kernel.llvmMilliseconds = code->milliseconds;
    raw_string_ostream(kernel.module) << **own << "\n";
    compiled.kernels.push_back(std::move(kernel));
  }
  if (options.assemble == Assemble::Never)
    return compiled;
  Expected<Ptxas> ptxas = Ptxas::find(architecture, options.ptxas);
  if (!ptxas) {
    if (options.assemble == Assemble::Always)
      return ptxas.takeError();
    compiled.note = toString(ptxas.takeError()) +
                    "; the driver will assemble the PTX when it loads it";
    return compiled;
  }
  compiled.assembler = ptxas->version().str();
  if (Error error = assembleAll(*ptxas, options.ptx.lineInfo, compiled))
    return error;
  return compiled;
}

void printUsage(const CompiledKernels &compiled, raw_ostream &stream) {
  stream << formatv(
      "{0,-24} {1,-8} {2,7} {3,8} {4,5} {5,7} {6,7} {7,8} {8,8}\n", "kernel",
      "arch", "threads", "shared B", "regs", "spill B", "cubin B", "LLVM ms",
      "ptxas ms");
  for (const CompiledKernel &kernel : compiled.kernels) {
    std::string registers = "-", spills = "-", cubin = "-", assembly = "-";
    if (kernel.usage) {
      registers = std::to_string(kernel.usage->registers);
      spills = std::to_string(kernel.usage->spillStoreBytes +
                              kernel.usage->spillLoadBytes);
      cubin = std::to_string(kernel.cubin.size());
      assembly = formatv("{0:f1}", kernel.ptxasMilliseconds);
    }
    stream << formatv(
        "{0,-24} {1,-8} {2,7} {3,8} {4,5} {5,7} {6,7} {7,8:f1} {8,8}\n",
        kernel.info.name, compiled.architecture->name, kernel.info.threads,
        kernel.info.sharedBytes + kernel.info.staticSharedBytes, registers,
        spills, cubin, kernel.llvmMilliseconds, assembly);
  }
}

} // namespace drawloom::nvptx
