//===- JitProgram.cpp - machine code in this process ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/JitProgram.h"
#include "drawloom/runtime/CpuProgram.h"
#include "llvm/ADT/STLExtras.h"

using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

namespace drawloom::cpu {

namespace {

/// The runtime's program, with LLVM's types.
class JitProgram : public Program {
public:
  explicit JitProgram(std::unique_ptr<runtime::Executable> loaded)
      : loaded(std::move(loaded)) {}
  llvm::StringRef isa() const override { return loaded->isa(); }
  llvm::ArrayRef<Signature> signatures() const override {
    return loaded->signatures();
  }
  Error run(llvm::StringRef name, llvm::ArrayRef<const void *> arguments,
            llvm::ArrayRef<void *> results, unsigned threads,
            KernelProfile *profile) const override;
  int64_t codeBytes() const override { return loaded->codeBytes(); }
  int64_t keptBytes() const override { return loaded->keptBytes(); }
  void trim() const override { loaded->trim(); }

private:
  std::unique_ptr<runtime::Executable> loaded;
};

Error JitProgram::run(llvm::StringRef name,
                      llvm::ArrayRef<const void *> arguments,
                      llvm::ArrayRef<void *> results, unsigned threads,
                      KernelProfile *profile) const {
  const Signature *signature = find(name);
  if (!signature) {
    std::string known;
    for (const Signature &signature : signatures())
      known += (known.empty() ? "@" : ", @") + signature.name;
    return createStringError("the program has no entry @" + name + "; it has " +
                             (known.empty() ? "none" : known));
  }
  if (arguments.size() != signature->arguments.size() ||
      results.size() != signature->results.size())
    return createStringError(
        "@" + name + " takes " + llvm::Twine(signature->arguments.size()) +
        " arguments and " + llvm::Twine(signature->results.size()) +
        " results, not " + llvm::Twine(arguments.size()) + " and " +
        llvm::Twine(results.size()));
  runtime::Status status =
      loaded->run(static_cast<size_t>(signature - signatures().data()),
                  arguments.data(), results.data(), threads, profile);
  return status.ok() ? Error::success() : createStringError(status.message());
}

} // namespace

Expected<std::unique_ptr<Program>>
loadProgram(const Artifact::Variant &variant) {
  runtime::Result<std::unique_ptr<runtime::Executable>> loaded =
      runtime::loadCpuProgram(variant);
  if (!loaded.ok())
    return createStringError(loaded.message());
  return std::make_unique<JitProgram>(std::move(*loaded));
}

} // namespace drawloom::cpu
