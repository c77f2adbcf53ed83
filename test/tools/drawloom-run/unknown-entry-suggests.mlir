// RUN: not drawloom-run --target=interpreter %s --entry=stap 2>&1 | FileCheck %s
// CHECK: error: there is no function @stap; did you mean @step? The program has @init, @step
func.func @init() {
  return
}
func.func @step() {
  return
}
