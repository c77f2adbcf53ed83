// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// The two-stage reduction of block programs.
func.func @sum() {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf64>
  %empty = tensor.empty() : tensor<3xf64>
  %partials = scf.forall (%b) in (3) shared_outs(%o = %empty) -> tensor<3xf64> {
    %at = affine.apply affine_map<(b) -> (b * 2)>(%b)
    %tile = tensor.extract_slice %x[%at] [2] [1] : tensor<6xf64> to tensor<2xf64>
    %zero = arith.constant dense<0.0> : tensor<f64>
    %s = linalg.reduce { arith.addf } ins(%tile : tensor<2xf64>) outs(%zero : tensor<f64>) dimensions = [0]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%b] [1] [1] : tensor<f64> into tensor<3xf64>
    }
  }
  %zero = arith.constant dense<0.0> : tensor<f64>
  %sum = linalg.reduce { arith.addf } ins(%partials : tensor<3xf64>) outs(%zero : tensor<f64>) dimensions = [0]
  %e = arith.constant dense<21.0> : tensor<f64>
  check.equal_bits %sum, %e : tensor<f64>
  return
}
