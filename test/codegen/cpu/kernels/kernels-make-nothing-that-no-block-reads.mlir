// RUN: drawloom-opt %s --cpu-kernels --canonicalize | FileCheck %s

// A buffer that only %tiles blocks read is made where there are some.
// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %{{.*}}: memref<1xf32>, %[[N:.*]]: index
// CHECK: %[[TILES:.*]] = arith.divui %[[N]], %c8
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[TILES]], %c0
// CHECK: %[[BLOCKS:.*]] = arith.select %[[SOME]], %c4, %c0
// CHECK: call @panels_kernel0(%[[X]], %{{.*}}, %c0, %[[BLOCKS]])
// CHECK: call @panels_kernel1({{.*}}, %c0, %[[TILES]])
func.func @panels(%x: memref<4xf32>, %out: memref<1xf32>, %n: index) attributes {drawloom.signature = {
    arguments = [tensor<4xf32>], results = [tensor<?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: -1>, array<i64: 0>], open_extents = 1 : i64, workspace_terms = [], scratch_terms = []}} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %panels = memref.alloc() : memref<4xf32>
  scf.forall (%i) in (4) {
    %value = memref.load %x[%i] : memref<4xf32>
    memref.store %value, %panels[%i] : memref<4xf32>
  }
  %tiles = arith.divui %n, %c8 : index
  %place = memref.reinterpret_cast %out to offset: [0], sizes: [%n], strides: [1] : memref<1xf32> to memref<?xf32>
  scf.forall (%tile) in (%tiles) {
    %value = memref.load %panels[%c0] : memref<4xf32>
    memref.store %value, %place[%tile] : memref<?xf32>
  }
  return
}

// The blocks of the rest read it, too.
// CHECK-LABEL: func.func @read_by_two(
// CHECK: call @read_by_two_kernel0({{.*}}, %c0, %c4)
func.func @read_by_two(%x: memref<4xf32>, %out: memref<1xf32>, %n: index) attributes {drawloom.signature = {
    arguments = [tensor<4xf32>], results = [tensor<?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: -1>, array<i64: 0>], open_extents = 1 : i64, workspace_terms = [], scratch_terms = []}} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %panels = memref.alloc() : memref<4xf32>
  scf.forall (%i) in (4) {
    %value = memref.load %x[%i] : memref<4xf32>
    memref.store %value, %panels[%i] : memref<4xf32>
  }
  %tiles = arith.divui %n, %c8 : index
  %rest = arith.remui %n, %c8 : index
  %place = memref.reinterpret_cast %out to offset: [0], sizes: [%n], strides: [1] : memref<1xf32> to memref<?xf32>
  scf.forall (%tile) in (%tiles) {
    %value = memref.load %panels[%c0] : memref<4xf32>
    memref.store %value, %place[%tile] : memref<?xf32>
  }
  scf.forall (%row) in (%rest) {
    %value = memref.load %panels[%c0] : memref<4xf32>
    memref.store %value, %place[%row] : memref<?xf32>
  }
  return
}

// What is returned is made in any case.
// CHECK-LABEL: func.func @returned(
// CHECK: call @returned_kernel0({{.*}}, %c0, %c4)
func.func @returned(%x: memref<4xf32>, %out: memref<1xf32>, %also: memref<4xf32>, %n: index) attributes {drawloom.signature = {
    arguments = [tensor<4xf32>], results = [tensor<?xf32>, tensor<4xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: -1>, array<i64: 0>, array<i64: -1>], open_extents = 1 : i64, workspace_terms = [], scratch_terms = []}} {
  %c0 = arith.constant 0 : index
  %panels = memref.alloc() : memref<4xf32>
  scf.forall (%i) in (4) {
    %value = memref.load %x[%i] : memref<4xf32>
    memref.store %value, %panels[%i] : memref<4xf32>
    memref.store %value, %also[%i] : memref<4xf32>
  }
  %place = memref.reinterpret_cast %out to offset: [0], sizes: [%n], strides: [1] : memref<1xf32> to memref<?xf32>
  scf.forall (%tile) in (%n) {
    %value = memref.load %panels[%c0] : memref<4xf32>
    memref.store %value, %place[%tile] : memref<?xf32>
  }
  return
}
