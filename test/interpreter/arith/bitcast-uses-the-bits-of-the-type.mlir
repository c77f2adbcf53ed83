// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @bits() {
  %one = arith.constant 1.0 : f32
  %i = arith.bitcast %one : f32 to i32
  %back = arith.bitcast %i : i32 to f32
  %bf = arith.constant 1.0 : bf16
  %j = arith.bitcast %bf : bf16 to i16
  %e0 = arith.constant 0x3F800000 : i32
  %e1 = arith.constant 0x3F80 : i16
  check.equal_bits %i, %e0 : i32
  check.equal_bits %back, %one : f32
  check.equal_bits %j, %e1 : i16
  return
}
