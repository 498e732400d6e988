# Policies: which codec the datasets of a program get that sets none itself. Built without HDF5.
add_library(h5twin_policy OBJECT
    log_line.c
    policy_choose.c
    policy_coordinates.c
    policy_glob.c
    policy_hdf5.c
    policy_log.c
    policy_parse.c
    policy_public.c
    policy_read.c
    policy_shape.c
)
target_compile_definitions(h5twin_policy PRIVATE H5TWIN_BUILD)
target_include_directories(h5twin_policy PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>)
target_link_libraries(h5twin_policy PUBLIC h5twin_filter PRIVATE h5twin_flags)
target_sources(h5twin PRIVATE $<TARGET_OBJECTS:h5twin_policy>)
