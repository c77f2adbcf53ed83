// RUN: not drawloom-run %s --random --print --report=%t.none/report.html 2>&1 | FileCheck %s --implicit-check-not=result0
// RUN: mkdir -p %t.folder.html
// RUN: not drawloom-run %s --random --print --report=%t.folder.html 2>&1 | FileCheck %s --check-prefix=FOLDER --implicit-check-not=result0
// CHECK: error: cannot write '{{.*}}report.html': {{.*}}No such file or directory
// FOLDER: error: cannot write '{{.*}}.folder.html': it is a folder
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
