// RUN: drawloom-opt %s --cpu-bufferize -split-input-file -verify-diagnostics

// expected-error@+1 {{cannot be compiled for the CPU: 'tensor<?xf32>' in its signature is neither a tensor of static shape nor a number; 'drawloom-run --shape=0:8x64 --save=FILE' compiles for extents that it leaves open}}
func.func @f(%x: tensor<?xf32>) {
  return
}
