// RUN: drawloom-opt %s --symbol-dce --verify-semantics --verify-semantics-entry=f --verify-diagnostics -o /dev/null

// expected-error @+1 {{@f cannot be compared: it is gone after the passes}}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
