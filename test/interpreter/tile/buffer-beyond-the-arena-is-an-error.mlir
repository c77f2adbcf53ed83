// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() attributes {drawloom.shared_bytes = 8 : i64} {
  // expected-error @+1 {{'tile.alloc' op accesses memory of shape [2] with strides [1] from element 1 on, which leaves its buffer}}
  %a = tile.alloc at 4 : memref<2xf32, 3>
  return
}
