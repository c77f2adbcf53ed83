//===- gpu_runner.cpp - runs the launch plan of a bundle, for ctypes ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The GPU runtime behind functions of C, which drawloom_bench/gpu/runtime.py
// calls on machines without LLVM. Functions that return int give 0, or 1 where
// drawloomGpuMessage() says what went wrong. One thread at a time.
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Cuda.h"
#include "drawloom/runtime/CudaProducts.h"
#include <algorithm>
#include <cstring>

using namespace drawloom::runtime::cuda;

namespace {
struct Step {
  bool copies = false;
  std::string name;
  size_t kernel = 0, bytes = 0;
  int64_t grid = 1;
  void *to = nullptr;
  const void *from = nullptr;
  std::vector<Argument> arguments;
  std::optional<Product> product;
  ProductOperands operands;
};

struct Runner {
  std::shared_ptr<Device> device;
  std::shared_ptr<Module> module;
  std::shared_ptr<ProductLibrary> products;
  std::unique_ptr<CachingAllocator> memory;
  std::vector<void *> taken;
  std::vector<Step> steps;

  ~Runner() {
    // The allocator gives back what was released to it.
    for (void *one : taken)
      memory->release(one, nullptr);
  }
};

std::string message;
/// Where the name of what is launched is written, or null.
char *watched = nullptr;
size_t watchedBytes = 0;

void watch(const char *name) {
  if (watched)
    std::strncpy(watched, name, watchedBytes - 1);
}

int fail(const Status &status) {
  message = status.message();
  return 1;
}
int done(const Status &status) { return status.ok() ? 0 : fail(status); }

/// The one device of the process, opened once.
Result<std::shared_ptr<Device>> openDevice() {
  static std::shared_ptr<Device> device;
  if (!device) {
    auto driver = Driver::open();
    if (!driver.ok())
      return driver.status();
    auto opened = Device::open(*driver);
    if (!opened.ok())
      return opened.status();
    device = *opened;
  }
  return device;
}
} // namespace

