//===- FaultRules.cpp - what is to go wrong, as text ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/FaultDevice.h"
#include <cerrno>
#include <cstdlib>

namespace drawloom::runtime::offload {

bool FaultRule::applies() {
  ++count;
  switch (when) {
  case When::Each:
    return true;
  case When::Nth:
    return count == number;
  case When::Every:
    return count % number == 0;
  case When::Chance:
    return random() % number == 0;
  }
  return false;
}

static std::string trimmed(const std::string &text) {
  size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

static std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    size_t end = text.find(at, begin);
    parts.push_back(trimmed(
        text.substr(begin, end == std::string::npos ? end : end - begin)));
    if (end == std::string::npos)
      return parts;
    begin = end + 1;
  }
}

/// A number of decimal digits.
static bool parseNumber(const std::string &text, uint64_t &number) {
  if (text.empty() || text.size() > 18 ||
      text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  number = std::strtoull(text.c_str(), nullptr, 10);
  return true;
}

static bool parseErrno(const std::string &text, uint64_t &number) {
  static const struct {
    const char *name;
    int number;
  } names[] = {{"EIO", EIO},
               {"ENOSPC", ENOSPC},
               {"EDQUOT", EDQUOT},
               {"EFBIG", EFBIG},
               {"EINTR", EINTR},
               {"EAGAIN", EAGAIN},
               {"EINVAL", EINVAL},
               {"ENOMEM", ENOMEM},
               {"ENODEV", ENODEV},
               {"EROFS", EROFS},
               {"EACCES", EACCES},
               {"EREMOTEIO", EREMOTEIO},
               {"ECANCELED", ECANCELED}};
  for (const auto &known : names)
    if (text == known.name) {
      number = static_cast<uint64_t>(known.number);
      return true;
    }
  return parseNumber(text, number) && number > 0 && number < 4096;
}

/// What drawloom-c/offload.h describes.
using Do = FaultRule::Do;
static const struct {
  const char *name;
  Do action;
  bool hasValue;
} actions[] = {{"errno", Do::Errno, true},     {"short", Do::Short, true},
               {"flip", Do::Flip, true},       {"drop", Do::Drop, false},
               {"torn", Do::Torn, true},       {"stale", Do::Stale, false},
               {"swap", Do::Swap, false},      {"delay", Do::Delay, true},
               {"never", Do::Never, false},    {"twice", Do::Twice, false},
               {"reorder", Do::Reorder, true}, {"kill", Do::Kill, false}};

static bool parseAction(const std::string &text, FaultRule &rule) {
  size_t space = text.find(' ');
  std::string name = text.substr(0, space);
  std::string value =
      space == std::string::npos ? "" : trimmed(text.substr(space));
  for (const auto &known : actions) {
    if (name != known.name)
      continue;
    rule.action = known.action;
    if (rule.action == Do::Errno)
      return parseErrno(value, rule.value);
    return known.hasValue ? parseNumber(value, rule.value) : value.empty();
  }
  return false;
}

static bool parseField(const std::string &name, const std::string &value,
                       FaultRule &rule) {
  using When = FaultRule::When;
  if (name == "op") {
    rule.opens = value == "open";
    rule.writes = value == "write";
    rule.reads = value == "read";
    return rule.opens || rule.writes || rule.reads;
  }
  if (name == "nth" || name == "every") {
    rule.when = name == "nth" ? When::Nth : When::Every;
    return parseNumber(value, rule.number) && rule.number > 0;
  }
  if (name == "p") {
    rule.when = When::Chance;
    std::vector<std::string> parts = split(value, ',');
    uint64_t seed = 0;
    if (parts.size() != 2 || parts[0].substr(0, 2) != "1/" ||
        !parseNumber(parts[0].substr(2), rule.number) ||
        !parseNumber(parts[1], seed))
      return false;
    rule.random.seed(seed);
    return rule.number > 0;
  }
  return name == "do" && parseAction(value, rule);
}

static std::string namesOfActions() {
  std::string names;
  for (const auto &known : actions)
    names += (names.empty() ? "{" : ", ") + std::string(known.name);
  return names + "}";
}

Result<std::vector<FaultRule>> parseFaultRules(const std::string &text) {
  std::vector<FaultRule> rules;
  for (const std::string &part : split(text, '|')) {
    if (part.empty())
      continue;
    FaultRule rule;
    bool acts = false;
    for (const std::string &field : split(part, ';')) {
      size_t equals = field.find('=');
      std::string name = field.substr(0, equals);
      if (equals == std::string::npos ||
          !parseField(name, field.substr(equals + 1), rule))
        return Status::error(
            "'" + field + "' in the faults '" + part +
            "' is none of op, nth, every, p and do=" + namesOfActions() +
            " with what drawloom-c/offload.h gives them");
      acts |= name == "do";
    }
    if (!acts || (rule.opens && rule.action != FaultRule::Do::Errno &&
                  rule.action != FaultRule::Do::Kill))
      return Status::error("the faults '" + part + "' " +
                           (acts ? "can do nothing but errno or kill to an open"
                                 : "do not say what to do: do=..."));
    rules.push_back(rule);
  }
  return rules;
}

} // namespace drawloom::runtime::offload
