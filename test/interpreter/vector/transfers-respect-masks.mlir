// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @masks() {
  %x = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %t = arith.constant dense<0> : tensor<4xi32>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %pad = arith.constant 7 : i32
  %m3 = vector.create_mask %c3 : vector<4xi1>
  %m2 = vector.constant_mask [2] : vector<4xi1>
  %v = vector.transfer_read %x[%c0], %pad, %m2 {in_bounds = [true]} : tensor<4xi32>, vector<4xi32>
  %r = vector.transfer_write %v, %t[%c0], %m3 {in_bounds = [true]} : vector<4xi32>, tensor<4xi32>
  %e = arith.constant dense<[1, 2, 7, 0]> : tensor<4xi32>
  check.equal_bits %r, %e : tensor<4xi32>
  return
}
