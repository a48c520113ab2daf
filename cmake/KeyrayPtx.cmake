# Ray programs for OptiX: files named *_ray_width.cu are compiled to PTX, once per width of keys, and the text is
# built into the library, as OptiX compiles it for the GPU at hand. As a script (cmake -P) it writes one text as C:
#     cmake -DPTX=FILE -DNAME=SYMBOL -DOUT=FILE.c -P KeyrayPtx.cmake

if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${PTX} bytes HEX)
    string(LENGTH "${bytes}" nbytes)
    math(EXPR nbytes "${nbytes} / 2")
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    file(WRITE ${OUT} "#include \"base/tracers/ray.h\"\n\n"
         "static const char text[] = {\n${bytes}0x00};\n\n"
         "extern const kr_ray_module ${NAME};\n"
         "const kr_ray_module ${NAME} = {text, ${nbytes}};\n")
    return()
endif()

set(keyray_ptx_script ${CMAKE_CURRENT_LIST_FILE})

# Usage: keyray_ptx(OUT FILE...): C files that hold the PTX of the files. NAME_width.cu gives the kr_ray_modules
# NAME_u32 and NAME_u64. OptiX takes PTX of any architecture up to its GPU's, so the oldest one serves all.
function(keyray_ptx out)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/ptx)
    file(MAKE_DIRECTORY ${folder})
    set(made)
    foreach(source IN LISTS ARGN)
        get_filename_component(name ${source} NAME)
        string(REGEX REPLACE "_width\\.cu$" "" name ${name})
        foreach(bits 32 64)
            set(ptx ${folder}/${name}_u${bits}.ptx)
            add_custom_command(
                OUTPUT ${ptx}
                COMMAND ${CMAKE_CUDA_COMPILER} -ptx -arch=compute_75 -std=c++17
                        $<$<BOOL:${CMAKE_CUDA_HOST_COMPILER}>:-ccbin=${CMAKE_CUDA_HOST_COMPILER}>
                        -DKR_KEY_BITS=${bits} -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
                        $<$<BOOL:${KEYRAY_WERROR}>:--Werror=all-warnings> -MD -MF ${ptx}.d -o ${ptx} ${source}
                DEPENDS ${source} DEPFILE ${ptx}.d
                COMMENT "Compiling ${name}_u${bits}.ptx" VERBATIM COMMAND_EXPAND_LISTS)
            add_custom_command(
                OUTPUT ${folder}/${name}_u${bits}.c
                COMMAND ${CMAKE_COMMAND} -DPTX=${ptx} -DNAME=${name}_u${bits} -DOUT=${folder}/${name}_u${bits}.c
                        -P ${keyray_ptx_script}
                DEPENDS ${ptx} ${keyray_ptx_script}
                COMMENT "Embedding ${name}_u${bits}.ptx" VERBATIM)
            list(APPEND made ${folder}/${name}_u${bits}.c)
        endforeach()
    endforeach()
    set(${out} ${made} PARENT_SCOPE)
endfunction()
