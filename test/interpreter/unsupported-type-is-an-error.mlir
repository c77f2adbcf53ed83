// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() {
  // expected-error @+1 {{has a value of type 'complex<f32>', which the interpreter does not hold}}
  %c = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
  return
}
