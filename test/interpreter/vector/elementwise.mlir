// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @elementwise() {
  %x = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  %y = vector.fma %x, %x, %x : vector<2xf32>
  %s = vector.step : vector<2xindex>
  %i = arith.index_cast %s : vector<2xindex> to vector<2xi32>
  %f = arith.sitofp %i : vector<2xi32> to vector<2xf32>
  %z = arith.addf %y, %f : vector<2xf32>
  %a, %b = vector.to_elements %z : vector<2xf32>
  %c2 = arith.constant 2.0 : f32
  %c7 = arith.constant 7.0 : f32
  check.equal_bits %a, %c2 : f32
  check.equal_bits %b, %c7 : f32
  return
}
