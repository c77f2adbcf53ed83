// RUN: drawloom-opt %s --split-input-file --verify-diagnostics

func.func @shapes(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{compares values of incompatible shapes: 'tensor<2xf32>' and 'tensor<3xf32>'}}
  check.close %a, %b : tensor<2xf32>, tensor<3xf32>
  return
}

// -----

func.func @ranks(%a: tensor<1xi32>, %b: i32) {
  // expected-error @+1 {{compares values of incompatible shapes: 'tensor<1xi32>' and 'i32'}}
  check.equal_bits %a, %b : tensor<1xi32>, i32
  return
}

// -----

func.func @negative(%a: f32) {
  // expected-error @+1 {{needs a finite rtol that is not negative}}
  check.close %a, %a {rtol = -1.0} : f32
  return
}

// -----

func.func @infinite(%a: f32) {
  // expected-error @+1 {{needs a finite atol that is not negative}}
  check.close %a, %a {atol = 0x7FF0000000000000 : f64} : f32
  return
}

// -----

func.func @no_default(%a: f8E4M3FN) {
  // expected-error @+1 {{has no default tolerance for 'f8E4M3FN'; give rtol and atol}}
  check.close %a, %a : f8E4M3FN
  return
}

// -----

func.func @integers(%a: i32) {
  // expected-error @+1 {{operand #0 must be floating-point or ranked tensor of floating-point values}}
  check.close %a, %a : i32
  return
}

// -----

func.func @types(%a: f32, %b: f64) {
  // expected-error @+1 {{actual and expected must have the same element type}}
  check.equal_bits %a, %b : f32, f64
  return
}

// -----

// expected-error @+1 {{has a check.range that is not of the form array<f64: low, high> with low <= high}}
func.func @range(%a: f32 {check.range = array<f64: 2.0, 1.0>}) {
  return
}

// -----

// expected-error @+1 {{has a check.shape that is not of the form array<i64: ...>}}
func.func @shape_form(%a: tensor<?xf32> {check.shape = [4]}) {
  return
}

// -----

// expected-error @+1 {{has a check.shape that does not fit 'tensor<?x4xf32>'}}
func.func @shape(%a: tensor<?x4xf32> {check.shape = array<i64: 3, 5>}) {
  return
}

// -----

// expected-error @+1 {{has an argument attribute "check.rnage"; the check dialect has check.range and check.shape}}
func.func @name(%a: f32 {check.rnage = array<f64: 2.0, 1.0>}) {
  return
}
