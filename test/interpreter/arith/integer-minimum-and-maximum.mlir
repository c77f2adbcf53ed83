// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @extremes() {
  %a = arith.constant -1 : i32
  %b = arith.constant 1 : i32
  %maxs = arith.maxsi %a, %b : i32
  %mins = arith.minsi %a, %b : i32
  %maxu = arith.maxui %a, %b : i32
  %minu = arith.minui %a, %b : i32
  check.equal_bits %maxs, %b : i32
  check.equal_bits %mins, %a : i32
  check.equal_bits %maxu, %a : i32
  check.equal_bits %minu, %b : i32
  return
}
