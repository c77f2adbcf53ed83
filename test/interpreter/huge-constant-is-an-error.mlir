// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() {
  // expected-error @+1 {{needs a value of shape [1048576, 1048576], above the interpreter's limit of 268435456 elements}}
  %t = arith.constant dense<1.0> : tensor<1048576x1048576xf32>
  return
}
