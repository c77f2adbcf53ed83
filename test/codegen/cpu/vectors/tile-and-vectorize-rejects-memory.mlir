// RUN: drawloom-opt %s --cpu-tile-and-vectorize -split-input-file -verify-diagnostics

func.func @memory(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{works on memory; the CPU's scheduler takes tensors}}
  linalg.copy ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
