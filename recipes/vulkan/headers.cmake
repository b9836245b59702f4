# Read by cmake right behind llama.cpp's project(ggml), see ../vulkan.yaml.
#
# Says early what is missing, and makes ggml-vulkan.cpp compile with Vulkan headers older than 1.3.272:
# layer_settings.h holds the three names that it needs and that they lack.

find_program(SKIPPY_GLSLC NAMES glslc HINTS ENV VULKAN_SDK PATH_SUFFIXES bin)
find_library(SKIPPY_VULKAN_LOADER NAMES vulkan HINTS ENV VULKAN_SDK PATH_SUFFIXES lib)
find_path(SKIPPY_VULKAN_HEADERS NAMES vulkan/vulkan.hpp HINTS ENV VULKAN_SDK PATH_SUFFIXES include)
find_package(SPIRV-Headers CONFIG QUIET)

set(SKIPPY_MISSING "")
foreach (part SKIPPY_GLSLC SKIPPY_VULKAN_LOADER SKIPPY_VULKAN_HEADERS SPIRV-Headers_DIR)
    if (NOT ${part})
        list(APPEND SKIPPY_MISSING ${part})
    endif()
endforeach()
if (SKIPPY_MISSING)
    message(FATAL_ERROR
        "Recipe vulkan wants the shader compiler glslc, the Vulkan loader, Vulkan's C++ headers and SPIR-V's. "
        "Not found: ${SKIPPY_MISSING}\n"
        "On Debian: sh scripts/system-packages.sh vulkan")
endif()

# Relative to where ninja compiles, so that a compiler cache serves every folder.
file(RELATIVE_PATH SKIPPY_LAYER_SETTINGS "${CMAKE_BINARY_DIR}" "${CMAKE_CURRENT_LIST_DIR}/layer_settings.h")

# At the end of ggml's CMakeLists.txt, where the target exists. Only this file: every other object stays the one
# that recipe cpu compiles.
cmake_language(DEFER CALL set_source_files_properties
    src/ggml-vulkan/ggml-vulkan.cpp
    TARGET_DIRECTORY ggml-vulkan
    PROPERTIES COMPILE_OPTIONS "-include;${SKIPPY_LAYER_SETTINGS}")
