# Finds cpp-httplib as Httplib::httplib: Debian's, split into a header and a shared library, or the header alone. The library
# is compiled with TLS and compression; the header must be told so, since its classes have other members then.
include(FindPackageHandleStandardArgs)

find_path(Httplib_INCLUDE_DIR NAMES httplib.h)
find_library(Httplib_LIBRARY NAMES cpp-httplib)
mark_as_advanced(Httplib_INCLUDE_DIR Httplib_LIBRARY)

find_package_handle_standard_args(Httplib
  REQUIRED_VARS Httplib_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "On Debian and Ubuntu: apt-get install libcpp-httplib-dev")

if(Httplib_FOUND AND NOT TARGET Httplib::httplib)
  if(Httplib_LIBRARY)
    add_library(Httplib::httplib UNKNOWN IMPORTED)
    set_target_properties(Httplib::httplib PROPERTIES
      IMPORTED_LOCATION "${Httplib_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${Httplib_INCLUDE_DIR}"
      INTERFACE_COMPILE_DEFINITIONS "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
  else()
    add_library(Httplib::httplib INTERFACE IMPORTED)
    set_target_properties(Httplib::httplib PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Httplib_INCLUDE_DIR}")
  endif()
endif()
