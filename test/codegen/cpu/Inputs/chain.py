# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""chain.py COUNT OP...: a function that applies the ops in turn, COUNT in all."""

import sys

count, ops = int(sys.argv[1]), sys.argv[2:]
tensor = "tensor<8x16xf32>"
print(f"func.func @chain(%x0: {tensor}, %y: {tensor}) -> {tensor} {{")
for i in range(count):
    op = ops[i % len(ops)]
    operands = f"%x{i}, %y" if op.startswith("arith") else f"%x{i}"
    print(f"  %x{i + 1} = {op} {operands} : {tensor}")
print(f"  return %x{count} : {tensor}\n}}")
