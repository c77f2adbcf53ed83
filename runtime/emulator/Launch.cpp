//===- Launch.cpp - the blocks of a grid over threads --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Launch.h"
#include "runtime/emulator/AccessCounts.h"
#include "runtime/emulator/Machine.h"
#include <thread>

namespace drawloom::emulator {

//===----------------------------------------------------------------------===//
// GlobalMemory
//===----------------------------------------------------------------------===//

void GlobalMemory::add(const void *start, int64_t bytes) {
  if (bytes <= 0)
    return;
  auto first = reinterpret_cast<uintptr_t>(start);
  uintptr_t end = first + static_cast<uintptr_t>(bytes);
  auto next = ranges.lower_bound(first);
  if (next != ranges.begin() && std::prev(next)->second > first)
    --next;
  while (next != ranges.end() && next->first < end)
    next = ranges.erase(next);
  ranges[first] = end;
}

bool GlobalMemory::remove(const void *start) {
  return ranges.erase(reinterpret_cast<uintptr_t>(start)) != 0;
}

GlobalMemory::Range GlobalMemory::before(uintptr_t address) const {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin())
    return {};
  --next;
  return {next->first, next->second};
}

GlobalMemory::Range GlobalMemory::after(uintptr_t address) const {
  auto next = ranges.upper_bound(address);
  if (next == ranges.end())
    return {};
  return {next->first, next->second};
}

GlobalMemory::Range GlobalMemory::find(uintptr_t address) const {
  Range range = before(address);
  return address < range.end ? range : Range();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// What keeps the launch from starting; empty where nothing does.
static std::string checkLaunch(const KernelCode &kernel, const Grid &grid,
                               int64_t sharedBytes) {
  std::string name = "@" + kernel.name + ": ";
  if (kernel.threads <= 0 || kernel.threads % lanes != 0 ||
      kernel.threads > mostThreads)
    return name + "blocks of " + std::to_string(kernel.threads) +
           " threads; the number must be a multiple of 32 and no more than " +
           std::to_string(mostThreads);
  if (sharedBytes < 0 || sharedBytes > mostSharedBytes)
    return name + std::to_string(sharedBytes) +
           " bytes of shared memory; a block may have no more than " +
           std::to_string(mostSharedBytes);
  // The limits of the hardware; their product fits into 64 bits.
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > 0x7fffffff ||
      grid.y > 65535 || grid.z > 65535)
    return name + "a grid of " + std::to_string(grid.x) + " x " +
           std::to_string(grid.y) + " x " + std::to_string(grid.z) +
           " blocks; it must be between 1 x 1 x 1 and 2147483647 x 65535 x "
           "65535";
  if (grid.x * grid.y * grid.z > 0xffffffff)
    return name + "more than 2^32 blocks are not emulated";
  return "";
}

std::string launchKernel(const KernelCode &kernel, Grid grid,
                         const void *const *parameters, int64_t sharedBytes,
                         const LaunchOptions &options, Report &report) {
  std::string refusal = checkLaunch(kernel, grid, sharedBytes);
  if (!refusal.empty())
    return refusal;
  Launch launch;
  launch.kernel = &kernel;
  launch.grid = grid;
  launch.parameters = parameters;
  launch.sharedBytes = sharedBytes;
  launch.options = &options;
  if (options.checkRaces) {
    launch.global = std::make_unique<GlobalShadow>();
    launch.variables = std::make_unique<SyncVariables>();
  }
  if (options.countAccesses)
    launch.counts =
        std::make_unique<AccessCounts>(kernel.sites->size(), kernel.threads);
  const int64_t all = grid.x * grid.y * grid.z;
  const int64_t blocks =
      options.mostBlocks > 0 ? std::min(options.mostBlocks, all) : all;
  std::atomic<bool> noMemory{false};
  auto work = [&] {
    Block block(launch);
    if (!block.allocate()) {
      noMemory = true;
      return;
    }
    while (!launch.stopped) {
      int64_t number = launch.next++;
      if (number >= blocks)
        break;
      // At most 2^32 blocks are left to pick from, whose number times that of
      // those that run may not fit into 64 bits.
      block.run(all / blocks * number + all % blocks * number / blocks);
    }
    if (block.counts) {
      std::lock_guard<std::mutex> lock(launch.countsMutex);
      launch.counts->merge(*block.counts);
    }
  };
  auto threads = static_cast<unsigned>(
      std::min<int64_t>(std::max(options.threads, 1u), blocks));
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  report.blocks = launch.blocks;
  report.switches = launch.switches;
  if (launch.counts)
    launch.counts->write(*kernel.sites, report);
  // With fewer threads than asked for, the others did their blocks.
  if (noMemory && launch.next < blocks)
    return "@" + kernel.name +
           ": this machine does not give the memory for the stacks of " +
           std::to_string(kernel.threads) + " emulated threads";
  return launch.findings.text();
}

} // namespace drawloom::emulator
