# What the Python package holds beside its modules (pyproject.toml): one library, with the command in
# it, and plugins that are small because they use it.
set_property(TARGET h5twin PROPERTY VERSION ${PROJECT_VERSION_MAJOR}) # one file: wheels have no links
install(TARGETS h5twin
    LIBRARY DESTINATION lib COMPONENT python NAMELINK_SKIP
    RUNTIME DESTINATION lib COMPONENT python)
install(TARGETS ${H5TWIN_PLUGINS} LIBRARY DESTINATION plugins COMPONENT python)
install(TARGETS ${H5TWIN_VOL_PLUGIN} LIBRARY DESTINATION plugins/vol COMPONENT python)
if(TARGET h5twin_checkpoint_shared)
    install(TARGETS h5twin_checkpoint_shared LIBRARY DESTINATION lib COMPONENT python NAMELINK_SKIP)
endif()
