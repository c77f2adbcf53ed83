// RUN: drawloom-opt %s --interpret-checks

func.func @convert() {
  %a = arith.constant dense<[1.0e10, -1.0e10, 0x7F800000, 0xFF800000, 0x7FC00000, -0.5, 128.0, -128.5]> : tensor<8xf32>
  %s = arith.fptosi %a : tensor<8xf32> to tensor<8xi8>
  %u = arith.fptoui %a : tensor<8xf32> to tensor<8xi8>
  %es = arith.constant dense<[127, -128, 127, -128, 0, 0, 127, -128]> : tensor<8xi8>
  %eu = arith.constant dense<[255, 0, 255, 0, 0, 0, 128, 0]> : tensor<8xi8>
  check.equal_bits %s, %es : tensor<8xi8>
  check.equal_bits %u, %eu : tensor<8xi8>
  return
}
