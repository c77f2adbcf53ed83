// RUN: drawloom-opt %s --cpu-verify-buffers=strict=true -split-input-file -verify-diagnostics

func.func @copies(%a: memref<4xf32>, %b: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{copies memory in each iteration of a loop}}
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

func.func @allocates(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{allocates memory in each iteration of a loop}}
    %a = memref.alloc() : memref<4xf32>
  }
  return
}
