// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @maps() {
  %a = arith.constant 7 : index
  %b = arith.constant 3 : index
  %apply = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 2 + (d0 mod s0) * 10)>(%a)[%b]
  %min = affine.min affine_map<(d0, d1) -> (d0, d1 * 2, 100)>(%a, %b)
  %max = affine.max affine_map<(d0, d1) -> (d0, d1 ceildiv 2)>(%a, %b)
  %c13 = arith.constant 13 : index
  %c6 = arith.constant 6 : index
  check.equal_bits %apply, %c13 : index
  check.equal_bits %min, %c6 : index
  check.equal_bits %max, %a : index
  return
}
