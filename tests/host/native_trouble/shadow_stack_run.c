/* shadow_stack_run PROGRAM ARGUMENTS...: runs a program whose kernel says, when it is asked, that the CPU
 * keeps shadow stacks. This process becomes the program; a child answers for the kernel. Exit code 77: that
 * is not allowed here. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ARCH_SHSTK_STATUS 0x5005

static int listen_for_the_question(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_SHSTK_STATUS, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int hand_over(int socket, int* descriptor, int is_sender) {
  char byte = 0;
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
  } control;
  struct iovec data = {&byte, 1};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  memset(&control, 0, sizeof control);
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.room;
  message.msg_controllen = sizeof control.room;
  if (is_sender) {
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), descriptor, sizeof *descriptor);
    return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
  }
  if (recvmsg(socket, &message, 0) != 1) return -1;
  memcpy(descriptor, CMSG_DATA(&control.header), sizeof *descriptor);
  return 0;
}

/* Until nobody is left that could ask. */
static void answer(int listener) {
  struct pollfd wait = {listener, POLLIN, 0};
  for (;;) {
    struct seccomp_notif question;
    struct seccomp_notif_resp reply;
    uint64_t features = 1;
    memset(&question, 0, sizeof question);
    memset(&reply, 0, sizeof reply);
    if (poll(&wait, 1, -1) < 0 || (wait.revents & POLLIN) == 0) return;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) continue;
    struct iovec here = {&features, sizeof features};
    struct iovec there = {(void*)(uintptr_t)question.data.args[1], sizeof features};
    reply.id = question.id;
    if (process_vm_writev((pid_t)question.pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof features)
      reply.error = -EFAULT;
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
  }
}

int main(int count, char** words) {
  int sockets[2];
  int listener = -1;
  if (count < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    close(sockets[0]);
    if (hand_over(sockets[1], &listener, 0) == 0) answer(listener);
    _exit(0);
  }
  listener = listen_for_the_question();
  if (child < 0 || listener < 0 || hand_over(sockets[0], &listener, 1) != 0) return 77;
  close(listener);
  execv(words[1], words + 1);
  return 2;
}
