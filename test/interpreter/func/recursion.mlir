// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func private @factorial(%n: index) -> index {
  %c1 = arith.constant 1 : index
  %small = arith.cmpi sle, %n, %c1 : index
  %r = scf.if %small -> index {
    scf.yield %c1 : index
  } else {
    %m = arith.subi %n, %c1 : index
    %f = func.call @factorial(%m) : (index) -> index
    %p = arith.muli %n, %f : index
    scf.yield %p : index
  }
  return %r : index
}
func.func @main() {
  %c6 = arith.constant 6 : index
  %c720 = arith.constant 720 : index
  %r = call @factorial(%c6) : (index) -> index
  check.equal_bits %r, %c720 : index
  return
}
