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

// -----

func.func @gradients() {
  // expected-error @+1 {{'@none' is not a function with a body}}
  check.gradient @none wrt [0]
  return
}

// -----

func.func private @f(%x: f32, %i: i32) -> f32 {
  return %x : f32
}

func.func @gradients() {
  // expected-error @+1 {{'wrt' must name at least one argument}}
  check.gradient @f wrt []
  return
}

// -----

func.func private @f(%x: f32, %i: i32) -> f32 {
  return %x : f32
}

func.func @gradients() {
  // expected-error @+1 {{'wrt' index 2 is out of range: '@f' has 2 arguments}}
  check.gradient @f wrt [2]
  return
}

// -----

func.func private @f(%x: f32, %i: i32) -> f32 {
  return %x : f32
}

func.func @gradients() {
  // expected-error @+1 {{'wrt' names argument 0 twice}}
  check.gradient @f wrt [0, 0]
  return
}

// -----

func.func private @f(%x: f32, %i: i32) -> f32 {
  return %x : f32
}

func.func @gradients() {
  // expected-error @+1 {{argument 1 of type 'i32' has no gradient: it must be a float or a ranked tensor of floats}}
  check.gradient @f wrt [1]
  return
}

// -----

func.func private @f(%x: f32, %i: i32) -> f32 {
  return %x : f32
}

func.func @gradients() {
  // expected-error @+1 {{needs a range of the form [low, high] with low <= high}}
  check.gradient @f wrt [0] in [1.0, 0.0]
  return
}

// -----

func.func private @f(%x: f32, %i: i32) -> f32 {
  return %x : f32
}

func.func @gradients() {
  // expected-error @+1 {{checks gradients of order 1 or 2, not 3}}
  check.gradient @f wrt [0] {order = 3}
  return
}

// -----

func.func private @f(%x: f32) -> i32 {
  %y = arith.fptosi %x : f32 to i32
  return %y : i32
}

func.func @gradients() {
  // expected-error @+1 {{result 0 of '@f' has type 'i32', which has no cotangent: it must be a float or a ranked tensor of floats}}
  check.gradient @f wrt [0]
  return
}
