// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// The reference computes the exact mathematics; a type's rounding is what
// backends are allowed to differ by.
func.func @exact() {
  %a = arith.constant 1.0000001 : f64
  %b = arith.truncf %a : f64 to bf16
  %c = arith.extf %b : bf16 to f64
  check.equal_bits %c, %a : f64
  return
}
