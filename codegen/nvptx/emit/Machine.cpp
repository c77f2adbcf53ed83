//===- Machine.cpp - what the processors can do ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace drawloom::nvptx {

// Sources: NVIDIA's white papers of the A100, H100 and Blackwell architectures
// (multiprocessors, clocks, bandwidths, caches, rates of tensor cores), the
// data sheet of the H200, and the tables of the CUDA programming guide by
// compute capability (resident warps and blocks, registers, shared memory,
// lanes). Clocks are those of the stated peaks: 1.41 GHz for the A100, 1.755
// GHz with tensor cores for the H100 and H200. NVIDIA states none for the
// B200: 1.85 GHz makes its 148 multiprocessors' 4,096 multiply-adds the 2.25
// PFLOP/s of the data sheet. Its mma.sync has no public rate; it stands here
// with that of the H100. The first row of an architecture speaks for it.
static const Machine table[] = {
    // product, architecture, multiprocessors, clock, memory, cache,
    // shared, warps, blocks, slots, lanes: f32, special; shared bytes,
    // tensor: clocks, peak multiply-adds of half, tf32
    {"A100", "sm_80", 108, 1.41e9, 2.04e12, int64_t(40) << 20,
     int64_t(164) << 10, 64, 32, 4, 64, 16, 128, 2.0, 1024, 512},
    {"H200", "sm_90a", 132, 1.755e9, 4.8e12, int64_t(50) << 20,
     int64_t(228) << 10, 64, 32, 4, 128, 16, 128, 1.0, 2048, 1024},
    {"H100", "sm_90a", 132, 1.755e9, 3.35e12, int64_t(50) << 20,
     int64_t(228) << 10, 64, 32, 4, 128, 16, 128, 1.0, 2048, 1024},
    {"B200", "sm_100a", 148, 1.85e9, 8e12, int64_t(126) << 20,
     int64_t(228) << 10, 64, 32, 4, 128, 16, 128, 1.0, 4096, 2048},
};

ArrayRef<Machine> machines() { return table; }

const Machine &machineOf(const Architecture &architecture) {
  for (const Machine &machine : table)
    if (machine.architecture == architecture.name)
      return machine;
  llvm_unreachable("every architecture has a device");
}

unsigned residentBlocks(const Machine &machine, unsigned registers,
                        int64_t sharedBytes, unsigned warps) {
  const Architecture &limits = **findArchitecture(machine.architecture);
  if (registers > limits.registers || sharedBytes > limits.sharedBytes ||
      32 * warps > mostThreads || warps == 0)
    return 0;
  // Each of the four schedulers has its share of the registers and the warps.
  unsigned perWarp = alignTo(std::max(1u, registers) * 32, warpRegisterPiece);
  unsigned residentWarps = 4 * (limits.blockRegisters / 4 / perWarp);
  unsigned most = std::min(machine.blocks, machine.warps / warps);
  most = std::min(most, residentWarps / warps);
  int64_t ownShared = sharedBytes + blockReservedSharedBytes;
  return std::min<int64_t>(most, machine.sharedBytes / ownShared);
}

json::Value machinesToJson() {
  json::Array list;
  for (const Machine &machine : table) {
    const Architecture &limits = **findArchitecture(machine.architecture);
    list.push_back(
        json::Object{{"product", machine.product},
                     {"architecture", machine.architecture},
                     {"multiprocessors", machine.multiprocessors},
                     {"clock_hz", machine.clockHz},
                     {"memory_bytes_per_second", machine.memoryBytesPerSecond},
                     {"cache_bytes", machine.cacheBytes},
                     {"shared_bytes", machine.sharedBytes},
                     {"block_shared_bytes", limits.sharedBytes},
                     {"registers", limits.blockRegisters},
                     {"thread_registers", limits.registers},
                     {"warps", machine.warps},
                     {"blocks", machine.blocks},
                     {"issue_slots", machine.issueSlots},
                     {"float_lanes", machine.floatLanes},
                     {"special_lanes", machine.specialLanes},
                     {"shared_bytes_per_clock", machine.sharedBytesPerClock},
                     {"tensor_clocks", machine.tensorClocks},
                     {"float_flops", machine.floatFlops()},
                     {"half_flops", machine.halfFlops()},
                     {"tf32_flops", machine.tf32Flops()}});
  }
  return list;
}

} // namespace drawloom::nvptx
