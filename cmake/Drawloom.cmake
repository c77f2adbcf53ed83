# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One place for compiler flags, the MLIR package and the three kinds of target
# that the tree is made of: dialects, libraries, tools.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# mlir-doc writes below this folder; without it, below the file-system root.
set(MLIR_BINARY_DIR "${CMAKE_BINARY_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The shared libraries that are installed carry the version of their C interface in their names: what was linked with
# one version does not start with the library of another.
set(header "${PROJECT_SOURCE_DIR}/include/drawloom-c/runtime.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
file(STRINGS "${header}" DRAWLOOM_API_VERSION REGEX "^#define DRAWLOOM_API_VERSION [0-9]+$")
string(REGEX REPLACE "^.* " "" DRAWLOOM_API_VERSION "${DRAWLOOM_API_VERSION}")

set(DRAWLOOM_TABLEGEN_INCLUDES "-I${PROJECT_SOURCE_DIR}")
foreach(folder ${MLIR_INCLUDE_DIRS})
  list(APPEND DRAWLOOM_TABLEGEN_INCLUDES "-I${folder}")
endforeach()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache refuses precompiled headers unless told that their time stamps and
  # the macros inside them do not matter. Paths below the source tree are hashed
  # relative to it, so that clones share what they compile.
  set(DRAWLOOM_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_PCH_EXTSUM=1 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${DRAWLOOM_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DRAWLOOM_LAUNCHER})
endif()

# lld links against libMLIR.so in a fraction of the time that GNU ld takes.
find_program(DRAWLOOM_LLD NAMES ld.lld PATHS "${LLVM_TOOLS_BINARY_DIR}" NO_DEFAULT_PATH)
if(DRAWLOOM_LLD)
  add_link_options(-fuse-ld=lld "-B${LLVM_TOOLS_BINARY_DIR}")
endif()

# The cache tells compilers apart by it.
add_link_options(-Wl,--build-id=sha1)

# The same flag for libraries and tools, or they could not share one precompiled
# header.
add_compile_options(-fPIC)
add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside LLVM's own inlined containers.
  add_compile_options(-Wno-maybe-uninitialized -Wno-dangling-pointer
    -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-restrict -Wno-free-nonheap-object
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-class-memaccess>)
else()
  # clang reports what libstdc++ 12 deprecates inside its own stable_sort; g++
  # reports our own uses of what is deprecated.
  add_compile_options(-Wno-deprecated-declarations)
  # ccache keeps what does not depend on when a precompiled header was made, and
  # knows this option to name one.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()
# clang's `function` reads the word in front of a function that is called by
# pointer, where code that we generate has none. g++ does not know it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(DRAWLOOM_CALLS_OF_MACHINE_CODE -fno-sanitize=function)
endif()
if(DRAWLOOM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr
    ${DRAWLOOM_CALLS_OF_MACHINE_CODE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(DRAWLOOM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
# Debian builds LLVM with RTTI and without exceptions.
set(DRAWLOOM_CXX_FLAGS $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

# The headers that nearly every MLIR source file needs, parsed once.
add_library(DrawloomPch STATIC "${CMAKE_CURRENT_LIST_DIR}/Pch.cpp")
target_include_directories(DrawloomPch SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(DrawloomPch PRIVATE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}")
target_compile_options(DrawloomPch PRIVATE ${DRAWLOOM_CXX_FLAGS})
target_precompile_headers(DrawloomPch PRIVATE <cmake/Pch.h>)
# What ccache takes for the contents of the precompiled header, which hold paths
# of this build: the list of headers and the package that they are of.
set(pch "${CMAKE_CURRENT_LIST_DIR}/Pch.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${pch}")
file(SHA256 "${pch}" pch)
file(TIMESTAMP "${MLIR_CMAKE_DIR}/MLIRConfig.cmake" package)
foreach(extension gch pch)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/CMakeFiles/DrawloomPch.dir/cmake_pch.hxx.${extension}.sum"
    CONTENT "${pch} ${LLVM_PACKAGE_VERSION} ${package}")
endforeach()

# What our libraries take of MLIR and LLVM: the shared libraries, or, where what
# is linked has the property DRAWLOOM_STANDALONE, members of their archives. Never
# both: a dialect would be in one process twice.
file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
find_library(DRAWLOOM_LIBZ libz.a)
find_library(DRAWLOOM_LIBZSTD libzstd.a)
add_library(DrawloomStaticLlvm INTERFACE)
target_link_libraries(DrawloomStaticLlvm INTERFACE -Wl,--start-group ${archives} -Wl,--end-group
  ${DRAWLOOM_LIBZSTD} ${DRAWLOOM_LIBZ})
set(standalone "$<BOOL:$<TARGET_PROPERTY:DRAWLOOM_STANDALONE>>")
set(DRAWLOOM_LLVM "$<$<NOT:${standalone}>:MLIR;LLVM>" "$<${standalone}:DrawloomStaticLlvm>")

# Common settings of every target that sees LLVM.
function(drawloom_configure target)
  target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS};${MLIR_INCLUDE_DIRS}>")
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PROJECT_SOURCE_DIR}/include;${PROJECT_BINARY_DIR}>")
  target_compile_options(${target} PRIVATE ${DRAWLOOM_CXX_FLAGS})
  target_precompile_headers(${target} REUSE_FROM DrawloomPch)
endfunction()

# drawloom_add_library(Name sources... LINK libs... DEPENDS targets...)
function(drawloom_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  drawloom_configure(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} ${DRAWLOOM_LLVM})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # What others build on is installed (cmake/Install.cmake).
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  if(folder MATCHES "^(dialects|passes)/")
    set_property(GLOBAL APPEND PROPERTY DRAWLOOM_DEVELOPMENT_LIBRARIES ${name})
  endif()
endfunction()

# All headers that are generated from ODS.
add_custom_target(drawloom-headers)
function(drawloom_add_generated target)
  add_public_tablegen_target(${target})
  add_dependencies(drawloom-headers ${target})
endfunction()

# drawloom_add_dialect(Kan dialect-name sources... LINK libs...)
#
# Expects <Name>Ops.td in the current folder, which also includes the dialect's
# definition, and declares library Drawloom<Name>. ATTRIBUTES, ENUMS and TYPES: it
# has some.
function(drawloom_add_dialect name dialect)
  cmake_parse_arguments(ARG "ATTRIBUTES;ENUMS;TYPES" "" "LINK" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  set(includes ${DRAWLOOM_TABLEGEN_INCLUDES})
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls ${includes})
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs ${includes})
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${dialect} ${includes})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect} ${includes})
  if(ARG_ATTRIBUTES)
    mlir_tablegen(${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect} ${includes})
    mlir_tablegen(${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect} ${includes})
  endif()
  if(ARG_TYPES)
    mlir_tablegen(${name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect} ${includes})
    mlir_tablegen(${name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect} ${includes})
  endif()
  if(ARG_ENUMS)
    mlir_tablegen(${name}Enums.h.inc -gen-enum-decls ${includes})
    mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs ${includes})
  endif()
  drawloom_add_generated(Drawloom${name}IncGen)
  drawloom_add_library(Drawloom${name} ${ARG_UNPARSED_ARGUMENTS}
    LINK DrawloomInterfaces ${ARG_LINK})
  add_dependencies(Drawloom${name} Drawloom${name}IncGen)
  # Everything that links the dialect includes its generated headers.
  target_link_libraries(Drawloom${name} PUBLIC DrawloomInterfaces)
  drawloom_add_doc(${name} ${name}Ops.td "dialects/${name}.md" -gen-dialect-doc -dialect=${dialect})
