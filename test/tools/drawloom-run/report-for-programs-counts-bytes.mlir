// RUN: drawloom-run %s --random --report=%t.json --benchmark=2 --threads=1 | count 0
// RUN: FileCheck %s --input-file=%t.json
// RUN: %python -c "import json, sys; r = json.load(open(sys.argv[1])); k, = r['kernels']; assert abs(k['share'] * r['seconds'] + r['outside_seconds'] - r['seconds']) < 1e-12 and k['operations'] == 4096 * 32 and k['bound'] == 'bytes'" %t.json

// Two arguments and a result of 4096 x 32 elements of 4 bytes.
// CHECK: "bytes": 1572864
// CHECK: "kernels": [
// CHECK: "bytes": 1572864
// CHECK: "name": "f_kernel0"
// CHECK: "source": "report-for-programs-counts-bytes.mlir:{{[0-9]+}}"
// CHECK: "name": "machine code"
// CHECK: "kind": "passed"
func.func @f(%x: tensor<4096x32xf32>, %y: tensor<4096x32xf32>) -> tensor<4096x32xf32> {
  %0 = arith.addf %x, %y : tensor<4096x32xf32>
  return %0 : tensor<4096x32xf32>
}
