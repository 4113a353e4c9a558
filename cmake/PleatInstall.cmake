# Install and export, so that find_package(pleat) gives pleat::base, pleat::schedule, pleat::trace, …
include(CMakePackageConfigHelpers)
get_property(PLEAT_LIBRARIES GLOBAL PROPERTY PLEAT_INSTALLED_LIBRARIES)
install(TARGETS ${PLEAT_LIBRARIES} EXPORT pleatTargets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pleat)
install(EXPORT pleatTargets NAMESPACE pleat:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pleat)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/pleatConfig.cmake.in" "${CMAKE_BINARY_DIR}/pleatConfig.cmake"
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pleat)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/pleatConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/pleatConfig.cmake" "${CMAKE_BINARY_DIR}/pleatConfigVersion.cmake"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pleat)
