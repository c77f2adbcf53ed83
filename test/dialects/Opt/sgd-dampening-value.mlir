// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

func.func private @update(%p: tensor<2xf64>, %g: tensor<2xf64>, %m: tensor<2xf64>, %lr: tensor<f64>, %t: i64) -> (tensor<2xf64>, tensor<2xf64>) {
  %0:2 = opt.sgd params(%p) grads(%g) buffers(%m) lr(%lr : tensor<f64>) step(%t : i64) {momentum = 0.9, dampening = 0.25} : tensor<2xf64>
  return %0#0, %0#1 : tensor<2xf64>, tensor<2xf64>
}

func.func @test() {
  %p = arith.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %g = arith.constant dense<[0.5, 3.0]> : tensor<2xf64>
  %m = arith.constant dense<[0.2, -0.1]> : tensor<2xf64>
  %lr = arith.constant dense<0.1> : tensor<f64>
  %t = arith.constant 2 : i64
  %new:2 = call @update(%p, %g, %m, %lr, %t) : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<f64>, i64) -> (tensor<2xf64>, tensor<2xf64>)
  %p1 = arith.constant dense<[0.9445, -2.216]> : tensor<2xf64>
  %m1 = arith.constant dense<[0.555, 2.16]> : tensor<2xf64>
  check.close %new#0, %p1 : tensor<2xf64>
  check.close %new#1, %m1 : tensor<2xf64>
  return
}
