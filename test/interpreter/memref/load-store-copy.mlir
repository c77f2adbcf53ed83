// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %c1 = arith.constant 1 : index
  %v = arith.constant 3.0 : f32
  %a = memref.alloc() : memref<2xf32>
  %b = memref.alloca() : memref<2xf32>
  memref.store %v, %a[%c1] : memref<2xf32>
  memref.copy %a, %b : memref<2xf32> to memref<2xf32>
  %w = memref.load %b[%c1] : memref<2xf32>
  memref.dealloc %a : memref<2xf32>
  check.equal_bits %w, %v : f32
  return
}
