// How a program of ours uses the allocator. Called once, at its start.
#pragma once

namespace pleat::base {

// Freed memory stays with the process instead of going back to the system. The first touch of a
// fresh page is dear (microseconds on a virtual machine), and our programs free and take buffers
// of megabytes again and again. Does nothing where the C library has no such setting.
void keepFreedMemory();

}  // namespace pleat::base
