// RUN: drawloom-opt %s --cpu-verify-vectors=operations-per-source-op=0 -split-input-file -verify-diagnostics

// expected-error@+1 {{holds 3 operations after vectorization, more than 0 (0 for each of its 1 ops and 8 more): choose smaller register tiles}}
func.func @unrolled(%x: vector<4xf32>) -> vector<4xf32> attributes {drawloom.source_ops = 1 : i64} {
  %y = arith.addf %x, %x : vector<4xf32>
  return %y : vector<4xf32>
}
