// RUN: drawloom-opt %s --cse --verify-semantics --verify-diagnostics -o /dev/null

// expected-error @+1 {{has no random values for argument #0 of type 'tensor<64x100000000xf32>', which is above the interpreter's limit of 268435456 elements}}
func.func @f(%x: tensor<64x100000000xf32>) -> tensor<64x100000000xf32> {
  return %x : tensor<64x100000000xf32>
}
