// What the compiler knows of devices is data that scripts read.
// RUN: drawloom-translate --print-machine | FileCheck %s
// RUN: drawloom-translate --print-machine | %python -c "import json, sys; print([(m['product'], m['architecture']) for m in json.load(sys.stdin)])" \
// RUN:   | FileCheck %s --check-prefix=LIST

// A row has the limits of its architecture, and the vendor's peak rates.
// CHECK: "architecture": "sm_80"
// CHECK: "block_shared_bytes": 166912
// CHECK: "half_flops": 311869440000000
// CHECK: "product": "A100"
// LIST: [('A100', 'sm_80'), ('H200', 'sm_90a'), ('H100', 'sm_90a'), ('B200', 'sm_100a')]
