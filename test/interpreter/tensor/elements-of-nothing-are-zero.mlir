// RUN: drawloom-opt %s --interpret-checks

func.func @element() {
  %t = tensor.empty() : tensor<0xf32>
  %i = arith.constant 3 : index
  %x = tensor.extract %t[%i] : tensor<0xf32>
  %u = tensor.insert %x into %t[%i] : tensor<0xf32>
  %z = tensor.from_elements %x : tensor<1xf32>
  %e = arith.constant dense<0.0> : tensor<1xf32>
  check.equal_bits %z, %e : tensor<1xf32>
  return
}
