// RUN: drawloom-translate --mlir-to-assembly --isa=amx %s -o %t.amx.s
// RUN: FileCheck %s --check-prefix=AMX < %t.amx.s
// RUN: drawloom-translate --mlir-to-assembly --isa=avx512bf16 %s -o %t.bf16.s
// RUN: sed -n '/vdpbf16ps/,/\tj/p' %t.bf16.s > %t.loop
// RUN: grep -c vdpbf16ps %t.loop | FileCheck %s --check-prefix=BF16
// RUN: not grep '(%rsp)' %t.loop
// RUN: drawloom-run %s --isa=amx-replaced --random --compare=interpreter
// RUN: %if avx512bf16 %{ drawloom-run %s --isa=avx512bf16 --random --compare=interpreter %}
// RUN: %if amx %{ drawloom-run %s --isa=amx --random --compare=interpreter %}

// Four sums start as zero. A step loads two tiles of each operand and
// multiplies four times (LLVM repeats it four times); nothing else passes
// between tiles and memory until the sums are complete.
// AMX-COUNT-4: tilezero
// AMX: [[LOOP:.LBB[0-9_]+]]:
// AMX-NOT: {{tilestored|\(%rsp}}
// AMX-COUNT-16: tdpbf16ps
// AMX-NOT: tdpbf16ps
// AMX: j{{[a-z]+}} [[LOOP]]
// AMX-COUNT-4: tilestored

// 8 x 32 sums are 16 registers; a step of four pairs takes 64 multiplications,
// and touches no stack.
// BF16: {{^}}64{{$}}
func.func @product(%a: tensor<64x512xbf16>, %b: tensor<512x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul ins(%a, %b : tensor<64x512xbf16>, tensor<512x64xbf16>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
