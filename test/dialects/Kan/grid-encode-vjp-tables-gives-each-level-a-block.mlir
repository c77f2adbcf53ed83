// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// One block for each level, rows in order inside: no order of addition depends
// on the number of threads.
// CHECK-LABEL: func.func @tables
// CHECK: scf.forall (%{{.*}}) in (12)
// CHECK: linalg.fill
// CHECK: scf.for {{.*}} iter_args(%{{.*}}) -> (tensor<512x2xf32>)
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice
func.func @tables(%g: tensor<100x24xf32>, %x: tensor<100x2xf32>) -> tensor<12x512x2xf32> {
  %t = kan.grid_encode_vjp_tables %g, %x {base_resolution = 4, growth = 1.5}
      : tensor<100x24xf32>, tensor<100x2xf32> -> tensor<12x512x2xf32>
  return %t : tensor<12x512x2xf32>
}
