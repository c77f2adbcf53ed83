// RUN: drawloom-opt %s --cpu-kernels | FileCheck %s

// Of 64 bytes times the size: an upper bound of it, whatever the extents are.

// CHECK: @sum(
// CHECK-SAME: scratch_bytes = 256 : i64, scratch_terms = [{bytes = 64 : i64, extents = array<i64: 0>}, {bytes = 256 : i64, extents = array<i64: 1>}]
func.func @sum(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %more = arith.muli %tokens, %c4 : index
    %both = arith.addi %more, %rows : index
    %size = arith.addi %both, %c4 : index
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}

// CHECK: @rounds_down(
// CHECK-SAME: scratch_bytes = 64 : i64, scratch_terms = [{bytes = 2 : i64, extents = array<i64: 1>}]
func.func @rounds_down(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %size = arith.divui %tokens, %c32 : index
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}

// CHECK: @rounds_up(
// CHECK-SAME: scratch_bytes = 64 : i64, scratch_terms = [{bytes = 2 : i64, extents = array<i64: 1>}]
func.func @rounds_up(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %size = arith.ceildivsi %tokens, %c32 : index
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}

// CHECK: @of_the_one_before(
// CHECK-SAME: scratch_bytes = 64 : i64, scratch_terms = [{bytes = 2 : i64, extents = array<i64: 1>}]
func.func @of_the_one_before(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %less = arith.subi %tokens, %c1 : index
    %size = arith.floordivsi %less, %c32 : index
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}

// CHECK: @map(
// CHECK-SAME: scratch_bytes = 384 : i64, scratch_terms = [{bytes = 6 : i64, extents = array<i64: 0>}, {bytes = 2 : i64, extents = array<i64: 1>}]
func.func @map(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %size = affine.apply affine_map<(d0)[s0] -> ((d0 + s0 * 3) ceildiv 32 + 5)>(%tokens)[%rows]
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}

// CHECK: @maxima(
// CHECK-SAME: scratch_bytes = 320 : i64, scratch_terms = [{bytes = 192 : i64, extents = array<i64: 0>}, {bytes = 2 : i64, extents = array<i64: 1>}]
func.func @maxima(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %size = affine.max affine_map<(d0)[s0] -> (d0 ceildiv 32, s0 * 3, 5)>(%tokens)[%rows]
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}

// CHECK: @most(
// CHECK-SAME: scratch_bytes = 256 : i64, scratch_terms = [{bytes = 2 : i64, extents = array<i64: 1>}]
func.func @most(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %part = arith.ceildivui %tokens, %c32 : index
    %size = arith.maxsi %part, %c4 : index
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}

// CHECK: @least(
// CHECK-SAME: scratch_bytes = 256 : i64, scratch_terms = []
func.func @least(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %byte = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.forall (%i) in (%rows) {
    %size = arith.minsi %tokens, %c4 : index
    %a = memref.alloc(%size) : memref<?x64xi8>
    memref.store %byte, %a[%i, %i] : memref<?x64xi8>
  }
  return
}
