//===- Modules.cpp - images, functions, launches -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace drawloom;
using namespace drawloom::driver;

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// The bytes of an image, whose length the caller does not tell: of an ELF file
/// as its headers say, else up to the first zero.
static llvm::StringRef bytesOf(const void *image) {
  const char *start = static_cast<const char *>(image);
  if (std::memcmp(start, llvm::ELF::ElfMagic, 4) != 0)
    return start;
  llvm::ELF::Elf64_Ehdr header;
  std::memcpy(&header, start, sizeof header);
  uint64_t end = sizeof header;
  end = std::max<uint64_t>(end, header.e_shoff + uint64_t(header.e_shnum) *
                                                     header.e_shentsize);
  end = std::max<uint64_t>(end, header.e_phoff + uint64_t(header.e_phnum) *
                                                     header.e_phentsize);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    llvm::ELF::Elf64_Shdr section;
    std::memcpy(&section,
                start + header.e_shoff + uint64_t(i) * header.e_shentsize,
                sizeof section);
    if (section.sh_type != llvm::ELF::SHT_NOBITS)
      end = std::max<uint64_t>(end, section.sh_offset + section.sh_size);
  }
  return {start, static_cast<size_t>(end)};
}

static std::string hashOf(llvm::StringRef bytes) {
  return llvm::toHex(
      llvm::SHA256::hash(llvm::ArrayRef(
          reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())),
      /*LowerCase=*/true);
}

/// The file of kernels that belongs to an image; empty where there is none.
static std::string findKernels(llvm::StringRef hash) {
  const char *folders = std::getenv("DRAWLOOM_EMULATED_MODULES");
  llvm::SmallVector<llvm::StringRef> paths;
  llvm::StringRef(folders ? folders : "").split(paths, ':', -1, false);
  for (llvm::StringRef path : paths) {
    std::string file = (path + "/" + hash + ".mlir").str();
    if (llvm::sys::fs::exists(file))
      return file;
  }
  logLine("drawloom: the emulated driver executes no machine code of GPUs: it "
          "looks for the kernels of an image by its SHA-256, in a file " +
          (hash + ".mlir").str() +
          " in the folders of "
          "DRAWLOOM_EMULATED_MODULES, which " +
          (folders ? "are " + std::string(folders) : "is not set") +
          ". A cubin that Triton itself made cannot run here.");
  return "";
}

static int loadCode(Driver &driver, const void *image,
                    std::shared_ptr<LoadedCode> &result) {
  std::string hash = hashOf(bytesOf(image));
  std::weak_ptr<LoadedCode> &known = driver.codes[hash];
  if ((result = known.lock()))
    return Success;
  std::string file = findKernels(hash);
  if (file.empty())
    return NoBinaryForGpu;
  auto code = std::make_shared<LoadedCode>();
  code->context.loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                            mlir::DLTIDialect>();
  std::string problems;
  mlir::ScopedDiagnosticHandler handler(
      &code->context, [&](mlir::Diagnostic &diagnostic) {
        llvm::raw_string_ostream(problems) << "\n" << diagnostic;
      });
  mlir::OwningOpRef<mlir::ModuleOp> parsed =
      mlir::parseSourceFile<mlir::ModuleOp>(file, &code->context);
  if (!parsed) {
    logLine("drawloom: cannot read " + file + problems);
    return InvalidImage;
  }
  // Code is looked for by its bytes, which are of one architecture.
  int capability = number("DRAWLOOM_EMULATED_CAPABILITY", 90);
  auto module = emulator::Module::load(*parsed, capability < 90    ? "sm_80"
                                                : capability < 100 ? "sm_90a"
                                                                   : "sm_100a");
  if (!module) {
    logLine("drawloom: " + file + ": " + llvm::toString(module.takeError()));
    return InvalidImage;
  }
  code->module = std::move(*module);
  known = code;
  result = std::move(code);
  return Success;
}

