// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func private @choose(%i: index) -> i32 {
  %r = scf.index_switch %i -> i32
  case 2 {
    %a = arith.constant 20 : i32
    scf.yield %a : i32
  }
  case 5 {
    %b = arith.constant 50 : i32
    scf.yield %b : i32
  }
  default {
    %c = arith.constant -1 : i32
    scf.yield %c : i32
  }
  return %r : i32
}
func.func @main() {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r2 = call @choose(%c2) : (index) -> i32
  %r3 = call @choose(%c3) : (index) -> i32
  %r5 = call @choose(%c5) : (index) -> i32
  %c20 = arith.constant 20 : i32
  %cm1 = arith.constant -1 : i32
  %c50 = arith.constant 50 : i32
  check.equal_bits %r2, %c20 : i32
  check.equal_bits %r3, %cm1 : i32
  check.equal_bits %r5, %c50 : i32
  return
}
