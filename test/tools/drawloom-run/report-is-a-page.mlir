// RUN: drawloom-run %s --random --report=%t.html --benchmark=2 --threads=1 | count 0
// RUN: FileCheck %s --input-file=%t.html --implicit-check-not=http: --implicit-check-not=https: --implicit-check-not="<script" --implicit-check-not="</script" --implicit-check-not="<!--"

// Names are text, whatever they are: none ends the JSON or begins a comment.
// CHECK: <!DOCTYPE html>
// CHECK: <!--
// CHECK: <!-- Nothing is ever loaded
// CHECK: <!-- Where scripts are switched off
// CHECK: <script type="application/json" id="report">{
// CHECK: "function": "a\u003c/script>\u003c!--\u003cscript>&\"c",
// CHECK: "bound": "bytes",
// CHECK: "name": "a\u003c/script>\u003c!--\u003cscript>&\"c_kernel0",
// CHECK: "source": "report-is-a-page.mlir:{{[0-9]+}}"
// CHECK: "name": "machine code",
// CHECK: "category": "fuse-rows",
// CHECK: "title": "@a\u003c/script>\u003c!--\u003cscript>&\"c"
// CHECK-NEXT: }
// CHECK-NEXT: </script>
// CHECK-NEXT: <script>
// CHECK: </script>
// CHECK: </html>
func.func @"a</script><!--<script>&\22c"(%x: tensor<4096x32xf32>, %y: tensor<4096x32xf32>) -> tensor<4096x32xf32> {
  %0 = arith.addf %x, %y : tensor<4096x32xf32>
  return %0 : tensor<4096x32xf32>
}
