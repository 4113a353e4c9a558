#include "collector/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace pleat::collector {
namespace {

struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// Calls use(name) for each entry.
template <class Use>
void eachIn(const Folder& folder, Use use) {
    if (!folder) return;
    while (const dirent* entry = readdir(folder.get())) {
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
            use(entry->d_name);
    }
}

}  // namespace

std::vector<std::string> namesIn(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    eachIn(Folder(opendir(folder.c_str())), [&](const char* name) { names.emplace_back(name); });
    std::sort(names.begin(), names.end());
    return names;
}

void removeFolder(const std::filesystem::path& folder) noexcept {
    const Folder open(opendir(folder.c_str()));
    eachIn(open, [&](const char* name) { (void)unlinkat(dirfd(open.get()), name, 0); });
    (void)rmdir(folder.c_str());
}

}  // namespace pleat::collector
