// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @read() {
  %x = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c2 = arith.constant 2 : index
  %pad = arith.constant 9.0 : f32
  %v = vector.transfer_read %x[%c2], %pad : tensor<3xf32>, vector<4xf32>
  %t = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c0] : vector<4xf32>, tensor<4xf32>
  %er = arith.constant dense<[3.0, 9.0, 9.0, 9.0]> : tensor<4xf32>
  check.equal_bits %r, %er : tensor<4xf32>
  return
}
