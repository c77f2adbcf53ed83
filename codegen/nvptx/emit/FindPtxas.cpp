//===- FindPtxas.cpp - where NVIDIA's assembler may be --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Ptxas.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cstdlib>

using namespace llvm;

namespace drawloom::nvptx {

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::string append(const Twine &folder, const Twine &a,
                          const Twine &b = "") {
  SmallString<256> path;
  folder.toVector(path);
  sys::path::append(path, a, b);
  return path.str().str();
}

/// The site-packages of the Python that lives in `prefix`: one for each version
/// of Python that has been there.
static std::vector<std::string> sitePackages(StringRef prefix) {
  std::vector<std::string> folders;
  for (const char *lib : {"lib", "lib64", "local/lib"}) {
    std::error_code error;
    for (sys::fs::directory_iterator entry(append(prefix, lib), error), end;
         entry != end && !error; entry.increment(error))
      if (sys::path::filename(entry->path()).starts_with("python3"))
        for (const char *name : {"site-packages", "dist-packages"}) {
          std::string folder = append(entry->path(), name);
          if (sys::fs::is_directory(folder))
            folders.push_back(folder);
        }
  }
  // The order of a folder's entries is the file system's.
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// The folder above the one of the first python3 on PATH. Links stay: in a
/// virtual environment the program is a link to the one it was made with.
static std::string pythonPrefix() {
  SmallVector<StringRef> folders;
  std::string path = environment("PATH");
  StringRef(path).split(folders, ':');
  for (StringRef folder : folders)
    if (!folder.empty() && sys::fs::can_execute(append(folder, "python3")))
      return sys::path::parent_path(folder).str();
  return "";
}

static void addPackages(StringRef prefix, StringRef description,
                        std::vector<PtxasPlace> &places) {
  // NVIDIA's packages of CUDA 12 and 13, then Triton's two: the second is newer
  // and knows architectures that the first does not.
  for (const std::string &site : sitePackages(prefix))
    for (const char *inside :
         {"nvidia/cuda_nvcc/bin/ptxas", "nvidia/cu13/bin/ptxas",
          "triton/backends/nvidia/bin/ptxas",
          "triton/backends/nvidia/bin/ptxas-blackwell"})
      places.push_back({append(site, inside), description.str()});
}

std::vector<PtxasPlace> ptxasPlaces() {
  std::vector<PtxasPlace> places;
  if (std::string path = environment("DRAWLOOM_PTXAS"); !path.empty()) {
    places.push_back({path, "$DRAWLOOM_PTXAS"});
    return places;
  }
  SmallVector<StringRef> folders;
  std::string path = environment("PATH");
  StringRef(path).split(folders, ':');
  for (StringRef folder : folders)
    if (!folder.empty())
      places.push_back({append(folder, "ptxas"), "PATH"});
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string folder = environment(name); !folder.empty())
      places.push_back(
          {append(folder, "bin", "ptxas"), std::string("$") + name});
  places.push_back({"/usr/local/cuda/bin/ptxas", "CUDA's own folder"});
  if (std::string prefix = environment("VIRTUAL_ENV"); !prefix.empty())
    addPackages(prefix, "Python packages of $VIRTUAL_ENV", places);
  if (std::string prefix = pythonPrefix(); !prefix.empty())
    addPackages(prefix, "Python packages of python3", places);
  return places;
}

} // namespace drawloom::nvptx
