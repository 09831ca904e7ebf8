/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table. A call may stand in several rows: each allows it for its kinds. */
#include "base/sandbox_calls.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define C   (1u << SANDBOX_CONTROL)
#define W   (1u << SANDBOX_WORKER)
#define L   (1u << SANDBOX_LISTENER)
#define X   (1u << SANDBOX_TRANSFER)
#define R   (1u << SANDBOX_RESOLVER)
#define F   (1u << SANDBOX_FILES)
#define T   (1u << SANDBOX_REPORTER)
#define Q   (1u << SANDBOX_QUIET)
#define B   (1u << SANDBOX_BROKER)
#define A   (1u << SANDBOX_CONNECTOR)
#define P   (1u << SANDBOX_PARENT)
#define U   (1u << SANDBOX_RUNNER)
#define ALL (C | W | L | X | R | F | T | Q | B | A)
#define NET (C | W | L | X | R)

#define TOKEN_CREATE 36 /* BPF_TOKEN_CREATE of Linux 6.9 */

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* clang-format off */
const struct sandbox_row sandbox_rows[] = {
	/* --- Each thread --- */
	{ ALL, "read readv write writev close lseek fstat newfstatat statx",
	  .why = "files that are open; the state of a path" },
	{ ALL, "fcntl", SANDBOX_ONE_OF, 1, 11,
	  { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC,
	    F_ADD_SEALS, F_GET_SEALS },
	  .why = "the same; but F_SETOWN and F_SETSIG, which send signals to other processes" },
	{ ALL, "futex futex_waitv sched_yield clock_nanosleep nanosleep restart_syscall membarrier",
	  .why = "locks, waiting, RCU" },
	{ ALL, "brk munmap mremap madvise", .why = "memory" },
	{ C, "mmap mprotect pkey_mprotect", .why = "memory; libraries of the name service" },
	{ ALL & ~C, "mmap mprotect pkey_mprotect", SANDBOX_NO_FLAG, 2, 1, { PROT_EXEC },
	  .why = "memory, but no code" },
	{ ALL, "clock_gettime clock_getres gettimeofday time getcpu sysinfo uname",
	  .why = "clocks, where the vDSO has none; the host" },
	{ ALL, "getpid gettid getppid getuid geteuid getgid getegid getpgrp getrusage capget "
	       "sched_getaffinity sched_getparam sched_getscheduler getpriority get_mempolicy",
	  .why = "facts about itself" },
	{ ALL, "rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack rt_sigtimedwait",
	  .why = "signals of its own" },
	{ ALL, "tgkill", SANDBOX_OWN_PROCESS, .why = "abort()" },
	{ ALL, "exit exit_group set_robust_list get_robust_list rseq set_tid_address arch_prctl",
	  .why = "the beginning and the end of a thread" },
	{ ALL, "getrandom", .why = "ids, keys, hash seeds" },
	{ ALL, "epoll_wait epoll_pwait epoll_pwait2 epoll_ctl poll ppoll select pselect6",
	  .why = "events" },
	{ ALL, "prctl", SANDBOX_ONE_OF, 0, 8,
	  { PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_CAP_AMBIENT, PR_GET_SECUREBITS,
	    PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS, PR_SET_VMA },
	  .why = "names of threads; capabilities are read and given up" },
	{ ALL, "capset seccomp", .why = "both can only take rights away here" },
	{ ALL, "sched_setscheduler sched_setaffinity sched_setattr sched_getattr", SANDBOX_ONE_OF, 0,
	  1, { 0 }, .why = "its own place and priority (base/affinity.h)" },
	{ ALL, "setpriority", SANDBOX_ONE_OF, 1, 1, { 0 }, .why = "the same" },
	{ C, "setpriority sched_setscheduler sched_setaffinity",
	  .why = "those of other threads, and of the resolver's process" },

	/* --- Threads that start others --- */
	{ C | F | R | B, "clone", SANDBOX_THREAD, .why = "threads" },
	{ C | A, "wait4", .why = "the end of its only child: base/parent.h" },
	{ C | B, "kill", SANDBOX_ONE_OF, 1, 1, { 0 }, .why = "does the owner of a lock still run?" },

	/* --- Network --- */
	{ NET, "accept accept4 recvfrom recvmsg recvmmsg getsockopt setsockopt getsockname getpeername",
	  .why = "sockets that are open" },
	{ F | T, "recvfrom recvmsg shutdown getsockopt setsockopt getsockname",
	  .why = "the runner; collectors of dnstap" },
	{ Q, "shutdown getsockopt setsockopt", .why = "systemd's watchdog; ends of connections" },
	{ C | W | X | R | T, "sendto sendmsg", .why = "sockets that are open" },
	{ C | W | X | R, "sendmmsg", .why = "the same" },
	/* A listener that is shut down can be connected by TCP Fast Open. */
	{ L | F | Q, "sendto", SANDBOX_NO_FLAG, 3, 1, { MSG_FASTOPEN }, .why = "the same" },
	{ L | F | Q, "sendmsg", SANDBOX_NO_FLAG, 2, 1, { MSG_FASTOPEN }, .why = "the same" },
	{ W, "shutdown", SANDBOX_ONE_OF, 1, 1, { SHUT_WR }, .why = "the same: its sends cost no time" },
	{ C | L | X | R, "shutdown", .why = "ends of connections" },
	{ C | X | R, "bind connect listen", .why = "service addresses; other name servers" },
	{ T, "connect", .why = "collectors of dnstap; the journal" },
	{ C, "socket", SANDBOX_PAIRS, 0, 12,
	  { AF_UNIX, 0, AF_INET, SOCK_STREAM, AF_INET, SOCK_DGRAM, AF_INET6, SOCK_STREAM,
	    AF_INET6, SOCK_DGRAM, AF_NETLINK, 0 },
	  .why = "listeners, the control socket, links" },
	{ X | R, "socket", SANDBOX_PAIRS, 0, 10,
	  { AF_INET, SOCK_STREAM, AF_INET, SOCK_DGRAM, AF_INET6, SOCK_STREAM, AF_INET6, SOCK_DGRAM,
	    AF_UNIX, SOCK_DGRAM },
	  .why = "other name servers; scopes of addresses" },
	{ T, "socket", SANDBOX_PAIRS, 0, 8,
	  { AF_INET, SOCK_STREAM, AF_INET6, SOCK_STREAM, AF_UNIX, SOCK_STREAM, AF_UNIX, SOCK_DGRAM },
	  .why = "collectors of dnstap; the journal" },
	{ T, "memfd_create", .why = "the journal takes what its socket does not as a file" },
	{ Q, "socket", SANDBOX_PAIRS, 0, 2, { AF_UNIX, SOCK_DGRAM }, .why = "systemd's watchdog" },
	{ Q, "connect", .why = "systemd's watchdog" },
	{ B, "recvfrom recvmsg sendto sendmsg getsockopt setsockopt getsockname bind",
	  .why = "the daemon's sockets and requests; netlink" },
	{ B, "socket", SANDBOX_PAIRS, 0, 12,
	  { AF_XDP, 0, AF_NETLINK, 0, AF_UNIX, SOCK_DGRAM, AF_UNIX, SOCK_STREAM, AF_INET, SOCK_DGRAM,
	    AF_INET6, SOCK_DGRAM },
	  .why = "AF_XDP; interfaces; the log" },
	{ A, "socket", SANDBOX_PAIRS, 0, 2, { AF_UNIX, SOCK_SEQPACKET }, .why = "units" },
	{ A, "connect getsockopt recvfrom recvmsg sendto sendmsg", .why = "the same" },
	{ C | F | X | R, "socketpair eventfd2 pipe2 timerfd_create timerfd_settime timerfd_gettime "
			 "epoll_create1 dup dup3 memfd_create",
	  .why = "descriptors of its own" },
	{ W | L | T, "eventfd2 pipe2 timerfd_settime epoll_create1 dup", .why = "the same" },
	{ C, "signalfd4", .why = "signals of the operator" },
	{ NET | F | T | B, "ioctl", SANDBOX_ONE_OF, 1, 3, { FIONREAD, FIONBIO, 0x5401 /* TCGETS */ },
	  .why = "sockets and files that are open" },
	{ C | X | R | B, "ioctl", SANDBOX_ONE_OF, 1, 7,
	  { SIOCETHTOOL, SIOCGIFINDEX, SIOCGIFMTU, SIOCGIFFLAGS, SIOCGIFHWADDR,
	    SIOCGIFNAME, SIOCGIFCONF },
	  .why = "interfaces" },
	{ B, "ioctl", SANDBOX_ONE_OF, 1, 1, { SIOCSIFMTU }, .why = "bpf/hook_detach.c" },

	/* --- BPF --- */
	{ C | W | F, "bpf", SANDBOX_ONE_OF, 0, 8,
	  { BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM, BPF_MAP_GET_NEXT_KEY,
	    BPF_OBJ_GET_INFO_BY_FD, BPF_MAP_LOOKUP_BATCH, BPF_MAP_UPDATE_BATCH,
	    BPF_MAP_DELETE_BATCH },
	  .why = "maps that the broker has made" },
	{ Q, "bpf", SANDBOX_ONE_OF, 0, 1, { BPF_MAP_UPDATE_ELEM },
	  .why = "the keeper waits until programs that run have ended: cache/grace.c" },
	{ C | F | W, "mlock mlock2 munlock set_mempolicy mbind", .why = "packet memory, its node" },
	{ B, "bpf", SANDBOX_ONE_OF, 0, 12,
	  { BPF_MAP_CREATE, BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM,
	    BPF_MAP_GET_NEXT_KEY, BPF_MAP_FREEZE, BPF_MAP_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD,
	    BPF_OBJ_GET, BPF_OBJ_PIN, BPF_BTF_LOAD, BPF_BTF_GET_FD_BY_ID },
	  .why = "maps, with their types; pins of libxdp's dispatcher" },
	{ B, "bpf", SANDBOX_ONE_OF, 0, 8,
	  { BPF_PROG_LOAD, BPF_PROG_TEST_RUN, BPF_PROG_GET_FD_BY_ID, BPF_PROG_BIND_MAP,
	    BPF_LINK_CREATE, BPF_LINK_UPDATE, BPF_RAW_TRACEPOINT_OPEN, TOKEN_CREATE },
	  .why = "programs; the dispatcher's parts, which libxdp puts in place by links; libbpf 1.5 asks "
		 "for a token, and does without" },
	{ B, "memfd_create", .why = "libbpf 1.4 holds the descriptor of each map by one" },
	{ C | R | B, "prlimit64", SANDBOX_OWN_PROCESS, .why = "its own limits" },
	{ C | R | B, "getrlimit", .why = "the same" },
	{ C | B, "setrlimit", .why = "the same" },

	/* --- Files --- */
	{ C | F | R | T | B, "open openat openat2 stat lstat access faccessat faccessat2 readlink "
			 "readlinkat getdents64 getcwd pread64 preadv statfs fstatfs fadvise64",
	  .why = "files are read" },
	{ X, "openat", SANDBOX_READ_ONLY, 2, .why = "authorities of TLS" },
	{ X, "stat access faccessat pread64 readlink readlinkat getdents64", .why = "the same" },
	{ L, "pread64", .why = "files that are open" },
	{ C | F | R | T, "pwrite64 pwritev ftruncate fallocate fsync fdatasync sync_file_range "
			 "rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir fchmod chmod "
			 "fchmodat fchown umask flock link linkat symlink symlinkat msync copy_file_range "
			 "utimensat chdir sendfile",
	  .why = "state, logs and zone files are written; the control socket" },

	{ B, "pwrite64 dup dup3 flock ftruncate mkdir mkdirat unlink unlinkat rmdir rename renameat renameat2",
	  .why = "locks of interfaces; the dispatcher's folders in the BPF file system" },

	/* --- Never needed by closed kinds; refused to the open kinds that are named --- */
	{ 0, "clone3",
	  .why = "its flags cannot be seen by a filter: ENOSYS, so clone is used" },
	{ 0, "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo", .why = "other processes" },
	{ 0, "execve execveat fork vfork clone pidfd_open pidfd_send_signal", .why = "programs" },
	{ 0, "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups",
	  .why = "other users" },
	{ 0, "chown lchown fchownat setxattr lsetxattr fsetxattr", .why = "owners of files" },
	{ 0, "mknod mknodat name_to_handle_at", .why = "files by other ways" },
	{ 0, "personality vmsplice", .why = "parts of the kernel that had many faults" },
	{ P | U, "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd", SANDBOX_REFUSED,
	  .why = "other processes" },
	{ P | U, "clone", SANDBOX_REFUSED, 0, 7,
	  { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWIPC, CLONE_NEWUTS,
	    CLONE_NEWCGROUP },
	  .why = "namespaces, in which a process has all capabilities" },
	{ P | U, "mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig "
		 "fsmount fspick mount_setattr", SANDBOX_REFUSED,
	  .why = "other views of the file system and the network" },
	{ P | U, "init_module finit_module delete_module kexec_load kexec_file_load reboot swapon "
		 "swapoff iopl ioperm syslog acct quotactl settimeofday clock_settime adjtimex "
		 "clock_adjtime sethostname setdomainname vhangup nfsservctl", SANDBOX_REFUSED,
	  .why = "the host" },
	{ P | U, "add_key request_key keyctl", SANDBOX_REFUSED, .why = "the kernel's keys" },
	{ P | U, "perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register "
		 "fanotify_init lookup_dcookie remap_file_pages modify_ldt", SANDBOX_REFUSED,
	  .why = "parts of the kernel that had many faults" },
	{ P | U, "open_by_handle_at", SANDBOX_REFUSED, .why = "files by other ways" },
	{ U, "bpf", SANDBOX_REFUSED, .why = "the broker, a child of the parent, needs it" },
};
/* clang-format on */

const unsigned int sandbox_n_rows = sizeof(sandbox_rows) / sizeof(sandbox_rows[0]);
