// RUN: drawloom-translate --mlir-to-ptx %S/Inputs/add.mlir | FileCheck %s
// RUN: drawloom-translate --mlir-to-ptx --line-info=0 %S/Inputs/add.mlir | FileCheck %s --check-prefix=NONE

// CHECK-NOT: .target {{.*}}debug
// CHECK: .loc 1 {{[0-9]+}}
// CHECK: .file 1 "{{.*}}add.mlir"
// NONE-NOT: .loc
// NONE-NOT: .file
