//===- Module.cpp - loading and launching kernels -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <algorithm>
#include <cstdio>

namespace drawloom::runtime::cuda {

// Above this, a kernel has to ask for its shared memory.
static constexpr int64_t sharedWithoutAsking = 49152;
// Enough for any kernel's parameters, on the stack.
static constexpr size_t mostArguments = 512;

static const char *name(Kind kind) {
  static constexpr const char *names[] = {
      "pointer", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(kind)];
}

Result<Choice> chooseArchitecture(const std::vector<ArchitectureInfo> &list,
                                  unsigned capability) {
  auto hasCubins = [](const ArchitectureInfo &info) {
    return std::all_of(
        info.kernels.begin(), info.kernels.end(),
        [](const KernelInfo &kernel) { return !kernel.cubin.empty(); });
  };
  auto hasPtx = [](const ArchitectureInfo &info) {
    return std::all_of(
        info.kernels.begin(), info.kernels.end(),
        [](const KernelInfo &kernel) { return !kernel.ptx.empty(); });
  };
  // Ranks: the very architecture; a cubin of the generation, which runs on
  // later members of it; PTX, the newest. `a` code runs nowhere else.
  std::optional<Choice> best;
  int64_t bestRank = -1;
  for (size_t i = 0; i < list.size(); ++i) {
    const ArchitectureInfo &info = list[i];
    bool exact = info.capability == capability;
    if (info.specific ? !exact : info.capability > capability)
      continue;
    bool sameGeneration = info.capability / 10 == capability / 10;
    bool cubin = hasCubins(info) && (exact || sameGeneration);
    if (!cubin && !hasPtx(info))
      continue;
    int64_t rank =
        info.capability + (info.specific ? 100000 : 0) + (cubin ? 10000 : 0);
    if (rank > bestRank) {
      bestRank = rank;
      best = Choice{i, !cubin};
    }
  }
  if (best)
    return *best;
  std::string names;
  for (const ArchitectureInfo &info : list)
    names += (names.empty() ? "" : ", ") + info.name;
  return Status::error("no code in the bundle runs on a device of capability " +
                       std::to_string(capability / 10) + "." +
                       std::to_string(capability % 10) + "; it is for " +
                       names + ". Compile it for this device's architecture");
}

Module::~Module() {
  if (!device)
    return;
  CurrentContext current(device->driver->api(), device->context);
  if (current.code == success)
    for (void *module : modules)
      device->driver->api().moduleUnload(module);
}

Result<std::shared_ptr<Module>> Module::load(std::shared_ptr<Device> device,
                                             const Bundle &bundle) {
  Result<Choice> choice =
      chooseArchitecture(bundle.architectures(), device->capability());
  if (!choice.ok())
    return choice.status();
  const Driver &driver = *device->driver;
  const Api &api = driver.api();
  std::shared_ptr<Module> result(new Module);
  result->chosen = bundle.architectures()[choice->index];
  result->device = device;
  CurrentContext current(api, device->context);
  for (KernelInfo &kernel : result->chosen.kernels) {
    auto failed = [&](const std::string &why) {
      return Status::error("kernel '" + kernel.name + "' for " +
                           result->chosen.name + " cannot be loaded onto " +
                           device->name() + ": " + why);
    };
    if (current.code != success)
      return failed(driver.describe(current.code));
    if (kernel.sharedBytes > device->sharedLimit())
      return failed("it asks for " + std::to_string(kernel.sharedBytes) +
                    " bytes of shared memory, a block has " +
                    std::to_string(device->sharedLimit()));
    if (kernel.parameters.size() + 2 > mostArguments)
      return failed("it has too many parameters");
    void *module = nullptr, *function = nullptr;
    std::string refused;
    for (const std::string &file :
         choice->ptx ? std::vector<std::string>{kernel.ptx}
                     : std::vector<std::string>{kernel.cubin, kernel.ptx}) {
      if (module || file.empty())
        continue;
      Result<std::string> image = bundle.read(file);
      if (!image.ok())
        return failed(image.message());
      char log[4096] = "";
      int options[] = {jitErrorLog, jitErrorLogBytes};
      void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
      // PTX is text, which ends with a zero; c_str() has it.
      int code = api.moduleLoad(&module, image->c_str(), 2, options, values);
      log[sizeof(log) - 1] = 0;
      if (code == success)
        break;
      module = nullptr;
      refused += (refused.empty() ? "" : "; its PTX: ") +
                 driver.describe(code) + (*log ? ": " : "") + log;
      // The others are of the device or of earlier work.
      if (code != invalidImage && code != noBinaryForGpu &&
          code != unsupportedVersion)
        break;
    }
    if (!module)
      return failed(refused);
    if (!refused.empty() && result->said.empty())
      result->said = "the driver refuses the machine code of kernel '" +
                     kernel.name + "' for " + result->chosen.name + " (" +
                     refused +
                     ") and has assembled its PTX instead; a driver that is "
                     "older than the assembler does so";
    result->modules.push_back(module);
    if (int code =
            api.moduleGetFunction(&function, module, kernel.name.c_str()))
      return failed(driver.describe(code));
    // Asking also makes a driver that loads when it must load now, and not in
    // the middle of a capture.
    int registers = 0;
    if (int code =
            api.functionGetAttribute(&registers, functionRegisters, function))
      return failed(driver.describe(code));
    if (kernel.registers < 0)
      kernel.registers = registers;
    if (kernel.sharedBytes > sharedWithoutAsking)
      if (int code =
              api.functionSetAttribute(function, functionMaxDynamicShared,
                                       static_cast<int>(kernel.sharedBytes)))
        return failed(driver.describe(code));
    result->functions.push_back(function);
  }
  return result;
}

Result<size_t> Module::find(const std::string &kernel) const {
  std::string names;
  for (size_t i = 0; i < chosen.kernels.size(); ++i) {
    if (chosen.kernels[i].name == kernel)
      return i;
    names += (names.empty() ? "" : ", ") + chosen.kernels[i].name;
  }
  return Status::error("the bundle has no kernel '" + kernel + "'; it has " +
                       names);
}

/// The launch as it appears in messages: name, grid, arguments.
static std::string describe(const KernelInfo &kernel, const Grid &grid,
                            const std::vector<Argument> &arguments) {
  std::string text = "kernel '" + kernel.name + "', grid " +
                     std::to_string(grid.x) + "x" + std::to_string(grid.y) +
                     "x" + std::to_string(grid.z) + ", " +
                     std::to_string(kernel.threads) + " threads, (";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    text += i ? ", " : "";
    if (i < kernel.parameters.size())
      text += kernel.parameters[i].name + " = ";
    char value[32];
    switch (argument.kind) {
    case Kind::I1:
    case Kind::I8:
    case Kind::I16:
    case Kind::I32:
      std::snprintf(value, sizeof(value), "%d",
                    static_cast<int32_t>(argument.bits));
      break;
    case Kind::I64:
      std::snprintf(value, sizeof(value), "%lld",
                    static_cast<long long>(argument.bits));
      break;
    default:
      std::snprintf(value, sizeof(value), "0x%llx",
                    static_cast<unsigned long long>(argument.bits));
    }
    text += value;
    if (argument.shape)
      text += std::string(": ") + argument.shape;
  }
  return text + ")";
}

