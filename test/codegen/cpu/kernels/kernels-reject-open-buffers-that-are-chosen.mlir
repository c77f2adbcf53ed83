// RUN: drawloom-opt %s --cpu-kernels -verify-diagnostics

func.func @f(%out: memref<1xf32>, %choice: i1, %n: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0>], open_extents = 1 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  %one = memref.alloc(%n) : memref<?xf32>
  %other = memref.alloc(%n) : memref<?xf32>
  %a = arith.select %choice, %one, %other : memref<?xf32>
  // expected-error@+1 {{uses a buffer of type 'memref<?xf32>' that control flow has chosen, whose open extents it cannot know}}
  scf.forall (%i) in (%n) {
    memref.store %zero, %a[%i] : memref<?xf32>
  }
  return
}
