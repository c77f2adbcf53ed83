//===- CallersStore.h - where a thread's calls keep values ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CALLERSSTORE_H
#define DRAWLOOM_RUNTIME_CALLERSSTORE_H

#include "drawloom/runtime/Artifact.h"
#include "drawloom/runtime/Status.h"

namespace drawloom::runtime {

namespace offload {
class Store;
}

/// Sets the store in which this thread's subsequent program calls keep values
/// that leave memory; if null, calls of programs with such values fail.
void useStore(offload::Store *store);

/// Returns this thread's store, for a call of a function that keeps values in
/// one.
Result<offload::Store *> storeFor(const Signature &signature);

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_CALLERSSTORE_H
