// RUN: drawloom-opt %s --cpu-verify-vectors -split-input-file -verify-diagnostics

func.func @large(%x: vector<64x32xf32>) -> vector<64x32xf32> {
  // expected-error@+1 {{has a vector of more than 1024 elements, which would be unrolled}}
  %y = arith.addf %x, %x : vector<64x32xf32>
  return %y : vector<64x32xf32>
}
