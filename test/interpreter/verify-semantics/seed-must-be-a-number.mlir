// RUN: not drawloom-opt %s --canonicalize --verify-semantics=x 2>&1 | FileCheck %s

// CHECK: --verify-semantics takes a seed, a number; not 'x'
func.func @f() {
  return
}
