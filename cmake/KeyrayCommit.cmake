# Sets KEYRAY_BUILD_COMMIT: KEYRAY_COMMIT if given, else git's HEAD, else "unknown". A new commit configures
# again (git appends to its log of HEAD), and recompiles the one file that names it.

set(KEYRAY_BUILD_COMMIT "${KEYRAY_COMMIT}")
find_package(Git QUIET)
if(NOT KEYRAY_BUILD_COMMIT AND GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE KEYRAY_BUILD_COMMIT RESULT_VARIABLE failed
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(failed)
        set(KEYRAY_BUILD_COMMIT "")
    endif()
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    get_filename_component(head_log "${head_log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS ${head_log} AND NOT IS_DIRECTORY ${head_log})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
    endif()
endif()
if(NOT KEYRAY_BUILD_COMMIT)
    set(KEYRAY_BUILD_COMMIT unknown)
endif()
