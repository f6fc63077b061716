# Language, warnings and instrumentation, the same for every target.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g") # assertions stay on
if(KRAIT_SANITIZE)
    set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1") # compiled in half the time, and reports still have their lines
endif()

add_compile_options(
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
    -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef)
add_compile_definitions(_POSIX_C_SOURCE=200809L)

# Where the program looks for plug-ins, seen from its own folder.
file(RELATIVE_PATH KR_PLUGIN_FOLDER /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR}/krait/plugins)
# And krait-lab for its drivers.
file(RELATIVE_PATH KR_DRIVER_FOLDER /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR}/krait/drivers)

if(KRAIT_WERROR)
    add_compile_options(-Werror)
endif()
if(KRAIT_DEBUG)
    add_compile_definitions(KR_DEBUG=1)
endif()
if(KRAIT_DEBUG_ARENA)
    add_compile_definitions(KR_DEBUG_ARENA=1)
endif()
if(KRAIT_SANITIZE)
    add_compile_options(-fsanitize=${KRAIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${KRAIT_SANITIZE})
endif()
if(KRAIT_LIBFUZZER)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(KRAIT_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()
if(KRAIT_IPO)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # Fat objects: the installed libkrait.a must link with any tool chain.
        set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -ffat-lto-objects)
        set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    else()
        message(STATUS "KRAIT_IPO: only used with GCC, whose objects stay ordinary ones")
    endif()
endif()
