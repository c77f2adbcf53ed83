// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @region() {
  %r = scf.execute_region -> i32 {
    %c = arith.constant 3 : i32
    scf.yield %c : i32
  }
  %e = arith.constant 3 : i32
  check.equal_bits %r, %e : i32
  return
}
