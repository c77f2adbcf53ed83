// RUN: not drawloom-opt %s --interpret-checks 2>&1 | FileCheck %s

// CHECK: error: there is no function without arguments to interpret
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
