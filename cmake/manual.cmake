# The manual page and the shells' completions, printed by the program itself.
set(KR_MANUAL_DIR ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${KR_MANUAL_DIR})

function(kr_printed file program)
    add_custom_command(OUTPUT ${KR_MANUAL_DIR}/${file}
        COMMAND ${program} help ${ARGN} > ${KR_MANUAL_DIR}/${file}
        DEPENDS ${program} COMMENT "Printing ${file}" VERBATIM)
    set_property(GLOBAL APPEND PROPERTY KR_PRINTED ${KR_MANUAL_DIR}/${file})
endfunction()

file(GLOB help CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/help.c)
if(TARGET krait AND help)
    kr_printed(krait.1 krait --man)
    kr_printed(krait.bash krait --completion bash)
    kr_printed(_krait krait --completion zsh)
    kr_printed(krait.fish krait --completion fish)
    if(TARGET krait-lab)
        kr_printed(krait-lab.1 krait-lab --man)
    endif()
    get_property(printed GLOBAL PROPERTY KR_PRINTED)
    add_custom_target(manual ALL DEPENDS ${printed})
endif()
