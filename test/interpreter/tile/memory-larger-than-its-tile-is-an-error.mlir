// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() {
  %three = arith.constant 3 : index
  %memory = memref.alloc(%three) : memref<?xf32>
  // expected-error @+1 {{'tile.load' op moves a tile of shape [2] and memory of shape [3], which does not fit into it}}
  %tile = tile.load %memory : memref<?xf32> -> tensor<2xf32>
  return
}
