# What every Pleat target shares: C++20, our warnings, where programs and libraries are put, and one function for
# libraries so that each folder states only its sources, its headers and what it links.
include(CTest)
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(PLEAT_CCACHE ccache)
if(PLEAT_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${PLEAT_CCACHE}")
endif()

option(PLEAT_WERROR "Treat warnings as errors (our own presets do)" OFF)
add_library(pleat_warnings INTERFACE)
target_compile_options(pleat_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(pleat_warnings INTERFACE -Wno-restrict)  # wrong on "text" + std::string in g++ 12 (GCC bug 105651)
endif()
if(PLEAT_WERROR)
    target_compile_options(pleat_warnings INTERFACE -Werror)
endif()

set(PLEAT_SANITIZE "" CACHE STRING "Sanitizers for every target, e.g. address,undefined")
if(PLEAT_SANITIZE)
    add_compile_options(-fsanitize=${PLEAT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=${PLEAT_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC's own documentation: sanitizers bring false positives of this warning.
        target_compile_options(pleat_warnings INTERFACE -Wno-maybe-uninitialized)
    endif()
endif()

option(PLEAT_FUZZ "Build the fuzzers of tests/fuzz; needs clang and its sanitizers (the fuzz preset)" OFF)

# pleat_library(<name> ROOT <include root> SOURCES … HEADERS … [PUBLIC …] [PRIVATE …])
# makes the static library pleat_<name> with alias pleat::<name>; headers are found below ROOT ("schedule/action.h").
function(pleat_library name)
    cmake_parse_arguments(ARG "" "ROOT" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
    add_library(pleat_${name} STATIC ${ARG_SOURCES})
    add_library(pleat::${name} ALIAS pleat_${name})
    target_sources(pleat_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${ARG_ROOT}" FILES ${ARG_HEADERS})
    target_link_libraries(pleat_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:pleat_warnings>)
    set_target_properties(pleat_${name} PROPERTIES EXPORT_NAME ${name})
    set_property(GLOBAL APPEND PROPERTY PLEAT_INSTALLED_LIBRARIES pleat_${name})
endfunction()
