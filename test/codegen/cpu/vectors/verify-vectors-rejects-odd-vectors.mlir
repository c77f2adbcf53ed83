// RUN: drawloom-opt %s --cpu-verify-vectors -split-input-file -verify-diagnostics

func.func @odd(%x: vector<20xf32>) -> vector<20xf32> {
  // expected-error@+1 {{has a vector whose last dimension is not a power of two, which the machine does not have}}
  %y = arith.addf %x, %x : vector<20xf32>
  return %y : vector<20xf32>
}
