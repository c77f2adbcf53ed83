//===- MachineCode.cpp - object files loaded into this process ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/MachineCode.h"
#include "drawloom/runtime/CLibrary.h"
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace drawloom::runtime {

MachineCode::~MachineCode() {
  if (memory)
    munmap(memory, size);
}

void *MachineCode::find(std::string_view symbol) const {
  auto found = symbols.find(std::string(symbol));
  return found == symbols.end() ? nullptr : found->second;
}

namespace {
/// Where a part of the image lies: pages of one protection.
enum Region { Code, Constants, Data, regionCount };

struct Placement {
  Region region = Code;
  uint64_t offset = 0; ///< In the region.
  bool loaded = false;
};

/// A jump through an address in memory, `jmp *rip(0)` and the address: calls
/// reach 2 GiB far, and the C library may be further away.
constexpr uint64_t stubBytes = 16;
constexpr unsigned char jump[] = {0xff, 0x25, 0x02, 0x00,
                                  0x00, 0x00, 0x0f, 0x0b};

constexpr uint64_t mostBytes = uint64_t(1) << 30;
} // namespace

class ObjectLoader {
public:
  explicit ObjectLoader(std::string_view object) : object(object) {}
  Result<std::unique_ptr<MachineCode>> load();

private:
  /// `count` structures at `offset` of the file; false where it has not as
  /// many.
  template <typename T>
  bool read(uint64_t offset, uint64_t count, std::vector<T> &into) const {
    if (offset > object.size() || count > (object.size() - offset) / sizeof(T))
      return false;
    into.resize(count);
    if (count > 0) // The file may lie at any address.
      std::memcpy(into.data(), object.data() + offset, count * sizeof(T));
    return true;
  }
  /// The text at an offset of a section of strings.
  std::string text(const Elf64_Shdr &strings, uint64_t at) const {
    if (strings.sh_type != SHT_STRTAB || at >= strings.sh_size)
      return "?";
    std::string_view all = object.substr(strings.sh_offset, strings.sh_size);
    all.remove_prefix(at);
    return std::string(all.substr(0, all.find('\0')));
  }
  static Status damaged(const char *what) {
    return Status::error(std::string("the code is no object file that can be "
                                     "loaded: ") +
                         what);
  }

  Status readSections();
  Status readSymbols();
  Status readRelocations();
  Status layOut();
  Status map(MachineCode &code);
  Status relocate();
  Status protect();

  uint64_t place(Region region, uint64_t bytes, uint64_t alignment) {
    uint64_t at = (sizes[region] + alignment - 1) / alignment * alignment;
    sizes[region] = at + bytes;
    return at;
  }
  char *address(const Placement &at) const {
    return memory + starts[at.region] + at.offset;
  }

  std::string_view object;
  std::vector<Elf64_Shdr> sections;
  std::vector<Placement> places; ///< Of the sections.
  std::vector<Elf64_Sym> symbols;
  size_t symbolTable = 0;       ///< Index of its section; 0: there is none.
  std::vector<void *> external; ///< Of the symbols that are undefined.
  std::vector<bool> wantsSlot, wantsStub;
  std::vector<Placement> slots, stubs; ///< Of the symbols that want them.
  struct Relocations {
    size_t section;
    std::vector<Elf64_Rela> list;
  };
  std::vector<Relocations> relocations;
  uint64_t sizes[regionCount] = {}, starts[regionCount] = {};
  char *memory = nullptr;
  uint64_t total = 0;
};

Status ObjectLoader::readSections() {
  std::vector<Elf64_Ehdr> headers;
  if (!read(0, 1, headers))
    return damaged("it is cut off");
  const Elf64_Ehdr &header = headers.front();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return damaged("it is no ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL ||
      header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return damaged("it is no relocatable one for x86-64");
  if (!read(header.e_shoff, header.e_shnum, sections))
    return damaged("its sections lie outside of it");
  for (const Elf64_Shdr &section : sections)
    if (section.sh_type != SHT_NOBITS &&
        (section.sh_offset > object.size() ||
         section.sh_size > object.size() - section.sh_offset))
      return damaged("a section lies outside of it");
  return {};
}

Status ObjectLoader::readSymbols() {
  for (size_t i = 1; i < sections.size(); ++i) {
    if (sections[i].sh_type != SHT_SYMTAB)
      continue;
    if (symbolTable)
      return damaged("it has two tables of symbols");
    symbolTable = i;
    if (sections[i].sh_link >= sections.size() ||
        !read(sections[i].sh_offset, sections[i].sh_size / sizeof(Elf64_Sym),
              symbols))
      return damaged("its table of symbols");
  }
  external.resize(symbols.size());
  wantsSlot.resize(symbols.size());
  wantsStub.resize(symbols.size());
  auto allowed = cLibrarySymbols();
  std::string unknown;
  for (size_t i = 1; i < symbols.size(); ++i) {
    const Elf64_Sym &symbol = symbols[i];
    std::string name =
        text(sections[sections[symbolTable].sh_link], symbol.st_name);
    unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_TLS || type == STT_GNU_IFUNC ||
        symbol.st_shndx == SHN_COMMON || symbol.st_shndx == SHN_XINDEX)
      return damaged(("'" + name +
                      "' is a kind of symbol that code of "
                      "Drawloom's has not")
                         .c_str());
    if (symbol.st_shndx != SHN_UNDEF) {
      if (symbol.st_shndx < SHN_LORESERVE &&
          (symbol.st_shndx >= sections.size() ||
           symbol.st_value > sections[symbol.st_shndx].sh_size))
        return damaged("a symbol lies outside of its section");
      continue;
    }
    if (name.empty() || name == "_GLOBAL_OFFSET_TABLE_")
      continue;
    for (auto [known, function] : allowed)
      if (known == name)
        external[i] = function;
    if (!external[i])
      unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (!unknown.empty())
    return Status::error("the generated code refers to " + unknown +
                         ", which no program may call");
  return {};
}

/// Bytes that a relocation writes; 0 for a kind that is not known.
static uint64_t widthOf(uint32_t type) {
  switch (type) {
  case R_X86_64_64:
  case R_X86_64_PC64:
    return 8;
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    return 4;
  default:
    return 0;
  }
}

Status ObjectLoader::readRelocations() {
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_RELA && section.sh_type != SHT_REL)
      continue;
    if (section.sh_info >= sections.size())
      return damaged("relocations of no section");
    const Elf64_Shdr &target = sections[section.sh_info];
    if (!(target.sh_flags & SHF_ALLOC))
      continue; // Notes for debuggers.
    Relocations &known = relocations.emplace_back();
    known.section = section.sh_info;
    if (section.sh_type != SHT_RELA || section.sh_link != symbolTable ||
        target.sh_type == SHT_NOBITS ||
        !read(section.sh_offset, section.sh_size / sizeof(Elf64_Rela),
              known.list))
      return damaged("its relocations");
    for (const Elf64_Rela &relocation : known.list) {
      auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
      uint64_t symbol = ELF64_R_SYM(relocation.r_info);
      uint64_t width = widthOf(type);
      if (width == 0)
        return damaged(
            ("relocations of kind " + std::to_string(type) + " are not known")
                .c_str());
      if (symbol >= symbols.size() || relocation.r_offset > target.sh_size ||
          width > target.sh_size - relocation.r_offset)
        return damaged("a relocation lies outside of its section");
      if (type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
          type == R_X86_64_REX_GOTPCRELX)
        wantsSlot[symbol] = true;
      else if (external[symbol] &&
               (type == R_X86_64_PC32 || type == R_X86_64_PLT32))
        wantsStub[symbol] = true;
    }
  }
  return {};
}

