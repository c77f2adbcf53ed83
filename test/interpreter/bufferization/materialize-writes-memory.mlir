// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func private @store(%x: tensor<2xf32>, %m: memref<2xf32>) {
  bufferization.materialize_in_destination %x in restrict writable %m : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}
func.func @main() {
  %m = memref.alloc() : memref<2xf32>
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  call @store(%x, %m) : (tensor<2xf32>, memref<2xf32>) -> ()
  %y = bufferization.to_tensor %m restrict : memref<2xf32> to tensor<2xf32>
  check.equal_bits %y, %x : tensor<2xf32>
  return
}
