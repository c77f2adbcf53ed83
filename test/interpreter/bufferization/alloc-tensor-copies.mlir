// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = bufferization.alloc_tensor() copy(%x) : tensor<2xf32>
  check.equal_bits %y, %x : tensor<2xf32>
  return
}
