# kr_layer(NAME [LAYER...]): the folder's *.c become the object library
# kr_NAME, which may use the LAYERs. A folder without sources is left out.
# A folder in it that registers modules (cmake/registry.cmake) belongs to the layer.
# cli/main.c belongs to the program alone, so that tests can link the rest.
define_property(GLOBAL PROPERTY KR_LAYERS BRIEF_DOCS "Layers that have sources")

function(kr_layer name)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/main.c)
    kr_registry(${name} "${sources}" registry)
    list(APPEND sources ${registry})
    file(GLOB folders LIST_DIRECTORIES true CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*)
    foreach(folder ${folders})
        file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
        if(KR_TYPE_${folder})
            file(GLOB modules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
            kr_registry(${folder} "${modules}" registry)
            list(APPEND sources ${modules} ${registry})
        endif()
    endforeach()
    if(NOT sources)
        message(STATUS "${name}/: no sources yet, left out")
        return()
    endif()

    add_library(kr_${name} OBJECT ${sources})
    target_include_directories(kr_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(kr_${name} PRIVATE KR_VERSION="${PROJECT_VERSION}"
        KR_PLUGIN_FOLDER="${KR_PLUGIN_FOLDER}")
    target_link_libraries(kr_${name} PUBLIC ${KR_DEPENDENCIES})
    foreach(layer ${ARGN})
        if(TARGET kr_${layer})
            target_link_libraries(kr_${name} PUBLIC kr_${layer})
        endif()
    endforeach()
    set_property(GLOBAL APPEND PROPERTY KR_LAYERS ${name})
endfunction()
