// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @shift() {
  %a = arith.constant 1 : i32
  %b = arith.constant 32 : i32
  // expected-error @+1 {{shifts by at least the number of bits of the type}}
  %c = arith.shli %a, %b : i32
  return
}
