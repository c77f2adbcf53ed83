// RUN: drawloom-run %s --random --report=%t.html --benchmark=2 --threads=1 | count 0
// RUN: FileCheck %s --input-file=%t.html --implicit-check-not=http: --implicit-check-not=https: --implicit-check-not="<script" --implicit-check-not="a<b"

// Names are text, whatever they are.
// CHECK: <!DOCTYPE html>
// CHECK: <title>@a&lt;b&amp;&quot;c - Drawloom report</title>
// CHECK: <svg class="roofline wide"
// CHECK: GFLOP/s of multiply-adds</text>
// CHECK: GB/s of a triad</text>
// CHECK: <circle class="dot bytes"
// CHECK: <title>a&lt;b&amp;&quot;c_kernel0: {{.*}} of the roof</title></circle>
// CHECK: <td class="text mono">report-is-a-page.mlir:{{[0-9]+}}</td>
// CHECK: machine code
// CHECK: <b>fuse-rows</b> Fused
// CHECK: </html>
func.func @"a<b&\22c"(%x: tensor<4096x32xf32>, %y: tensor<4096x32xf32>) -> tensor<4096x32xf32> {
  %0 = arith.addf %x, %y : tensor<4096x32xf32>
  return %0 : tensor<4096x32xf32>
}
