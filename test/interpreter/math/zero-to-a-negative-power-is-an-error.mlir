// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @power() {
  %x = arith.constant 0 : i32
  %n = arith.constant -1 : i32
  // expected-error @+1 {{raises zero to a negative power}}
  %y = math.ipowi %x, %n : i32
  return
}
