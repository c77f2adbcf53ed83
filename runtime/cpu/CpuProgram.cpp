//===- CpuProgram.cpp - compiled programs on the host's threads -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CpuProgram.h"
#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/CallersStore.h"
#include "drawloom/runtime/CpuFeatures.h"
#include "drawloom/runtime/MachineCode.h"
#include "drawloom/runtime/ShortArray.h"
#include "drawloom/runtime/ThreadPool.h"
#include "runtime/cpu/CallRecords.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

namespace drawloom::runtime {

namespace {

/// Memory that calls of one program use one after the other.
class BufferCache {
public:
  std::optional<AlignedBuffer> take(int64_t bytes) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (AlignedBuffer &buffer : buffers)
        if (buffer.size() >= bytes) {
          std::swap(buffer, buffers.back());
          AlignedBuffer taken = std::move(buffers.back());
          buffers.pop_back();
          return taken;
        }
    }
    return AlignedBuffer::allocate(bytes);
  }
  void give(AlignedBuffer buffer) {
    std::lock_guard<std::mutex> lock(mutex);
    buffers.push_back(std::move(buffer));
  }
  int64_t bytes() {
    std::lock_guard<std::mutex> lock(mutex);
    int64_t sum = 0;
    for (const AlignedBuffer &buffer : buffers)
      sum += buffer.size();
    return sum;
  }
  void clear() {
    std::vector<AlignedBuffer> dropped; // Given back without the lock.
    std::lock_guard<std::mutex> lock(mutex);
    dropped.swap(buffers);
  }

private:
  std::mutex mutex;
  std::vector<AlignedBuffer> buffers;
};

struct Entry {
  int64_t scratchBytes = 0;
  std::vector<MemoryTerm> scratchTerms;
  DrawloomEntry address = nullptr;
  /// Calls do not change a program, but they do reuse its memory.
  std::unique_ptr<BufferCache> workspaces = std::make_unique<BufferCache>();
  std::unique_ptr<BufferCache> scratches = std::make_unique<BufferCache>();
};

struct Kernel {
  std::string name;
  DrawloomKernel address = nullptr;
};

/// Stands between a program that keeps values in a store and its host.
struct StoringHost {
  DrawloomHost inner;
  CallRecords &records;

  static void parallelFor(void *context, DrawloomKernel address,
                          void **arguments, int64_t blocks) {
    DrawloomHost &inner = static_cast<StoringHost *>(context)->inner;
    inner.parallelFor(inner.context, address, arguments, blocks);
  }
  static void transfer(void *context, int64_t kind, int64_t record,
                       void *memory, int64_t bytes) {
    static_cast<StoringHost *>(context)->records.transfer(
        kind, static_cast<size_t>(record), memory,
        static_cast<uint64_t>(bytes));
  }
  DrawloomHost host() { return {this, parallelFor, transfer}; }
};

/// Calls an entry that keeps values in a store; once more where they did not
/// come back, since arguments are as they were.
Status callStoring(DrawloomEntry entry, const Signature &signature,
                   offload::Store &store, const DrawloomHost &copying,
                   const DrawloomHost &inner, void **pointers) {
  Status status;
  for (int attempt = 0; attempt < 2; ++attempt) {
    CallRecords records(store, signature.name,
                        static_cast<size_t>(signature.records), copying);
    StoringHost storing{inner, records};
    DrawloomHost host = storing.host();
    entry(pointers, &host);
    status = records.status();
    if (status.ok())
      break;
  }
  return status;
}

/// Stands between a program and its host and takes the time.
struct ProfilingHost {
  DrawloomHost inner;
  const std::vector<Kernel> &kernels;
  KernelProfile &profile;

  static void parallelFor(void *context, DrawloomKernel address,
                          void **arguments, int64_t blocks) {
    auto &self = *static_cast<ProfilingHost *>(context);
    using Clock = std::chrono::steady_clock;
    Clock::time_point start = Clock::now();
    self.inner.parallelFor(self.inner.context, address, arguments, blocks);
    double seconds =
        std::chrono::duration<double>(Clock::now() - start).count();
    std::string name;
    for (const Kernel &kernel : self.kernels)
      if (kernel.address == address)
        name = kernel.name;
    std::vector<KernelProfile::Kernel> &list = self.profile.kernels;
    auto known = std::find_if(list.begin(), list.end(), [&](const auto &other) {
      return other.name == name;
    });
    if (known == list.end())
      known = list.insert(list.end(), KernelProfile::Kernel{name, 0, 0, 0});
    ++known->calls;
    known->blocks += blocks;
    known->seconds += seconds;
  }
  DrawloomHost host() { return {this, parallelFor, nullptr}; }
};

class CpuProgram final : public Executable {
public:
  const std::string &isa() const override { return set; }
  const std::vector<Signature> &signatures() const override { return listed; }
  Status run(size_t index, const void *const *arguments, void *const *results,
             unsigned threads, KernelProfile *profile,
             const int64_t *extents) const override;
  int64_t codeBytes() const override {
    return static_cast<int64_t>(code->bytes());
  }
  int64_t keptBytes() const override {
    int64_t sum = 0;
    for (const Entry &entry : entries)
      sum += entry.workspaces->bytes() + entry.scratches->bytes();
    return sum;
  }
  void trim() const override {
    for (const Entry &entry : entries) {
      entry.workspaces->clear();
      entry.scratches->clear();
    }
  }

  std::string set;
  std::vector<Signature> listed;
  std::vector<Entry> entries; ///< Of the signatures.
  std::vector<Kernel> kernels;
  std::unique_ptr<MachineCode> code;
};

