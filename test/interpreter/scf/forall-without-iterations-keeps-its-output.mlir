// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @none() {
  %init = arith.constant dense<[1, 2]> : tensor<2xi32>
  %c0 = arith.constant 0 : index
  %r = scf.forall (%i) in (%c0) shared_outs(%o = %init) -> tensor<2xi32> {
    %x = arith.constant dense<9> : tensor<1xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [1] [1] : tensor<1xi32> into tensor<2xi32>
    }
  }
  check.equal_bits %r, %init : tensor<2xi32>
  return
}
