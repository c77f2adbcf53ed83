// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Two stages in one loop would depend on the order of iterations: each sees
// what the output held before the loop.
func.func @previous() {
  %init = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = scf.forall (%i) in (3) shared_outs(%o = %init) -> tensor<3xi32> {
    %sum = arith.constant dense<0> : tensor<i32>
    %s = linalg.reduce { arith.addi } ins(%o : tensor<3xi32>) outs(%sum : tensor<i32>) dimensions = [0]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<i32> into tensor<3xi32>
    }
  }
  %e = arith.constant dense<6> : tensor<3xi32>
  check.equal_bits %r, %e : tensor<3xi32>
  return
}
