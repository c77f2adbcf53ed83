//===- Ring.cpp - rings of io_uring ---------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Ring.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace drawloom::runtime::offload {

/// Requests that are given to the kernel at once.
static constexpr unsigned entries = 64;
/// Answers that wait to be taken; the kernel keeps more aside.
static constexpr unsigned answers = 1024;

int makeRing(io_uring &ring, bool single, bool disabled) {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_CQSIZE;
  if (single)
    parameters.flags |= IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
  if (disabled)
    parameters.flags |= IORING_SETUP_R_DISABLED;
  parameters.cq_entries = answers;
  int code = io_uring_queue_init_params(entries, &ring, &parameters);
  // Waiting with an end came with 5.11, and with it all else that is needed.
  if (code == 0 && !(parameters.features & IORING_FEAT_EXT_ARG)) {
    io_uring_queue_exit(&ring);
    return -ENOSYS;
  }
  return code;
}

int tryRing(bool single) {
  io_uring ring;
  int code = makeRing(ring, single, true);
  if (code < 0)
    return code;
  // Some sandboxes forbid what this needs, and nothing else.
  code = io_uring_enable_rings(&ring);
  if (code < 0) {
    io_uring_queue_exit(&ring);
    return code;
  }
  void *memory = std::aligned_alloc(4096, 8192);
  int file = ::memfd_create("drawloom-offload", MFD_CLOEXEC);
  auto *written = static_cast<unsigned char *>(memory);
  auto run = [&](bool isWrite, unsigned char *page) {
    io_uring_sqe *request = io_uring_get_sqe(&ring);
    if (isWrite)
      io_uring_prep_write(request, file, page, 4096, 0);
    else
      io_uring_prep_read(request, file, page, 4096, 0);
    int given = io_uring_submit(&ring);
    io_uring_cqe *answer = nullptr;
    int failure = given < 0 ? given : io_uring_wait_cqe(&ring, &answer);
    if (failure < 0)
      return failure;
    int result = answer->res;
    io_uring_cqe_seen(&ring, answer);
    return result < 0 ? result : result == 4096 ? 0 : -EIO;
  };
  if (file < 0 || !memory) {
    code = file < 0 ? -errno : -ENOMEM;
  } else {
    std::memset(written, 0x5a, 4096);
    std::memset(written + 4096, 0, 4096);
    code = run(true, written);
    if (code == 0)
      code = run(false, written + 4096);
    if (code == 0 && std::memcmp(written, written + 4096, 4096) != 0)
      code = -EIO;
  }
  std::free(memory);
  if (file >= 0)
    ::close(file);
  io_uring_queue_exit(&ring);
  return code;
}

std::string refusalOfRings(int code) {
  switch (-code) {
  case ENOSYS:
    return "the kernel has none, or is older than Linux 5.11";
  case EPERM:
  case EACCES:
    return "this process may not have one; a sandbox (seccomp) or the setting "
           "kernel.io_uring_disabled forbids it";
  case ENOMEM:
    return "there is no memory for one; the limit of locked memory (ulimit -l) "
           "may be too low";
  default:
    return std::strerror(-code);
  }
}

} // namespace drawloom::runtime::offload
