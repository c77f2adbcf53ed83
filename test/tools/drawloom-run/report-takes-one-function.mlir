// RUN: not drawloom-run %s --report=%t.html 2>&1 | FileCheck %s
// CHECK: error: --report={{.*}}.html takes one function; --entry=NAME chooses it
func.func @f() { return }
func.func @g() { return }
