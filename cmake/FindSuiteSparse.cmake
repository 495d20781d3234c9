# Finds the parts of SuiteSparse that tribo can use, as SuiteSparse::amd and, where present, SuiteSparse::cholmod.
include(FindPackageHandleStandardArgs)

find_path(SuiteSparse_INCLUDE_DIR NAMES amd.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparse_config_LIBRARY NAMES suitesparseconfig)
find_library(SuiteSparse_amd_LIBRARY NAMES amd)
find_library(SuiteSparse_cholmod_LIBRARY NAMES cholmod)
mark_as_advanced(SuiteSparse_INCLUDE_DIR SuiteSparse_config_LIBRARY SuiteSparse_amd_LIBRARY
                 SuiteSparse_cholmod_LIBRARY)

find_package_handle_standard_args(SuiteSparse
  REQUIRED_VARS SuiteSparse_amd_LIBRARY SuiteSparse_config_LIBRARY SuiteSparse_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "On Debian and Ubuntu: apt-get install libsuitesparse-dev")

if(SuiteSparse_FOUND)
  foreach(part IN ITEMS amd cholmod)
    if(SuiteSparse_${part}_LIBRARY AND NOT TARGET SuiteSparse::${part})
      add_library(SuiteSparse::${part} UNKNOWN IMPORTED)
      set_target_properties(SuiteSparse::${part} PROPERTIES
        IMPORTED_LOCATION "${SuiteSparse_${part}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${SuiteSparse_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES "${SuiteSparse_config_LIBRARY}")
    endif()
  endforeach()
endif()
