# Reads codec/codecs.def, and H5TWIN_EXTRA_CODECS if it names another such file, whose codecs lie in
# folders beside it. Sets h5twin_codecs (names), h5twin_codec_<name>_constant and _folder, and writes
# include/h5twin_codecs.h below the build folder.
set(H5TWIN_EXTRA_CODECS "" CACHE FILEPATH "A list of more codecs, like codec/codecs.def")

set(h5twin_codecs)
set(h5twin_codec_rows)   # X(sleek, SLEEK) ...
set(h5twin_codec_ids)    # H5TWIN_SLEEK = 1, ...
set(h5twin_filter_ids)   # #define H5TWIN_FILTER_SLEEK 480 ...
foreach(list ${PROJECT_SOURCE_DIR}/codec/codecs.def ${H5TWIN_EXTRA_CODECS})
    get_filename_component(folder ${list} DIRECTORY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
    file(STRINGS ${list} lines REGEX "^[a-z]")
    foreach(line IN LISTS lines)
        if(NOT line MATCHES "^([a-z0-9_]+) +([A-Z0-9_]+) +([0-9]+) +([0-9]+) *(#.*)?$")
            message(FATAL_ERROR "${list}: not \"name CONSTANT number filter\": ${line}")
        endif()
        set(name ${CMAKE_MATCH_1})
        set(constant ${CMAKE_MATCH_2})
        set(number ${CMAKE_MATCH_3})
        set(filter ${CMAKE_MATCH_4})
        set(H5TWIN_FILTER_${constant} "" CACHE STRING "HDF5 filter id of ${name}, if not ${filter}")
        if(H5TWIN_FILTER_${constant})
            set(filter ${H5TWIN_FILTER_${constant}})
        endif()
        if(number LESS 1 OR number GREATER 63 OR number IN_LIST numbers OR filter IN_LIST filters)
            message(FATAL_ERROR "${name}: its number has to be 1 to 63, and nobody else's, like its filter id")
        endif()
        list(APPEND numbers ${number})
        list(APPEND filters ${filter})
        list(APPEND h5twin_codecs ${name})
        set(h5twin_codec_${name}_constant ${constant})
        set(h5twin_codec_${name}_folder ${folder}/${name})
        string(APPEND h5twin_codec_rows " \\\n    X(${name}, ${constant})")
        string(APPEND h5twin_codec_ids "    H5TWIN_${constant} = ${number},\n")
        string(APPEND h5twin_filter_ids "#define H5TWIN_FILTER_${constant} ${filter}\n")
    endforeach()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/include/h5twin_codecs.h.in
    ${PROJECT_BINARY_DIR}/include/h5twin_codecs.h @ONLY)
set(h5twin_include_dirs ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
