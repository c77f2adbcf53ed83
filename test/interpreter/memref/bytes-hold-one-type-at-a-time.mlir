// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// What was written as f32 is there as long as nothing else is written to its bytes.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f64
  %nan = arith.constant 0x7FC00000 : f32
  %bytes = memref.alloc() : memref<64xi8>
  %first = memref.view %bytes[%c0][] : memref<64xi8> to memref<4xf32>
  %again = memref.view %bytes[%c0][] : memref<64xi8> to memref<2x2xf32>
  %other = memref.view %bytes[%c0][] : memref<64xi8> to memref<1xf64>
  memref.store %one, %first[%c1] : memref<4xf32>
  %same = memref.load %again[%c0, %c1] : memref<2x2xf32>
  check.equal_bits %same, %one : f32
  memref.store %two, %other[%c0] : memref<1xf64>
  %gone = memref.load %first[%c1] : memref<4xf32>
  check.equal_bits %gone, %nan : f32
  %there = memref.load %other[%c0] : memref<1xf64>
  check.equal_bits %there, %two : f64
  return
}
