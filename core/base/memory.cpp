#include "base/memory.h"

#include <cstdlib>  // says whether this is glibc
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace pleat::base {

void keepFreedMemory() {
#if defined(__GLIBC__)
    constexpr int kNever = -1;
    constexpr int kLargestMapped = 1 << 25;  // what glibc accepts at most
    mallopt(M_TRIM_THRESHOLD, kNever);
    mallopt(M_MMAP_THRESHOLD, kLargestMapped);
#endif
}

}  // namespace pleat::base
