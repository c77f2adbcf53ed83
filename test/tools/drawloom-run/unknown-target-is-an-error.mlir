// RUN: not drawloom-run %s --target=abacus 2>&1 | FileCheck %s
// CHECK: error: --target=abacus: there is no such target; there are cpu, cuda, emulator, interpreter
func.func @f() { return }
