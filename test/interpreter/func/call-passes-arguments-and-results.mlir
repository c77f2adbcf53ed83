// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func private @swap(%a: f32, %b: f32) -> (f32, f32) {
  return %b, %a : f32, f32
}
func.func @main() {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %r:2 = call @swap(%one, %two) : (f32, f32) -> (f32, f32)
  check.equal_bits %r#0, %two : f32
  check.equal_bits %r#1, %one : f32
  return
}
