// RUN: drawloom-run --target=interpreter %s --random --seed=7 --print > %t.1
// RUN: drawloom-run --target=interpreter %s --random --seed=7 --print > %t.2
// RUN: drawloom-run --target=interpreter %s --random --seed=8 --print > %t.3
// RUN: diff %t.1 %t.2
// RUN: not diff %t.1 %t.3
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
