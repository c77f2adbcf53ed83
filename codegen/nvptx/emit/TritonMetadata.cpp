//===- TritonMetadata.cpp - what Triton's loader reads --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/TritonMetadata.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace drawloom::nvptx {

json::Object tritonMetadata(const CompiledKernel &kernel,
                            const Architecture &architecture, StringRef hash) {
  int64_t capability = architecture.capability;
  json::Object target{
      {"backend", "cuda"}, {"arch", capability}, {"warp_size", 32}};
  // Options of a compiler that did not run are its defaults; Triton's readers
  // expect the keys.
  return json::Object{
      {"hash", hash},
      {"target", std::move(target)},
      {"num_warps", kernel.info.threads / 32},
      {"num_ctas", 1},
      {"num_stages", 1},
      {"warp_size", 32},
      {"maxnreg", nullptr},
      {"ptx_version", architecture.ptxVersion},
      {"ptx_options", nullptr},
      {"ir_override", nullptr},
      {"enable_fp_fusion", false},
      {"enable_reflect_ftz", true},
      {"launch_cooperative_grid", false},
      {"launch_pdl", false},
      {"supported_fp8_dtypes", json::Array{}},
      {"deprecated_fp8_dot_operand_dtypes", json::Array{}},
      {"default_dot_input_precision", "ieee"},
      {"allowed_dot_input_precisions", json::Array{"ieee"}},
      {"max_num_imprecise_acc_default", 0},
      {"extern_libs", json::Array{}},
      {"debug", false},
      {"backend_name", "cuda"},
      {"sanitize_overflow", false},
      {"arch", "sm" + utostr(architecture.capability)},
      {"instrumentation_mode", ""},
      {"triton_version", "3.6.0"},
      {"tensordesc_meta", json::Array{}},
      {"shared", kernel.info.sharedBytes},
      {"tmem_size", 0},
      {"global_scratch_size", 0},
      {"global_scratch_align", 1},
      {"profile_scratch_size", 0},
      {"profile_scratch_align", 1},
      {"cluster_dims", json::Array{1, 1, 1}},
      {"name", kernel.info.name},
  };
}

json::Object tritonGroup(ArrayRef<std::string> names) {
  json::Object children;
  for (const std::string &name : names)
    children[name] = name;
  return json::Object{{"child_paths", std::move(children)}};
}

} // namespace drawloom::nvptx
