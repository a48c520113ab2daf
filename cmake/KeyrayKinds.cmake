# Which kinds of index and scan are built: those of KEYRAY_KINDS, or all of src/index/kinds/kinds.def. Sets keyray_kinds and
# keyray_kinds_left_out, in the order of that list, and keyray_folders_left_out: the folders of src/ that only kinds
# which are left out use. What a kind uses, the #includes of its folder say; no list says it a second time.

set(KEYRAY_KINDS "" CACHE STRING "Kinds to build, for work on one of them: array;pivot. Empty: all kinds")

# Folders that are there for kinds only: one for a family, which may have several kinds, and what families share.
set(keyray_shared_folders index/lightweight index/scenes)

# Usage: keyray_included_folders(OUT FOLDER): the folders of src/ that files of src/FOLDER include.
function(keyray_included_folders out folder)
    set(found)
    file(GLOB files ${PROJECT_SOURCE_DIR}/src/${folder}/*.[ch] ${PROJECT_SOURCE_DIR}/src/${folder}/*.cu)
    # A build configures itself again when one of them may have got another #include.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    foreach(file IN LISTS files)
        file(STRINGS ${file} lines REGEX "^ *# *include \"[a-z0-9_/]+/[^/]+\"")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE ".*\"([a-z0-9_/]+)/[^/]+\".*" "\\1" name "${line}")
            list(APPEND found ${name})
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES found)
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Usage: keyray_folder_of_kind(OUT KIND): the folder under src/ that defines it.
function(keyray_folder_of_kind out kind)
    file(GLOB files ${PROJECT_SOURCE_DIR}/src/*/families/*/*.c)
    foreach(file IN LISTS files)
        file(STRINGS ${file} lines REGEX "^const kr_kind kr_kind_${kind} =" LIMIT_COUNT 1)
        if(lines)
            get_filename_component(folder ${file} DIRECTORY)
            file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${folder})
            set(${out} ${folder} PARENT_SCOPE)
            return()
        endif()
    endforeach()
    message(FATAL_ERROR "src/index/kinds/kinds.def lists kind '${kind}', but no file of src/*/families/*/ has a "
                        "line \"const kr_kind kr_kind_${kind} = {\"")
endfunction()

# Usage: keyray_find_folders_left_out(OUT KIND...): what these kinds do not use.
function(keyray_find_folders_left_out out)
    set(waiting)
    foreach(kind IN LISTS ARGN)
        keyray_folder_of_kind(folder ${kind})
        list(APPEND waiting ${folder})
    endforeach()
    file(GLOB left_out LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/src
         ${PROJECT_SOURCE_DIR}/src/*/families/*)
    list(FILTER left_out EXCLUDE REGEX "\\.")
    list(APPEND left_out ${keyray_shared_folders})
    list(REMOVE_DUPLICATES left_out)
    while(waiting)
        list(POP_FRONT waiting folder)
        if(folder IN_LIST left_out)
            list(REMOVE_ITEM left_out ${folder})
            keyray_included_folders(more ${folder})
            list(APPEND waiting ${more})
        endif()
    endwhile()
    set(${out} "${left_out}" PARENT_SCOPE)
endfunction()

set(kinds_def ${PROJECT_SOURCE_DIR}/src/index/kinds/kinds.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kinds_def})
file(STRINGS ${kinds_def} keyray_kinds REGEX "^KR_KIND\\([a-z0-9_]+\\)$")
list(TRANSFORM keyray_kinds REPLACE "^KR_KIND\\((.*)\\)$" "\\1")
list(JOIN keyray_kinds ", " all_kinds)
foreach(kind IN LISTS KEYRAY_KINDS)
    if(NOT kind IN_LIST keyray_kinds)
        message(FATAL_ERROR "KEYRAY_KINDS names '${kind}', which is not a kind; the kinds are ${all_kinds}. "
                            "Give some of them, as in -DKEYRAY_KINDS=\"array;pivot\", or none for all")
    endif()
endforeach()

set(keyray_kinds_left_out)
set(keyray_folders_left_out)
if(KEYRAY_KINDS)
    set(keyray_kinds_left_out ${keyray_kinds})
    list(REMOVE_ITEM keyray_kinds_left_out ${KEYRAY_KINDS})
endif()
if(keyray_kinds_left_out)
    list(REMOVE_ITEM keyray_kinds ${keyray_kinds_left_out})
    keyray_find_folders_left_out(keyray_folders_left_out ${keyray_kinds})
    # src/index/kinds/registry.c finds this list before that of src/index/kinds.
    set(text)
    foreach(kind IN LISTS keyray_kinds)
        string(APPEND text "KR_KIND(${kind})\n")
    endforeach()
    foreach(kind IN LISTS keyray_kinds_left_out)
        string(APPEND text "KR_LEFT_OUT(${kind})\n")
    endforeach()
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kinds/index/kinds/kinds.def CONTENT "${text}" @ONLY)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/index/kinds/registry.c PROPERTIES
                                INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/kinds)
endif()

# Usage: keyray_leave_out_kinds(VARIABLE): takes sources of folders that are left out off the list.
function(keyray_leave_out_kinds variable)
    set(sources ${${variable}})
    if(keyray_folders_left_out)
        list(JOIN keyray_folders_left_out "|" folders)
        list(FILTER sources EXCLUDE REGEX "/src/(${folders})/[^/]+$")
    endif()
    set(${variable} "${sources}" PARENT_SCOPE)
endfunction()
