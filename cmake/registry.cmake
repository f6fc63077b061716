# Registries: every module of a folder in one table, made from its files.
#
# A module is a file NAME.c with a line `const struct kr_T kr_T_NAME = {` (with
# `-` in NAME written `_`). The table `kr_T_registry` lists the folder's modules
# in the order of their names, closed by NULL; `kr_T_registry_count` counts them;
# FOLDER/T.h declares both. Files without such a line are ordinary
# sources. A descriptor that would be dropped in silence (wrong name, folder or
# spelling) stops the configuration.
set(KR_TYPE_frontend format)
set(KR_TYPE_frontend/model datatype)
set(KR_TYPE_passes pass)
set(KR_TYPE_backend backend)
set(KR_TYPE_checkers checker)
set(KR_TYPE_cli command)
set(KR_TYPE_mechanisms mechanism)
set(KR_TYPE_mechanisms/profiles product)
set(KR_TYPE_lab lab)
set(KR_TYPE_lab/workloads workload)
set(KR_TYPE_lab/faults fault)

# Gives in `out` the identifier of the module in `file`, or nothing.
function(kr_registry_module folder file out)
    set(${out} "" PARENT_SCOPE)
    set(type "${KR_TYPE_${folder}}")
    file(RELATIVE_PATH shown ${PROJECT_SOURCE_DIR} ${file})
    file(STRINGS ${file} lines
         REGEX "^[a-z ]*struct kr_(format|pass|backend|checker|command|mechanism|product|lab|workload|fault|datatype) kr_[a-z]+_[A-Za-z0-9_]+ *=")
    list(LENGTH lines count)
    if(count EQUAL 0)
        return()
    endif()
    if(count GREATER 1)
        message(FATAL_ERROR "${shown}: found ${count} descriptors, expected one per file")
    endif()

    get_filename_component(base ${file} NAME_WE)
    string(REPLACE "-" "_" base ${base})
    set(expected "const struct kr_${type} kr_${type}_${base} = {")
    string(STRIP "${lines}" line)
    if(NOT type)
        message(FATAL_ERROR "${shown}: found '${line}', but ${folder}/ is no folder of modules")
    elseif(NOT line STREQUAL expected)
        message(FATAL_ERROR "${shown}: found '${line}', expected '${expected}' (a descriptor is named after its file)")
    endif()
    set(${out} kr_${type}_${base} PARENT_SCOPE)
endfunction()

# Writes the folder's registry, if it has one, and gives its path in `out`.
function(kr_registry folder sources out)
    set(${out} "" PARENT_SCOPE)
    set(modules "")
    foreach(source ${sources})
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
        kr_registry_module(${folder} ${source} module)
        list(APPEND modules ${module})
    endforeach()
    set(type "${KR_TYPE_${folder}}")
    if(NOT type OR NOT EXISTS ${PROJECT_SOURCE_DIR}/${folder}/${type}.h)
        return()
    endif()
    list(SORT modules)

    set(externs "")
    set(entries "")
    foreach(module ${modules})
        string(APPEND externs "extern const struct kr_${type} ${module};\n")
        string(APPEND entries "    &${module},\n")
    endforeach()
    list(LENGTH modules count)
    string(REGEX REPLACE "^[^/]+" "" name ${folder})
    string(REPLACE "/" "-" name "${name}")
    set(file ${CMAKE_CURRENT_BINARY_DIR}/registry${name}.c)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"/* Made by cmake/registry.cmake from the files of @folder@/. */
#include \"@folder@/@type@.h\"

#include <stddef.h>

@externs@
const struct kr_@type@ *const kr_@type@_registry[] = {
@entries@    NULL,
};
const size_t kr_@type@_registry_count = @count@;
")
    set(${out} ${file} PARENT_SCOPE)
endfunction()
