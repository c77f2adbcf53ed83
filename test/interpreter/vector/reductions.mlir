// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @reduce() {
  %x = arith.constant dense<[[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]> : vector<2x3xf32>
  %row = arith.constant dense<[1.0, 5.0, 3.0]> : vector<3xf32>
  %start = arith.constant dense<[10.0, 20.0]> : vector<2xf32>
  %acc = arith.constant 100.0 : f32
  %max = vector.reduction <maximumf>, %row : vector<3xf32> into f32
  %sum = vector.reduction <add>, %row, %acc : vector<3xf32> into f32
  %rows = vector.multi_reduction <add>, %x, %start [1] : vector<2x3xf32> to vector<2xf32>
  %all = vector.multi_reduction <add>, %x, %acc [0, 1] : vector<2x3xf32> to f32
  %rows0 = vector.extract %rows[0] : f32 from vector<2xf32>
  %rows1 = vector.extract %rows[1] : f32 from vector<2xf32>
  %c5 = arith.constant 5.0 : f32
  %c109 = arith.constant 109.0 : f32
  %c19 = arith.constant 19.0 : f32
  %c28 = arith.constant 28.0 : f32
  %c117 = arith.constant 117.0 : f32
  check.equal_bits %max, %c5 : f32
  check.equal_bits %sum, %c109 : f32
  check.equal_bits %rows0, %c19 : f32
  check.equal_bits %rows1, %c28 : f32
  check.equal_bits %all, %c117 : f32
  return
}
