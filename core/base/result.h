// Result<T>: a value or an Error, for everything that depends on the world outside (files, input,
// processes). Our own mistakes are assertions, imperfect data are diagnostics (diagnostics.h);
// nothing throws across a boundary. std::expected is not in C++20's library. Values are immutable
// once returned and may be moved between threads.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace pleat::base {

// Which exit status the command line gives (see docs/command_line.md): the kind of failure, not its
// place.
enum class ErrorCode : std::uint8_t {
    Usage,        // the call itself is wrong: unknown name, impossible combination (exit 2)
    Input,        // a file or trace cannot be used (exit 3)
    Io,           // the system refused: cannot open, write, start (exit 3)
    Unsupported,  // understood, but this build or machine cannot do it (exit 3)
    Cancelled,    // whoever waited for it wants it no more (progress.h)
};

// A setting that would solve the problem. Each program names its own way to it (an option, a
// menu), so a message never does.
struct Advice {
    enum class Setting : std::uint8_t {
        RankNumbers,  // which ranks a file holds
        Rank,         // the rank to answer for
    };
    Setting setting = Setting::RankNumbers;
    std::string value;  // an example that fits: "rank0.json=N"
};

// One line for a person: what, where, why, what to do. No trailing newline.
struct Error {
    ErrorCode code = ErrorCode::Input;
    std::string message;
    std::optional<Advice> advice = std::nullopt;

    // Adds the caller's context in front, once per layer: "loading run.pleat: event 7012: …".
    [[nodiscard]] Error within(const std::string& context) const {
        return {code, context + ": " + message, advice};
    }
};

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value)
        : m_state(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
    Result(Error error)
        : m_state(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    [[nodiscard]] const T& value() const& { return checked(), std::get<0>(m_state); }
    [[nodiscard]] T& value() & { return checked(), std::get<0>(m_state); }
    [[nodiscard]] T&& value() && { return checked(), std::get<0>(std::move(m_state)); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }
    const T& operator*() const& { return value(); }
    T& operator*() & { return value(); }
    T&& operator*() && { return std::move(*this).value(); }

    [[nodiscard]] const Error& error() const {
        assert(!ok());
        return std::get<1>(m_state);
    }

  private:
    void checked() const { assert(ok()); }
    std::variant<T, Error> m_state;
};

struct Success {};

template <>
class [[nodiscard]] Result<void> : public Result<Success> {
  public:
    Result() : Result<Success>(Success{}) {}
    Result(Error error) : Result<Success>(std::move(error)) {}  // NOLINT: implicit by design
};

}  // namespace pleat::base