DRAWLOOM_CUDA_API cuModuleLoadData(Module **module, const void *image) {
  Call call;
  if (!module || !image)
    return InvalidValue;
  if (call.driver.failure)
    return call.driver.failure;
  // As a driver that is older than the assembler.
  if (variableNames("DRAWLOOM_EMULATED_FAULT", "no-cubin") &&
      std::memcmp(image, llvm::ELF::ElfMagic, 4) == 0)
    return NoBinaryForGpu;
  auto made = std::make_unique<Module>();
  made->device = call.driver.current().primary.device;
  if (int error = loadCode(call.driver, image, made->code))
    return error;
  *module = made.release();
  call.driver.modules.insert(*module);
  return Success;
}

DRAWLOOM_CUDA_API cuModuleLoadDataEx(Module **module, const void *image,
                                     unsigned options, int *names,
                                     void **values) {
  return cuModuleLoadData(module, image);
}

DRAWLOOM_CUDA_API cuModuleLoad(Module **module, const char *path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return FileNotFound;
  return cuModuleLoadData(module, (*file)->getBufferStart());
}

DRAWLOOM_CUDA_API cuModuleUnload(Module *module) {
  Call call;
  if (!call.driver.modules.count(module))
    return InvalidHandle;
  call.driver.runAll();
  for (auto &[name, function] : module->functions)
    call.driver.functions.erase(function.get());
  call.driver.modules.erase(module);
  delete module;
  return Success;
}

DRAWLOOM_CUDA_API cuModuleGetFunction(Function **function, Module *module,
                                      const char *name) {
  Call call;
  if (!call.driver.modules.count(module) || !name)
    return InvalidHandle;
  const emulator::KernelInfo *kernel = module->code->module->find(name);
  if (!kernel)
    return NotFound;
  std::unique_ptr<Function> &known = module->functions[name];
  if (!known) {
    known = std::make_unique<Function>();
    known->module = module;
    known->kernel = kernel;
    call.driver.functions.insert(known.get());
  }
  *function = known.get();
  return Success;
}

DRAWLOOM_CUDA_API cuModuleGetFunctionCount(unsigned *count, Module *module) {
  Call call;
  if (!call.driver.modules.count(module))
    return InvalidHandle;
  *count = static_cast<unsigned>(module->code->module->kernels().size());
  return Success;
}

DRAWLOOM_CUDA_API cuModuleGetGlobal_v2(DevicePointer *, size_t *, Module *,
                                       const char *) {
  return NotFound;
}

DRAWLOOM_CUDA_API cuModuleGetLoadingMode(int *mode) {
  *mode = 1;
  return Success;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

DRAWLOOM_CUDA_API cuFuncGetAttribute(int *value, int attribute,
                                     Function *function) {
  Call call;
  if (!call.driver.functions.count(function))
    return InvalidHandle;
  switch (attribute) {
  case 0: // MAX_THREADS_PER_BLOCK
    *value = static_cast<int>(function->kernel->threads);
    return Success;
  case 1: // SHARED_SIZE_BYTES, the static part
  case 2: // CONST_SIZE_BYTES
  case 3: // LOCAL_SIZE_BYTES
  case 7: // CACHE_MODE_CA
    *value = 0;
    return Success;
  case 4: // NUM_REGS; nobody knows
    *value = 32;
    return Success;
  case 5: // PTX_VERSION
  case 6: // BINARY_VERSION
    *value = number("DRAWLOOM_EMULATED_CAPABILITY", 90);
    return Success;
  case 8: // MAX_DYNAMIC_SHARED_SIZE_BYTES
    *value = static_cast<int>(function->mostSharedBytes);
    return Success;
  case 9: // PREFERRED_SHARED_MEMORY_CARVEOUT
    *value = function->carveout;
    return Success;
  default:
    return InvalidValue;
  }
}

DRAWLOOM_CUDA_API cuFuncSetAttribute(Function *function, int attribute,
                                     int value) {
  Call call;
  if (!call.driver.functions.count(function))
    return InvalidHandle;
  if (attribute == 9) {
    function->carveout = value;
    return Success;
  }
  if (attribute != 8 || value < 0 || value > emulator::mostSharedBytes)
    return InvalidValue;
  function->mostSharedBytes = value;
  return Success;
}

DRAWLOOM_CUDA_API cuFuncSetCacheConfig(Function *function, int config) {
  Call call;
  return call.driver.functions.count(function) ? Success : InvalidHandle;
}

DRAWLOOM_CUDA_API cuFuncGetName(const char **name, Function *function) {
  Call call;
  if (!call.driver.functions.count(function))
    return InvalidHandle;
  *name = function->kernel->name.c_str();
  return Success;
}

DRAWLOOM_CUDA_API cuFuncGetModule(Module **module, Function *function) {
  Call call;
  if (!call.driver.functions.count(function))
    return InvalidHandle;
  *module = function->module;
  return Success;
}

DRAWLOOM_CUDA_API
cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, Function *function,
                                            int threads, size_t sharedBytes) {
  Call call;
  if (!call.driver.functions.count(function) || threads <= 0)
    return InvalidValue;
  size_t room = (size_t(228) << 10) / (sharedBytes + 1024);
  *count = static_cast<int>(
      std::min<size_t>({room, static_cast<size_t>(2048 / threads), 32}));
  return Success;
}

