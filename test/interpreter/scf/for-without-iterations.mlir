// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @none() {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c5 to %c1 step %c1 iter_args(%acc = %c5) -> index {
    scf.yield %i : index
  }
  check.equal_bits %r, %c5 : index
  return
}