endfunction()

# drawloom_add_passes(Group): Passes.td in the current folder.
function(drawloom_add_passes group)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${group} ${DRAWLOOM_TABLEGEN_INCLUDES})
  drawloom_add_generated(Drawloom${group}PassIncGen)
  drawloom_add_doc(${group}Passes Passes.td "passes/${group}.md" -gen-pass-doc)
endfunction()

# Reference pages are generated from ODS into <build>/docs/reference.
add_custom_target(drawloom-doc)
function(drawloom_add_doc name td output)
  set(file "${PROJECT_BINARY_DIR}/docs/reference/${output}")
  get_filename_component(folder "${file}" DIRECTORY)
  add_custom_command(OUTPUT "${file}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND "${MLIR_TABLEGEN_EXE}" ${ARGN} "${CMAKE_CURRENT_SOURCE_DIR}/${td}"
            ${DRAWLOOM_TABLEGEN_INCLUDES} -o "${file}"
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${td}" VERBATIM)
  add_custom_target(drawloom-doc-${name} DEPENDS "${file}")
  add_dependencies(drawloom-doc drawloom-doc-${name})
endfunction()

# drawloom_add_tool(name sources... LINK libs...)
function(drawloom_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  drawloom_configure(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ${DRAWLOOM_LLVM})
  # Plugins find in the tool what they use of Drawloom: with a copy of their own, ops would have two identities. In
  # libdrawloom.so they find the same (lib/Embed/exports.map).
  foreach(symbols _ZN8drawloom _ZNK8drawloom _ZN4mlir6detail14TypeIDResolverIN8drawloom
                  _ZZN4mlir6detail14TypeIDResolver _ZGVZN4mlir6detail14TypeIDResolver)
    target_link_options(${name} PRIVATE "-Wl,--export-dynamic-symbol=${symbols}*")
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()