DRAWLOOM_CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, Function *function, int threads, size_t sharedBytes, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(count, function, threads,
                                                     sharedBytes);
}

DRAWLOOM_CUDA_API cuOccupancyMaxActiveClusters(int *count, Function *function,
                                               const void *configuration) {
  Call call;
  *count = 1;
  return call.driver.functions.count(function) ? Success : InvalidHandle;
}

DRAWLOOM_CUDA_API cuTensorMapEncodeTiled() { return NotSupported; }

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// What a launch needs once its caller has returned.
struct LaunchRequest {
  int device;
  std::shared_ptr<LoadedCode> code;
  const emulator::KernelInfo *kernel;
  emulator::Grid grid;
  int64_t sharedBytes;
  std::vector<std::vector<char>> values;
};
} // namespace

static void execute(Driver &driver, const LaunchRequest &request) {
  if (driver.failure)
    return;
  ++driver.launches;
  auto comesNow = [&](llvm::StringRef word) {
    std::optional<int> after = variableNames("DRAWLOOM_EMULATED_FAULT", word);
    return after && driver.launches > *after;
  };
  if (comesNow("abort"))
    std::abort();
  while (comesNow("hang"))
    std::this_thread::sleep_for(std::chrono::seconds(1));
  if (comesNow("late-failure")) {
    logLine("drawloom: @" + request.kernel->name +
            " fails because DRAWLOOM_EMULATED_FAULT says so");
    driver.failure = LaunchFailed;
    return;
  }
  std::vector<const void *> parameters;
  for (const std::vector<char> &value : request.values)
    parameters.push_back(value.data());
  emulator::LaunchOptions options;
  options.seed = static_cast<uint64_t>(number("DRAWLOOM_EMULATOR_SEED", 0));
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  options.threads = static_cast<unsigned>(
      std::max(1, number("DRAWLOOM_EMULATOR_THREADS", cores)));
  options.checkRaces = number("DRAWLOOM_EMULATOR_RACES", 1) != 0;
  options.mostAccesses = static_cast<uint64_t>(
      number("DRAWLOOM_EMULATOR_MOST_ACCESSES", 0x7fffffff));
  options.memory = &driver.devices[static_cast<size_t>(request.device)].memory;
  // Between allocations of this driver there are gaps, which stay forbidden.
  options.memoryBeyond = isSet("DRAWLOOM_EMULATED_HOST_POINTERS") ? 4096 : -1;
  auto report =
      request.code->module->launch(request.kernel->name, request.grid,
                                   parameters, request.sharedBytes, options);
  if (report)
    return;
  logLine("drawloom: " + llvm::toString(report.takeError()));
  driver.failure = LaunchFailed;
}

