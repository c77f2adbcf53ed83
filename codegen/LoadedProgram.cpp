//===- LoadedProgram.cpp - the runtime's programs, with LLVM's types ------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LoadedProgram.h"
#include "llvm/ADT/STLExtras.h"

using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

namespace drawloom {

namespace {

class LoadedProgram : public Program {
public:
  explicit LoadedProgram(std::unique_ptr<runtime::Executable> loaded)
      : loaded(std::move(loaded)) {}
  llvm::StringRef isa() const override { return loaded->isa(); }
  llvm::ArrayRef<Signature> signatures() const override {
    return loaded->signatures();
  }
  Error run(llvm::StringRef name, llvm::ArrayRef<const void *> arguments,
            llvm::ArrayRef<void *> results, unsigned threads,
            KernelProfile *profile,
            llvm::ArrayRef<int64_t> extents) const override;
  int64_t codeBytes() const override { return loaded->codeBytes(); }
  int64_t keptBytes() const override { return loaded->keptBytes(); }
  void trim() const override { loaded->trim(); }
  const runtime::DeviceCalls *onDevice() const override {
    return loaded->onDevice();
  }

private:
  std::unique_ptr<runtime::Executable> loaded;
};

Error LoadedProgram::run(llvm::StringRef name,
                         llvm::ArrayRef<const void *> arguments,
                         llvm::ArrayRef<void *> results, unsigned threads,
                         KernelProfile *profile,
                         llvm::ArrayRef<int64_t> extents) const {
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
  if (extents.size() != static_cast<size_t>(signature->openExtents))
    return createStringError(
        "@" + name + " has " + llvm::Twine(signature->openExtents) +
        " open extents, but " + llvm::Twine(extents.size()) + " are given");
  runtime::Status status = loaded->run(
      static_cast<size_t>(signature - signatures().data()), arguments.data(),
      results.data(), threads, profile, extents.data());
  return status.ok() ? Error::success() : toError(status);
}

} // namespace

Error toError(const runtime::Status &status) {
  return createStringError(status.isStorageError()
                               ? std::make_error_code(std::errc::io_error)
                               : llvm::inconvertibleErrorCode(),
                           status.message());
}

runtime::Status toStatus(Error error) {
  runtime::Status status;
  handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    bool isStorage =
        info.convertToErrorCode() == std::make_error_code(std::errc::io_error);
    status = isStorage ? runtime::Status::storageError(info.message())
                       : runtime::Status::error(info.message());
  });
  return status;
}

Expected<std::unique_ptr<Program>>
toProgram(runtime::Result<std::unique_ptr<runtime::Executable>> loaded) {
  if (!loaded.ok())
    return createStringError(loaded.message());
  return std::make_unique<LoadedProgram>(std::move(*loaded));
}

} // namespace drawloom
