//===- Html.h - parts of a report's page ----------------------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_REPORT_HTML_H
#define DRAWLOOM_LIB_REPORT_HTML_H

#include "lib/Report/Report.h"
#include "llvm/Support/raw_ostream.h"

namespace drawloom::report {

/// The text with `<`, `>`, `&` and quotes as HTML writes them; bytes that are
/// no UTF-8 replaced.
std::string escape(llvm::StringRef text);

/// About three digits and no exponent: "9.55", "1172".
std::string figure(double value);
/// "67 %".
std::string percent(double part);

/// The roofs and a dot for each kernel whose operations and bytes are known,
/// both axes logarithmic, as an <svg> of that many CSS pixels. `kind` becomes
/// its class. The report must have roofs.
void drawRoofline(llvm::raw_ostream &out, const Report &report,
                  llvm::StringRef kind, double width, double height);

} // namespace drawloom::report

#endif // DRAWLOOM_LIB_REPORT_HTML_H
