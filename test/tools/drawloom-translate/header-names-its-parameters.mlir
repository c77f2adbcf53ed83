// The parameters of a function in the header are named as the program names its arguments and results: as C and C++ can
// say it, and each once.
// RUN: rm -rf %t && mkdir %t
// RUN: drawloom-translate --mlir-to-header --isa=baseline %s -o %t/names.h
// RUN: FileCheck %s --input-file=%t/names.h
// RUN: %cc -std=c99 -Wall -Wextra -Werror -fsyntax-only -include errno.h -include complex.h -include %t/names.h -x c /dev/null
// RUN: %cxx -std=c++17 -Wall -Wextra -Werror -fsyntax-only -include %t/names.h -x c++ /dev/null

// What has no name is called by its place; a result may have the name of an argument.
// CHECK-LABEL: @step: (w: f32[4], argument1: f32[], layers_0_w_norm: f32[4]) -> (w_2: f32[4], result1: f32[4]).
// CHECK: drawloom_call_step(const float *w, const float *argument1, const float *layers_0_w_norm, float *w_2, float *result1, void *memory) {
// CHECK-NEXT: void *arguments[] = {(void *)w, (void *)argument1, (void *)layers_0_w_norm, (void *)w_2, (void *)result1, memory};
func.func @step(%w: tensor<4xf32> {drawloom.name = "w"}, %rate: f32, %norm: tensor<4xf32> {drawloom.name = "layers.0.w-norm"})
    -> (tensor<4xf32> {drawloom.name = "w"}, tensor<4xf32>) {
  %0 = arith.addf %w, %norm : tensor<4xf32>
  %r = tensor.splat %rate : tensor<4xf32>
  %1 = arith.mulf %0, %r : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Words of C and of C++, macros, types, and what the header itself says are other names in it.
// CHECK-LABEL: drawloom_call_words(
// CHECK-SAME: const float *int_, const float *class_, const float *memory_, const float *I_, const float *size_t_,
// CHECK-SAME: const float *drawloom_words_, const float *Q, float *argument0, float *errno_, void *memory) {
func.func @words(%a: tensor<4xf32> {drawloom.name = "int"}, %b: tensor<4xf32> {drawloom.name = "class"},
                 %c: tensor<4xf32> {drawloom.name = "memory"}, %d: tensor<4xf32> {drawloom.name = "I"},
                 %e: tensor<4xf32> {drawloom.name = "size_t"}, %f: tensor<4xf32> {drawloom.name = "drawloom_words"},
                 %g: tensor<4xf32> {drawloom.name = "Q"})
    -> (tensor<4xf32> {drawloom.name = "argument0"}, tensor<4xf32> {drawloom.name = "errno"}) {
  %0 = arith.addf %a, %b : tensor<4xf32>
  %1 = arith.addf %c, %d : tensor<4xf32>
  %2 = arith.addf %e, %f : tensor<4xf32>
  %3 = arith.addf %0, %1 : tensor<4xf32>
  %4 = arith.addf %2, %g : tensor<4xf32>
  return %3, %4 : tensor<4xf32>, tensor<4xf32>
}

// Names that become the same, and names that are left with a digit in front, or with nothing.
// CHECK-LABEL: drawloom_call_alike(
// CHECK-SAME: const float *a_b, const float *a_b_2, const float *argument2_0_w, const float *argument3, float *result0, void *memory) {
func.func @alike(%a: tensor<4xf32> {drawloom.name = "a.b"}, %b: tensor<4xf32> {drawloom.name = "a-b"},
                 %c: tensor<4xf32> {drawloom.name = "_0.w"}, %d: tensor<4xf32> {drawloom.name = "__"}) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  %1 = arith.addf %c, %d : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
