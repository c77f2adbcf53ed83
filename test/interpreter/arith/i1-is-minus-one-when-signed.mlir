// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @bools() {
  %true = arith.constant true
  %false = arith.constant false
  %less = arith.cmpi slt, %true, %false : i1
  %above = arith.cmpi ugt, %true, %false : i1
  %signed = arith.extsi %true : i1 to i32
  %unsigned = arith.extui %true : i1 to i32
  %sum = arith.addi %true, %true : i1
  %minus_one = arith.constant -1 : i32
  %one = arith.constant 1 : i32
  check.equal_bits %less, %true : i1
  check.equal_bits %above, %true : i1
  check.equal_bits %signed, %minus_one : i32
  check.equal_bits %unsigned, %one : i32
  check.equal_bits %sum, %false : i1
  return
}
