// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Each block writes an element; what it allocates is its own, and undefined again.
func.func @kernel(%out: memref<4xindex>, %seen: memref<4xf32>) attributes {drawloom.kernel, drawloom.grid = 4 : i64, drawloom.inputs = 0 : i64, drawloom.shared_bytes = 4 : i64} {
  %c0 = arith.constant 0 : index
  %block = tile.block_id
  memref.store %block, %out[%block] : memref<4xindex>
  %own = tile.alloc at 0 : memref<1xf32, 3>
  %then = memref.load %own[%c0] : memref<1xf32, 3>
  memref.store %then, %seen[%block] : memref<4xf32>
  %one = arith.constant 1.0 : f32
  memref.store %one, %own[%c0] : memref<1xf32, 3>
  return
}

func.func @main() {
  %out = memref.alloc() : memref<4xindex>
  %seen = memref.alloc() : memref<4xf32>
  func.call @kernel(%out, %seen) : (memref<4xindex>, memref<4xf32>) -> ()
  %numbers = tile.load %out : memref<4xindex> -> tensor<4xindex>
  %expected = arith.constant dense<[0, 1, 2, 3]> : tensor<4xindex>
  check.equal_bits %numbers, %expected : tensor<4xindex>
  %values = tile.load %seen : memref<4xf32> -> tensor<4xf32>
  %nan = arith.constant dense<0x7FC00000> : tensor<4xf32>
  check.equal_bits %values, %nan : tensor<4xf32>
  return
}
