// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @write() {
  %v = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %t = arith.constant dense<0> : tensor<6xi32>
  %c4 = arith.constant 4 : index
  %r = vector.transfer_write %v, %t[%c4] : vector<4xi32>, tensor<6xi32>
  %e = arith.constant dense<[0, 0, 0, 0, 1, 2]> : tensor<6xi32>
  check.equal_bits %r, %e : tensor<6xi32>
  return
}
