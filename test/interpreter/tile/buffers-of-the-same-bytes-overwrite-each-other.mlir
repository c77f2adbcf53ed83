// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Bytes 4 to 7 are the second f32 of one buffer and both bf16 of the other.
func.func @main() attributes {drawloom.shared_bytes = 8 : i64} {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = arith.constant dense<[3.0, 4.0]> : tensor<2xbf16>
  %undefined = arith.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %a = tile.alloc at 0 : memref<2xf32, 3>
  %b = tile.alloc at 4 : memref<2xbf16, 3>
  tile.store %x, %a : tensor<2xf32>, memref<2xf32, 3>
  tile.store %y, %b : tensor<2xbf16>, memref<2xbf16, 3>
  %then = tile.load %a : memref<2xf32, 3> -> tensor<2xf32>
  check.equal_bits %then, %undefined : tensor<2xf32>
  %there = tile.load %b : memref<2xbf16, 3> -> tensor<2xbf16>
  check.equal_bits %there, %y : tensor<2xbf16>
  return
}
