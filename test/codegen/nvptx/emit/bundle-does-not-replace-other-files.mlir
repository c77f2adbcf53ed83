// RUN: rm -rf %t && mkdir -p %t && echo precious > %t/file
// RUN: not drawloom-translate --mlir-to-bundle --bundle-dir=%t %S/Inputs/add.mlir 2>&1 | FileCheck %s
// RUN: cat %t/file | FileCheck %s --check-prefix=FILE

// CHECK: error: the folder '{{.*}}' holds other files and no bundle; it is left as it is. Name another one
// FILE: precious
