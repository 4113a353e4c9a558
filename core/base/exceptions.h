// Where an exception must go no further (main, the entry of a thread, a callback, beside a running
// command), it becomes an Error. Nothing here throws, even when there is no memory left.
#pragma once

#include <type_traits>
#include <utility>

#include "base/result.h"

namespace pleat::base {

// The exception that is being handled, in words. Called in a catch block.
[[nodiscard]] Error errorOfException() noexcept;

// Does the work, which returns nothing or a Result; an exception becomes the error.
template <class Work>
[[nodiscard]] auto contained(Work&& work) noexcept {
    using Returned = std::invoke_result_t<Work>;
    using Answer = std::conditional_t<std::is_void_v<Returned>, Result<void>, Returned>;
    try {
        if constexpr (std::is_void_v<Returned>) {
            std::forward<Work>(work)();
            return Answer();
        } else {
            return Answer(std::forward<Work>(work)());
        }
    } catch (...) {
        return Answer(errorOfException());
    }
}

}  // namespace pleat::base
