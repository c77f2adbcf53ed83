//===- MachineFacts.h - what decompositions know of a machine -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op may be decomposed in several ways, of which one suits many processors
// and another one few. The module says which machine it is compiled for, by the
// attribute
//
//   module attributes {drawloom.machine = {processors = 132 : i64,
//                                          block_bytes = 232448 : i64}}
//
// decompose-graph puts it there, from what the target says and the program does
// not, and takes it away when nothing is left to decompose. What a
// decomposition chooses changes rounding, so the facts are those of a kind of
// machine: never those of the machine at hand, nor the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_MACHINEFACTS_H
#define DRAWLOOM_DIALECTS_INTERFACES_MACHINEFACTS_H

#include "mlir/IR/Operation.h"

namespace drawloom {

struct MachineFacts {
  /// Blocks of a program that run at once: cores of a CPU, multiprocessors of a
  /// GPU. With one, there is nothing to gain by more blocks.
  int64_t processors = 1;
  /// Memory of a block, in bytes, that its tiles must fit into; 0: no limit.
  int64_t blockBytes = 0;
  /// Rows from which on products of matrices run at full speed.
  int64_t productRows = 32;
  /// Bytes that a gradient may save of its way forward, of all blocks that run
  /// at once; 0: as many as its inputs and outputs have, or, where blocks have
  /// memory of their own (blockBytes), any number.
  int64_t savedBytes = 0;
  /// Whether lanes run in step, each with rows of its own: loops of different
  /// lengths are best run for many rows at once, one step of each at a time.
  bool lockstep = false;

  bool operator==(const MachineFacts &other) const {
    return processors == other.processors && blockBytes == other.blockBytes &&
           productRows == other.productRows && savedBytes == other.savedBytes &&
           lockstep == other.lockstep;
  }
  bool operator!=(const MachineFacts &other) const { return !(*this == other); }
};

/// What the module around an op says; what it does not say is as in `facts`.
MachineFacts machineFactsOf(mlir::Operation *op, MachineFacts facts = {});

/// Says so on the module as long as this lives.
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