Status ObjectLoader::layOut() {
  places.resize(sections.size());
  for (size_t i = 0; i < sections.size(); ++i) {
    const Elf64_Shdr &section = sections[i];
    if (!(section.sh_flags & SHF_ALLOC))
      continue;
    bool writes = section.sh_flags & SHF_WRITE;
    bool executes = section.sh_flags & SHF_EXECINSTR;
    uint64_t alignment = std::max<uint64_t>(section.sh_addralign, 1);
    if (section.sh_flags & SHF_TLS || (writes && executes) ||
        section.sh_type == SHT_INIT_ARRAY || section.sh_type == SHT_FINI_ARRAY)
      return damaged("it has a section of a kind that code of Drawloom's has "
                     "not");
    if (alignment > 4096 || (alignment & (alignment - 1)) != 0 ||
        section.sh_size > mostBytes)
      return damaged("a section's size or alignment");
    Region region = executes ? Code : writes ? Data : Constants;
    places[i] = {region, place(region, section.sh_size, alignment), true};
    if (sizes[region] > mostBytes)
      return damaged("it is larger than calls reach");
  }
  slots.resize(symbols.size());
  stubs.resize(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (wantsSlot[i])
      slots[i] = {Constants, place(Constants, 8, 8), true};
    if (wantsStub[i])
      stubs[i] = {Code, place(Code, stubBytes, stubBytes), true};
  }
  // Each region has pages of its own, and at least one, so that its start is
  // an address.
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (int region = 0; region < regionCount; ++region) {
    starts[region] = total;
    sizes[region] = (sizes[region] + page - 1) / page * page;
    total += sizes[region];
  }
  if (total > mostBytes)
    return damaged("it is larger than calls reach");
  if (total == 0)
    return damaged("it holds no code");
  return {};
}

