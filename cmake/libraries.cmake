# libkrait.a and libkrait.so from every layer but cli; the program from all.
get_property(layers GLOBAL PROPERTY KR_LAYERS)
set(objects "")
foreach(layer ${layers})
    if(NOT layer STREQUAL "cli")
        list(APPEND objects $<TARGET_OBJECTS:kr_${layer}>)
    endif()
endforeach()

if(objects)
    add_library(krait_static STATIC ${objects})
    add_library(krait_shared SHARED ${objects})
    set_target_properties(krait_static PROPERTIES OUTPUT_NAME krait LINKER_LANGUAGE C)
    set_target_properties(krait_shared PROPERTIES
        OUTPUT_NAME krait EXPORT_NAME krait LINKER_LANGUAGE C
        VERSION ${PROJECT_VERSION} SOVERSION 0)
    foreach(library krait_static krait_shared)
        target_include_directories(${library} INTERFACE
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_link_libraries(${library} PRIVATE ${KR_DEPENDENCIES})
    endforeach()
endif()

file(GLOB main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/main.c)
if(main AND TARGET kr_cli AND objects)
    add_executable(krait ${main} $<TARGET_OBJECTS:kr_cli> ${objects})
    target_include_directories(krait PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(krait PRIVATE KR_VERSION="${PROJECT_VERSION}")
    target_link_libraries(krait PRIVATE ${KR_PROGRAM_DEPENDENCIES})
    # Plug-ins find what they call in the program, which therefore holds all of it and exports krait_* alone.
    target_link_options(krait PRIVATE "LINKER:--export-dynamic-symbol=krait_*")
    set_target_properties(krait PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()
