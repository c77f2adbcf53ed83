// RUN: not drawloom-run %s --report --target=interpreter 2>&1 | FileCheck %s
// CHECK: error: --report needs compiled code
func.func @f() { return }
