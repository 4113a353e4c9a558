// One value for each enumerator, indexed by the enumerator itself, so that no figure is read under
// another's name. Enumerators count from 0 without gaps; `Count` is how many there are.
#pragma once

#include <array>
#include <cstddef>

namespace pleat::base {

template <class Enum, std::size_t Count, class Value>
struct PerEnum {
    std::array<Value, Count> of{};

    [[nodiscard]] constexpr Value& operator[](Enum which) {
        return of[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] constexpr const Value& operator[](Enum which) const {
        return of[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] constexpr Value total() const {
        Value sum{};
        for (const Value& value : of) sum += value;
        return sum;
    }
    constexpr PerEnum& operator+=(const PerEnum& other) {
        for (std::size_t i = 0; i < Count; ++i) of[i] += other.of[i];
        return *this;
    }
};

// All enumerators, in their order: for (const TimePart part : base::allOf<TimePart, 5>()).
template <class Enum, std::size_t Count>
[[nodiscard]] constexpr std::array<Enum, Count> allOf() {
    std::array<Enum, Count> all{};
    for (std::size_t i = 0; i < Count; ++i) all[i] = static_cast<Enum>(i);
    return all;
}

}  // namespace pleat::base
