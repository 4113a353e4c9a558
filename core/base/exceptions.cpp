#include "base/exceptions.h"

#include <exception>
#include <new>
#include <string>

namespace pleat::base {
namespace {

// Short enough for a string to hold in itself, so that saying it takes no memory.
constexpr const char* kNoMemory = "out of memory";

Error inWords(const std::exception& exception) noexcept {
    try {
        return {ErrorCode::Io, std::string("unexpected error: ") + exception.what()};
    } catch (...) {
        return {ErrorCode::Io, kNoMemory};
    }
}

}  // namespace

Error errorOfException() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {ErrorCode::Io, kNoMemory};
    } catch (const std::exception& exception) {
        return inWords(exception);
    } catch (...) {
        return {ErrorCode::Io, "unknown error"};
    }
}

}  // namespace pleat::base
