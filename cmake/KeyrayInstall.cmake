# The installed package: the shared library, the command, headers, find_package and pkg-config files, and in
# share/doc/keyray the pages that headers and README name, under the same relative names.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/keyray)

install(TARGETS keyray EXPORT keyrayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS keyray-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/keyray DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
set(repository ${PROJECT_SOURCE_DIR})
install(FILES ${repository}/LICENSE ${repository}/README.md ${repository}/CHANGELOG.md ${repository}/CONTRIBUTING.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${repository}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY ${repository}/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        FILES_MATCHING PATTERN "*.c" PATTERN "demo" EXCLUDE)
install(EXPORT keyrayTargets NAMESPACE keyray:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/keyrayConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/keyrayConfig.cmake INSTALL_DESTINATION ${package_dir})
# As the SOVERSION: below 1.0 a minor version may break, afterwards a major one.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
else()
    set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/keyrayConfigVersion.cmake
                                 COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/keyrayConfig.cmake ${PROJECT_BINARY_DIR}/keyrayConfigVersion.cmake
        DESTINATION ${package_dir})

# Relative to the .pc file, so that the installed tree may be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/keyray.pc.in ${PROJECT_BINARY_DIR}/keyray.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/keyray.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
