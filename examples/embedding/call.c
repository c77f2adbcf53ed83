/*===- call.c - compile a function and call it, in C
 * --------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#include "drawloom-c/drawloom.h"
#include <stdio.h>
#include <string.h>

static const char program_text[] =
    "func.func @gelu(%x: tensor<5xf32>) -> tensor<5xf32> {\n"
    "  %y = kan.gelu %x : tensor<5xf32>\n"
    "  return %y : tensor<5xf32>\n"
    "}\n";

/* Prints an error and gives the exit status. */
static int fail(DrawloomError *error) {
  fprintf(stderr, "%s: %s\n", drawloomErrorLocation(error),
          drawloomErrorMessage(error));
  drawloomErrorDestroy(error);
  return 1;
}

int main(void) {
  DrawloomCompiler *compiler;
  DrawloomProgram *program;
  const DrawloomFunction *gelu;
  DrawloomError *error;
  DrawloomSource source = {"gelu.mlir", program_text, strlen(program_text)};
  float x[5] = {-2, -1, 0, 1, 2}, y[5];
  DrawloomBuffer argument = {x, sizeof(x)}, result = {y, sizeof(y)};
  int i;

  if ((error = drawloomCompilerCreate(NULL, &compiler)))
    return fail(error);
  if ((error = drawloomCompile(compiler, &source, 1, NULL, 0, &program)))
    return fail(error);
  if ((error = drawloomFunctionFind(program, "gelu", &gelu)))
    return fail(error);
  if ((error = drawloomCall(gelu, &argument, 1, &result, 1, 1)))
    return fail(error);
  for (i = 0; i < 5; ++i)
    printf("gelu(%g) = %.5f\n", x[i], y[i]);

  drawloomProgramDestroy(program);
  drawloomCompilerDestroy(compiler);
  return 0;
}
