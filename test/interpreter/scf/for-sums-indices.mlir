// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @sum() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c101 = arith.constant 101 : index
  %sum = scf.for %i = %c0 to %c101 step %c1 iter_args(%acc = %c0) -> index {
    %next = arith.addi %acc, %i : index
    scf.yield %next : index
  }
  %expected = arith.constant 5050 : index
  check.equal_bits %sum, %expected : index
  return
}
