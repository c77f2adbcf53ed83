// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @halve() {
  %c1 = arith.constant 1 : i32
  %c100 = arith.constant 100 : i32
  %c2 = arith.constant 2 : i32
  %r = scf.while (%x = %c100) : (i32) -> i32 {
    %more = arith.cmpi sgt, %x, %c1 : i32
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%y: i32):
    %h = arith.divsi %y, %c2 : i32
    scf.yield %h : i32
  }
  check.equal_bits %r, %c1 : i32
  return
}
