// Work on a thread of its own whose result comes back to the thread of this object. Of several
// pieces of work only the newest one's result is delivered; those before are asked to stop. The
// destructor asks the work to stop and waits for it, so that it may use what outlives this object.
#pragma once

#include <QObject>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

namespace pleat::models {

class Background : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;
    ~Background() override;

    // work(std::stop_token) on another thread, then done(its result) here.
    template <class Work, class Done>
    void start(Work work, Done done) {
        stop();
        const std::uint64_t id = ++m_newest;
        m_running = true;
        m_threads.emplace(id, std::jthread([this, id, work = std::move(work),
                                            done = std::move(done)](const std::stop_token& token) {
                              using Result = decltype(work(token));
                              const auto result = std::make_shared<Result>(work(token));
                              QMetaObject::invokeMethod(
                                  this,
                                  [this, id, result, done] {
                                      if (finish(id)) done(std::move(*result));
                                  },
                                  Qt::QueuedConnection);
                          }));
    }
    // Its result will not be delivered.
    void stop();
    [[nodiscard]] bool running() const { return m_running; }

  private:
    // Ends the thread's bookkeeping; is its result still wanted?
    bool finish(std::uint64_t id);

    std::map<std::uint64_t, std::jthread> m_threads;
    std::uint64_t m_newest = 0;
    bool m_running = false;
};

}  // namespace pleat::models
