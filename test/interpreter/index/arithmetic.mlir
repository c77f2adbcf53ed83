// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @arithmetic() {
  %a = index.constant -7
  %b = index.constant 2
  %sum = index.add %a, %b
  %floor = index.floordivs %a, %b
  %ceil = index.ceildivs %a, %b
  %rem = index.rems %a, %b
  %max = index.maxs %a, %b
  %less = index.cmp slt(%a, %b)
  %above = index.cmp ugt(%a, %b)
  %m5 = index.constant -5
  %m4 = index.constant -4
  %m3 = index.constant -3
  %m1 = index.constant -1
  %true = index.bool.constant true
  check.equal_bits %sum, %m5 : index
  check.equal_bits %floor, %m4 : index
  check.equal_bits %ceil, %m3 : index
  check.equal_bits %rem, %m1 : index
  check.equal_bits %max, %b : index
  check.equal_bits %less, %true : i1
  check.equal_bits %above, %true : i1
  return
}
