// RUN: drawloom-run %s --entry=said_in_part --target=emulator --compile-to=shared | FileCheck %s
// RUN: drawloom-run %s --entry=sizes_alone --target=emulator --compile-to=shared | FileCheck %s --check-prefix=ALONE
// RUN: not drawloom-run %s --entry=too_large --target=emulator --compile-to=shared 2>&1 | FileCheck %s --check-prefix=ERROR

// A state of 256 by 256 in f32 is 256 KiB, more than the shared memory of a
// GPU's block. What an op says of its schedule stays, the rest is chosen so that
// blocks fit; what the estimate gets wrong is mended by the next attempt.

// CHECK: func.func private @said_in_part_0
// CHECK-SAME: drawloom.grid = 8
func.func @said_in_part(%q: tensor<1x64x2x256xf32>, %g: tensor<1x64x2x256xf32>) -> tensor<1x64x2x256xf32> {
  %o, %final = linrec.scan %q, %q, %q decay(%g) {segments = 1}
      : (tensor<1x64x2x256xf32>, tensor<1x64x2x256xf32>, tensor<1x64x2x256xf32>, tensor<1x64x2x256xf32>) -> (tensor<1x64x2x256xf32>, tensor<1x2x256x256xf32>)
  return %o : tensor<1x64x2x256xf32>
}

// Not even chunks of 16 tokens of 1024 keys fit with all that is made of them:
// token after token.
// ALONE: func.func private @sizes_alone_0
// ALONE: scf.for %{{.*}} = %{{.*}} to %c64 step %c1
func.func @sizes_alone(%q: tensor<1x64x2x1024xf32>, %v: tensor<1x64x2x16xf32>, %g: tensor<1x64x2x1024xf32>) -> tensor<1x64x2x16xf32> {
  %o, %final = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x64x2x1024xf32>, tensor<1x64x2x1024xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x1024xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x2x1024x16xf32>)
  return %o : tensor<1x64x2x16xf32>
}

// ERROR: error: needs {{[0-9]+}} bytes of shared memory, but a block has at most 232448
// ERROR-NOT: current operation
// ERROR: note: {{[0-9]+}} bytes: 'memref<256x256xf32
func.func @too_large(%q: tensor<1x64x2x256xf32>, %g: tensor<1x64x2x256xf32>) -> tensor<1x64x2x256xf32> {
  %o, %final = linrec.scan %q, %q, %q decay(%g) {chunk = 16, segments = 1, value_blocks = 1}
      : (tensor<1x64x2x256xf32>, tensor<1x64x2x256xf32>, tensor<1x64x2x256xf32>, tensor<1x64x2x256xf32>) -> (tensor<1x64x2x256xf32>, tensor<1x2x256x256xf32>)
  return %o : tensor<1x64x2x256xf32>
}
