# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function that applies the ops in turn, so many in all."""

import argparse

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--type", default="8x16xf32", help="shape and elements of all values")
parser.add_argument("count", type=int)
parser.add_argument("ops", nargs="+")
options = parser.parse_args()

tensor = f"tensor<{options.type}>"
print(f"func.func @chain(%x0: {tensor}, %y: {tensor}) -> {tensor} {{")
for i in range(options.count):
    op = options.ops[i % len(options.ops)]
    operands = f"%x{i}, %y" if op.startswith("arith") else f"%x{i}"
    print(f"  %x{i + 1} = {op} {operands} : {tensor}")
print(f"  return %x{options.count} : {tensor}\n}}")
