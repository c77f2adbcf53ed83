//===- OpenLibrary.cpp - libraries that use this one ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library finds its symbols in the program, in what was opened for the whole
// process (RTLD_GLOBAL), and in the libraries that it was opened together with.
// If this code is in a program, a plugin finds it there. libdrawloom.so, which
// Python opens for itself alone, is in none of these places. To open it for the
// whole process would also open libMLIR and libLLVM, in which other libraries
// would then find the symbols of their own LLVM. So libdrawloom.so and the
// plugin are opened together, as the two that an empty library needs.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/OpenLibrary.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/ScopeExit.h"
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace drawloom {

/// Returns the path of the library that this code is part of; "" if it is part
/// of the program.
static std::string ownLibrary() {
  Dl_info info;
  link_map *object = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&openLibrary), &info,
               reinterpret_cast<void **>(&object), RTLD_DL_LINKMAP))
    return "";
  return object->l_name;
}

/// Returns the file of a library that has no code and no symbols, but needs
/// two others.
static std::string libraryThatNeeds(const std::string &first,
                                    const std::string &second) {
  struct {
    Elf64_Ehdr header = {};
    Elf64_Phdr segments[3] = {};
    Elf64_Dyn entries[7] = {};
    Elf64_Sym none = {};
  } image;
  std::string names = std::string(1, '\0') + first + '\0' + second + '\0';
  const uint64_t bytes = sizeof(image) + names.size();

  std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_ident[EI_DATA] = ELFDATA2LSB;
  image.header.e_ident[EI_VERSION] = EV_CURRENT;
  image.header.e_type = ET_DYN;
  image.header.e_machine = EM_X86_64;
  image.header.e_version = EV_CURRENT;
  image.header.e_phoff = offsetof(decltype(image), segments);
  image.header.e_ehsize = sizeof(image.header);
  image.header.e_phentsize = sizeof(image.segments[0]);
  image.header.e_phnum = std::size(image.segments);

  auto segment = [](uint32_t type, uint64_t offset, uint64_t size,
                    uint64_t alignment) {
    Elf64_Phdr segment = {};
    segment.p_type = type;
    segment.p_flags = PF_R | PF_W;
    segment.p_offset = segment.p_vaddr = segment.p_paddr = offset;
    segment.p_filesz = segment.p_memsz = size;
    segment.p_align = alignment;
    return segment;
  };
  image.segments[0] = segment(PT_LOAD, 0, bytes, 4096);
  image.segments[1] = segment(PT_DYNAMIC, offsetof(decltype(image), entries),
                              sizeof(image.entries), alignof(decltype(image)));
  // Without it, the stack would become executable.
  image.segments[2] = segment(PT_GNU_STACK, 0, 0, 16);

  const std::pair<Elf64_Sxword, Elf64_Xword> entries[] = {
      {DT_NEEDED, 1},
      {DT_NEEDED, first.size() + 2},
      {DT_STRTAB, sizeof(image)},
      {DT_STRSZ, names.size()},
      {DT_SYMTAB, offsetof(decltype(image), none)},
      {DT_SYMENT, sizeof(image.none)},
      {DT_NULL, 0}};
  for (size_t i = 0; i < std::size(entries); ++i) {
    image.entries[i].d_tag = entries[i].first;
    image.entries[i].d_un.d_val = entries[i].second;
  }
  return std::string(reinterpret_cast<const char *>(&image), sizeof(image)) +
         names;
}

llvm::Expected<void *> openLibrary(const std::string &path) {
  if (std::string own = ownLibrary(); !own.empty()) {
    std::string both = libraryThatNeeds(own, path);
    int file = memfd_create("drawloom-plugin", MFD_CLOEXEC);
    if (file < 0 || write(file, both.data(), both.size()) !=
                        static_cast<ssize_t>(both.size()))
      return llvm::createStringError(std::strerror(errno));
    // It stays open with the library: the name must not become another's.
    if (!dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                RTLD_NOW | RTLD_LOCAL)) {
      llvm::Error error = llvm::createStringError(dlerror());
      close(file);
      return error;
    }
  }
  if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return library;
  return llvm::createStringError(dlerror());
}

} // namespace drawloom
