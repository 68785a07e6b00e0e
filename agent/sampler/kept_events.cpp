#include "agent/sampler/kept_events.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/base/high_descriptor.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::sampler {

bool KeptEvents::adopt(int descriptor, End& end) noexcept {
  struct stat status {};
  end.descriptor = moved_high(descriptor);
  if (end.descriptor < 0 || raw::status_of(end.descriptor, status) != 0) return false;
  end.inode = status.st_ino;
  return true;
}

bool KeptEvents::is_ours(const End& end) noexcept {
  struct stat status {};
  return end.descriptor >= 0 && raw::status_of(end.descriptor, status) == 0 && S_ISSOCK(status.st_mode) &&
         status.st_ino == end.inode;
}

void KeptEvents::release(const End& end) noexcept {
  if (is_ours(end)) raw::close(end.descriptor);
}

// The last pair is the one that is sent through.
int KeptEvents::make_pair() noexcept {
  int ends[2];
  const long made = raw::call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
  if (made < 0) return static_cast<int>(made);
  Pair pair;
  const bool has_first = adopt(ends[0], pair.receives);
  const bool has_both = adopt(ends[1], pair.sends) && has_first;
  if (has_both && pairs_.push(pair)) return 0;
  release(pair.receives);
  release(pair.sends);
  return has_both ? -ENOMEM : -EMFILE;
}

int KeptEvents::send_once(std::span<const int> events) noexcept {
  char byte = 0;
  iovec body{&byte, sizeof byte};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostAtOnce * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(events.size_bytes());
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(events.size_bytes());
  std::memcpy(CMSG_DATA(rights), events.data(), events.size_bytes());
  const long sent =
      raw::call(SYS_sendmsg, pairs_.back().sends.descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 ? static_cast<int>(sent) : 0;
}

// Through a new pair when the last is full.
int KeptEvents::send(std::span<const int> events) noexcept {
  int sent = pairs_.empty() || !is_ours(pairs_.back().sends) ? -EAGAIN : send_once(events);
  if (sent != -EAGAIN) return sent;
  sent = make_pair();
  return sent != 0 ? sent : send_once(events);
}

int KeptEvents::keep(std::span<const int> events) noexcept {
  int sent = 0;
  for (std::size_t at = 0; at < events.size() && sent == 0; at += kMostAtOnce)
    sent = send(events.subspan(at, std::min(kMostAtOnce, events.size() - at)));
  close(events);
  return sent;
}

void KeptEvents::close(std::span<const int> events) noexcept {
  for (const int event : events) raw::close(event);
}

// 0: there are no more.
std::size_t KeptEvents::receive(const End& from, int (&events)[kMostAtOnce]) noexcept {
  if (!is_ours(from)) return 0;
  char byte = 0;
  iovec body{&byte, sizeof byte};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof events)] = {};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const long size = raw::call(SYS_recvmsg, from.descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const rights = size <= 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return 0;
  const std::size_t bytes = rights->cmsg_len - CMSG_LEN(0);
  std::memcpy(events, CMSG_DATA(rights), bytes);
  return bytes / sizeof(int);
}

void KeptEvents::release() noexcept {
  for (const Pair& pair : pairs_.all()) {
    release(pair.receives);
    release(pair.sends);
  }
  pairs_.clear();
}

}  // namespace jitquill::sampler
