// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks %s | FileCheck %s

// 3 columns become 4; what is loaded into the padding is zero, and it is not
// stored. The sum starts from the neutral element where there is no column.
#rc = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>

// CHECK: // rows_0: 2 programs, 1 warps
// CHECK: tt.func public @rows_0(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32})
// CHECK-DAG: %[[COLUMNS:.*]] = arith.constant dense<3> : tensor<1x4xi32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x4xf32>
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %[[COLUMNS]] : tensor<1x4xi32>
// CHECK: %[[MASK:.*]] = tt.broadcast %[[INSIDE]] : tensor<1x4xi1> -> tensor<4x4xi1>
// CHECK: %[[X:.*]] = tt.load %{{.*}}, %[[MASK]], %[[ZERO]] : tensor<4x4x!tt.ptr<f32>>
// CHECK: %[[E:.*]] = math.exp %[[X]] : tensor<4x4xf32>
// CHECK: %[[NEUTRAL:.*]] = arith.select %{{.*}}, %[[E]], %[[ZERO]] : tensor<4x4xi1>, tensor<4x4xf32>
// CHECK: "tt.reduce"(%[[NEUTRAL]]) <{axis = 1 : i32}>
// CHECK: tt.store %{{.*}}, %{{.*}} : tensor<4x!tt.ptr<f32>>
func.func @rows(%x: tensor<8x3xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %y = scf.forall (%block) in (2) shared_outs(%out = %empty) -> (tensor<8xf32>) {
    %row = affine.apply affine_map<(i) -> (i * 4)>(%block)
    %xt = tensor.extract_slice %x[%row, 0] [4, 3] [1, 1] : tensor<8x3xf32> to tensor<4x3xf32>
    %e = tensor.empty() : tensor<4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]}
        ins(%xt : tensor<4x3xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %b = math.exp %a : f32
      %n = arith.addf %sum, %b : f32
      linalg.yield %n : f32
    } -> tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %out[%row] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %y : tensor<8xf32>
}
