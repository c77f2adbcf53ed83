// The driver assembles the PTX then.
//
// RUN: rm -rf %t
// RUN: env DRAWLOOM_PTXAS=/nowhere/ptxas drawloom-translate --mlir-to-bundle --bundle-dir=%t %S/Inputs/add.mlir 2>&1 | FileCheck %s
// RUN: ls %t/sm_80 | FileCheck %s --check-prefix=FILES
// RUN: not env DRAWLOOM_PTXAS=/nowhere/ptxas drawloom-translate --mlir-to-cubin %S/Inputs/add.mlir 2>&1 | FileCheck %s --check-prefix=CUBIN

// CHECK: remark: no ptxas that reads PTX 8.0 for sm_80 was found (looked in: $DRAWLOOM_PTXAS); '/nowhere/ptxas' is no program.{{.*}}; the driver will assemble the PTX when it loads it
// FILES-NOT: cubin
// FILES: add.ptx
// CUBIN: error: no ptxas
