//===- Machine.h - what the processors can do -------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nominal figures of devices, for whoever has to estimate what binds a kernel:
//
//   const Machine &machine = machineOf(architecture);    // by architecture
//   double seconds = bytes / machine.memoryBytesPerSecond;
//
// Compilers ask by architecture only: what is compiled must not depend on the
// device at hand, so of one architecture's devices the first row speaks for
// all. `drawloom-translate --print-machine` prints the table as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_MACHINE_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_MACHINE_H

#include "codegen/nvptx/emit/Architectures.h"
#include "llvm/Support/JSON.h"

namespace drawloom::nvptx {

/// A device. What is counted "a clock" is counted for one multiprocessor.
struct Machine {
  llvm::StringLiteral product;      ///< H200: the table's key.
  llvm::StringLiteral architecture; ///< sm_90a: limits of a block are there.
  unsigned multiprocessors;
  double clockHz; ///< At which the vendor states its peak rates.
  double memoryBytesPerSecond;
  int64_t cacheBytes;           ///< Of the second level, shared by all.
  int64_t sharedBytes;          ///< Of a multiprocessor, of all its blocks.
  unsigned warps;               ///< Most that are resident at once.
  unsigned blocks;              ///< Most that are resident at once.
  unsigned issueSlots;          ///< Instructions of a warp a clock.
  unsigned floatLanes;          ///< f32 operations of lanes a clock.
  unsigned specialLanes;        ///< ex2, rcp, ... of lanes a clock.
  unsigned sharedBytesPerClock; ///< What the banks deliver.
  /// Clocks of an m16n8k16 of mma.sync in bf16 or f16, and of an m16n8k8 in
  /// tf32: a product of the same number of bytes.
  double tensorClocks;
  /// f32 multiply-adds a clock that cuBLAS may hope for in bf16 and tf32, by
  /// the instructions that are the architecture's best.
  double tensorPeakHalf, tensorPeakTf32;

  double halfFlops() const { return 2 * rate(tensorPeakHalf); }
  double tf32Flops() const { return 2 * rate(tensorPeakTf32); }
  double floatFlops() const { return 2 * rate(floatLanes); }

private:
  double rate(double each) const { return each * multiprocessors * clockHz; }
};

/// What a block costs a multiprocessor.
constexpr int64_t blockReservedSharedBytes = 1024;
/// Registers are given to warps in pieces of so many.
constexpr unsigned warpRegisterPiece = 256;

llvm::ArrayRef<Machine> machines();
/// The device that speaks for an architecture.
const Machine &machineOf(const Architecture &architecture);
/// Names the known ones in its error.
llvm::Expected<const Machine *> findMachine(llvm::StringRef product);

/// Blocks that a multiprocessor holds at once: how many registers a thread has,
/// bytes of shared memory and warps of a block are given. 0 where not one fits.
unsigned residentBlocks(const Machine &machine, unsigned registers,
                        int64_t sharedBytes, unsigned warps);

/// [{"product": "A100", "architecture": "sm_80", ...}, ...], the limits of the
/// architecture among them.
llvm::json::Value machinesToJson();

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_MACHINE_H
