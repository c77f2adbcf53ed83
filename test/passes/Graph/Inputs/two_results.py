# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An op of two results: a long chain goes on from the first, and the second is read in front of the chain."""

import sys

print("""#id = affine_map<(d0) -> (d0)>
func.func @two(%x: tensor<8xf32>, %y: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %empty = tensor.empty() : tensor<8xf32>
  %v0, %side = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty, %empty : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %a : f32
    %square = arith.mulf %a, %a : f32
    linalg.yield %sum, %square : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %written = tensor.insert_slice %y into %side[3] [2] [1] : tensor<2xf32> into tensor<8xf32>""")
steps = int(sys.argv[1])
for i in range(steps):
    print(f"  %v{i + 1} = arith.subf %v{i}, %x : tensor<8xf32>")
print(f"  return %v{steps}, %written : tensor<8xf32>, tensor<8xf32>\n}}")
