// REQUIRES: ptxas
// RUN: drawloom-translate --mlir-to-cubin --arch=sm_90a %S/Inputs/add.mlir -o %t.1
// RUN: drawloom-translate --mlir-to-cubin --arch=sm_90a %S/Inputs/add.mlir -o %t.2
// RUN: cmp %t.1 %t.2
