// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @parts() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : vector<2x3xi32>
  %c1 = arith.constant 1 : index
  %row = vector.extract %x[%c1] : vector<3xi32> from vector<2x3xi32>
  %y = vector.insert %row, %x[0] : vector<3xi32> into vector<2x3xi32>
  %part = vector.extract_strided_slice %y {offsets = [0, 1], sizes = [2, 2], strides = [1, 1]} : vector<2x3xi32> to vector<2x2xi32>
  %z = vector.insert_strided_slice %part, %x {offsets = [0, 0], strides = [1, 1]} : vector<2x2xi32> into vector<2x3xi32>
  %e:6 = vector.to_elements %z : vector<2x3xi32>
  %r = tensor.from_elements %e#0, %e#1, %e#2, %e#3, %e#4, %e#5 : tensor<6xi32>
  %expected = arith.constant dense<[5, 6, 3, 5, 6, 6]> : tensor<6xi32>
  check.equal_bits %r, %expected : tensor<6xi32>
  return
}