Status Module::check(const KernelInfo &kernel, const Grid &grid,
                     const std::vector<Argument> &arguments) const {
  auto failed = [&](const std::string &why) {
    return Status::error(describe(kernel, grid, arguments) + ": " + why);
  };
  if (arguments.size() != kernel.parameters.size())
    return failed("it takes " + std::to_string(kernel.parameters.size()) +
                  " arguments, " + std::to_string(arguments.size()) +
                  " were given");
  int64_t extents[] = {grid.x, grid.y, grid.z};
  for (int i = 0; i < 3; ++i)
    if (extents[i] < 0 || extents[i] > device->gridLimit[i])
      return failed(std::string("its grid has ") + std::to_string(extents[i]) +
                    " blocks along " + "xyz"[i] + ", the device takes 0 to " +
                    std::to_string(device->gridLimit[i]));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter &parameter = kernel.parameters[i];
    const Argument &argument = arguments[i];
    if (argument.kind != parameter.kind)
      return failed("argument '" + parameter.name + "' is of kind " +
                    name(argument.kind) + ", the kernel takes " +
                    name(parameter.kind));
    if (argument.kind != Kind::Pointer)
      continue;
    if (!argument.bits) {
      if (parameter.nonnull)
        return failed("argument '" + parameter.name + "' is a null pointer");
      continue;
    }
    if (argument.bits % parameter.alignment)
      return failed("argument '" + parameter.name + "' must be a multiple of " +
                    std::to_string(parameter.alignment) + " bytes");
    if (std::string why = device->whyNotReadable(argument.bits); !why.empty())
      return failed("argument '" + parameter.name + "' " + why);
  }
  // Kernels assume that what they write is nobody else's: they read inputs
  // again whenever that is convenient.
  auto range = [&](size_t i) {
    char text[64];
    std::snprintf(text, sizeof(text), "0x%llx to 0x%llx",
                  static_cast<unsigned long long>(arguments[i].bits),
                  static_cast<unsigned long long>(
                      arguments[i].bits + kernel.parameters[i].bytes - 1));
    return "argument '" + kernel.parameters[i].name + "' (" + text + ")";
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!kernel.parameters[i].written || !arguments[i].bits)
      continue;
    for (size_t j = 0; j < arguments.size(); ++j) {
      const Parameter &mine = kernel.parameters[i],
                      &other = kernel.parameters[j];
      if (i == j || !mine.bytes || !other.bytes || !arguments[j].bits ||
          (other.written && j < i))
        continue;
      uint64_t begin = arguments[i].bits, otherBegin = arguments[j].bits;
      if (begin < otherBegin + other.bytes && otherBegin < begin + mine.bytes)
        return failed(range(i) + ", which the kernel writes, overlaps " +
                      range(j) + ": give it memory of its own");
    }
  }
  return {};
}

