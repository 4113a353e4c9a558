// A registered NVTX payload schema as the layout text the recorder reads
// (collector/payload_layout.h).
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <string_view>

#include "collector/ring.h"

namespace pleat::collector {

// Numbers and fixed char arrays of static schemas; entries of other types are left out, and their
// size with natural alignment is still counted where it is known. From the first entry of unknown
// size on nothing is described, unless entries give their own offsets. Nor is what finds no room.
class LayoutText {
  public:
    explicit LayoutText(const nvtxPayloadSchemaAttr_t& schema);
    [[nodiscard]] std::string_view view() const { return {m_text, m_size}; }

  private:
    // False where it does not fit.
    bool addLine(char type, std::size_t position, std::size_t bytes, const char* name);

    char m_text[kMaximumPayloadBytes];
    std::size_t m_size = 0;
};

}  // namespace pleat::collector
