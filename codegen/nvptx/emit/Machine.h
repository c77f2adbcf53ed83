//===- Machine.h - what the processors can do -------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nominal figures of devices, for estimating what limits a kernel:
//
//   const Machine &machine = machineOf(architecture);    // by architecture
//   double seconds = bytes / machine.memoryBytesPerSecond;
//
// Compilers look devices up by architecture only: compiled code must not depend
// on the device at hand, so the first device of each architecture stands for
// all of them. `drawloom-translate --print-machine` prints the table as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_EMIT_MACHINE_H
#define DRAWLOOM_CODEGEN_NVPTX_EMIT_MACHINE_H

#include "codegen/nvptx/emit/Architectures.h"
#include "llvm/Support/JSON.h"

namespace drawloom::nvptx {

/// A device. Figures per clock are for one multiprocessor.
struct Machine {
  llvm::StringLiteral product; ///< Key of the table, such as H200.
  /// sm_90a; its entry has the limits of a block.
  llvm::StringLiteral architecture;
  unsigned multiprocessors;
  double clockHz; ///< The clock for which the vendor states peak rates.
  double memoryBytesPerSecond;
  int64_t cacheBytes;    ///< Second-level cache, shared by all multiprocessors.
  int64_t sharedBytes;   ///< Per multiprocessor, for all its blocks.
  unsigned warps;        ///< Max resident warps per multiprocessor.
  unsigned blocks;       ///< Max resident blocks per multiprocessor.
  unsigned issueSlots;   ///< Warp instructions per clock.
  unsigned floatLanes;   ///< f32 operations of lanes per clock.
  unsigned specialLanes; ///< ex2, rcp, ... of lanes per clock.
  unsigned sharedBytesPerClock; ///< Throughput of the banks.
  /// Clocks of an mma.sync m16n8k16 in bf16 or f16, and of an m16n8k8 in tf32:
  /// products of the same number of bytes.
  double tensorClocks;
  /// Peak f32 multiply-adds per clock for cuBLAS in bf16 and tf32, with the
  /// architecture's best instructions.
  double tensorPeakHalf, tensorPeakTf32;

  double halfFlops() const { return 2 * rate(tensorPeakHalf); }
  double tf32Flops() const { return 2 * rate(tensorPeakTf32); }
  double floatFlops() const { return 2 * rate(floatLanes); }

private:
  double rate(double each) const { return each * multiprocessors * clockHz; }
};

/// Shared memory of a multiprocessor that each block reserves.
constexpr int64_t blockReservedSharedBytes = 1024;
/// Granularity in which registers are allocated to warps.
constexpr unsigned warpRegisterPiece = 256;

llvm::ArrayRef<Machine> machines();
/// Returns the device that stands for an architecture.
const Machine &machineOf(const Architecture &architecture);

/// Returns the number of blocks that are resident on a multiprocessor at once,
/// given the registers per thread, and the shared memory and warps per block. 0
/// if none fits.
unsigned residentBlocks(const Machine &machine, unsigned registers,
                        int64_t sharedBytes, unsigned warps);

/// Returns the table as JSON, [{"product": "A100", "architecture": "sm_80",
/// ...}, ...], including the limits of the architecture.
llvm::json::Value machinesToJson();

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_EMIT_MACHINE_H
