//===- EmulatorTarget.cpp - GPU kernels on this CPU, as a target ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/emulator/EmulatorTarget.h"
#include "codegen/LoadedProgram.h"
#include "codegen/emulator/Emulator.h"
#include "codegen/nvptx/GpuTarget.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/launch/LaunchPlan.h"
#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/CallersStore.h"
#include "drawloom/runtime/PlanProgram.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "runtime/offload/Store.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include <atomic>
#include <cstdlib>

using namespace mlir;

namespace drawloom::emulator {
namespace {

/// Adds a line to the file: what each place of a launch did to memory.
llvm::Error appendCounts(StringRef path, StringRef kernel,
                         const Report &report) {
  llvm::json::Array sites;
  for (const SiteCount &site : report.sites)
    sites.push_back(llvm::json::Object{{"where", site.where},
                                       {"shared", site.shared},
                                       {"bytes", site.bytesPerThread},
                                       {"accesses", site.accesses},
                                       {"actual", site.actual},
                                       {"ideal", site.ideal}});
  std::error_code code;
  llvm::raw_fd_ostream file(path, code,
                            llvm::sys::fs::OF_Append | llvm::sys::fs::OF_Text);
  if (!code) {
    file << llvm::json::Value(llvm::json::Object{{"kernel", kernel},
                                                 {"blocks", report.blocks},
                                                 {"sites", std::move(sites)}})
         << '\n';
    file.flush();
    code = file.error();
    file.clear_error();
  }
  if (code)
    return llvm::createStringError("'" + path +
                                   "', which DRAWLOOM_EMULATOR_COUNTS names, "
                                   "cannot be written: " +
                                   code.message());
  return llvm::Error::success();
}

class Session final : public runtime::cuda::DeviceSession {
public:
  Session(const Module &module, unsigned threads) : module(module) {
    options.threads = threads;
    static std::atomic<uint64_t> runs{0};
    if (const char *path = std::getenv("DRAWLOOM_EMULATOR_COUNTS"))
      counts = path;
    options.countAccesses = !counts.empty();
    // Only counts are of use where some blocks did not run.
    if (const char *blocks = std::getenv("DRAWLOOM_EMULATOR_BLOCKS");
        blocks && options.countAccesses)
      options.mostBlocks = std::strtoll(blocks, nullptr, 10);
    options.checkRaces = options.mostBlocks <= 0;
    if (const char *seed = std::getenv("DRAWLOOM_EMULATOR_SEED"))
      options.seed = std::strtoull(seed, nullptr, 10);
    if (options.seed != 0)
      options.seed += runs++;
  }

  runtime::Result<void *> allocate(int64_t bytes) override {
    // As a device's allocations: none next to another, all aligned.
    constexpr int64_t alignment = 256;
    std::optional<runtime::AlignedBuffer> buffer =
        runtime::AlignedBuffer::allocate(bytes + 2 * alignment);
    if (!buffer)
      return runtime::Status::error("there is no memory for " +
                                    std::to_string(bytes) +
                                    " bytes of a device");
    auto start = reinterpret_cast<uintptr_t>(buffer->data());
    start = (start + alignment - 1) / alignment * alignment;
    auto *memory = reinterpret_cast<void *>(start);
    // What nobody has written is not a number.
    std::memset(memory, 0xff, bytes);
    legal.add(memory, bytes);
    buffers.push_back(std::move(*buffer));
    return memory;
  }
  runtime::Status upload(void *to, const void *from, int64_t bytes) override {
    return copy(to, from, bytes);
  }
  runtime::Status download(void *to, const void *from, int64_t bytes) override {
    return copy(to, from, bytes);
  }
  runtime::Status copy(void *to, const void *from, int64_t bytes) override {
    if (bytes > 0)
      std::memcpy(to, from, bytes);
    return {};
  }
  runtime::Status launch(const nvptx::LaunchKernel &kernel,
                         const std::vector<Argument> &arguments) override {
    static void *const noScratch = nullptr;
    SmallVector<const void *> parameters;
    SmallVector<void *> pointers;
    pointers.reserve(arguments.size());
    for (const Argument &argument : arguments) {
      if (argument.number) {
        parameters.push_back(argument.number);
        continue;
      }
      pointers.push_back(argument.memory);
      parameters.push_back(&pointers.back());
    }
    parameters.append(2, &noScratch);
    options.memory = &legal;
    Grid grid;
    grid.x = kernel.grid;
    llvm::Expected<Report> report = module.launch(kernel.name, grid, parameters,
                                                  kernel.sharedBytes, options);
    if (!report)
      return runtime::Status::error(llvm::toString(report.takeError()));
    if (!counts.empty())
      if (llvm::Error error = appendCounts(counts, kernel.name, *report))
        return runtime::Status::error(llvm::toString(std::move(error)));
    return {};
  }

  runtime::Result<std::unique_ptr<runtime::cuda::DeviceRecords>>
  records(const Signature &signature) override;

private:
  const Module &module;
  LaunchOptions options;
  /// The file that the counts of launches go to; empty where to none.
  std::string counts;
  GlobalMemory legal;
  std::vector<runtime::AlignedBuffer> buffers;
};

/// Keeps values in a store as a device might at its worst: what is stored is
/// read as late as it may be, and what is fetched comes as soon as it may.
class EmulatedRecords final : public runtime::cuda::DeviceRecords {
public:
  EmulatedRecords(runtime::offload::Store &store, const Signature &signature)
      : store(store), signature(signature),
        values(static_cast<size_t>(signature.records)) {}
  ~EmulatedRecords() override {
    std::string why;
    for (Value &value : values)
      if (value.id.generation != 0)
        store.drop(value.id, why);
  }

