// RUN: not drawloom-opt %s --nvptx-lower --verify-semantics 2>&1 | FileCheck %s

#tile = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, 0:16], warps = [0:32]>
#turned = #tile.layout<registers = [], lanes = [0:2, 0:4, 0:8, 0:16, 0:32], warps = [0:1]>

// Two warps read without a barrier what the other has stored. The interpreter runs a block as one and cannot tell.
// CHECK: error: @f cannot be emulated: {{.*}}race
func.func @f(%x: memref<64xf32>, %out: memref<64xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 256 : i64, drawloom.warps = 2 : i64} {
  %buffer = tile.alloc at 0 : memref<64xf32, 3>
  %tile = tile.load %x : memref<64xf32> -> tensor<64xf32, #tile>
  tile.store %tile, %buffer : tensor<64xf32, #tile>, memref<64xf32, 3>
  %turned = tile.load %buffer : memref<64xf32, 3> -> tensor<64xf32, #turned>
  tile.store %turned, %out : tensor<64xf32, #turned>, memref<64xf32>
  return
}
