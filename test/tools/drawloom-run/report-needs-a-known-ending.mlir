// RUN: not drawloom-run %s --random --report=%t.pdf 2>&1 | FileCheck %s
// CHECK: error: --report={{.*}}.pdf: a report is a page, .html, or a .json or .txt file
func.func @f() { return }
