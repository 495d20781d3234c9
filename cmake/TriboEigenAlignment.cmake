# How Eigen aligns memory, pinned for the library and for all who link it.
#
# Eigen takes the alignment of its objects from the vector instructions that a file is compiled for: 16 bytes on plain
# x86-64, 32 with AVX, 64 with AVX-512. It decides the layout of every struct that holds a quaternion, and whether a
# vector is freed by free() or by Eigen's own function. A program compiled with other flags than the library would
# disagree about both. So the values that the library's own flags give become definitions of tribo::core, which
# CMake passes on:
#   EIGEN_MAX_ALIGN_BYTES, EIGEN_MAX_STATIC_ALIGN_BYTES  what Eigen's preprocessor makes of the library's flags
#   EIGEN_MALLOC_ALREADY_ALIGNED=0   memory always comes from Eigen's own function: one that is wider than the
#                                    library's needs more than malloc gives, and frees what the library has allocated
function(tribo_pin_eigen_alignment target)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${configuration}}")
  get_directory_property(directory_options COMPILE_OPTIONS)
  get_target_property(target_options ${target} COMPILE_OPTIONS)
  foreach(option IN LISTS directory_options target_options)
    # Generator expressions are not known yet; none of ours changes the instruction set.
    if(option MATCHES "^-" AND NOT option MATCHES "\\$<")
      list(APPEND flags "${option}")
    endif()
  endforeach()
  get_target_property(eigen Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
  list(TRANSFORM eigen PREPEND "-I")

  set(source "${PROJECT_BINARY_DIR}/generated/eigen_alignment.cpp")
  file(WRITE "${source}" "#include <Eigen/Core>\ntribo_alignment EIGEN_MAX_ALIGN_BYTES EIGEN_MAX_STATIC_ALIGN_BYTES\n")
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" ${flags} ${eigen} -std=c++20 -E -P "${source}"
                  OUTPUT_VARIABLE text ERROR_VARIABLE complaint RESULT_VARIABLE failed)
  if(failed OR NOT text MATCHES "tribo_alignment ([0-9]+) ([0-9]+)")
    message(FATAL_ERROR "tribo: the compiler does not say how Eigen aligns memory:\n${complaint}")
  endif()
  set(bytes ${CMAKE_MATCH_1})
  set(static_bytes ${CMAKE_MATCH_2})
  message(STATUS "Eigen's alignment with the library's flags: ${bytes} bytes")
  target_compile_definitions(${target} PUBLIC EIGEN_MAX_ALIGN_BYTES=${bytes} EIGEN_MAX_STATIC_ALIGN_BYTES=${static_bytes}
                                              EIGEN_MALLOC_ALREADY_ALIGNED=0)
endfunction()
