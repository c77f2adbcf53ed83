// RUN: printf '#!/bin/sh\ngrep -q math.exp "$1" && exit 1\nexit 0\n' > %t.sh
// RUN: chmod +x %t.sh
// RUN: drawloom-reduce %s --reduction-tree='traversal-mode=0 test=%t.sh' | FileCheck %s
// CHECK: func.func @interesting
// CHECK-NOT: @dull
func.func @interesting(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func @dull(%x: f32) -> f32 {
  return %x : f32
}
