#include "agent/drain/stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/error_words.hpp"
#include "agent/base/high_descriptor.hpp"
#include "agent/base/text_line.hpp"
#include "writer/bytes/growth.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::drain {
namespace {

constexpr int kBacklog = 8;
constexpr const char* kClosed = "the program has closed the descriptor";

bool is_writable(int descriptor, std::uint64_t wait_ns) noexcept {
  pollfd wanted{descriptor, POLLOUT, 0};
  const timespec most{static_cast<time_t>(wait_ns / 1'000'000'000),
                      static_cast<long>(wait_ns % 1'000'000'000)};
  return raw::call(SYS_ppoll, &wanted, 1, &most, nullptr, 0) == 1;
}

sockaddr_un address_of(std::string_view path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  static_assert(sizeof address.sun_path >= StreamTarget::kMostPath);
  (void)path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

int make_socket() noexcept {
  return static_cast<int>(raw::call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Of the socket of that name; {}: it is none.
folders::Identity socket_at(const char* path) noexcept {
  struct stat status {};
  const long looked = raw::call(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW);
  if (looked != 0 || !S_ISSOCK(status.st_mode)) return {};
  return {status.st_dev, status.st_ino};
}

// What a process left that was killed. connect() refuses a file that is no socket with the same error.
bool is_left_over(const sockaddr_un& address) noexcept {
  if (socket_at(address.sun_path) == folders::Identity{}) return false;
  const int probe = make_socket();
  if (probe < 0) return false;
  const long connected = raw::call(SYS_connect, probe, &address, sizeof address);
  raw::close(probe);
  return connected == -ECONNREFUSED;
}

// Two processes at one pipe would make a log of neither: its description is ours alone, and so is the lock.
bool is_ours_alone(int pipe) noexcept {
  return raw::call(SYS_flock, pipe, LOCK_EX | LOCK_NB) == 0;
}

bool is_let_in(int client) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (raw::call(SYS_getsockopt, client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == static_cast<uid_t>(raw::call(SYS_geteuid));
}

}  // namespace

void StreamReader::take_over(int descriptor, Way way) noexcept {
  descriptor_.adopt(descriptor);
  way_ = way;
  state_ = State::kNew;
}

void StreamReader::close() noexcept {
  descriptor_.close();
  queue_.clear();
  sent_ = 0;
  lost_ = 0;
  state_ = State::kNone;
}

void StreamReader::leave(long error) noexcept {
  const bool wants_no_more = error == -EPIPE || error == -ECONNRESET;
  count(Counter::stream_bytes_lost, lost_ + (wants_no_more ? 0 : queued()));
  error_ = static_cast<int>(error);
  close();
}

// The program may have closed it, and use its number.
bool StreamReader::has_own() noexcept {
  if (descriptor_.is_ours()) return true;
  descriptor_.forget();
  leave(-EBADF);
  return false;
}

void StreamReader::append(std::span<const std::uint8_t> bytes) noexcept {
  queue_.raw(bytes);
  if (!queue_.failed()) return;
  count(Counter::stream_bytes_lost, bytes.size());
  leave(-ENOMEM);
}

void StreamReader::begin(std::span<const std::uint8_t> start) noexcept {
  count(Counter::stream_readers);
  state_ = State::kReading;
  most_queued_ = kMostQueued + start.size();
  append(start);
}

void StreamReader::put(std::span<const std::uint8_t> bytes) noexcept {
  append(bytes);
}

void StreamReader::fall_behind(std::span<const std::uint8_t> last, const ReaderMark& mark) noexcept {
  state_ = State::kBehind;
  mark_ = mark;
  lost_ = 0;
  append(last);
}

void StreamReader::catch_up(std::span<const std::uint8_t> bytes) noexcept {
  state_ = State::kReading;
  lost_ = 0;
  most_queued_ = kMostQueued + bytes.size();
  append(bytes);
}

long StreamReader::send(std::span<const std::uint8_t> bytes) noexcept {
  if (way_ == Way::kSocket)
    return raw::call(SYS_sendto, descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                     nullptr, 0);
  constexpr std::size_t kPage = 4096;
  const bool waits = way_ == Way::kWaits;
  if (waits && !is_writable(descriptor(), 0)) return -EAGAIN;
  const long written =
      raw::write(descriptor(), bytes.data(), waits ? std::min(bytes.size(), kPage) : bytes.size());
  take_caused_signal(written);
  return written;
}

void StreamReader::flush() noexcept {
  if (!is_there() || has_all() || !has_own()) return;
  while (!has_all()) {
    const long sent = send(queue_.view().subspan(sent_));
    if (sent == -EAGAIN || sent == -EINTR) break;
    if (sent <= 0) return leave(sent == 0 ? -EIO : sent);
    sent_ += static_cast<std::size_t>(sent);
    count(Counter::bytes_written, static_cast<std::uint64_t>(sent));
  }
  if (has_all()) {
    queue_.clear();
    sent_ = 0;
  } else if (sent_ > queue_.size() / 2) {
    queue_.cut_front(sent_);
    sent_ = 0;
  }
}

void StreamReader::listen() noexcept {
  if (!is_there() || !has_own()) return;
  char words[256];
  const long heard =
      raw::call(SYS_recvfrom, descriptor(), words, sizeof words, MSG_DONTWAIT, nullptr, nullptr);
  if (heard == -ECONNRESET) leave(heard);
}

Status Stream::refuse(const char* why) noexcept {
  why_ = why;
  listener_.close();
  return Status::kNoOutput;
}

Status Stream::open(const StreamTarget& target, const char* path) noexcept {
  kind_ = target.kind;
  if (kind_ == StreamTarget::Kind::kDescriptor) return open_descriptor(target);
  if (*path == '\0' || !path_.set(path))
    return refuse("its path is longer than the 107 bytes that a socket's address has");
  if (kind_ == StreamTarget::Kind::kSocket) return open_socket();
  struct stat status {};
  const long looked = raw::call(SYS_newfstatat, AT_FDCWD, path_.c_str(), &status, 0);
  if (looked != 0 || !S_ISFIFO(status.st_mode)) return refuse("there is no FIFO: make it by mkfifo first");
  return Status::kOk;
}

// With a description of its own a pipe can be set not to wait, without the program's changing its ways.
Status Stream::open_descriptor(const StreamTarget& target) noexcept {
  if (target.pid != static_cast<std::uint32_t>(raw::call(SYS_getpid)))
    return refuse("the descriptor is of the process that this one was forked from");
  if (!target.identity.is_of(target.descriptor)) return refuse(kClosed);
  const long flags = raw::call(SYS_fcntl, target.descriptor, F_GETFL, 0);
  if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) return refuse("the descriptor is open for reading only");
  struct stat status {};
  (void)raw::status_of(target.descriptor, status);
  const bool may_wait = S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
  StreamReader::Way way =
      S_ISSOCK(status.st_mode) ? StreamReader::Way::kSocket : StreamReader::Way::kNeverWaits;
  int own = -EBADF;
  if (may_wait) {
    TextLine<64> path;
    path.text("/proc/self/fd/").number(static_cast<std::uint64_t>(target.descriptor)).nul();
    own = raw::open_at(AT_FDCWD, path.view().data(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  }
  if (own >= 0 && S_ISFIFO(status.st_mode) && !is_ours_alone(own)) {
    raw::close(own);
    return refuse("another process writes to it");
  }
  if (own < 0) {
    own = static_cast<int>(raw::call(SYS_fcntl, target.descriptor, F_DUPFD_CLOEXEC, 3));
    if (may_wait) way = StreamReader::Way::kWaits;
  }
  const int high = own < 0 ? own : moved_high(own);
  if (high < 0) return refuse("there is no free descriptor");
  readers_[0].take_over(high, way);
  return Status::kOk;
}

int Stream::bind_address() noexcept {
  const sockaddr_un address = address_of(path_.view());
  long bound = raw::call(SYS_bind, listener_.number(), &address, sizeof address);
  if (bound == -EADDRINUSE && is_left_over(address)) {
    (void)raw::call(SYS_unlinkat, AT_FDCWD, path_.c_str(), 0);
    bound = raw::call(SYS_bind, listener_.number(), &address, sizeof address);
  }
  return static_cast<int>(bound);
}

Status Stream::open_socket() noexcept {
  const int made = make_socket();
  const int high = made < 0 ? made : moved_high(made);
  if (high < 0) return refuse("there is no free descriptor");
  listener_.adopt(high);
  (void)raw::call(SYS_fchmod, high, 0600);  // before it has a name
  const int bound = bind_address();
  socket_ = socket_at(path_.c_str());
  if (bound == -EADDRINUSE)
    return refuse("its path is taken, by a process or a file (%p in it is the process)");
  if (bound != 0) return refuse("no socket can be made at its path");
  if (raw::call(SYS_listen, high, kBacklog) == 0) return Status::kOk;
  remove_address();
  return refuse("nobody can be listened to at its path");
}

// Something else may have its name by now.
void Stream::remove_address() noexcept {
  if (socket_ != folders::Identity{} && socket_at(path_.c_str()) == socket_)
    (void)raw::call(SYS_unlinkat, AT_FDCWD, path_.c_str(), 0);
}

StreamReader* Stream::free_reader() noexcept {
  const auto free = std::ranges::find_if(readers_, [](const StreamReader& r) { return !r.is_there(); });
  return free == std::end(readers_) ? nullptr : &*free;
}

void Stream::accept_all() noexcept {
  if (!listener_.is_ours()) return listener_.forget();
  while (StreamReader* const reader = free_reader()) {
    const long client =
        raw::call(SYS_accept4, listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    const int high = moved_high(static_cast<int>(client));
    if (high >= 0 && is_let_in(high)) {
      reader->take_over(high, StreamReader::Way::kSocket);
    } else if (high >= 0) {
      raw::close(high);
    }
  }
}

// Until somebody reads it cannot be opened.
void Stream::open_fifo() noexcept {
  if (readers_[0].is_there()) return;
  const int opened = raw::open_at(AT_FDCWD, path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
  struct stat status {};
  if (opened >= 0 &&
      (raw::status_of(opened, status) != 0 || !S_ISFIFO(status.st_mode) || !is_ours_alone(opened))) {
    raw::close(opened);
    return;
  }
  const int high = opened < 0 ? opened : moved_high(opened);
  if (high >= 0) readers_[0].take_over(high, StreamReader::Way::kNeverWaits);
}

void Stream::look() noexcept {
  if (kind_ == StreamTarget::Kind::kSocket) {
    for (StreamReader& reader : readers_) reader.listen();
  }
  if (listener_.number() >= 0) accept_all();
  if (kind_ == StreamTarget::Kind::kFifo) open_fifo();
}

bool Stream::has_new() const noexcept {
  return std::ranges::any_of(
      readers_, [](const StreamReader& reader) { return reader.state() == StreamReader::State::kNew; });
}

void Stream::put(std::span<const std::uint8_t> bytes) noexcept {
  for (StreamReader& reader : readers_) {
    if (reader.state() == StreamReader::State::kReading) reader.put(bytes);
    if (reader.state() == StreamReader::State::kBehind) reader.lose(bytes.size());
  }
}

void Stream::flush() noexcept {
  for (StreamReader& reader : readers_) reader.flush();
}

bool Stream::is_over() noexcept {
  if (kind_ != StreamTarget::Kind::kDescriptor || readers_[0].is_there()) return false;
  const int error = readers_[0].error();
  why_ = error == -EBADF ? kClosed : error_words(error);
  return true;
}

void Stream::end() noexcept {
  const std::uint64_t end_ns = monotonic_ns() + kEndWait_ns;
  for (StreamReader& reader : readers_) {
    for (reader.flush(); reader.is_there() && !reader.has_all(); reader.flush()) {
      const std::uint64_t now_ns = monotonic_ns();
      if (now_ns >= end_ns || !is_writable(reader.descriptor(), end_ns - now_ns)) break;
    }
    if (!reader.is_there()) continue;
    count(Counter::stream_bytes_lost, reader.queued() + reader.lost());
    // A child that was forked from us may have a client still, who would wait for it.
    if (kind_ == StreamTarget::Kind::kSocket) (void)raw::call(SYS_shutdown, reader.descriptor(), SHUT_WR);
  }
  if (listener_.is_ours()) remove_address();
  close();
}

void Stream::let_go() noexcept {
  for (StreamReader& reader : readers_) reader.let_go();
  listener_.close();
}

void Stream::close() noexcept {
  for (StreamReader& reader : readers_) reader.close();
  listener_.close();
}

}  // namespace jitquill::drain
