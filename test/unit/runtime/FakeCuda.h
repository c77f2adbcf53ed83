//===- FakeCuda.h - a CUDA driver that keeps a record -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library in the place of libcuda.so.1. It runs no code: it keeps a
// record of what it is asked, and fails where it is told to.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_FAKECUDA_H
#define DRAWLOOM_TEST_FAKECUDA_H

#include <atomic>
#include <cstddef>
#include <cstdint>

struct FakeCuda {
  // Set by tests.
  int version = 13000, devices = 1, capability = 90, initCode = 0;
  int moduleCode = 0, cubinCode = 0, launchCode = 0, synchronizeCode = 0;
  size_t memory = size_t(1) << 30;     ///< Of the device.
  uint64_t hostBegin = 0, hostEnd = 0; ///< Addresses that are not its own.
  bool pageable = false;
  // Read by tests.
  char image[64] = "";
  char function[64] = "";
  int dynamicShared = 0;
  std::atomic<unsigned> launches = 0;
  unsigned grid[3] = {}, threads = 0, shared = 0;
  void *stream = nullptr;
  uint64_t arguments[8] = {};
  unsigned argumentBytes[8] = {}; ///< How many to read of each; set by tests.
  std::atomic<unsigned> pointerQueries = 0, synchronizations = 0;
  unsigned allocations = 0;
  size_t memoryUsed = 0;
  std::atomic<int> pushed = 0; ///< Contexts.
};

extern "C" FakeCuda *fakeCuda();

#endif // DRAWLOOM_TEST_FAKECUDA_H
