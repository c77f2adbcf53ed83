// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @casts() {
  %a = arith.constant -1 : i8
  %signed = arith.extsi %a : i8 to i32
  %unsigned = arith.extui %a : i8 to i32
  %wide = arith.constant 511 : i32
  %narrow = arith.trunci %wide : i32 to i8
  %index = arith.index_cast %a : i8 to index
  %indexu = arith.index_castui %a : i8 to index
  %m1 = arith.constant -1 : i32
  %c255 = arith.constant 255 : i32
  %im1 = arith.constant -1 : index
  %i255 = arith.constant 255 : index
  check.equal_bits %signed, %m1 : i32
  check.equal_bits %unsigned, %c255 : i32
  check.equal_bits %narrow, %a : i8
  check.equal_bits %index, %im1 : index
  check.equal_bits %indexu, %i255 : index
  return
}
