// RUN: drawloom-run %s --random --seed=1 --compare=interpreter | FileCheck %s

// In machine code, exp is the C library's, which f64 needs.
// CHECK: passed
func.func @exp(%x: tensor<128x8xf64>) -> tensor<128x8xf64> {
  %y = math.exp %x : tensor<128x8xf64>
  return %y : tensor<128x8xf64>
}
