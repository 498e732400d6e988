# Policies; included by tests/CMakeLists.txt.
function(h5twin_add_policy_test name)
    h5twin_add_filter_test(${name} vol/${name}.c)
    target_link_libraries(${name} PRIVATE h5twin_policy)
endfunction()

h5twin_add_policy_test(test_policy_glob)
h5twin_add_policy_test(test_policy_parse)
