// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Two tensors: in step 1 with decay and from zero moments, and with half the
// rate and no decay. Values by hand from torch.optim.AdamW's formulas.
func.func private @update(%p: tensor<1xf64>, %g: tensor<1xf64>, %q: tensor<f64>, %h: tensor<f64>, %zero: tensor<1xf64>,
                          %m: tensor<f64>, %v: tensor<f64>, %lr: f64, %t: i64)
    -> (tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>) {
  %0:2, %1:2, %2:2 = opt.adamw params(%p, %q) grads(%g, %h) first(%zero, %m) second(%zero, %v) lr(%lr : f64) step(%t : i64)
      weight_decay [0.01, 0.0] lr_scale [1.0, 0.5] : tensor<1xf64>, tensor<f64>
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1 : tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>
}

func.func @test() {
  %zero = arith.constant dense<0.0> : tensor<1xf64>
  %p = arith.constant dense<1.0> : tensor<1xf64>
  %g = arith.constant dense<0.5> : tensor<1xf64>
  %q = arith.constant dense<-2.0> : tensor<f64>
  %h = arith.constant dense<-3.0> : tensor<f64>
  %m = arith.constant dense<0.25> : tensor<f64>
  %v = arith.constant dense<0.5> : tensor<f64>
  %lr = arith.constant 0.1 : f64
  %one = arith.constant 1 : i64
  %seven = arith.constant 7 : i64
  %a:6 = call @update(%p, %g, %q, %h, %zero, %m, %v, %lr, %one)
      : (tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>, tensor<1xf64>, tensor<f64>, tensor<f64>, f64, i64)
      -> (tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>)
  %b:6 = call @update(%p, %g, %q, %h, %zero, %m, %v, %lr, %seven)
      : (tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>, tensor<1xf64>, tensor<f64>, tensor<f64>, f64, i64)
      -> (tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>, tensor<1xf64>, tensor<f64>)
  %p1 = arith.constant dense<0.899000002> : tensor<1xf64>
  %m1 = arith.constant dense<0.04999999999999999> : tensor<1xf64>
  %v1 = arith.constant dense<0.0002500000000000002> : tensor<1xf64>
  check.close %a#0, %p1 : tensor<1xf64>
  check.close %a#2, %m1 : tensor<1xf64>
  check.close %a#4, %v1 : tensor<1xf64>
  %q7 = arith.constant dense<-1.9991579069979064> : tensor<f64>
  %m7 = arith.constant dense<-0.07499999999999993> : tensor<f64>
  %v7 = arith.constant dense<0.5085> : tensor<f64>
  check.close %b#1, %q7 : tensor<f64>
  check.close %b#3, %m7 : tensor<f64>
  check.close %b#5, %v7 : tensor<f64>
  return
}
