// VK_EXT_layer_settings for Vulkan headers older than 1.3.272, such as Debian 12's 1.3.239.
//
// llama.cpp's Vulkan backend needs three names of that extension, and no call. recipes/vulkan.yaml has every
// C++ file include this one first. It declares nothing when the headers know the extension, and nothing for
// a file that is compiled without Vulkan headers.
//
// Layout and numbers are those of the Vulkan specification (VkLayerSettingEXT, VkLayerSettingsCreateInfoEXT).
#pragma once

#if defined(__cplusplus) && defined(__has_include)
#if __has_include(<vulkan/vulkan_core.h>)

#include <vulkan/vulkan_core.h>

#if !defined(VK_EXT_layer_settings)

#include <cstdint>
#include <vector>

namespace vk {

enum class LayerSettingTypeEXT : int32_t {
    eBool32 = 0,
};

struct LayerSettingEXT {
    const char *        pLayerName;
    const char *        pSettingName;
    LayerSettingTypeEXT type;
    uint32_t            valueCount;
    const void *        pValues;
};

struct LayerSettingsCreateInfoEXT {
    VkStructureType         sType = VkStructureType(1000496000);
    const void *            pNext = nullptr;
    uint32_t                settingCount;
    const LayerSettingEXT * pSettings;

    // like vulkan.hpp's own: it refers to the settings, which must outlive it
    explicit LayerSettingsCreateInfoEXT(const std::vector<LayerSettingEXT> & settings) :
        settingCount(uint32_t(settings.size())), pSettings(settings.data()) {}
};

} // namespace vk

#endif // VK_EXT_layer_settings
#endif // vulkan_core.h
#endif // __cplusplus
