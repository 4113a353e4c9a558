// Preloaded into a program under test: lets memory and disk run out in it at a chosen moment.
//   FAIL_PROGRAM=NAME        only the program of this name is affected
//   FAIL_ALLOCATION_AT=N     its Nth operator new fails
//   FAIL_ALLOCATION_FROM=N   and all behind the Nth do
//   FAIL_DISK_AFTER=BYTES    the disk is full once so many bytes were written to files
//   FAIL_CHILD_ALLOCATION=1  a forked child ends with status 99 when it allocates
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <new>

extern "C" void* __libc_malloc(size_t size);

namespace {

long s_at = 0, s_from = 0, s_diskBytes = -1;
std::atomic<long> s_allocations{0}, s_written{0};
bool s_guardsChildren = false;
bool s_inChild = false;
bool s_inMain = false;  // initialisers before it have nobody who could catch
int (*s_main)(int, char**, char**) = nullptr;

long numberIn(const char* name, long otherwise) {
    const char* text = getenv(name);
    return text == nullptr ? otherwise : atol(text);
}

[[gnu::constructor]] void readEnvironment() {
    const char* program = getenv("FAIL_PROGRAM");
    if (program == nullptr || strcmp(program, program_invocation_short_name) != 0) return;
    s_at = numberIn("FAIL_ALLOCATION_AT", 0);
    s_from = numberIn("FAIL_ALLOCATION_FROM", 0);
    s_diskBytes = numberIn("FAIL_DISK_AFTER", -1);
    s_guardsChildren = numberIn("FAIL_CHILD_ALLOCATION", 0) != 0;
    if (s_guardsChildren) pthread_atfork(nullptr, nullptr, [] { s_inChild = true; });
}

bool fails() {
    if (!s_inMain || (s_at == 0 && s_from == 0)) return false;
    const long number = s_allocations.fetch_add(1) + 1;
    return number == s_at || (s_from != 0 && number >= s_from);
}

bool diskIsFull(int file, size_t bytes) {
    struct stat status = {};
    if (s_diskBytes < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    return s_written.fetch_add(static_cast<long>(bytes)) + static_cast<long>(bytes) > s_diskBytes;
}

}  // namespace

void* operator new(size_t size) {
    if (fails()) throw std::bad_alloc();
    void* const memory = malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
    return fails() ? nullptr : malloc(size);
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }

extern "C" void* malloc(size_t size) {
    if (s_inChild) _exit(99);
    return __libc_malloc(size);
}

extern "C" int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                                 void (*begin)(), void (*end)(), void (*dynamicEnd)(),
                                 void* stackEnd) {
    using Start = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(),
                          void (*)(), void*);
    static const auto real = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
    s_main = main;
    const auto entered = [](int c, char** a, char** e) {
        s_inMain = true;
        return s_main(c, a, e);
    };
    return real(entered, count, arguments, begin, end, dynamicEnd, stackEnd);
}

extern "C" ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
    using Write = ssize_t (*)(int, const void*, size_t, off64_t);
    static const auto real = reinterpret_cast<Write>(dlsym(RTLD_NEXT, "pwrite64"));
    if (diskIsFull(file, count)) return errno = ENOSPC, -1;
    return real(file, bytes, count, offset);
}
