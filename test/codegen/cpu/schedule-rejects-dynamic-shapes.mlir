// RUN: drawloom-opt %s --cpu-schedule -split-input-file -verify-diagnostics

func.func @unknown(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{needs tensors of static shape to be scheduled for the CPU; specialize the shapes first}}
  %z = linalg.copy ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
