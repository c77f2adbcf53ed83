// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @functions() {
  %x = arith.constant dense<[-8, 0, 5]> : tensor<3xi8>
  %three = arith.constant dense<3> : tensor<3xi8>
  %abs = math.absi %x : tensor<3xi8>
  %ones = math.ctpop %x : tensor<3xi8>
  %leading = math.ctlz %x : tensor<3xi8>
  %trailing = math.cttz %x : tensor<3xi8>
  %cube = math.ipowi %x, %three : tensor<3xi8>
  %e0 = arith.constant dense<[8, 0, 5]> : tensor<3xi8>
  %e1 = arith.constant dense<[5, 0, 2]> : tensor<3xi8>
  %e2 = arith.constant dense<[0, 8, 5]> : tensor<3xi8>
  %e3 = arith.constant dense<[3, 8, 0]> : tensor<3xi8>
  %e4 = arith.constant dense<[0, 0, 125]> : tensor<3xi8>
  check.equal_bits %abs, %e0 : tensor<3xi8>
  check.equal_bits %ones, %e1 : tensor<3xi8>
  check.equal_bits %leading, %e2 : tensor<3xi8>
  check.equal_bits %trailing, %e3 : tensor<3xi8>
  check.equal_bits %cube, %e4 : tensor<3xi8>
  return
}
