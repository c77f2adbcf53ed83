// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @none() {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  // expected-error @+1 {{has the step 0}}
  scf.for %i = %c0 to %c5 step %c0 {
  }
  return
}
