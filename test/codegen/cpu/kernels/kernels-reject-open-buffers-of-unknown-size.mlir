// RUN: drawloom-opt %s --cpu-kernels -split-input-file -verify-diagnostics

func.func @of_block(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%rows) {
    // expected-error@+1 {{allocates a buffer of type 'memref<?xf32>' in a block program, which may have one open extent, made of those of the function's arguments by additions, and by multiplications with constants and divisions by them}}
    %a = memref.alloc(%i) : memref<?xf32>
    memref.store %zero, %a[%i] : memref<?xf32>
  }
  return
}

// -----

func.func @two(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%rows) {
    // expected-error@+1 {{allocates a buffer of type 'memref<?x?xf32>' in a block program, which may have one open extent}}
    %a = memref.alloc(%rows, %tokens) : memref<?x?xf32>
    memref.store %zero, %a[%i, %i] : memref<?x?xf32>
  }
  return
}

// -----

func.func @product(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%rows) {
    %all = arith.muli %rows, %tokens : index
    // expected-error@+1 {{allocates a buffer of type 'memref<?xf32>' in a block program, which may have one open extent}}
    %a = memref.alloc(%all) : memref<?xf32>
    memref.store %zero, %a[%i] : memref<?xf32>
  }
  return
}

// -----

// Where there are no tokens, it would be large.
func.func @wraps(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%rows) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %less = arith.subi %tokens, %c1 : index
    %half = arith.divui %less, %c32 : index
    // expected-error@+1 {{allocates a buffer of type 'memref<?xf32>' in a block program, which may have one open extent}}
    %a = memref.alloc(%half) : memref<?xf32>
    memref.store %zero, %a[%i] : memref<?xf32>
  }
  return
}

// -----

func.func @huge(%out: memref<1xf32>, %rows: index, %tokens: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x?xf32>], workspace_bytes = 0 : i64, scratch_bytes = 0 : i64,
    extents = [array<i64: 0, 1>], open_extents = 2 : i64, workspace_terms = [], scratch_terms = []}} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%rows) {
    %c = arith.constant 4611686018427387904 : index
    %many = arith.muli %tokens, %c : index
    // expected-error@+1 {{allocates a buffer of type 'memref<?xf32>', which exceeds the address space}}
    %a = memref.alloc(%many) : memref<?xf32>
    memref.store %zero, %a[%i] : memref<?xf32>
  }
  return
}
