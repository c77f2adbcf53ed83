// RUN: not drawloom-translate --mlir-to-ttir --compile-from=blocks --split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: no TTIR for 'math.ipowi': it has no counterpart
func.func @power(%x: tensor<8xi32>) -> tensor<8xi32> {
  %p = math.ipowi %x, %x : tensor<8xi32>
  return %p : tensor<8xi32>
}

// -----

// CHECK: error: no TTIR for an argument of dynamic shape: 'tensor<?xf32>'
func.func @dynamic(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = tensor.empty() : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK: error: the number of blocks is not known
func.func @number_of_blocks(%n: index) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = scf.forall (%i) in (%n) shared_outs(%out = %e) -> (tensor<4xf32>) {
    %row = tensor.empty() : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %y : tensor<4xf32>
}

// -----

// The largest element's index: two results that are combined together.
// CHECK: error: result 0 is no sum, product, minimum or maximum of one term for each iteration
func.func @argmax(%x: tensor<16xf32>) -> tensor<i32> {
  %low = arith.constant dense<0xFF800000> : tensor<f32>
  %none = arith.constant dense<0> : tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
                         iterator_types = ["reduction"]}
      ins(%x : tensor<16xf32>) outs(%low, %none : tensor<f32>, tensor<i32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %i = linalg.index 0 : index
    %i32 = arith.index_cast %i : index to i32
    %more = arith.cmpf ogt, %a, %best : f32
    %b = arith.select %more, %a, %best : f32
    %c = arith.select %more, %i32, %at : i32
    linalg.yield %b, %c : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#1 : tensor<i32>
}

// -----

// CHECK: error: blocks inside of blocks have no form on a GPU
func.func @outer_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.for %t = %c0 to %c9 step %c1 iter_args(%state = %x) -> (tensor<4xf32>) {
    %next = scf.forall (%i) in (4) shared_outs(%out = %state) -> (tensor<4xf32>) {
      %row = tensor.extract_slice %out[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
      %twice = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%row : tensor<1xf32>) {
      ^bb0(%a: f32):
        %b = arith.addf %a, %a : f32
        linalg.yield %b : f32
      } -> tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %twice into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
      }
    }
    scf.yield %next : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// CHECK: error: no TTIR for a result without elements
func.func @no_elements(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  return %x : tensor<0x4xf32>
}

// -----

// CHECK: error: no TTIR for a function that returns 'f32': only tensors of static shape
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}