/// Copies the values of all parameters; nothing where one is missing.
static std::optional<std::vector<std::vector<char>>>
copyParameters(const emulator::KernelInfo &kernel, void **parameters,
               void **extra) {
  std::vector<std::vector<char>> values;
  const char *packed = nullptr;
  // Pairs of a key and a value: 1 is the buffer, 2 its size, 0 the end.
  for (; !parameters && extra && *extra; extra += 2)
    if (reinterpret_cast<uintptr_t>(*extra) == 1)
      packed = static_cast<const char *>(extra[1]);
  size_t offset = 0;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    size_t bytes = kernel.parameters[i].bytes;
    const char *from = nullptr;
    if (parameters) {
      from = static_cast<const char *>(parameters[i]);
    } else if (packed) {
      offset = (offset + bytes - 1) / bytes * bytes;
      from = packed + offset;
      offset += bytes;
    }
    if (!from)
      return std::nullopt;
    values.emplace_back(from, from + bytes);
  }
  return values;
}

DRAWLOOM_CUDA_API cuLaunchKernel(Function *function, unsigned gridX,
                                 unsigned gridY, unsigned gridZ,
                                 unsigned blockX, unsigned blockY,
                                 unsigned blockZ, unsigned sharedBytes,
                                 void *stream, void **parameters,
                                 void **extra) {
  Call call;
  Driver *driver = &call.driver;
  if (!driver->functions.count(function))
    return InvalidHandle;
  Stream *queue = driver->stream(stream);
  // A stream of another device is none of the kernel's.
  if (!queue || queue->device != function->module->device)
    return InvalidHandle;
  if (driver->failure)
    return driver->failure;
  const emulator::KernelInfo &kernel = *function->kernel;
  auto refuse = [&](const std::string &why) {
    logLine("drawloom: the launch of @" + kernel.name + " is refused: " + why);
    return InvalidValue;
  };
  if (gridX == 0 || gridY == 0 || gridZ == 0 || gridX > 0x7fffffffu ||
      gridY > 65535 || gridZ > 65535)
    return refuse("its grid is " + std::to_string(gridX) + " x " +
                  std::to_string(gridY) + " x " + std::to_string(gridZ));
  if (blockX != kernel.threads || blockY != 1 || blockZ != 1)
    return refuse("blocks of " + std::to_string(blockX) + " x " +
                  std::to_string(blockY) + " x " + std::to_string(blockZ) +
                  " threads; the kernel was compiled for " +
                  std::to_string(kernel.threads));
  if (sharedBytes > function->mostSharedBytes)
    return refuse(std::to_string(sharedBytes) +
                  " bytes of shared memory, and the attribute "
                  "MAX_DYNAMIC_SHARED_SIZE_BYTES allows " +
                  std::to_string(function->mostSharedBytes));
  auto values = copyParameters(kernel, parameters, extra);
  if (!values)
    return refuse("parameters are missing");
  LaunchRequest request{queue->device, function->module->code,
                        &kernel,       emulator::Grid{gridX, gridY, gridZ},
                        sharedBytes,   std::move(*values)};
  return driver->enqueue(*queue, [driver, request = std::move(request)] {
    execute(*driver, request);
  });
}

namespace {
struct LaunchConfiguration {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  void *attributes;
  unsigned attributeCount;
};
} // namespace

DRAWLOOM_CUDA_API cuLaunchKernelEx(const LaunchConfiguration *configuration,
                                   Function *function, void **parameters,
                                   void **extra) {
  if (!configuration)
    return InvalidValue;
  const LaunchConfiguration &c = *configuration;
  return cuLaunchKernel(function, c.gridX, c.gridY, c.gridZ, c.blockX, c.blockY,
                        c.blockZ, c.sharedBytes, c.stream, parameters, extra);
}

DRAWLOOM_CUDA_API cuLaunchCooperativeKernel(Function *function, unsigned gridX,
                                            unsigned gridY, unsigned gridZ,
                                            unsigned blockX, unsigned blockY,
                                            unsigned blockZ,
                                            unsigned sharedBytes, void *stream,
                                            void **parameters) {
  // Blocks run to their end one after the other.
  return NotSupported;
}
