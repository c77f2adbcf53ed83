// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @fill() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = tensor.empty() : tensor<4xindex>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %t) -> tensor<4xindex> {
    %next = tensor.insert %i into %acc[%i] : tensor<4xindex>
    scf.yield %next : tensor<4xindex>
  }
  %e = arith.constant dense<[0, 1, 2, 3]> : tensor<4xindex>
  check.equal_bits %r, %e : tensor<4xindex>
  return
}
