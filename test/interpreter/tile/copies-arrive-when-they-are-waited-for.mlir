// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Of two groups the first has arrived when one may be under way; where the second goes to is undefined until then.
func.func @main() {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %nan = arith.constant dense<0x7FC00000> : tensor<2xf32>
  %from = memref.alloc() : memref<2xf32>
  tile.store %x, %from : tensor<2xf32>, memref<2xf32>
  %a = tile.alloc : memref<2xf32, 3>
  %b = tile.alloc : memref<2xf32, 3>
  tile.store %x, %b : tensor<2xf32>, memref<2xf32, 3>
  tile.copy_async %from, %a by tensor<2xf32> : memref<2xf32>, memref<2xf32, 3>
  tile.commit_copies
  tile.copy_async %from, %b by tensor<2xf32> : memref<2xf32>, memref<2xf32, 3>
  tile.commit_copies
  tile.wait_copies 1
  %first = tile.load %a : memref<2xf32, 3> -> tensor<2xf32>
  check.equal_bits %first, %x : tensor<2xf32>
  %early = tile.load %b : memref<2xf32, 3> -> tensor<2xf32>
  check.equal_bits %early, %nan : tensor<2xf32>
  tile.wait_copies 0
  %second = tile.load %b : memref<2xf32, 3> -> tensor<2xf32>
  check.equal_bits %second, %x : tensor<2xf32>
  return
}
