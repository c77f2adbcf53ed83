// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @read() {
  %x = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c2 = arith.constant 2 : index
  %pad = arith.constant 9.0 : f32
  // expected-error @+1 {{accesses index 3 of dimension 0, whose size is 3, where it says to be in bounds}}
  %v = vector.transfer_read %x[%c2], %pad {in_bounds = [true]} : tensor<3xf32>, vector<4xf32>
  return
}
