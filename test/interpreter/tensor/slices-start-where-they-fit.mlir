// RUN: drawloom-opt %s --interpret-checks

func.func @slice() {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %two = arith.constant 4 : index
  %low = arith.constant -3 : index
  %y = tensor.extract_slice %x[%two] [2] [2] : tensor<5xf32> to tensor<2xf32>
  %z = tensor.insert_slice %y into %x[%low] [2] [1] : tensor<2xf32> into tensor<5xf32>
  %ey = arith.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %ez = arith.constant dense<[3.0, 5.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  check.equal_bits %y, %ey : tensor<2xf32>
  check.equal_bits %z, %ez : tensor<5xf32>
  return
}
