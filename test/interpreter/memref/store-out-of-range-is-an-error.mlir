// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() {
  %c2 = arith.constant 2 : index
  %v = arith.constant 3.0 : f32
  %a = memref.alloc() : memref<2xf32>
  // expected-error @+1 {{has index 2 in dimension 0 of size 2}}
  memref.store %v, %a[%c2] : memref<2xf32>
  return
}
