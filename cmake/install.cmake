# What `cmake --install` leaves behind: headers, library, plugins, command, and the files with which
# CMake (find_package(h5twin)) and pkg-config find them.
include(CMakePackageConfigHelpers)

install(TARGETS h5twin EXPORT h5twinTargets)
install(DIRECTORY include/ ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md CHANGELOG.md codec/FORMAT.md filter/CD_VALUES.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET h5twin_checkpoint)
    install(TARGETS h5twin_checkpoint EXPORT h5twinTargets)
endif()
if(TARGET h5twin_checkpoint_fortran) # the module of this compiler, and the sources for others
    install(TARGETS h5twin_checkpoint_fortran EXPORT h5twinTargets)
    install(FILES ${PROJECT_BINARY_DIR}/fortran/h5twin_checkpoint.mod checkpoint/fortran/h5twin_checkpoint.f90
        checkpoint/fortran/h5twin_checkpoint_mpi.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/h5twin/fortran)
endif()
if(H5TWIN_TOOLS AND TARGET h5twin_command)
    install(TARGETS h5twin_command)
endif()
if(H5TWIN_FILTERS AND H5TWIN_SMALL_PLUGINS AND NOT IS_ABSOLUTE "${H5TWIN_PLUGIN_DIR}")
    file(RELATIVE_PATH h5twin_plugin_to_lib "/${H5TWIN_PLUGIN_DIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${H5TWIN_SMALL_PLUGINS} PROPERTIES
        INSTALL_RPATH "${h5twin_origin}/${h5twin_plugin_to_lib}")
    set_target_properties(${H5TWIN_VOL_PLUGIN} PROPERTIES
        INSTALL_RPATH "${h5twin_origin}/../${h5twin_plugin_to_lib}")
    install(TARGETS ${H5TWIN_SMALL_PLUGINS} LIBRARY DESTINATION ${H5TWIN_PLUGIN_DIR})
    install(TARGETS ${H5TWIN_VOL_PLUGIN} LIBRARY DESTINATION ${H5TWIN_PLUGIN_DIR}/vol)
elseif(H5TWIN_FILTERS AND H5TWIN_PLUGINS)
    install(TARGETS ${H5TWIN_PLUGINS} LIBRARY DESTINATION ${H5TWIN_PLUGIN_DIR})
    install(TARGETS h5twin_vol_plugin LIBRARY DESTINATION ${H5TWIN_PLUGIN_DIR}/vol)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/h5twin)
install(EXPORT h5twinTargets NAMESPACE h5twin:: DESTINATION ${package_dir})
configure_package_config_file(cmake/h5twinConfig.cmake.in h5twinConfig.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS H5TWIN_PLUGIN_DIR)
write_basic_package_version_file(h5twinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(H5TWIN_PC_CUDA_LIBS "")
if(H5TWIN_CUDA)
    set(H5TWIN_PC_CUDA_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
endif()
file(RELATIVE_PATH h5twin_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" h5twin_pc_to_prefix ${h5twin_pc_to_prefix})
configure_file(cmake/h5twin.pc.in h5twin.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/h5twinConfig.cmake
    ${PROJECT_BINARY_DIR}/h5twinConfigVersion.cmake DESTINATION ${package_dir})
if(TARGET h5twin_checkpoint)
    configure_file(cmake/h5twin-checkpoint.pc.in h5twin-checkpoint.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/h5twin-checkpoint.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(FILES ${PROJECT_BINARY_DIR}/h5twin.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For `module load h5twin`: below share, where no module system looks by itself.
if(NOT IS_ABSOLUTE "${H5TWIN_PLUGIN_DIR}")
    set(H5TWIN_MODULE_DIR ${CMAKE_INSTALL_DATADIR}/modulefiles)
    file(RELATIVE_PATH h5twin_module_to_prefix "/${H5TWIN_MODULE_DIR}/h5twin" "/")
    string(REGEX REPLACE "/$" "" h5twin_module_to_prefix "${h5twin_module_to_prefix}")
    configure_file(packaging/module/h5twin.in module/${PROJECT_VERSION} @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/module/${PROJECT_VERSION} DESTINATION ${H5TWIN_MODULE_DIR}/h5twin)
endif()
