//===- MachineFacts.h - what decompositions know of a machine -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There may be several ways to decompose an op, some for many processors and
// some for few. The module describes the machine that it is compiled for by the
// attribute
//
//   module attributes {drawloom.machine = {processors = 132 : i64,
//                                          block_bytes = 232448 : i64}}
//
// decompose-graph sets the attribute, from the target's facts where the program
// states none, and removes it when nothing is left to decompose. The choice of
// a decomposition changes rounding, so the facts describe a kind of machine,
// never the machine at hand or the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_MACHINEFACTS_H
#define DRAWLOOM_DIALECTS_INTERFACES_MACHINEFACTS_H

#include "mlir/IR/Operation.h"

namespace drawloom {

struct MachineFacts {
  /// Number of blocks of a program that run at once: cores of a CPU,
  /// multiprocessors of a GPU. With one, more blocks gain nothing.
  int64_t processors = 1;
  /// Bytes of memory of a block that its tiles must fit into; 0: no limit.
  int64_t blockBytes = 0;
  /// Min rows with which matrix products run at full speed.
  int64_t productRows = 32;
  /// Max bytes of forward values that a gradient may save, over all blocks that
  /// run at once; 0: as many as its inputs and outputs have, or, if blocks have
  /// memory of their own (blockBytes), no limit.
  int64_t savedBytes = 0;
  /// Whether lanes run in lockstep, each on its own rows: loops with different
  /// trip counts then run best over many rows at once, one iteration of each at
  /// a time.
  bool lockstep = false;

  bool operator==(const MachineFacts &other) const {
    return processors == other.processors && blockBytes == other.blockBytes &&
           productRows == other.productRows && savedBytes == other.savedBytes &&
           lockstep == other.lockstep;
  }
  bool operator!=(const MachineFacts &other) const { return !(*this == other); }
};

/// Returns the facts that the module around an op states; facts that it does
/// not state are taken from `facts`.
MachineFacts machineFactsOf(mlir::Operation *op, MachineFacts facts = {});

/// Sets the facts on the module for the lifetime of this object.
class ScopedMachineFacts {
public:
  ScopedMachineFacts(mlir::Operation *module, const MachineFacts &facts);
  ~ScopedMachineFacts();
  ScopedMachineFacts(const ScopedMachineFacts &) = delete;
  ScopedMachineFacts &operator=(const ScopedMachineFacts &) = delete;

private:
  mlir::Operation *module;
  mlir::Attribute before;
};

} // namespace drawloom

#endif // DRAWLOOM_DIALECTS_INTERFACES_MACHINEFACTS_H
