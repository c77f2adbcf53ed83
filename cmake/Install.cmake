# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `cmake --install` puts under a prefix, for find_package(Drawloom). Four
# components: `runtime` (the library without LLVM, the headers, the package),
# `compiler` (libdrawloom.so), `tools`, and `development` (headers, ODS files and
# archives of dialects and passes).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Inside the build, targets see the whole source tree; who uses an installed
# library sees its headers.
foreach(library drawloom drawloom_runtime)
  set_target_properties(${library} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ""
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "" INTERFACE_LINK_LIBRARIES "")
  target_include_directories(${library} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()
set_target_properties(drawloom_runtime PROPERTIES EXPORT_NAME runtime)
set(drawloom_tools drawloom-run drawloom-opt drawloom-translate drawloom-reduce drawloom-lsp-server)
set_target_properties(${drawloom_tools} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ""
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "")
set_target_properties(drawloom ${drawloom_tools} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Drawloom")
install(TARGETS drawloom_runtime EXPORT DrawloomRuntimeTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
install(EXPORT DrawloomRuntimeTargets NAMESPACE Drawloom:: DESTINATION "${package}"
  COMPONENT runtime)
install(TARGETS drawloom EXPORT DrawloomCompilerTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT compiler)
install(EXPORT DrawloomCompilerTargets NAMESPACE Drawloom:: DESTINATION "${package}"
  COMPONENT compiler)
install(TARGETS ${drawloom_tools} EXPORT DrawloomToolTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
install(EXPORT DrawloomToolTargets NAMESPACE Drawloom:: DESTINATION "${package}"
  COMPONENT tools)

install(FILES include/drawloom-c/runtime.h include/drawloom-c/drawloom.h include/drawloom-c/graph.h
  include/drawloom-c/offload.h include/drawloom-c/table.h
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/drawloom-c" COMPONENT runtime)
install(FILES include/drawloom/Runtime.h include/drawloom/Drawloom.h
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/drawloom" COMPONENT runtime)
install(FILES include/drawloom/runtime/Abi.h
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/drawloom/runtime" COMPONENT runtime)

# Headers include each other as they do in the tree, below a folder of their own.
get_property(libraries GLOBAL PROPERTY DRAWLOOM_DEVELOPMENT_LIBRARIES)
set(headers "${CMAKE_INSTALL_INCLUDEDIR}/drawloom-mlir")
foreach(library ${libraries})
  target_include_directories(${library} INTERFACE "$<INSTALL_INTERFACE:${headers}>")
endforeach()
install(TARGETS ${libraries} EXPORT DrawloomDevelopmentTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/drawloom-mlir" COMPONENT development)
install(EXPORT DrawloomDevelopmentTargets NAMESPACE Drawloom:: DESTINATION "${package}"
  COMPONENT development)
foreach(folder dialects passes)
  install(DIRECTORY ${folder} DESTINATION "${headers}" COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def")
  install(DIRECTORY "${PROJECT_BINARY_DIR}/${folder}" DESTINATION "${headers}" COMPONENT development
    FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
endforeach()
install(FILES include/drawloom/IndexMath.h DESTINATION "${headers}/drawloom" COMPONENT development)

foreach(component runtime compiler tools development)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component})
endforeach()

configure_package_config_file(cmake/DrawloomConfig.cmake.in
  "${PROJECT_BINARY_DIR}/cmake/DrawloomConfig.cmake" INSTALL_DESTINATION "${package}"
  PATH_VARS headers)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/DrawloomConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/DrawloomConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/DrawloomConfigVersion.cmake"
  DESTINATION "${package}" COMPONENT runtime)
