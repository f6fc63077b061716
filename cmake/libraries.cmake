# libkrait.a and libkrait.so from every layer but cli and lab; krait from all but lab, krait-lab from all.
get_property(layers GLOBAL PROPERTY KR_LAYERS)
set(objects "")
foreach(layer ${layers})
    if(NOT layer MATCHES "^(cli|lab)$")
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

# kr_program(NAME LAYER [OBJECTS...]): from LAYER/main.c, the objects given and libkrait's.
function(kr_program name layer)
    add_executable(${name} ${PROJECT_SOURCE_DIR}/${layer}/main.c ${ARGN} ${objects})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(${name} PRIVATE KR_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${name} PRIVATE ${KR_DEPENDENCIES})
    # Plug-ins find what they call in the program, which therefore holds all of it and exports krait_* alone.
    target_link_options(${name} PRIVATE "LINKER:--export-dynamic-symbol=krait_*")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

file(GLOB main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/main.c)
if(main AND TARGET kr_cli AND objects)
    kr_program(krait cli $<TARGET_OBJECTS:kr_cli>)
endif()
if(TARGET kr_lab AND TARGET krait)
    kr_program(krait-lab lab $<TARGET_OBJECTS:kr_lab> $<TARGET_OBJECTS:kr_cli>)
    target_link_options(krait-lab PRIVATE "LINKER:--export-dynamic-symbol=kl_*") # and drivers what the engine offers
    get_property(drivers GLOBAL PROPERTY KR_DRIVERS)
    add_dependencies(krait-lab ${drivers})
endif()