extern "C" {

const char *drawloomGpuMessage() { return message.c_str(); }

/// From now on each launch writes its kernel's name there first, so that
/// another process sees where this one is. The last byte stays as it is.
void drawloomGpuWatch(char *memory, size_t bytes) {
  watched = memory;
  watchedBytes = bytes;
}

/// The device's name and 10 * major + minor of its capability.
int drawloomGpuDevice(const char **name, int *capability) {
  auto device = openDevice();
  if (!device.ok())
    return fail(device.status());
  *name = (*device)->name().c_str();
  *capability = static_cast<int>((*device)->capability());
  return 0;
}

/// Loads the kernels of a bundle's folder; `arch` is the architecture taken.
int drawloomGpuOpen(const char *folder, void **runner, const char **arch) {
  auto device = openDevice();
  if (!device.ok())
    return fail(device.status());
  auto bundle = Bundle::fromFolder(folder);
  if (!bundle.ok())
    return fail(bundle.status());
  auto module = Module::load(*device, **bundle);
  if (!module.ok())
    return fail(module.status());
  auto *opened = new Runner;
  opened->device = *device;
  opened->module = *module;
  opened->memory = std::make_unique<CachingAllocator>(*device);
  *runner = opened;
  *arch = (*module)->architecture().name.c_str();
  return 0;
}

/// Also frees the memory that was allocated with it.
void drawloomGpuClose(void *runner) { delete static_cast<Runner *>(runner); }

int drawloomGpuAllocate(void *runner, size_t bytes, void **memory) {
  auto *to = static_cast<Runner *>(runner);
  auto result = to->memory->allocate(bytes, nullptr);
  if (!result.ok())
    return fail(result.status());
  *memory = *result;
  if (*result)
    to->taken.push_back(*result);
  return 0;
}

int drawloomGpuUpload(void *runner, void *device, const void *host,
                      size_t bytes) {
  return done(
      static_cast<Runner *>(runner)->device->upload(device, host, bytes));
}

int drawloomGpuDownload(void *runner, void *host, const void *device,
                        size_t bytes) {
  return done(
      static_cast<Runner *>(runner)->device->download(host, device, bytes));
}

/// Adds a launch; kinds are numbers of Kind, bits the values or addresses.
int drawloomGpuAddLaunch(void *runner, const char *kernel, int64_t grid,
                         size_t count, const int *kinds, const uint64_t *bits) {
  auto *to = static_cast<Runner *>(runner);
  auto index = to->module->find(kernel);
  if (!index.ok())
    return fail(index.status());
  Step step;
  step.name = kernel;
  step.kernel = *index;
  step.grid = grid;
  for (size_t i = 0; i < count; ++i) {
    Argument argument;
    argument.kind = static_cast<Kind>(kinds[i]);
    argument.bits = bits[i];
    step.arguments.push_back(argument);
  }
  to->steps.push_back(std::move(step));
  return 0;
}

/// Adds a product by cuBLASLt. `numbers`: m, n, k, batch, the kinds of operands
/// and result, whether left and right are transposed, the strides and then the
/// batch strides of left, right, addend and result, addend, bias, relu, bytes
/// of workspace; `pointers`: left, right, addend, bias, result, workspace.
int drawloomGpuAddProduct(void *runner, const int64_t *numbers,
                          void *const *pointers) {
  auto *to = static_cast<Runner *>(runner);
  if (!to->products) {
    auto opened = ProductLibrary::open(to->device);
    if (!opened.ok())
      return fail(opened.status());
    to->products = *opened;
  }
  Step step;
  step.name = "product by cuBLASLt";
  Product &product = step.product.emplace();
  auto next = [&] { return *numbers++; };
  for (int64_t *field : {&product.m, &product.n, &product.k, &product.batch})
    *field = next();
  product.operands = static_cast<Kind>(next());
  product.result = static_cast<Kind>(next());
  product.transposeLeft = next() != 0;
  product.transposeRight = next() != 0;
  for (int64_t *field :
       {&product.leftStride, &product.rightStride, &product.addendStride,
        &product.resultStride, &product.leftBatch, &product.rightBatch,
        &product.addendBatch, &product.resultBatch})
    *field = next();
  product.addend = next() != 0;
  product.bias = next() != 0;
  product.relu = next() != 0;
  step.operands.workspaceBytes = static_cast<size_t>(next());
  step.operands.left = pointers[0];
  step.operands.right = pointers[1];
  step.operands.addend = pointers[2];
  step.operands.bias = pointers[3];
  step.operands.result = pointers[4];
  step.operands.workspace = pointers[5];
  to->steps.push_back(std::move(step));
  return 0;
}

void drawloomGpuAddCopy(void *runner, void *to, const void *from,
                        size_t bytes) {
  Step step;
  step.name = "copy";
  step.copies = true;
  step.to = to;
  step.from = from;
  step.bytes = bytes;
  static_cast<Runner *>(runner)->steps.push_back(std::move(step));
}

/// Puts the steps from `first` to before `last` on a stream (null is the
/// default one) so many times; waits for nothing.
int drawloomGpuRun(void *runner, size_t first, size_t last, int times,
                   void *stream) {
  auto *of = static_cast<Runner *>(runner);
  last = std::min(last, of->steps.size());
  for (int i = 0; i < times; ++i)
    for (size_t j = first; j < last; ++j) {
      const Step &step = of->steps[j];
      watch(step.name.c_str());
      Status status =
          step.product
              ? of->products->multiply(*step.product, step.operands, stream)
          : step.copies
              ? of->device->copy(step.to, step.from, step.bytes, stream)
              : of->module->launch(step.kernel, Grid{step.grid, 1, 1},
                                   step.arguments, stream);
      if (!status.ok())
        return fail(status);
    }
  return 0;
}

int drawloomGpuWait(void *runner) {
  return done(static_cast<Runner *>(runner)->device->synchronize());
}
}
