// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @memory() {
  %m = memref.alloc() : memref<4xi32>
  %v = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0 : i32
  vector.transfer_write %v, %m[%c0] : vector<4xi32>, memref<4xi32>
  %w = vector.transfer_read %m[%c1], %pad : memref<4xi32>, vector<2xi32>
  %s = vector.reduction <add>, %w : vector<2xi32> into i32
  %e = arith.constant 5 : i32
  check.equal_bits %s, %e : i32
  return
}
