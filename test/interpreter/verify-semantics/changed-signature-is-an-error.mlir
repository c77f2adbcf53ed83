// RUN: drawloom-opt %s --one-shot-bufferize=bufferize-function-boundaries --verify-semantics \
// RUN:   --verify-diagnostics -o /dev/null

// expected-error @+1 {{@f cannot be compared: its type was '(tensor<4xf32>) -> tensor<4xf32>' before the passes and is}}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
