/*===- LoadedCode.c - what the loader's test loads --------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#include <math.h>
#include <string.h>

/* Calls within the file, relocations of code. */
static __attribute__((noinline)) int hidden(int n) {
  return n < 2 ? 1 : n * hidden(n - 1);
}
int factorial(int n);
int factorial(int n) { return hidden(n); }

/* Constants. */
static const int table[8] = {11, 22, 33, 44, 55, 66, 77, 88};
int pick(int i);
int pick(int i) { return table[i & 7]; }

/* Pointers to constants, relocations of data. */
static const char *const names[] = {"zero", "one", "two"};
const char *name(int i);
const char *name(int i) { return names[i]; }

/* Through the table of addresses. */
int counter = 42;
int count(void);
int count(void) { return counter++; }

/* Zeros that are not in the file. */
static long total;
long accumulate(long x);
long accumulate(long x) { return total += x; }

/* The C library. */
double arctangent(double x);
double arctangent(double x) { return atan(x); }
void copy(char *to, const char *from, unsigned long count);
void copy(char *to, const char *from, unsigned long count) {
  memcpy(to, from, count);
}

/* A jump table. */
double choose(int which, double x);
double choose(int which, double x) {
  switch (which) {
  case 0:
    return sin(x);
  case 1:
    return cos(x);
  case 2:
    return tan(x);
  case 3:
    return exp(x);
  case 4:
    return log(x);
  case 5:
    return tanh(x);
  case 6:
    return erf(x);
  case 7:
    return cbrt(x);
  default:
    return -1;
  }
}

#ifdef DRAWLOOM_FOREIGN
int system(const char *command);
int foreign(void);
int foreign(void) { return system("true"); }
#endif
