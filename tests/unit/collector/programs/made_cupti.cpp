// A libcupti that answers what MADE_CUPTI says: the CUptiResult of subscribing, or "crash".
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

int cuptiGetVersion(std::uint32_t* version) {
    *version = 120'400;
    return 0;
}

int cuptiSubscribe(void** subscriber, void (*)(void*, int, std::uint32_t, const void*), void*) {
    const char* answer = std::getenv("MADE_CUPTI");
    if (answer == nullptr || std::strcmp(answer, "crash") == 0) std::abort();
    *subscriber = nullptr;
    return std::atoi(answer);
}

int cuptiUnsubscribe(void*) { return 0; }
}
