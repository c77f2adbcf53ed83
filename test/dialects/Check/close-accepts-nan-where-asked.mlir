// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @nan() {
  %nan = arith.constant 0x7FC00000 : f32
  check.close %nan, %nan {equal_nan} : f32
  return
}
