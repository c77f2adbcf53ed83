// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @reductions() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 0x7FC00000, 6.0]]> : tensor<2x3xf32>
  %sum = tile.reduce add %x along [1] : tensor<2x3xf32> -> tensor<2xf32>
  %sums = arith.constant dense<[6.0, 0x7FC00000]> : tensor<2xf32>
  check.equal_bits %sum, %sums : tensor<2xf32>
  %max = tile.reduce maxnum %x along [0] : tensor<2x3xf32> -> tensor<3xf32>
  %maxima = arith.constant dense<[4.0, 2.0, 6.0]> : tensor<3xf32>
  check.equal_bits %max, %maxima : tensor<3xf32>
  %i = arith.constant dense<[[true, true], [true, false]]> : tensor<2x2xi1>
  %and = tile.reduce and %i along [0] : tensor<2x2xi1> -> tensor<2xi1>
  %ands = arith.constant dense<[true, false]> : tensor<2xi1>
  check.equal_bits %and, %ands : tensor<2xi1>
  return
}

func.func @scans() {
  %x = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %plain = tile.scan add %x along 0 : tensor<3xf32> -> tensor<3xf32>
  %sums = arith.constant dense<[1.0, 3.0, 6.0]> : tensor<3xf32>
  check.equal_bits %plain, %sums : tensor<3xf32>
  %before = tile.scan mul exclusive reverse %x along 0 : tensor<3xf32> -> tensor<3xf32>
  %products = arith.constant dense<[6.0, 3.0, 1.0]> : tensor<3xf32>
  check.equal_bits %before, %products : tensor<3xf32>
  return
}

#rows = #tile.layout<registers = [0:1], lanes = [0:2, 0:4, 0:8, 0:16, ?], warps = []>
#shares = #tile.layout<registers = [], lanes = [0:1, 0:2, 0:4, 0:8, ?], warps = []>
#alike = #tile.layout<registers = [], lanes = [?, ?, ?, ?, ?], warps = []>

// Each thread has two neighbouring rows; of the 32 that the layout holds the last two are padding.
func.func @within_a_thread() {
  %numbers = tile.iota along 0 : tensor<30xindex, #rows>
  %sum = tile.reduce add within_thread %numbers along [0] : tensor<30xindex, #rows> -> tensor<16xindex, #shares>
  %last = tile.reduce max %sum along [0] : tensor<16xindex, #shares> -> tensor<index, #alike>
  %element = tensor.extract %last[] : tensor<index, #alike>
  %expected = arith.constant 57 : index
  check.equal_bits %element, %expected : index
  %all = tile.reduce add %sum along [0] : tensor<16xindex, #shares> -> tensor<index, #alike>
  %total = tensor.extract %all[] : tensor<index, #alike>
  %whole = arith.constant 435 : index
  check.equal_bits %total, %whole : index
  return
}
