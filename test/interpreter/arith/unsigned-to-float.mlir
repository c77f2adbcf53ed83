// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @casts() {
  %a = arith.constant -1 : i8
  %f = arith.uitofp %a : i8 to f32
  %u = arith.fptoui %f : f32 to i8
  %e = arith.constant 255.0 : f32
  check.equal_bits %f, %e : f32
  check.equal_bits %u, %a : i8
  return
}
