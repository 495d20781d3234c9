# Compiler settings common to the library, the tool, the tests and the benchmarks.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(CCACHE_PROGRAM ccache)
  mark_as_advanced(CCACHE_PROGRAM)
  if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
    if(TRIBO_PRECOMPILE)
      # What ccache asks for before it keeps files that use precompiled headers; none of ours uses __TIME__.
      list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros)
    endif()
  endif()
endif()

function(tribo_configure_target target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow)

  # errno of sqrt & co. is never read, and keeping it costs a branch per call. Anything that lets the compiler
  # reorder or drop floating-point operations (-ffast-math) stays off: the certificate relies on NaN and on rounding.
  target_compile_options(${target} PRIVATE -fno-math-errno)

  if(TRIBO_NATIVE)
    # PUBLIC for speed alone (TriboEigenAlignment.cmake keeps layouts the same): of an inline function of Eigen that
    # the library and a program both have, the linker keeps the program's. Multiply-adds may be fused here, so the last
    # bits differ from the portable build; they still agree between runs and thread counts.
    target_compile_options(${target} PUBLIC -march=native)
  else()
    # Whether a*b + c is fused depends on the instruction set; unfused gives the same bits on every machine.
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()

  # Bounds checks of the standard containers wherever assertions are on.
  target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

  if(TRIBO_SANITIZE)
    # -fno-sanitize-recover: an error of the undefined-behaviour sanitizer ends the program, so that a test fails.
    target_compile_options(${target} PRIVATE -fsanitize=${TRIBO_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${TRIBO_SANITIZE})
  endif()

  # A good part of the time of a build is spent on reading the same headers. The presets debug and native go without, so
  # that they notice an #include that is missing.
  if(TRIBO_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <Eigen/Dense> <algorithm> <cmath> <functional> <limits> <memory> <span>
                                                <string> <vector> <fmt/format.h> ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()