  runtime::Status transfer(const runtime::cuda::LaunchTransfer &transfer,
                           void *memory, int64_t bytes) override {
    using runtime::cuda::LaunchTransfer;
    Value &value = values[static_cast<size_t>(transfer.record)];
    auto size = static_cast<uint64_t>(bytes);
    switch (transfer.kind) {
    case LaunchTransfer::Store:
      value.memory = memory;
      value.bytes = size;
      return {};
    case LaunchTransfer::Release:
      return put(transfer.record);
    case LaunchTransfer::Fetch:
      if (runtime::Status status = put(transfer.record); !status.ok())
        return status;
      if (size != value.bytes)
        return runtime::Status::error("the plan of '" + signature.name +
                                      "' fetches other bytes than it stored");
      value.isFetched = true;
      return check([&](std::string &why) {
        uint64_t progress = 0;
        return store.get(value.id, memory, -1, progress, why);
      });
    case LaunchTransfer::Await:
      if (std::exchange(value.isFetched, false))
        return {};
      return runtime::Status::error("the plan of '" + signature.name +
                                    "' awaits what it has not fetched");
    case LaunchTransfer::Load:
      return {};
    case LaunchTransfer::Drop:
      if (runtime::Status status = put(transfer.record); !status.ok())
        return status;
      return check([&](std::string &why) {
        return store.drop(std::exchange(value.id, {}), why);
      });
    }
    return {}; // All kinds are listed.
  }

private:
  struct Value {
    /// Null once it is in the store.
    void *memory = nullptr;
    uint64_t bytes = 0;
    runtime::offload::RecordId id = {};
    bool isFetched = false;
  };
  template <typename Act> static runtime::Status check(Act act) {
    std::string why;
    if (act(why) == runtime::offload::Outcome::Ready)
      return {};
    return runtime::Status::storageError(why);
  }
  runtime::Status put(int64_t record) {
    Value &value = values[static_cast<size_t>(record)];
    void *memory = std::exchange(value.memory, nullptr);
    if (!memory)
      return {};
    std::string site =
        "value " + std::to_string(record) + " of @" + signature.name;
    return check([&](std::string &why) {
      return store.put(memory, value.bytes, site.c_str(),
                       static_cast<uint64_t>(record), /*persistent=*/false, -1,
                       value.id, why);
    });
  }

  runtime::offload::Store &store;
  const Signature &signature;
  std::vector<Value> values;
};

runtime::Result<std::unique_ptr<runtime::cuda::DeviceRecords>>
Session::records(const Signature &signature) {
  runtime::Result<runtime::offload::Store *> store =
      runtime::storeFor(signature);
  if (!store.ok())
    return store.status();
  return std::unique_ptr<runtime::cuda::DeviceRecords>(
      std::make_unique<EmulatedRecords>(**store, signature));
}

class EmulatedProgram final : public runtime::cuda::PlanProgram {
public:
  EmulatedProgram(nvptx::LaunchPlan plan,
                  const std::vector<Artifact::Entry> &entries,
                  std::unique_ptr<Module> module)
      : PlanProgram(std::move(plan), entries), module(std::move(module)) {}
  const std::string &isa() const override { return set; }

protected:
  runtime::Result<std::unique_ptr<runtime::cuda::DeviceSession>>
  open(unsigned threads) const override {
    return std::unique_ptr<runtime::cuda::DeviceSession>(
        std::make_unique<Session>(*module, threads));
  }

private:
  std::string set = "native";
  std::unique_ptr<Module> module;
};

class EmulatorTarget final : public nvptx::GpuTarget {
public:
  StringRef name() const override { return "emulator"; }
  std::vector<std::string> instructionSets() const override {
    return {"native"};
  }
  // They are the CUDA target's.
  void registerPasses() const override {}

  llvm::Expected<Artifact::Variant>
  emit(ModuleOp module, const CodegenOptions &options) const override {
    llvm::Expected<nvptx::LaunchPlan> plan = nvptx::planOf(module);
    if (!plan)
      return plan.takeError();
    Artifact::Variant variant;
    variant.isa = options.isa;
    variant.fingerprint = fingerprintOf(options.isa);
    for (const nvptx::LaunchEntry &entry : plan->entries)
      variant.entries.push_back({entry.signature, 0});
    for (const nvptx::LaunchKernel &kernel : plan->kernels)
      variant.kernels.push_back(kernel.name);
    // With its locations: they are what reports name.
    llvm::raw_string_ostream stream(variant.code);
    module.print(stream, OpPrintingFlags().enableDebugInfo());
    return variant;
  }

protected:
  std::string fingerprintOf(StringRef) const override { return "emulator"; }
  std::optional<std::string> lacksFor(StringRef) const override {
    return std::nullopt;
  }
  int64_t sharedLimit(StringRef) const override { return mostSharedBytes; }
  bool describesAccesses() const override { return true; }

  llvm::Expected<std::unique_ptr<Program>>
  loadVariant(const Artifact::Variant &variant) const override {
    DialectRegistry registry;
    registerDialects(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(said) << diagnostic.str();
      return success();
    });
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(variant.code, &context);
    if (!module)
      return llvm::createStringError("the kernels cannot be read: " + said);
    llvm::Expected<nvptx::LaunchPlan> plan = nvptx::planOf(*module);
    if (!plan)
      return plan.takeError();
    llvm::Expected<std::unique_ptr<Module>> loaded = Module::load(*module);
    if (!loaded)
      return loaded.takeError();
    return toProgram(
        std::unique_ptr<runtime::Executable>(std::make_unique<EmulatedProgram>(
            std::move(*plan), variant.entries, std::move(*loaded))));
  }
};

} // namespace

const CompileTarget &target() {
  static const EmulatorTarget target;
  return target;
}

} // namespace drawloom::emulator
