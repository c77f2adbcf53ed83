// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @plain() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]]> : tensor<2x3xf32>
  %c = arith.constant dense<100.0> : tensor<2x3xf32>
  %y = tile.dot %a, %b, %c : tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  %expected = arith.constant dense<[[121.0, 124.0, 127.0], [147.0, 154.0, 161.0]]> : tensor<2x3xf32>
  check.equal_bits %y, %expected : tensor<2x3xf32>
  return
}

func.func @transposed() {
  %a = arith.constant dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[5.0, 8.0], [6.0, 9.0], [7.0, 10.0]]> : tensor<3x2xf32>
  %c = arith.constant dense<100.0> : tensor<2x3xf32>
  %y = tile.dot %a transpose_a, %b transpose_b, %c : tensor<2x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>
  %expected = arith.constant dense<[[121.0, 124.0, 127.0], [147.0, 154.0, 161.0]]> : tensor<2x3xf32>
  check.equal_bits %y, %expected : tensor<2x3xf32>
  return
}

// Buffers may have more rows than are read.
func.func @of_padded_buffers() {
  %zero = arith.constant dense<0.0> : tensor<4x2xf32>
  %values = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %a = tile.alloc : memref<4x2xf32, 3>
  tile.store %zero, %a : tensor<4x2xf32>, memref<4x2xf32, 3>
  %rows = memref.subview %a[0, 0] [2, 2] [1, 1] : memref<4x2xf32, 3> to memref<2x2xf32, strided<[2, 1]>, 3>
  tile.store %values, %rows : tensor<2x2xf32>, memref<2x2xf32, strided<[2, 1]>, 3>
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %one = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %y = tile.dot %a, %one, %c : memref<4x2xf32, 3>, tensor<2x2xf32>, tensor<2x2xf32>
  check.equal_bits %y, %values : tensor<2x2xf32>
  return
}

// The lower half of the result is the lower half of `a` times that of `b`.
func.func @in_parts() {
  %ones = arith.constant dense<1.0> : tensor<32x16xf32>
  %upper = arith.constant dense<1.0> : tensor<16x8xf32>
  %lower = arith.constant dense<2.0> : tensor<16x8xf32>
  %b = tensor.concat dim(0) %upper, %lower : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
  %c = arith.constant dense<0.0> : tensor<32x8xf32>
  %y = tile.dot %ones, %b, %c {batch = 2 : i64} : tensor<32x16xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  %first = arith.constant dense<16.0> : tensor<16x8xf32>
  %second = arith.constant dense<32.0> : tensor<16x8xf32>
  %expected = tensor.concat dim(0) %first, %second : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
  check.equal_bits %y, %expected : tensor<32x8xf32>
  return
}
