// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @inside() {
  %a = arith.constant 1.0156250 : bf16
  %b = arith.constant 1.0 : bf16
  check.close %a, %b : bf16
  return
}
func.func @outside() {
  %a = arith.constant 1.0234375 : bf16
  %b = arith.constant 1.0 : bf16
  // expected-error @+1 {{failed: actual 1.0234375, expected 1}}
  check.close %a, %b : bf16
  return
}
