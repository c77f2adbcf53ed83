// RUN: drawloom-opt %s --canonicalize --cse | FileCheck %s

// CHECK: check.close
// CHECK: check.equal_bits
func.func @f(%a: f32, %b: f32) {
  check.close %a, %b : f32
  check.equal_bits %a, %b : f32
  return
}
