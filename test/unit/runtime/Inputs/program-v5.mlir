// program-v5.drawloom is this program as the first version whose extents may
// stay open compiled it, by
//   drawloom-translate --mlir-to-artifact --isa=baseline
// It stays as it is: every later library must load the file.

func.func @squares(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>) {
  %y = arith.mulf %x, %x : tensor<?x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.reduce ins(%y : tensor<?x2xf32>) outs(%f : tensor<2xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %y, %s : tensor<?x2xf32>, tensor<2xf32>
}
