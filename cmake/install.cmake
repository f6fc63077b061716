# What `cmake --install` puts where. The tree may be moved afterwards.
include(CMakePackageConfigHelpers)
set(KR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/krait)
set(KR_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET krait_static)
    install(TARGETS krait_static krait_shared EXPORT krait_targets)
    install(DIRECTORY include/krait DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

    install(EXPORT krait_targets NAMESPACE krait:: FILE krait-targets.cmake DESTINATION ${KR_PACKAGE_DIR})
    configure_package_config_file(cmake/krait-config.cmake.in krait-config.cmake
        INSTALL_DESTINATION ${KR_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
    write_basic_package_version_file(krait-config-version.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/krait-config.cmake ${PROJECT_BINARY_DIR}/krait-config-version.cmake
        DESTINATION ${KR_PACKAGE_DIR})

    file(RELATIVE_PATH KR_PC_TO_PREFIX /prefix/${KR_PC_DIR} /prefix)
    string(REGEX REPLACE "/$" "" KR_PC_TO_PREFIX "${KR_PC_TO_PREFIX}")
    configure_file(cmake/krait.pc.in krait.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/krait.pc DESTINATION ${KR_PC_DIR})
endif()

if(TARGET krait)
    install(TARGETS krait)
endif()
if(TARGET krait-lab)
    get_property(drivers GLOBAL PROPERTY KR_DRIVERS)
    install(TARGETS krait-lab)
    install(TARGETS ${drivers} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/krait/drivers)
    get_property(tables GLOBAL PROPERTY KR_TABLES)
    install(FILES ${tables} DESTINATION ${CMAKE_INSTALL_LIBDIR}/krait/drivers)
endif()
if(TARGET manual)
    install(FILES ${KR_MANUAL_DIR}/krait.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    if(TARGET krait-lab)
        install(FILES ${KR_MANUAL_DIR}/krait-lab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    endif()
    install(FILES ${KR_MANUAL_DIR}/krait.bash RENAME krait
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${KR_MANUAL_DIR}/_krait DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${KR_MANUAL_DIR}/krait.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Laid out as in the source, so that links between pages hold.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
