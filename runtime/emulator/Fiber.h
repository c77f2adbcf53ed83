//===- Fiber.h - many stacks in one thread ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_FIBER_H
#define DRAWLOOM_RUNTIME_EMULATOR_FIBER_H

#include <cstddef>

namespace drawloom::emulator {

/// An execution context that can be suspended and resumed. It has its own
/// stack, unless it represents the thread that runs the fibers.
class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// Makes the next switch to this fiber call `function(argument)`, which must
  /// not return, on the given stack. Any previous execution is discarded.
  void start(char *stackEnd, size_t stackBytes, void (*function)(void *),
             void *argument);
  /// Makes this fiber represent the calling thread's own stack.
  void adoptThread();

  /// Suspends this fiber and resumes the other. With `forEver`, this fiber will
  /// not be resumed.
  void switchTo(Fiber &other, bool forEver = false);
  /// Must be called first in a fiber's function.
  void arrived();

private:
  void *stackPointer = nullptr;
  char *stackEnd = nullptr;
  size_t stackBytes = 0;
  // For the sanitizers.
  [[maybe_unused]] void *shadow = nullptr;
  [[maybe_unused]] bool ownsShadow = false;
};

/// Stacks of equal size, each preceded by a guard page.
class Stacks {
public:
  static constexpr size_t bytes = size_t(1) << 20;

  Stacks() = default;
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  ~Stacks();
  /// Returns false if the memory is unavailable.
  bool reserve(size_t wanted);
  char *end(size_t index) const { return base + (index + 1) * stride(); }

private:
  static size_t stride();
  char *base = nullptr;
  size_t count = 0;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_FIBER_H
