// RUN: drawloom-opt %s --cpu-lower-pair-dots=isa=amx | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#mk = affine_map<(m, n, k, p) -> (m, k, p)>
#kn = affine_map<(m, n, k, p) -> (k, n, p)>
#mn = affine_map<(m, n, k, p) -> (m, n)>

// Tiles are loaded where the product is: from where the factors were read, as
// long as that is not written until then.
// CHECK-LABEL: func.func @same(
// CHECK: scf.for
// CHECK-NOT: vector.transfer_write
// CHECK: tdpbf16ps
func.func @same(%a: memref<16x16x2xbf16>, %b: memref<16x16x2xbf16>, %n: index) -> vector<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : bf16
  %start = arith.constant dense<0.0> : vector<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %start) -> (vector<16x16xf32>) {
    %x = vector.transfer_read %a[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
    %y = vector.transfer_read %b[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
    %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      %x, %y, %c : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
    scf.yield %d : vector<16x16xf32>
  }
  return %sum : vector<16x16xf32>
}

// CHECK-LABEL: func.func @written(
// CHECK: scf.for
// CHECK: %[[X:.*]] = vector.transfer_read {{.*}} vector<16x32xbf16>
// CHECK: %[[Y:.*]] = vector.transfer_read %arg1
// CHECK: vector.transfer_write %[[Y]], %arg0
// CHECK: vector.transfer_write %[[X]], {{.*}} memref<16x32xbf16>
// CHECK-NOT: vector.transfer_write
// CHECK: tdpbf16ps
func.func @written(%a: memref<16x16x2xbf16>, %b: memref<16x16x2xbf16>, %n: index) -> vector<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : bf16
  %start = arith.constant dense<0.0> : vector<16x16xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%c = %start) -> (vector<16x16xf32>) {
    %x = vector.transfer_read %a[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
    %y = vector.transfer_read %b[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
    vector.transfer_write %y, %a[%c0, %c0, %c0] {in_bounds = [true, true, true]} : vector<16x16x2xbf16>, memref<16x16x2xbf16>
    %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      %x, %y, %c : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
    scf.yield %d : vector<16x16xf32>
  }
  return %sum : vector<16x16xf32>
}

// What is the same in each turn of a loop is read in front of it.
// CHECK-LABEL: func.func @in_front(
// CHECK-NOT: vector.transfer_write {{.*}}bf16
// CHECK: tdpbf16ps
func.func @in_front(%a: memref<16x16x2xbf16>, %b: memref<4x16x16x2xbf16>, %c: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : bf16
  %start = arith.constant dense<0.0> : vector<16x16xf32>
  %x = vector.transfer_read %a[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
  scf.for %i = %c0 to %c4 step %c1 {
    %y = vector.transfer_read %b[%i, %c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<4x16x16x2xbf16>, vector<16x16x2xbf16>
    %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      %x, %y, %start : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
    vector.transfer_write %d, %c[%i, %c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<4x16x16xf32>
  }
  return
}

// Behind the product, but in front of that of the next turn.
// CHECK-LABEL: func.func @changed_by_the_loop(
// CHECK: %[[X:.*]] = vector.transfer_read {{.*}} vector<16x32xbf16>
// CHECK: scf.for
// CHECK: vector.transfer_write %[[X]], {{.*}} memref<16x32xbf16>
// CHECK: tdpbf16ps
func.func @changed_by_the_loop(%a: memref<16x16x2xbf16>, %b: memref<4x16x16x2xbf16>, %c: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : bf16
  %start = arith.constant dense<0.0> : vector<16x16xf32>
  %x = vector.transfer_read %a[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
  scf.for %i = %c0 to %c4 step %c1 {
    %y = vector.transfer_read %b[%i, %c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<4x16x16x2xbf16>, vector<16x16x2xbf16>
    %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      %x, %y, %start : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
    vector.transfer_write %d, %c[%i, %c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<4x16x16xf32>
    vector.transfer_write %y, %a[%c0, %c0, %c0] {in_bounds = [true, true, true]} : vector<16x16x2xbf16>, memref<16x16x2xbf16>
  }
  return
}

// Parts of one buffer: what lies behind it is other memory, what overlaps not.
// CHECK-LABEL: func.func @parts(
// CHECK: vector.transfer_write {{.*}}, %view{{.*}}memref<16x16x2xbf16>
// CHECK-NOT: vector.transfer_write
// CHECK: tdpbf16ps
// CHECK: vector.transfer_write {{.*}}, %view{{.*}}memref<16x16x2xbf16>
// CHECK: vector.transfer_write {{.*}} memref<16x32xbf16>
// CHECK: tdpbf16ps
func.func @parts(%all: memref<4096xi8>, %b: memref<16x16x2xbf16>) -> (vector<16x16xf32>, vector<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : bf16
  %start = arith.constant dense<0.0> : vector<16x16xf32>
  %a = memref.view %all[%c0][] : memref<4096xi8> to memref<16x16x2xbf16>
  %over = memref.view %all[%c512][] : memref<4096xi8> to memref<16x16x2xbf16>
  %behind = memref.view %all[%c1024][] : memref<4096xi8> to memref<16x16x2xbf16>
  %y = vector.transfer_read %b[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
  %x = vector.transfer_read %a[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
  vector.transfer_write %y, %behind[%c0, %c0, %c0] {in_bounds = [true, true, true]} : vector<16x16x2xbf16>, memref<16x16x2xbf16>
  %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %x, %y, %start : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  %z = vector.transfer_read %a[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
  vector.transfer_write %y, %over[%c0, %c0, %c0] {in_bounds = [true, true, true]} : vector<16x16x2xbf16>, memref<16x16x2xbf16>
  %e = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %z, %y, %start : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  return %d, %e : vector<16x16xf32>, vector<16x16xf32>
}

// Nobody says of a private function that its arguments are apart.
// CHECK-LABEL: func.func private @shared(
// CHECK: vector.transfer_write {{.*}} memref<16x32xbf16>
// CHECK: vector.transfer_write {{.*}} memref<16x32xbf16>
// CHECK: tdpbf16ps
func.func private @shared(%a: memref<16x16x2xbf16>, %flat: memref<16x32xbf16>, %b: memref<16x16x2xbf16>, %v: vector<16x32xbf16>) -> vector<16x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %start = arith.constant dense<0.0> : vector<16x16xf32>
  %y = vector.transfer_read %b[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
  %x = vector.transfer_read %a[%c0, %c0, %c0], %zero {in_bounds = [true, true, true]} : memref<16x16x2xbf16>, vector<16x16x2xbf16>
  vector.transfer_write %v, %flat[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xbf16>, memref<16x32xbf16>
  %d = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    %x, %y, %start : vector<16x16x2xbf16>, vector<16x16x2xbf16> into vector<16x16xf32>
  return %d : vector<16x16xf32>
}
