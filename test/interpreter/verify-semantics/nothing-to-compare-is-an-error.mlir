// RUN: drawloom-opt %s --split-input-file --cse --verify-semantics --verify-diagnostics -o /dev/null

// expected-error @+1 {{@f has no results and changes no memory, so that there is nothing to compare}}
func.func @f(%x: memref<4xf32>) {
  return
}

// -----

// expected-error @+1 {{@root gives NaN only, so that there is nothing to compare; does check.range say what its arguments may be?}}
func.func @root(%x: f32 {check.range = array<f64: -2.0, -1.0>}) -> f32 {
  %y = math.sqrt %x : f32
  return %y : f32
}
