# kr_embed(LAYER SYMBOL FILE...): the files, one after the other, as a terminated
# text that the layer's sources declare `extern const char SYMBOL[];`. Made anew
# when a file changes. The files are ASCII, so that the text is the same everywhere.
if(CMAKE_SCRIPT_MODE_FILE)
    set(bytes "")
    foreach(file ${FILES})
        file(READ ${file} hex HEX)
        if(hex MATCHES "^(..)*([89a-f].)")
            message(FATAL_ERROR "${file}: found a byte that is not ASCII")
        endif()
        string(APPEND bytes "${hex}")
    endforeach()
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    file(WRITE ${OUTPUT} "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {${bytes}0};\n")
    return()
endif()

set(KR_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(kr_embed layer symbol)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    set(files "")
    foreach(file ${ARGN})
        list(APPEND files ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endforeach()
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} "-DFILES=${files}" -P ${KR_EMBED_SCRIPT}
        DEPENDS ${files} ${KR_EMBED_SCRIPT} COMMENT "Embedding ${symbol}" VERBATIM)
    target_sources(kr_${layer} PRIVATE ${output})
endfunction()
