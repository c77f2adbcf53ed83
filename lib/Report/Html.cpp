//===- Html.cpp - a report as a page --------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Report.h"

using namespace llvm;

namespace drawloom::report {

/// Page.html, as a literal.
static constexpr StringLiteral page =
#include "lib/Report/Page.inc"
    ;

std::string toHtml(const Report &report) {
  auto [before, after] = page.split("@REPORT@");
  std::string text = before.str();
  // In JSON, `<` only stands in strings. There it could begin "</script>" or
  // "<!--", at which a browser ends the object or takes code for a part of it.
  for (char character : toJson(report))
    if (character == '<')
      text += "\\u003c";
    else
      text += character;
  return text + after.str();
}

} // namespace drawloom::report
