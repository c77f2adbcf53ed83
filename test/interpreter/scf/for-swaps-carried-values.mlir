// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @fibonacci() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %c0, %b = %c1) -> (index, index) {
    %s = arith.addi %a, %b : index
    scf.yield %b, %s : index, index
  }
  %c55 = arith.constant 55 : index
  check.equal_bits %r#0, %c55 : index
  return
}
