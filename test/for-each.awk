# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# awk -f for-each.awk M=0,1,3 N=1,5 FILE
#
# Prints the file once for each combination of the values given, with these for
# $M and $N, as parts of one input of drawloom-opt -split-input-file.

BEGIN {
  for (i = 1; i < ARGC; i++)
    if (match(ARGV[i], /^[A-Z]=/)) {
      names[++count] = substr(ARGV[i], 1, 1)
      values[count] = substr(ARGV[i], 3)
      ARGV[i] = ""
    }
}

{ text = text $0 "\n" }

END { expand(1, text) }

function expand(number, text,   parts, copy, i, n) {
  if (number > count) {
    if (printed++)
      print "// -----"
    printf "%s", text
    return
  }
  n = split(values[number], parts, ",")
  for (i = 1; i <= n; i++) {
    copy = text
    gsub("[$]" names[number], parts[i], copy)
    expand(number + 1, copy)
  }
}
