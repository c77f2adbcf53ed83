//===- CallersStore.cpp - where a thread's calls keep values --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CallersStore.h"

namespace drawloom::runtime {

static thread_local offload::Store *callersStore = nullptr;

void useStore(offload::Store *store) { callersStore = store; }

Result<offload::Store *> storeFor(const Signature &signature) {
  if (callersStore)
    return callersStore;
  return Status::storageError(
      "@" + signature.name + " keeps " + std::to_string(signature.records) +
      " values outside memory for some time and has no store for them: name "
      "a folder of a local disk (--spill of drawloom-run, spill= in Python, "
      "drawloomUseStore in C)");
}

} // namespace drawloom::runtime
