// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() {
  %c = arith.constant -1 : index
  // expected-error @+1 {{gives dimension 0 the negative size -1}}
  %t = tensor.empty(%c) : tensor<?x4xf32>
  return
}
