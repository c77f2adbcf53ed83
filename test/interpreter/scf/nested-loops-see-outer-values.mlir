// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @nest() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant dense<1> : tensor<3xi32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  // %one is read again in every iteration.
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %zero) -> tensor<3xi32> {
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> tensor<3xi32> {
      %t = arith.addi %b, %one : tensor<3xi32>
      scf.yield %t : tensor<3xi32>
    }
    scf.yield %s : tensor<3xi32>
  }
  %e = arith.constant dense<9> : tensor<3xi32>
  check.equal_bits %r, %e : tensor<3xi32>
  return
}
