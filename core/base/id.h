// Id<Tag>: a 32-bit index that knows what it counts. The default is invalid; ids of different tags
// do not mix and do not convert to integers silently. IdVector<Tag, T> is the only container an id
// indexes.
#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace pleat::base {

template <class Tag>
class Id {
  public:
    constexpr Id() = default;
    explicit constexpr Id(std::uint32_t index) : m_index(index) {}
    static constexpr Id at(std::size_t index) { return Id(static_cast<std::uint32_t>(index)); }

    [[nodiscard]] constexpr bool valid() const { return m_index != kInvalid; }
    [[nodiscard]] constexpr std::uint32_t index() const { return m_index; }
    friend constexpr auto operator<=>(Id, Id) = default;

  private:
    static constexpr std::uint32_t kInvalid = 0xffff'ffff;
    std::uint32_t m_index = kInvalid;
};

template <class Tag, class T>
class IdVector {
  public:
    using IdType = Id<Tag>;

    IdVector() = default;
    explicit IdVector(std::size_t size, const T& value = T()) : m_items(size, value) {}

    IdType push(T item) {
        m_items.push_back(std::move(item));
        return IdType::at(m_items.size() - 1);
    }
    [[nodiscard]] const T& operator[](IdType id) const {
        assert(id.index() < m_items.size());
        return m_items[id.index()];
    }
    [[nodiscard]] T& operator[](IdType id) {
        assert(id.index() < m_items.size());
        return m_items[id.index()];
    }
    [[nodiscard]] std::size_t size() const { return m_items.size(); }
    [[nodiscard]] bool empty() const { return m_items.empty(); }
    [[nodiscard]] IdType idAt(std::size_t position) const { return IdType::at(position); }
    [[nodiscard]] std::span<const T> items() const { return m_items; }
    [[nodiscard]] auto begin() const { return m_items.begin(); }
    [[nodiscard]] auto end() const { return m_items.end(); }
    [[nodiscard]] auto begin() { return m_items.begin(); }
    [[nodiscard]] auto end() { return m_items.end(); }
    void reserve(std::size_t size) { m_items.reserve(size); }
    // Items move up: ids given before are those of others afterwards.
    template <class Predicate>
    void eraseIf(Predicate predicate) {
        std::erase_if(m_items, predicate);
    }

  private:
    std::vector<T> m_items;
};

}  // namespace pleat::base

template <class Tag>
struct std::hash<pleat::base::Id<Tag>> {
    std::size_t operator()(pleat::base::Id<Tag> id) const noexcept {
        return std::hash<std::uint32_t>()(id.index());
    }
};
