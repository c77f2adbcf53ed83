// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @main() {
  %c1 = arith.constant 1 : index
  %v = arith.constant 3.0 : f32
  %a = memref.alloc() : memref<2xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<2xf32>)
  %w = memref.load %a[%c1] : memref<2xf32>
  check.equal_bits %w, %v : f32
  return
}
