// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @generate() {
  %c2 = arith.constant 2 : index
  %t = tensor.generate %c2 {
  ^bb0(%i: index, %j: index):
    %c10 = arith.constant 10 : index
    %0 = arith.muli %i, %c10 : index
    %1 = arith.addi %0, %j : index
    tensor.yield %1 : index
  } : tensor<?x3xindex>
  %e = arith.constant dense<[[0, 1, 2], [10, 11, 12]]> : tensor<2x3xindex>
  check.equal_bits %t, %e : tensor<?x3xindex>, tensor<2x3xindex>
  return
}
