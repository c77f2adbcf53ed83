//===- JitProgram.cpp - machine code in this process ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/JitProgram.h"
#include "codegen/cpu/MachineCode.h"
#include "codegen/cpu/Signature.h"
#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/ThreadPool.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <mutex>

using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

namespace drawloom::cpu {

namespace {

/// Memory that calls of one program use one after the other.
class BufferCache {
public:
  std::optional<runtime::AlignedBuffer> take(int64_t bytes) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (runtime::AlignedBuffer &buffer : buffers)
        if (buffer.size() >= bytes) {
          std::swap(buffer, buffers.back());
          runtime::AlignedBuffer taken = std::move(buffers.back());
          buffers.pop_back();
          return taken;
        }
    }
    return runtime::AlignedBuffer::allocate(bytes);
  }
  void give(runtime::AlignedBuffer buffer) {
    std::lock_guard<std::mutex> lock(mutex);
    buffers.push_back(std::move(buffer));
  }

private:
  std::mutex mutex;
  std::vector<runtime::AlignedBuffer> buffers;
};

struct Entry {
  Signature signature;
  int64_t scratchBytes = 0;
  DrawloomEntry address = nullptr;
  /// Calls do not change a program, but they do reuse its memory.
  std::unique_ptr<BufferCache> workspaces = std::make_unique<BufferCache>();
  std::unique_ptr<BufferCache> scratches = std::make_unique<BufferCache>();
};

/// Stands between a program and its host and takes the time.
struct ProfilingHost {
  ProfilingHost(DrawloomHost inner, KernelProfile &profile)
      : inner(inner), profile(profile) {}
  DrawloomHost inner;
  KernelProfile &profile;
  llvm::DenseMap<void *, std::string> names;

  static void parallelFor(void *context, DrawloomKernel kernel,
                          void **arguments, int64_t blocks) {
    auto &self = *static_cast<ProfilingHost *>(context);
    using Clock = std::chrono::steady_clock;
    Clock::time_point start = Clock::now();
    self.inner.parallelFor(self.inner.context, kernel, arguments, blocks);
    double seconds =
        std::chrono::duration<double>(Clock::now() - start).count();
    const std::string &name = self.names[reinterpret_cast<void *>(kernel)];
    auto known = llvm::find_if(
        self.profile.kernels,
        [&](const KernelProfile::Kernel &other) { return other.name == name; });
    KernelProfile::Kernel *entry =
        known != self.profile.kernels.end()
            ? &*known
            : &self.profile.kernels.emplace_back(
                  KernelProfile::Kernel{name, 0, 0, 0});
    ++entry->calls;
    entry->blocks += blocks;
    entry->seconds += seconds;
  }
  DrawloomHost host() { return {this, parallelFor}; }
};

class JitProgram : public Program {
public:
  llvm::StringRef isa() const override { return set; }
  llvm::ArrayRef<Signature> signatures() const override { return listed; }
  Error run(llvm::StringRef name, llvm::ArrayRef<const void *> arguments,
            llvm::ArrayRef<void *> results, unsigned threads,
            KernelProfile *profile) const override;

  std::string set;
  std::vector<Signature> listed;
  llvm::StringMap<Entry> entries;
  std::vector<std::string> kernels;
  std::unique_ptr<MachineCode> code;
};

Error JitProgram::run(llvm::StringRef name,
                      llvm::ArrayRef<const void *> arguments,
                      llvm::ArrayRef<void *> results, unsigned threads,
                      KernelProfile *profile) const {
  auto found = entries.find(name);
  if (found == entries.end()) {
    std::string known;
    for (const Signature &signature : listed)
      known += (known.empty() ? "@" : ", @") + signature.name;
    return createStringError("the program has no entry @" + name + "; it has " +
                             (known.empty() ? "none" : known));
  }
  const Entry &entry = found->second;
  const Signature &signature = entry.signature;
  if (arguments.size() != signature.arguments.size() ||
      results.size() != signature.results.size())
    return createStringError(
        "@" + name + " takes " + llvm::Twine(signature.arguments.size()) +
        " arguments and " + llvm::Twine(signature.results.size()) +
        " results, not " + llvm::Twine(arguments.size()) + " and " +
        llvm::Twine(results.size()));

  threads = std::max(threads, 1u);
  int64_t scratchBytes = 0;
  bool tooLarge =
      llvm::MulOverflow<int64_t>(entry.scratchBytes, threads, scratchBytes);
  auto refuse = [&](int64_t bytes, llvm::StringRef what) {
    return createStringError("@" + name + " needs " + llvm::Twine(bytes) +
                             " bytes of " + what +
                             ", which this machine does not give");
  };
  std::optional<runtime::AlignedBuffer> workspace, scratch;
  if (signature.workspaceBytes > 0) {
    workspace = entry.workspaces->take(signature.workspaceBytes);
    if (!workspace)
      return refuse(signature.workspaceBytes, "workspace");
  }
  if (scratchBytes > 0 || tooLarge) {
    if (!tooLarge)
      scratch = entry.scratches->take(scratchBytes);
    if (!scratch)
      return refuse(scratchBytes, "scratch memory for its threads");
  }

  std::vector<void *> pointers;
  for (const void *argument : arguments)
    pointers.push_back(const_cast<void *>(argument));
  pointers.insert(pointers.end(), results.begin(), results.end());
  pointers.push_back(workspace ? workspace->data() : nullptr);
  runtime::PoolHost pool{&runtime::ThreadPool::shared(), threads,
                         scratch ? scratch->data() : nullptr,
                         entry.scratchBytes};
  DrawloomHost host = pool.host();
  std::optional<ProfilingHost> profiler;
  if (profile) {
    profiler.emplace(host, *profile);
    for (const std::string &kernel : kernels) {
      Expected<void *> address = code->lookup((kernel + rangeSuffix).str());
      if (!address)
        return address.takeError();
      profiler->names[*address] = kernel;
    }
    host = profiler->host();
  }
  entry.address(pointers.data(), &host);
  if (workspace)
    entry.workspaces->give(std::move(*workspace));
  if (scratch)
    entry.scratches->give(std::move(*scratch));
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<Program>>
loadProgram(const Artifact::Variant &variant) {
  auto program = std::make_unique<JitProgram>();
  program->set = variant.isa;
  Expected<std::unique_ptr<MachineCode>> code =
      MachineCode::create(variant.code);
  if (!code)
    return code.takeError();
  program->code = std::move(*code);
  program->kernels = variant.kernels;
  for (const Artifact::Entry &known : variant.entries) {
    Expected<void *> address =
        program->code->lookup((entryPrefix + known.signature.name).str());
    if (!address)
      return address.takeError();
    Entry &entry = program->entries[known.signature.name];
    entry.signature = known.signature;
    entry.scratchBytes = known.scratchBytes;
    entry.address = reinterpret_cast<DrawloomEntry>(*address);
    program->listed.push_back(known.signature);
  }
  return program;
}

} // namespace drawloom::cpu
