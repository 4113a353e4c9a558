// How far a long piece of work has got, told to whoever waits for it, who may end it. Called on the
// thread that does the work, a few times for every megabyte.
#pragma once

#include <cstdint>
#include <functional>

namespace pleat::base {

// `done` of `total` units of the work's own choice; `total` is 0 where nobody knows it. Returning
// false ends the work, which then gives an error with the code Cancelled. Empty: nobody waits.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

}  // namespace pleat::base
