// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @divide() {
  %a = arith.constant 1 : i32
  %b = arith.constant 0 : i32
  // expected-error @+1 {{divides an integer by zero}}
  %c = arith.divsi %a, %b : i32
  return
}
