/* Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information. SPDX-License-Identifier:
 * Apache-2.0 WITH LLVM-exception
 *
 * Calls a compiled program on a bare machine and writes its results' bytes, as
 * hexadecimal digits, to the emulator's port 0xe9. */

#include "drawloom/runtime/Abi.h"
#include <stddef.h>

/* From the test: data.S. */
extern void *arguments[];
extern const struct {
  const unsigned char *data;
  int64_t bytes;
} results[];
extern const int64_t result_count;
extern char scratch[];
void program(void **arguments, const DrawloomHost *host);

static void put(char c) {
  __asm__ volatile("outb %0, %1" : : "a"(c), "Nd"((unsigned short)0xe9));
}
static void say(const char *text) {
  while (*text)
    put(*text++);
}

static void run_all(void *context, DrawloomKernel kernel, void **buffers,
                    int64_t blocks) {
  (void)context;
  kernel(buffers, 0, blocks, scratch);
}

/* What compiled code may call of the C library. */
void *memset(void *to, int value, size_t count) {
  for (size_t i = 0; i < count; ++i)
    ((volatile char *)to)[i] = (char)value;
  return to;
}
void *memmove(void *to, const void *from, size_t count) {
  if (to < from)
    for (size_t i = 0; i < count; ++i)
      ((volatile char *)to)[i] = ((const char *)from)[i];
  else
    for (size_t i = count; i-- > 0;)
      ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memcpy(void *to, const void *from, size_t count) {
  return memmove(to, from, count);
}

__attribute__((section(".text.first"))) void first(void) {
  DrawloomHost host = {0, run_all};
  program(arguments, &host);
  for (int64_t i = 0; i < result_count; ++i) {
    say("result ");
    for (int64_t k = 0; k < results[i].bytes; ++k) {
      put("0123456789abcdef"[results[i].data[k] >> 4]);
      put("0123456789abcdef"[results[i].data[k] & 15]);
    }
    say("\n");
  }
  say("end\n");
  for (const char *c = "Shutdown"; *c; ++c)
    __asm__ volatile("outb %0, %1" : : "a"(*c), "Nd"((unsigned short)0x8900));
}