Status ObjectLoader::map(MachineCode &code) {
  void *mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return Status::error("no memory for " + std::to_string(total) +
                         " bytes of code: " + std::strerror(errno));
  code.memory = memory = static_cast<char *>(mapped);
  code.size = total;
  for (size_t i = 0; i < sections.size(); ++i)
    if (places[i].loaded && sections[i].sh_type != SHT_NOBITS &&
        sections[i].sh_size > 0)
      std::memcpy(address(places[i]), object.data() + sections[i].sh_offset,
                  sections[i].sh_size);
  return {};
}

Status ObjectLoader::relocate() {
  // Addresses of symbols; of one that is nowhere in memory, null.
  std::vector<char *> values(symbols.size());
  for (size_t i = 1; i < symbols.size(); ++i) {
    const Elf64_Sym &symbol = symbols[i];
    if (symbol.st_shndx == SHN_UNDEF)
      values[i] = static_cast<char *>(external[i]);
    else if (symbol.st_shndx < sections.size() &&
             places[symbol.st_shndx].loaded)
      values[i] = address(places[symbol.st_shndx]) + symbol.st_value;
  }
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (slots[i].loaded)
      std::memcpy(address(slots[i]), &values[i], sizeof(char *));
    if (stubs[i].loaded) {
      std::memcpy(address(stubs[i]), jump, sizeof(jump));
      std::memcpy(address(stubs[i]) + sizeof(jump), &values[i], sizeof(char *));
    }
  }
  for (const Relocations &known : relocations)
    for (const Elf64_Rela &relocation : known.list) {
      uint64_t symbol = ELF64_R_SYM(relocation.r_info);
      auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
      if (!values[symbol])
        return damaged("a relocation to what is not in memory");
      char *at = address(places[known.section]) + relocation.r_offset;
      char *to = slots[symbol].loaded && type != R_X86_64_PC32 &&
                         type != R_X86_64_PLT32 && widthOf(type) == 4
                     ? address(slots[symbol])
                 : stubs[symbol].loaded && widthOf(type) == 4
                     ? address(stubs[symbol])
                     : values[symbol];
      // In unsigned arithmetic, which wraps; the addends are the file's.
      uint64_t value = reinterpret_cast<uint64_t>(to) +
                       static_cast<uint64_t>(relocation.r_addend);
      if (type != R_X86_64_64)
        value -= reinterpret_cast<uint64_t>(at);
      if (widthOf(type) == 4) {
        auto narrow = static_cast<int32_t>(value);
        if (static_cast<uint64_t>(static_cast<int64_t>(narrow)) != value)
          return damaged("a relocation reaches too far");
        std::memcpy(at, &narrow, sizeof(narrow));
      } else {
        std::memcpy(at, &value, sizeof(value));
      }
    }
  return {};
}

Status ObjectLoader::protect() {
  static constexpr int protections[regionCount] = {
      PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (int region = 0; region < regionCount; ++region)
    if (sizes[region] > 0 && mprotect(memory + starts[region], sizes[region],
                                      protections[region]) != 0)
      return Status::error(std::string("the system does not let this process "
                                       "run new code: ") +
                           std::strerror(errno));
  return {};
}

Result<std::unique_ptr<MachineCode>> ObjectLoader::load() {
  std::unique_ptr<MachineCode> code(new MachineCode);
  Status status = readSections();
  if (status.ok())
    status = readSymbols();
  if (status.ok())
    status = readRelocations();
  if (status.ok())
    status = layOut();
  if (status.ok())
    status = map(*code);
  if (status.ok())
    status = relocate();
  if (status.ok())
    status = protect();
  if (!status.ok())
    return status;
  for (const Elf64_Sym &symbol : symbols)
    if (ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
        symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < sections.size() &&
        places[symbol.st_shndx].loaded)
      code->symbols[text(sections[sections[symbolTable].sh_link],
                         symbol.st_name)] =
          address(places[symbol.st_shndx]) + symbol.st_value;
  return code;
}

Result<std::unique_ptr<MachineCode>>
MachineCode::load(std::string_view object) {
  return ObjectLoader(object).load();
}

} // namespace drawloom::runtime