Status CpuProgram::run(size_t index, const void *const *arguments,
                       void *const *results, unsigned threads,
                       KernelProfile *profile, const int64_t *extents) const {
  const Entry &entry = entries[index];
  const Signature &signature = listed[index];
  threads = std::max(threads, 1u);
  offload::Store *store = nullptr;
  if (signature.records > 0) {
    Result<offload::Store *> found = storeFor(signature);
    if (!found.ok())
      return found.status();
    store = *found;
  }
  auto open = static_cast<size_t>(signature.openExtents);
  std::optional<int64_t> workspaceBytes =
      memoryBytes(signature.workspaceBytes, signature.workspaceTerms, extents);
  std::optional<int64_t> threadBytes =
      memoryBytes(entry.scratchBytes, entry.scratchTerms, extents);
  int64_t scratchBytes = 0;
  if (threadBytes &&
      __builtin_mul_overflow(*threadBytes, threads, &scratchBytes))
    threadBytes = std::nullopt;
  auto refuse = [&](const std::optional<int64_t> &bytes, const char *what) {
    return Status::error("@" + signature.name + " needs " +
                         (bytes ? std::to_string(*bytes) : "more than 2^63") +
                         " bytes of " + what +
                         ", which this machine does not give");
  };
  if (!workspaceBytes)
    return refuse(std::nullopt, "workspace");
  if (!threadBytes)
    return refuse(std::nullopt, "scratch memory for its threads");
  std::optional<AlignedBuffer> workspace, scratch;
  if (*workspaceBytes > 0) {
    workspace = entry.workspaces->take(*workspaceBytes);
    if (!workspace)
      return refuse(workspaceBytes, "workspace");
  }
  if (scratchBytes > 0) {
    scratch = entry.scratches->take(scratchBytes);
    if (!scratch)
      return refuse(scratchBytes, "scratch memory for its threads");
  }

  size_t takes = signature.arguments.size(), gives = signature.results.size();
  ShortArray<void *> pointers(takes + gives + open + 1);
  for (size_t i = 0; i < takes; ++i)
    pointers[i] = const_cast<void *>(arguments[i]);
  for (size_t i = 0; i < gives; ++i)
    pointers[takes + i] = results[i];
  for (size_t i = 0; i < open; ++i)
    pointers[takes + gives + i] = const_cast<int64_t *>(&extents[i]);
  pointers[takes + gives + open] = workspace ? workspace->data() : nullptr;
  PoolHost pool{&ThreadPool::shared(), threads,
                scratch ? scratch->data() : nullptr, *threadBytes};
  DrawloomHost host = pool.host();
  std::optional<ProfilingHost> profiler;
  if (profile) {
    profiler.emplace(ProfilingHost{host, kernels, *profile});
    host = profiler->host();
  }
  Status status;
  if (store)
    status = callStoring(entry.address, signature, *store, pool.host(), host,
                         pointers.data());
  else
    entry.address(pointers.data(), &host);
  // Nobody may take what was computed without them for results.
  if (!status.ok())
    for (size_t i = 0; i < gives; ++i)
      if (int64_t bytes = signature.results[i].bytes(); bytes > 0)
        std::memset(results[i], 0xff, static_cast<size_t>(bytes));
  if (workspace)
    entry.workspaces->give(std::move(*workspace));
  if (scratch)
    entry.scratches->give(std::move(*scratch));
  return status;
}

} // namespace

Result<std::unique_ptr<Executable>>
loadCpuProgram(const Artifact::Variant &variant) {
  Result<std::unique_ptr<MachineCode>> code = MachineCode::load(variant.code);
  if (!code.ok())
    return code.status();
  auto program = std::make_unique<CpuProgram>();
  program->set = variant.isa;
  program->code = std::move(*code);
  for (const std::string &name : variant.kernels) {
    void *address = program->code->find(name + std::string(rangeSuffix));
    if (!address)
      return Status::error("the code has no kernel @" + name);
    program->kernels.push_back(
        {name, reinterpret_cast<DrawloomKernel>(address)});
  }
  for (const Artifact::Entry &known : variant.entries) {
    void *address =
        program->code->find(std::string(entryPrefix) + known.signature.name);
    if (!address)
      return Status::error("the code has no function @" + known.signature.name);
    Entry &entry = program->entries.emplace_back();
    entry.scratchBytes = known.scratchBytes;
    entry.scratchTerms = known.scratchTerms;
    entry.address = reinterpret_cast<DrawloomEntry>(address);
    program->listed.push_back(known.signature);
  }
  return std::unique_ptr<Executable>(std::move(program));
}

Result<const Artifact::Variant *> chooseVariant(const Artifact &artifact,
                                                std::string_view isa) {
  std::string why, known;
  for (const Artifact::Variant &variant : artifact.variants) {
    if (variant.target != "cpu")
      continue;
    known += (known.empty() ? "'" : ", '") + variant.isa + "'";
    if (!isa.empty() && isa != variant.isa)
      continue;
    std::string missing;
    for (const std::string &feature : variant.features)
      if (missing.empty())
        missing = lacks(feature);
    if (missing.empty() && !variant.processor.empty() &&
        !hasProcessorWords(variant.processor))
      missing = "it is the code of another machine";
    if (missing.empty())
      return &variant;
    why += (why.empty() ? "'" : ", '") + variant.isa + "': " + missing;
  }
  if (known.empty())
    return Status::error("the program holds no code for the CPU");
  if (why.empty())
    return Status::error("the program holds no code for instruction set '" +
                         std::string(isa) + "'; it has " + known);
  return Status::error("this machine runs none of the instruction sets that "
                       "the program holds code for: " +
                       why);
}

} // namespace drawloom::runtime
