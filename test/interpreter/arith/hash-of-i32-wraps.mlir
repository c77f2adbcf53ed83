// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// The hash of a grid vertex: products of 32 bits that overflow.
func.func @hash() {
  %x = arith.constant 100000 : i32
  %prime = arith.constant -1640531535 : i32
  %product = arith.muli %x, %prime : i32
  %mask = arith.constant 32767 : i32
  %entry = arith.andi %product, %mask : i32
  // (100000 * 2654435761) mod 2^32 = 1712305312, mod 2^15 = 13472.
  %e0 = arith.constant 1712305312 : i32
  %e1 = arith.constant 13472 : i32
  check.equal_bits %product, %e0 : i32
  check.equal_bits %entry, %e1 : i32
  return
}
