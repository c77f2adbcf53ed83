// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @branch() {
  %true = arith.constant true
  %false = arith.constant false
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  // The division by zero is not executed.
  %r = scf.if %true -> i32 {
    scf.yield %one : i32
  } else {
    %x = arith.divsi %one, %zero : i32
    scf.yield %x : i32
  }
  scf.if %false {
    %x = arith.divsi %one, %zero : i32
  }
  check.equal_bits %r, %one : i32
  return
}
