// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @divide() {
  %a = arith.constant -128 : i8
  %b = arith.constant -1 : i8
  // expected-error @+1 {{divides the smallest integer by -1, whose quotient does not fit}}
  %c = arith.divsi %a, %b : i8
  return
}
