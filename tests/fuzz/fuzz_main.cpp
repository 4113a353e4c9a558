// libFuzzer's door to one target, PLEAT_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    pleat::fuzz::PLEAT_FUZZ_TARGET({data, size});
    return 0;
}
