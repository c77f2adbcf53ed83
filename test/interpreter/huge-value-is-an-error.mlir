// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() {
  %c = arith.constant 9223372036854775807 : index
  // expected-error @+1 {{needs a value of shape [9223372036854775807, 4], above the interpreter's limit of 268435456 elements}}
  %t = tensor.empty(%c) : tensor<?x4xf32>
  return
}
