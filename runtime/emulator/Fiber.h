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

/// A place where execution can stop and go on, with a stack of its own unless
/// it is the thread's that runs the fibers.
class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// Makes the next switch here call `function(argument)`, which must not
  /// return, on the stack. What ran here before is forgotten.
  void start(char *stackEnd, size_t stackBytes, void (*function)(void *),
             void *argument);
  /// For the fiber that stands for the thread's own stack.
  void adoptThread();

  /// Stops here and goes on there. With `forEver`, nobody will come back.
  void switchTo(Fiber &other, bool forEver = false);
  /// What a fiber's function does first.
  void arrived();

private:
  void *stackPointer = nullptr;
  char *stackEnd = nullptr;
  size_t stackBytes = 0;
  // Of the sanitizers.
  [[maybe_unused]] void *shadow = nullptr;
  [[maybe_unused]] bool ownsShadow = false;
};

/// Stacks of the same size with a page before each that faults.
class Stacks {
public:
  static constexpr size_t bytes = size_t(1) << 20;

  Stacks() = default;
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  ~Stacks();
  /// False where the machine does not give the memory.
  bool reserve(size_t wanted);
  char *end(size_t index) const { return base + (index + 1) * stride(); }

private:
  static size_t stride();
  char *base = nullptr;
  size_t count = 0;
};

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_FIBER_H
