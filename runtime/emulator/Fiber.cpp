//===- Fiber.cpp - many stacks in one thread ------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A switch saves the six registers that a callee must keep and swaps the stack
// pointer: 2 ns. ucontext's swapcontext makes a system call for the signal mask
// each time (0.2 us, and kernels switch millions of times); boost.context is as
// fast but would be a dependency for twenty instructions. The rounding modes
// are not saved, since no emulated kernel changes them.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Fiber.h"
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "the emulator switches stacks on x86-64 only"
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DRAWLOOM_FIBER_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define DRAWLOOM_FIBER_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define DRAWLOOM_FIBER_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define DRAWLOOM_FIBER_TSAN
#endif

#ifdef DRAWLOOM_FIBER_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef DRAWLOOM_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

// (void **save in rdi, void *load in rsi)
asm(R"(
  .text
  .p2align 4
  .globl drawloom_emulator_switch
  .hidden drawloom_emulator_switch
  .type drawloom_emulator_switch, @function
drawloom_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size drawloom_emulator_switch, . - drawloom_emulator_switch

  .globl drawloom_emulator_start
  .hidden drawloom_emulator_start
  .type drawloom_emulator_start, @function
drawloom_emulator_start:
  movq %r12, %rdi
  callq *%r13
  ud2
  .size drawloom_emulator_start, . - drawloom_emulator_start
)");

extern "C" {
void drawloom_emulator_switch(void **save, void *load);
void drawloom_emulator_start();
}

namespace drawloom::emulator {

Fiber::~Fiber() {
#ifdef DRAWLOOM_FIBER_TSAN
  if (ownsShadow)
    __tsan_destroy_fiber(shadow);
#endif
}

void Fiber::start(char *end, size_t bytes, void (*function)(void *),
                  void *argument) {
  stackEnd = end;
  stackBytes = bytes;
#ifdef DRAWLOOM_FIBER_ASAN
  // What ran here before may have left poison.
  __asan_unpoison_memory_region(end - bytes, bytes);
  shadow = nullptr;
#endif
#ifdef DRAWLOOM_FIBER_TSAN
  if (ownsShadow)
    __tsan_destroy_fiber(shadow);
  shadow = __tsan_create_fiber(0);
  ownsShadow = true;
#endif
  // In the order that drawloom_emulator_switch pops; the call in
  // drawloom_emulator_start finds the stack aligned to 16 bytes.
  void **top = reinterpret_cast<void **>(end) - 9;
  top[0] = top[1] = nullptr;
  top[2] = reinterpret_cast<void *>(function);
  top[3] = argument;
  top[4] = top[5] = nullptr;
  top[6] = reinterpret_cast<void *>(drawloom_emulator_start);
  top[7] = top[8] = nullptr;
  stackPointer = top;
}

void Fiber::adoptThread() {
#ifdef DRAWLOOM_FIBER_ASAN
  pthread_attr_t attributes;
  void *low = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &stackBytes);
    pthread_attr_destroy(&attributes);
    stackEnd = static_cast<char *>(low) + stackBytes;
  }
#endif
#ifdef DRAWLOOM_FIBER_TSAN
  shadow = __tsan_get_current_fiber();
#endif
}

void Fiber::switchTo(Fiber &other, bool forEver) {
#ifdef DRAWLOOM_FIBER_ASAN
  __sanitizer_start_switch_fiber(forEver ? nullptr : &shadow,
                                 other.stackEnd - other.stackBytes,
                                 other.stackBytes);
#endif
#ifdef DRAWLOOM_FIBER_TSAN
  __tsan_switch_to_fiber(other.shadow, 0);
#endif
  drawloom_emulator_switch(&stackPointer, other.stackPointer);
  arrived();
}

void Fiber::arrived() {
#ifdef DRAWLOOM_FIBER_ASAN
  __sanitizer_finish_switch_fiber(shadow, nullptr, nullptr);
#endif
}

static size_t pageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t Stacks::stride() { return bytes + pageBytes(); }

Stacks::~Stacks() {
  if (base)
    munmap(base, count * stride());
}

bool Stacks::reserve(size_t wanted) {
  if (wanted <= count)
    return true;
  void *memory =
      mmap(nullptr, wanted * stride(), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  if (base)
    munmap(base, count * stride());
  base = static_cast<char *>(memory);
  count = wanted;
  for (size_t i = 0; i < count; ++i)
    if (mprotect(base + i * stride(), pageBytes(), PROT_NONE) != 0)
      return false;
  return true;
}

} // namespace drawloom::emulator
