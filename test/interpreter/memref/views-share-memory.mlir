// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %zeros = arith.constant dense<0.0> : tensor<4x6xf32>
  %memory = memref.alloc() : memref<4x6xf32>
  bufferization.materialize_in_destination %zeros in restrict writable %memory : (tensor<4x6xf32>, memref<4x6xf32>) -> ()
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index

  // Element [1, 1] of every second row and column from [1, 2] on is [3, 4].
  %part = memref.subview %memory[1, 2] [2, 2] [2, 2] : memref<4x6xf32> to memref<2x2xf32, strided<[12, 2], offset: 8>>
  memref.store %one, %part[%c1, %c1] : memref<2x2xf32, strided<[12, 2], offset: 8>>
  // Row 0 as 2 x 3.
  %row = memref.subview %memory[0, 0] [1, 6] [1, 1] : memref<4x6xf32> to memref<6xf32, strided<[1]>>
  %pairs = memref.expand_shape %row [[0, 1]] output_shape [2, 3] : memref<6xf32, strided<[1]>> into memref<2x3xf32>
  memref.store %two, %pairs[%c1, %c0] : memref<2x3xf32>
  // All of it in a row, its element 6 is [1, 0].
  %line = memref.collapse_shape %memory [[0, 1]] : memref<4x6xf32> into memref<24xf32>
  %sixth = memref.subview %line[6] [1] [1] : memref<24xf32> to memref<1xf32, strided<[1], offset: 6>>
  memref.store %three, %sixth[%c0] : memref<1xf32, strided<[1], offset: 6>>
  // Every fourth element, and one of the extents of 1 dropped: the second is [0, 4].
  %column = memref.expand_shape %line [[0, 1, 2]] output_shape [24, 1, 1] : memref<24xf32> into memref<24x1x1xf32>
  %steps = memref.subview %column[0, 0, 0] [6, 1, 1] [4, 1, 1] : memref<24x1x1xf32> to memref<6x1xf32, strided<[4, 1]>>
  memref.store %one, %steps[%c1, %c0] : memref<6x1xf32, strided<[4, 1]>>

  %all = bufferization.to_tensor %memory restrict : memref<4x6xf32> to tensor<4x6xf32>
  %expected = arith.constant dense<[[0.0, 0.0, 0.0, 2.0, 1.0, 0.0],
                                    [3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                                    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                                    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]]> : tensor<4x6xf32>
  check.equal_bits %all, %expected : tensor<4x6xf32>
  return
}
