/* Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls an object file through its header: on this thread, and on a host that
 * gives the blocks in another order, one at a time. C99 and C++. */

#include "program.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void backwards(void *scratch, DrawloomKernel kernel, void **arguments,
                      int64_t blocks) {
  for (int64_t i = blocks - 1; i >= 0; --i)
    kernel(arguments, i, i + 1, scratch);
}

/* Whether the loss and its gradient are those of the chain rule in double
 * precision; sums of 500 terms, each rounded a few times. */
static int agrees(const float *x, const float *w, float loss, const float *dw) {
  double expected[65] = {0};
  for (int row = 0; row < 500; ++row)
    for (int column = 0; column < 8; ++column) {
      double z = 0;
      for (int k = 0; k < 8; ++k)
        z += (double)x[row * 8 + k] * (double)w[k * 8 + column];
      double s = 1 / (1 + exp(-z));
      double difference = z * s - (double)x[row * 8 + column];
      expected[64] += difference * difference / 4000;
      double dz = 2 * difference / 4000 * (s + z * s * (1 - s));
      for (int k = 0; k < 8; ++k)
        expected[k * 8 + column] += (double)x[row * 8 + k] * dz;
    }
  for (int i = 0; i < 65; ++i)
    if (!(fabs((double)(i < 64 ? dw[i] : loss) - expected[i]) <
          1e-5 * fabs(expected[i]) + 1e-8))
      return 0;
  return 1;
}

int main(void) {
  static float x[500 * 8], w[64], loss[2], dw[2][64];
  double s = 2, e = 0, half[3] = {0.5, 1.0, 3.0}, power[3];
  char *memory =
      (char *)aligned_alloc(DRAWLOOM_ALIGNMENT, DRAWLOOM_MEMORY_BYTES_gradient);
  void *arguments[] = {x, w, &loss[1], dw[1], memory};
  DrawloomHost host;
  int i, differ = 0;
  for (i = 0; i < 500 * 8; ++i)
    x[i] = 1.0f / (float)(i % 77 + 3);
  for (i = 0; i < 64; ++i)
    w[i] = 1.0f / (float)(i + 1);

  drawloom_call_gradient(x, w, &loss[0], dw[0], memory);
  host.context =
      memory + DRAWLOOM_MEMORY_BYTES_gradient - DRAWLOOM_SCRATCH_BYTES_gradient;
  host.parallelFor = backwards;
  drawloom_gradient(arguments, &host);
  for (i = 0; i < 64; ++i)
    differ += dw[0][i] != dw[1][i];
  printf("gradient agrees %d, differences %d\n", agrees(x, w, loss[0], dw[0]),
         differ + (loss[0] != loss[1]));

  drawloom_call_power(half, &s, power, &e, NULL);
  printf("power %.6f %.6f %.6f %.6f\n", power[0], power[1], power[2], e);
  free(memory);
  return 0;
}
