// RUN: drawloom-opt %s --cpu-kernels --verify-semantics | FileCheck %s

// Nothing orders these two: one kernel, of whose range each runs its share. The
// third reads what the first has written.
// CHECK-LABEL: func.func private @f_kernel0
// CHECK-SAME: %[[LO:[^:]*]]: index, %[[HI:[^:]*]]: index
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: %[[SHARE_LO:.*]] = affine.apply #[[SHARE:.*]]()[%[[LO]]]
// CHECK: %[[SHARE_HI:.*]] = affine.apply #[[SHARE]]()[%[[HI]]]
// CHECK: scf.for %{{.*}} = %[[SHARE_LO]] to %[[SHARE_HI]]
// CHECK-LABEL: func.func private @f_kernel1
// CHECK-LABEL: func.func @f
// CHECK: call @f_kernel0({{.*}}%c64)
// CHECK-NEXT: memref.load
// CHECK: call @f_kernel1(
func.func @f(%a: memref<64xf32>, %b: memref<12xf32>, %c: memref<64xf32>, %d: memref<f32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<64xf32>, tensor<12xf32>, tensor<64xf32>, tensor<f32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (64) {
    memref.store %zero, %a[%i] : memref<64xf32>
  }
  %x = memref.load %a[%c0] : memref<64xf32>
  scf.forall (%i) in (12) {
    memref.store %zero, %b[%i] : memref<12xf32>
  }
  memref.store %x, %d[] : memref<f32>
  scf.forall (%i) in (64) {
    %y = memref.load %a[%i] : memref<64xf32>
    memref.store %y, %c[%i] : memref<64xf32>
  }
  return
}

// What stands between writes what the second reads.
// CHECK-LABEL: func.func private @g_kernel0
// CHECK-LABEL: func.func private @g_kernel1
func.func @g(%a: memref<64xf32>, %b: memref<12xf32>, %d: memref<f32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<64xf32>, tensor<12xf32>, tensor<f32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (64) {
    memref.store %zero, %a[%i] : memref<64xf32>
  }
  memref.store %zero, %d[] : memref<f32>
  scf.forall (%i) in (12) {
    %x = memref.load %d[] : memref<f32>
    memref.store %x, %b[%i] : memref<12xf32>
  }
  return
}

// Control flow chooses what the second reads: it may be what the first writes.
// CHECK-LABEL: func.func private @h_kernel0
// CHECK-LABEL: func.func private @h_kernel1
func.func @h(%a: memref<64xf32>, %b: memref<64xf32>, %other: memref<64xf32>, %condition: i1) attributes {drawloom.signature = {
    arguments = [], results = [tensor<64xf32>, tensor<64xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (64) {
    memref.store %zero, %a[%i] : memref<64xf32>
  }
  %chosen = arith.select %condition, %a, %other : memref<64xf32>
  scf.forall (%i) in (64) {
    %x = memref.load %chosen[%i] : memref<64xf32>
    memref.store %x, %b[%i] : memref<64xf32>
  }
  return
}

// The second writes what the first reads.
// CHECK-LABEL: func.func private @k_kernel0
// CHECK-LABEL: func.func private @k_kernel1
func.func @k(%a: memref<64xf32>, %b: memref<64xf32>) attributes {drawloom.signature = {
    arguments = [], results = [tensor<64xf32>, tensor<64xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (64) {
    %x = memref.load %a[%i] : memref<64xf32>
    memref.store %x, %b[%i] : memref<64xf32>
  }
  scf.forall (%i) in (64) {
    memref.store %zero, %a[%i] : memref<64xf32>
  }
  return
}