Status Module::launch(size_t index, const Grid &grid,
                      const std::vector<Argument> &arguments,
                      void *stream) const {
  if (index >= functions.size())
    return Status::error("there is no kernel of number " +
                         std::to_string(index));
  const KernelInfo &kernel = chosen.kernels[index];
  const Driver &driver = *device->driver;
  const Api &api = driver.api();
  CurrentContext current(api, device->context);
  if (current.code != success)
    return Status::error(describe(kernel, grid, arguments) + ": " +
                         driver.describe(current.code));
  if (Status status = check(kernel, grid, arguments); !status.ok())
    return status;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return {};
  // Little-endian: the low bytes of the bits are the value.
  void *parameters[mostArguments];
  uint64_t scratch = 0;
  size_t count = 0;
  for (const Argument &argument : arguments)
    parameters[count++] = const_cast<uint64_t *>(&argument.bits);
  parameters[count++] = &scratch;
  parameters[count++] = &scratch;
  int code = api.launchKernel(functions[index], static_cast<unsigned>(grid.x),
                              static_cast<unsigned>(grid.y),
                              static_cast<unsigned>(grid.z), kernel.threads, 1,
                              1, static_cast<unsigned>(kernel.sharedBytes),
                              stream, parameters, nullptr);
  if (code == success && device->state->blocking)
    code = api.streamSynchronize(stream);
  else if (code != success && code != invalidValue &&
           code != launchOutOfResources)
    // The other codes are of work that was launched before.
    return Status::error(describe(kernel, grid, arguments) +
                         " was not launched: " + driver.describe(code) + ". " +
                         device->state->lastLaunch());
  if (code == launchOutOfResources)
    return Status::error(
        describe(kernel, grid, arguments) +
        " failed: " + driver.describe(code) + ". A block takes " +
        std::to_string(kernel.threads) + " threads of " +
        std::to_string(kernel.registers) + " registers and " +
        std::to_string(kernel.sharedBytes) + " bytes of shared memory; " +
        device->name() +
        " does not have these for one block. Compile it with fewer warps "
        "(drawloom.schedule) or for this device's architecture");
  if (code != success)
    return Status::error(describe(kernel, grid, arguments) +
                         " failed: " + driver.describe(code));
  device->state->remember(kernel.name, grid);
  return {};
}

} // namespace drawloom::runtime::cuda
