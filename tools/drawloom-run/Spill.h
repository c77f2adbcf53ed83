//===- Spill.h - a store for values of programs -----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TOOLS_DRAWLOOM_RUN_SPILL_H
#define DRAWLOOM_TOOLS_DRAWLOOM_RUN_SPILL_H

#include "runtime/offload/Store.h"
#include "tools/drawloom-run/Options.h"

namespace drawloom::run {

/// The store in the folders of --spill.
class Spill {
public:
  /// With room for so many bytes at once.
  static llvm::Expected<std::unique_ptr<Spill>> open(const Options &options,
                                                     int64_t bytes);
  ~Spill();
  Spill(const Spill &) = delete;
  Spill &operator=(const Spill &) = delete;

  runtime::offload::Store &records() { return *store; }

private:
  explicit Spill(std::unique_ptr<runtime::offload::Store> given)
      : store(std::move(given)) {}
  std::unique_ptr<runtime::offload::Store> store;
};

/// Prints the rates of this machine and of the folders of --spill, as
/// --memory-rates takes them.
llvm::Error calibrate(const Options &options);

} // namespace drawloom::run

#endif // DRAWLOOM_TOOLS_DRAWLOOM_RUN_SPILL_H
