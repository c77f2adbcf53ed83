// RUN: not drawloom-run %s --random --compare=interpreter --absolute-tolerance=1e-12 --relative-tolerance=0 2>&1 | FileCheck %s
// CHECK: result0: float32[64]: largest error {{.*}}: FAILED (element {{[0-9]+}}: {{.*}}, expected {{.*}})
// CHECK: error: the results differ from the interpreter's
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.constant dense<0.1> : tensor<64xf32>
  %1 = arith.addf %x, %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
