// RUN: not drawloom-translate --mlir-to-bundle %S/Inputs/add.mlir 2>&1 | FileCheck %s

// CHECK: error: --mlir-to-bundle writes a folder: name it with --bundle-dir=FOLDER
