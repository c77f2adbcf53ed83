// RUN: drawloom-opt %s --cpu-kernels -verify-diagnostics

func.func @f(%out: memref<1xf32>, %n: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x4xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, -1>], open_extents = 1 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  %place = memref.reinterpret_cast %out to offset: [0], sizes: [%n, 4], strides: [4, 1] : memref<1xf32> to memref<?x4xf32>
  // expected-error@+1 {{needs lower bound 0 and step 1 where its upper bound is not known, to become a kernel}}
  scf.forall (%i, %j) = (0, 0) to (%n, 4) step (2, 1) {
    memref.store %zero, %place[%i, %j] : memref<?x4xf32>
  }
  return
}
