# Installation and the exported package: find_package(tribo) gives tribo::core, tribo::sim and tribo::tribo.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tribo")

install(TARGETS tribo_core tribo_sim tribo_all EXPORT tribo-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# The public headers alone; scripts/check-includes sees to it that they include nothing else.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/public_headers.txt" public_headers REGEX "^tribo/")
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
endforeach()
install(EXPORT tribo-targets NAMESPACE tribo:: DESTINATION "${package_dir}")
if(TARGET tribo)
  install(TARGETS tribo RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tribo-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/tribo-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tribo-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tribo-config.cmake" "${PROJECT_BINARY_DIR}/tribo-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindSuiteSparse.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindHDF5C.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindHttplib.cmake"
        DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
