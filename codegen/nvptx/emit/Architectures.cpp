//===- Architectures.cpp - NVIDIA's processors as a table -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Architectures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace drawloom::nvptx {

// Shared memory: the multiprocessor's less the 1,024 bytes that the driver
// keeps of each block.
static const Architecture table[] = {
    {"sm_80", "A100", 80, false, 80, 166912, 255, 65536},
    {"sm_90a", "H100", 90, true, 80, 232448, 255, 65536},
    {"sm_100a", "B200", 100, true, 86, 232448, 255, 65536},
};

ArrayRef<Architecture> architectures() { return table; }

std::string architectureNames() {
  return join(map_range(table, [](const Architecture &a) { return a.name; }),
              ", ");
}

Expected<const Architecture *> findArchitecture(StringRef name) {
  for (const Architecture &architecture : table)
    if (architecture.name == name)
      return &architecture;
  return createStringError("there is no architecture '" + name +
                           "'; there are " + architectureNames());
}

Expected<std::vector<const Architecture *>>
selectArchitectures(StringRef list) {
  std::vector<const Architecture *> chosen;
  if (list == "all") {
    for (const Architecture &architecture : table)
      chosen.push_back(&architecture);
    return chosen;
  }
  SmallVector<StringRef> names;
  list.split(names, ',');
  for (StringRef name : names) {
    Expected<const Architecture *> found = findArchitecture(name.trim());
    if (!found)
      return found.takeError();
    chosen.push_back(*found);
  }
  // Pointers into one array: their order is the table's.
  sort(chosen);
  chosen.erase(llvm::unique(chosen), chosen.end());
  return chosen;
}

} // namespace drawloom::nvptx
