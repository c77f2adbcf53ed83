// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @divide() {
  %a = arith.constant 7 : index
  %b = arith.constant 0 : index
  // expected-error @+1 {{divides by a number that is not positive}}
  %c = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%a)[%b]
  return
}
