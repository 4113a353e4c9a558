// Buffer: a flat run of fp32 values with shared ownership of whatever holds them. It is what
// stages, the engine and transports hand to each other, so that none of them needs to know the
// tensor library of another. Copying a Buffer shares the values; nobody writes into a buffer that
// another part may still read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pleat::runtime {

struct Buffer {
    std::shared_ptr<void> owner;
    float* data = nullptr;
    std::size_t size = 0;  // values

    [[nodiscard]] bool empty() const { return size == 0; }
    [[nodiscard]] std::int64_t bytes() const {
        return static_cast<std::int64_t>(size * sizeof(float));
    }
    [[nodiscard]] std::span<float> values() const { return {data, size}; }
};

// A new zeroed buffer.
[[nodiscard]] inline Buffer makeBuffer(std::size_t size) {
    auto values = std::make_shared<std::vector<float>>(size);
    float* data = values->data();
    return {std::move(values), data, size};
}

}  // namespace pleat::runtime
