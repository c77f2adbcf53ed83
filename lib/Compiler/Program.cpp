//===- Program.cpp - machine code in this process -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Signature.h"
#include "codegen/cpu/Target.h"
#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/ThreadPool.h"
#include "lib/Compiler/Compiler.h"
#include "lib/Compiler/MachineCode.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <mutex>

using namespace mlir;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

namespace drawloom {

int64_t elementBytes(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::BF16:
  case ElementType::F16:
    return 2;
  case ElementType::I8:
  case ElementType::I1:
    return 1;
  }
  llvm_unreachable("all types are listed");
}

int64_t ValueType::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

const Signature *Program::find(llvm::StringRef name) const {
  for (const Signature &signature : signatures())
    if (signature.name == name)
      return &signature;
  return nullptr;
}

namespace {

std::optional<ElementType> elementTypeOf(Type type) {
  if (type.isF64())
    return ElementType::F64;
  if (type.isF32())
    return ElementType::F32;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF16())
    return ElementType::F16;
  if (type.isInteger(64) || type.isIndex())
    return ElementType::I64;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(8))
    return ElementType::I8;
  if (type.isInteger(1))
    return ElementType::I1;
  return std::nullopt;
}

std::optional<ValueType> valueTypeOf(Type type) {
  std::optional<ElementType> element =
      elementTypeOf(getElementTypeOrSelf(type));
  if (!element)
    return std::nullopt;
  ValueType value{*element, {}};
  if (auto shaped = dyn_cast<ShapedType>(type))
    value.shape = shaped.getShape().vec();
  int64_t bytes = elementBytes(*element);
  for (int64_t extent : value.shape)
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return value;
}

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

class JitProgram : public Program {
public:
  llvm::ArrayRef<Signature> signatures() const override { return listed; }
  Error run(llvm::StringRef name, llvm::ArrayRef<const void *> arguments,
            llvm::ArrayRef<void *> results, unsigned threads) const override;

  std::vector<Signature> listed;
  llvm::StringMap<Entry> entries;
  std::unique_ptr<cpu::MachineCode> code;
};

Error JitProgram::run(llvm::StringRef name,
                      llvm::ArrayRef<const void *> arguments,
                      llvm::ArrayRef<void *> results, unsigned threads) const {
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
  entry.address(pointers.data(), &host);
  if (workspace)
    entry.workspaces->give(std::move(*workspace));
  if (scratch)
    entry.scratches->give(std::move(*scratch));
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<Program>>
Program::create(ModuleOp module, const CompileOptions &options) {
  // Before the work of compiling: an instruction set that cannot run here.
  Expected<const cpu::InstructionSet *> set =
      cpu::findInstructionSet(options.isa);
  if (!set)
    return set.takeError();
  if (Error error = cpu::checkHostRuns(**set))
    return error;

  CompileOptions toLlvm = options;
  toLlvm.to = Phase::Llvm;
  if (failed(compile(module, toLlvm)))
    return createStringError("compilation failed; see the diagnostics");

  auto program = std::make_unique<JitProgram>();
  WalkResult result = module.walk([&](FunctionOpInterface function) {
    FailureOr<cpu::FunctionSignature> known = cpu::getSignature(function);
    if (failed(known))
      return WalkResult::advance();
    Entry entry;
    StringRef name = function.getName();
    name.consume_front(cpu::entryPrefix);
    entry.signature.name = name.str();
    entry.signature.workspaceBytes = known->workspaceBytes;
    entry.scratchBytes = known->scratchBytes;
    for (auto [types, into] :
         {std::pair(ArrayRef<Type>(known->arguments),
                    &entry.signature.arguments),
          std::pair(ArrayRef<Type>(known->results), &entry.signature.results)})
      for (Type type : types) {
        std::optional<ValueType> value = valueTypeOf(type);
        if (!value) {
          function.emitError("cannot be called: ")
              << type << " in its signature has no form in the host's memory";
          return WalkResult::interrupt();
        }
        into->push_back(std::move(*value));
      }
    program->listed.push_back(entry.signature);
    program->entries[entry.signature.name] = std::move(entry);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return createStringError("compilation failed; see the diagnostics");

  Expected<std::unique_ptr<cpu::MachineCode>> code =
      cpu::MachineCode::create(module, options.isa);
  if (!code)
    return code.takeError();
  program->code = std::move(*code);
  for (auto &entry : program->entries) {
    Expected<void *> address =
        program->code->lookup((cpu::entryPrefix + entry.getKey()).str());
    if (!address)
      return address.takeError();
    entry.getValue().address = reinterpret_cast<DrawloomEntry>(*address);
  }
  return program;
}

} // namespace drawloom
