# cmake -D BUILT=<build folder> -D LIBRARIES=<a,b,…> -D COMPILER=… -D WORK=<folder> -P install_test.cmake
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run(${CMAKE_COMMAND} --install "${BUILT}" --prefix "${WORK}/installed")
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${WORK}/build" -G Ninja
    -D CMAKE_PREFIX_PATH=${WORK}/installed -D CMAKE_CXX_COMPILER=${COMPILER} -D LIBRARIES=${LIBRARIES})
run(${CMAKE_COMMAND} --build "${WORK}/build" --target run_all)
run("${WORK}/installed/bin/pleat" --version)
file(REMOVE_RECURSE "${WORK}")
