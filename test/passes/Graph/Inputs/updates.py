# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""updates.py COUNT: a chain of so many ops whose last one adds to what its output held."""

import sys

count = int(sys.argv[1])
shared = 'indexing_maps = [#m, #m], iterator_types = ["parallel"]'
print("""#m = affine_map<(i) -> (i)>
func.func @f(%x0: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %c = arith.constant 0.5 : f32""")
for i in range(count):
    print(f"""  %x{i + 1} = linalg.generic {{{shared}}} ins(%x{i} : tensor<8xf32>) outs(%e : tensor<8xf32>) {{
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %c : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  }} -> tensor<8xf32>""")
print(f"""  %y = linalg.generic {{{shared}}} ins(%x{count} : tensor<8xf32>) outs(%o : tensor<8xf32>) {{
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }} -> tensor<8xf32>
  return %y : tensor<8xf32>
}}""")
