# Finds the serial C library of HDF5 as HDF5C::hdf5. CMake's own FindHDF5 runs compiler wrappers and needs the C
# language enabled, which a C++-only project that uses tribo should not have to do.
include(FindPackageHandleStandardArgs)

find_path(HDF5C_INCLUDE_DIR NAMES hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5C_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
mark_as_advanced(HDF5C_INCLUDE_DIR HDF5C_LIBRARY)

find_package_handle_standard_args(HDF5C
  REQUIRED_VARS HDF5C_LIBRARY HDF5C_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "On Debian and Ubuntu: apt-get install libhdf5-dev")

if(HDF5C_FOUND AND NOT TARGET HDF5C::hdf5)
  add_library(HDF5C::hdf5 UNKNOWN IMPORTED)
  set_target_properties(HDF5C::hdf5 PROPERTIES IMPORTED_LOCATION "${HDF5C_LIBRARY}"
                                               INTERFACE_INCLUDE_DIRECTORIES "${HDF5C_INCLUDE_DIR}")
endif()
