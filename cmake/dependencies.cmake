# What krait is built on. cmocka is looked for by tests/ alone.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
pkg_check_modules(Z3 REQUIRED IMPORTED_TARGET z3)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd>=0.9.74)
set(KR_DEPENDENCIES PkgConfig::Z3 PkgConfig::JANSSON PkgConfig::ZLIB Threads::Threads m ${CMAKE_DL_LIBS})

# The live page of `krait watch`, which is left out where the library is missing. Of the program alone.
set(KR_PROGRAM_DEPENDENCIES ${KR_DEPENDENCIES})
if(KRAIT_HTTP AND MICROHTTPD_FOUND)
    list(APPEND KR_PROGRAM_DEPENDENCIES PkgConfig::MICROHTTPD)
endif()
