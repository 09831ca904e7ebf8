/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A break-in: threads of each kind try what no thread of that kind needs. The process keeps all
 * capabilities of the test, so for root only the filter refuses. Then each kind does what libraries
 * rarely do in its threads. Each case is a process of its own, since a sandbox cannot be left.
 */
#include "base/sandbox.h"

#include "base/affinity.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/base/sandboxed.h"

#define K(kind) (1u << SANDBOX_##kind)
#define ALL     ((1u << SANDBOX_N_OF_THREADS) - 1)
#define CLOSED  (ALL | K(BROKER) | K(CONNECTOR))
#define EACH    (CLOSED | K(PARENT) | K(RUNNER))
/* Threads that read octets of strangers, or only memory. */
#define READERS (K(WORKER) | K(LISTENER) | K(TRANSFER) | K(QUIET))

#define NO_TCP (K(WORKER) | K(LISTENER) | K(FILES) | K(QUIET) | K(BROKER) | K(CONNECTOR))

static pid_t victim; /* a process that waits */

/* --- Tries: 0 if it worked, else -1 with errno ------------------------------------------------ */

static long try_open_shadow(void)
{
	return open("/etc/shadow", O_RDONLY | O_CLOEXEC) < 0 ? -1 : 0;
}

static long try_write_file(void)
{
	return open("/tmp/volley-break-in", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 ? -1 : 0;
}

static long try_unlink(void)
{
	return unlink("/tmp/volley-break-in");
}

static long try_load_bpf(void)
{
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static long try_ptrace(void)
{
	return ptrace(PTRACE_SEIZE, victim, NULL, NULL);
}

static long try_read_memory(void)
{
	return syscall(SYS_process_vm_readv, victim, NULL, 0, NULL, 0, 0);
}

static long try_raw_socket(void)
{
	return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) < 0 ? -1 : 0;
}

static long try_packet_socket(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0) < 0 ? -1 : 0;
}

static long try_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0) < 0 ? -1 : 0;
}

static long try_tcp_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? -1 : 0;
}

static long try_udp_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0) < 0 ? -1 : 0;
}

static long try_connect_outwards(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(80) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) && errno == EPERM ? -1 : 0;
}

static long try_execute(void)
{
	char word[] = "/bin/true", *argv[] = { word, NULL };

	return execve(word, argv, NULL);
}

static long try_fork(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (!pid)
		_exit(0);
	return pid < 0 ? -1 : 0;
}

static long try_kill(void)
{
	return kill(victim, SIGKILL);
}

static long try_thread_kill(void)
{
	return syscall(SYS_tgkill, victim, victim, SIGKILL);
}

static long try_signal_by_file(void)
{
	return fcntl(STDERR_FILENO, F_SETOWN, victim);
}

static long try_choose_signal(void)
{
	return fcntl(STDERR_FILENO, F_SETSIG, SIGKILL);
}

static long try_limit(void)
{
	struct rlimit now;

	return prlimit(victim, RLIMIT_CPU, NULL, &now);
}

static long try_move(void)
{
	cpu_set_t now;

	return sched_getaffinity(victim, sizeof(now), &now) ?
		       -1 :
		       sched_setaffinity(victim, sizeof(now), &now);
}

static long try_slow(void)
{
	return setpriority(PRIO_PROCESS, (id_t)victim, 0);
}

static long try_outlive(void)
{
	return prctl(PR_SET_PDEATHSIG, 0);
}

static long try_become_traceable(void)
{
	return prctl(PR_SET_DUMPABLE, 1);
}

/* A listener that is shut down is an unconnected socket; a send may connect it. */
static long try_connect_fast(void)
{
	if (shutdown(-1, SHUT_RD) && errno != EBADF)
		return -1;
	return send(-1, "", 0, MSG_FASTOPEN);
}

static long try_mount(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL);
}

static long try_unshare(void)
{
	return unshare(CLONE_NEWNS);
}

static long try_clone_namespace(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER, NULL, NULL, NULL, NULL);

	if (!pid)
		_exit(0);
	return pid < 0 ? -1 : 0;
}

static long try_setns(void)
{
	return setns(0, 0);
}

static long try_chroot(void)
{
	return chroot("/tmp");
}

static long try_setuid(void)
{
	return syscall(SYS_setuid, 1);
}

static long try_load_module(void)
{
	return syscall(SYS_init_module, NULL, 0, "");
}

static long try_kexec(void)
{
	return syscall(SYS_kexec_load, 0, 0, NULL, 0);
}

static long try_reboot(void)
{
	return syscall(SYS_reboot, 0, 0, 0, NULL); /* the numbers are wrong on purpose */
}

static long try_add_key(void)
{
	return syscall(SYS_add_key, "user", "volley", "x", 1, -2);
}

static long try_keyctl(void)
{
	return syscall(SYS_keyctl, 0, -2, 0);
}

static long try_perf_event(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0 ? -1 : 0;
}

static long try_userfaultfd(void)
{
	return syscall(SYS_userfaultfd, 0) < 0 ? -1 : 0;
}

static long try_io_uring(void)
{
	char params[256] = { 0 };

	return syscall(SYS_io_uring_setup, 1, params) < 0 ? -1 : 0;
}

static long try_personality(void)
{
	return syscall(SYS_personality, 0xffffffff) < 0 ? -1 : 0;
}

static long try_open_by_handle(void)
{
	return syscall(SYS_open_by_handle_at, -1, NULL, 0);
}

static long try_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED ?
		       -1 :
		       0;
}

struct
try {
	const char *name;
	long (*run)(void);
	uint32_t kinds; /* that are refused */
};

static const struct try tries[] = {
	{ "open /etc/shadow", try_open_shadow, K(WORKER) | K(LISTENER) | K(QUIET) | K(CONNECTOR) },
	{ "write a file", try_write_file, READERS | K(CONNECTOR) },
	{ "remove a file", try_unlink, READERS | K(CONNECTOR) },
	{ "load a BPF program", try_load_bpf, EACH & ~(K(BROKER) | K(PARENT)) },
	{ "ptrace", try_ptrace, EACH },
	{ "read another process's memory", try_read_memory, EACH },
	{ "open a raw socket", try_raw_socket, CLOSED },
	{ "open a packet socket", try_packet_socket, CLOSED },
	{ "open a netlink socket", try_netlink, CLOSED & ~(K(CONTROL) | K(BROKER)) },
	{ "open a TCP socket", try_tcp_socket, NO_TCP },
	{ "open a UDP socket", try_udp_socket, NO_TCP & ~K(BROKER) },
	{ "connect outwards", try_connect_outwards, NO_TCP },
	{ "execute", try_execute, CLOSED },
	{ "fork", try_fork, CLOSED },
	{ "kill a process", try_kill, CLOSED },
	{ "kill its thread", try_thread_kill, CLOSED },
	{ "signals by a file's owner", try_signal_by_file, CLOSED },
	{ "a file's signal", try_choose_signal, CLOSED },
	{ "limits of another process", try_limit, CLOSED },
	{ "processors of another process", try_move, CLOSED & ~K(CONTROL) },
	{ "priority of another process", try_slow, CLOSED & ~K(CONTROL) },
	{ "outlive the parent", try_outlive, CLOSED },
	{ "become traceable", try_become_traceable, CLOSED },
	{ "connect by TCP Fast Open", try_connect_fast, NO_TCP },
	{ "mount", try_mount, EACH },
	{ "unshare", try_unshare, EACH },
	{ "setns", try_setns, EACH },
	{ "chroot", try_chroot, EACH },
	{ "setuid", try_setuid, CLOSED },
	{ "load a module", try_load_module, EACH },
	{ "kexec", try_kexec, EACH },
	{ "reboot", try_reboot, EACH },
	{ "add_key", try_add_key, EACH },
	{ "keyctl", try_keyctl, EACH },
	{ "perf_event_open", try_perf_event, EACH },
	{ "userfaultfd", try_userfaultfd, EACH },
	{ "io_uring", try_io_uring, EACH },
	{ "personality", try_personality, CLOSED },
	{ "open_by_handle_at", try_open_by_handle, EACH },
	{ "a process in a user namespace", try_clone_namespace, EACH },
	{ "make code", try_code, CLOSED & ~K(CONTROL) },
};

#define N_TRIES (sizeof(tries) / sizeof(tries[0]))

/* --- A process in the sandbox ----------------------------------------------------------------- */

/* What the process tells by its exit status. */
enum { ALL_WELL, NO_SANDBOX, HAS_WORKED, NOT_COUNTED, IS_REFUSED };

static uint64_t count_refusals(void)
{
	struct sandbox_state state;

	sandbox_state(&state);
	return state.n_refused;
}

/* Returns ALL_WELL or the first fault, which is written to stderr. */
static int try_all(enum sandbox_kind kind)
{
	for (size_t i = 0; i < N_TRIES; i++) {
		const uint64_t before = count_refusals();

		if (!(tries[i].kinds >> kind & 1))
			continue;
		errno = 0;
		if (tries[i].run() != -1 || errno != EPERM) {
			fprintf(stderr, "%s: %s: %s\n", sandbox_kind_text(kind), tries[i].name,
				strerror(errno));
			return HAS_WORKED;
		}
		if (!sandbox_is_open(kind) && count_refusals() == before) {
			fprintf(stderr, "%s: %s: not counted\n", sandbox_kind_text(kind),
				tries[i].name);
			return NOT_COUNTED;
		}
	}
	return ALL_WELL;
}

static void *stay_idle(void *arg)
{
	return arg;
}

static void *run_kind(void *arg)
{
	const enum sandbox_kind kind = *(enum sandbox_kind *)arg;
	sigset_t all;

	sigfillset(&all); /* as the threads of volleyd */
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	sandbox_enter(kind);
	return (void *)(intptr_t)try_all(kind);
}

/* A process that is of its kind from the start. */
static int run_process(enum sandbox_kind kind)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(kind))
		return NO_SANDBOX;
	return try_all(kind);
}

/* Calls that each thread needs must work, also memory from another arena and a nested thread. */
static int run_sandboxed(enum sandbox_kind kind)
{
	pthread_t thread;
	void *result = NULL;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(SANDBOX_CONTROL))
		return NO_SANDBOX;
	if (pthread_create(&thread, NULL, run_kind, &kind) || pthread_join(thread, &result) ||
	    pthread_create(&thread, NULL, stay_idle, NULL) || pthread_join(thread, NULL))
		return NO_SANDBOX;
	/* Newer than any table. A library that tries such a call does without it. */
	if (syscall(500) != -1 || errno != ENOSYS || syscall(SYS_clone3, NULL, 0) != -1 ||
	    errno != ENOSYS)
		return HAS_WORKED;
	sandbox_tick();
	return result ? (int)(intptr_t)result : *sandbox_problem() ? ALL_WELL : NOT_COUNTED;
}

static bool counts(const struct sandbox_row *row, enum sandbox_kind kind)
{
	return row->kinds >> kind & 1 && !(row->when == SANDBOX_REFUSED && row->n_values);
}

/* How many system calls of this machine the rows allow to the kind, or refuse to it if it is open.
 * A call that depends on its arguments is allowed. */
static unsigned int count_calls(enum sandbox_kind kind)
{
	bool is_seen[1024] = { false };
	unsigned int n = 0;

	for (unsigned int i = 0; i < sandbox_n_rows; i++) {
		char names[4096], *at = names, *name;

		snprintf(names, sizeof(names), "%s",
			 counts(&sandbox_rows[i], kind) ? sandbox_rows[i].names : "");
		while ((name = strsep(&at, " "))) {
			const int number = *name ? seccomp_syscall_resolve_name(name) : -1;

			if (number < 0 || number >= 1024 || is_seen[number])
				continue;
			is_seen[number] = true;
			n++;
		}
	}
	return n;
}

static void a_break_in_gets_nothing(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < SANDBOX_N_KINDS; kind++) {
		unsigned int n = 0;

		for (size_t i = 0; i < N_TRIES; i++)
			n += tries[i].kinds >> kind & 1;
		print_message("  %s: %u calls %s, %u tries\n",
			      sandbox_kind_text((enum sandbox_kind)kind),
			      count_calls((enum sandbox_kind)kind),
			      sandbox_is_open((enum sandbox_kind)kind) ? "refused" : "allowed", n);
		assert_in_range(n, sandbox_is_open((enum sandbox_kind)kind) ? 16 : 20, N_TRIES);
		assert_int_equal(status_of(kind < SANDBOX_N_OF_THREADS ? run_sandboxed :
									 run_process,
					   (enum sandbox_kind)kind),
				 ALL_WELL);
	}
	assert_int_equal(kill(victim, 0), 0);
}

/* --- What libraries do in a thread: true if it works ------------------------------------------ */

/* glibc opens a file when the first heap of a thread shrinks. */
static bool use_heap(void)
{
	void *volatile blocks[10];

	for (int i = 0; i < 10; i++)
		blocks[i] = malloc(100000);
	for (int i = 0; i < 10; i++)
		free(blocks[i]);
	return true;
}

static bool use_clock_text(void)
{
	const time_t at = 0;
	struct tm tm;
	char text[40];

	return gmtime_r(&at, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
}

/* At its first use in a process OpenSSL reads openssl.cnf, by which it may load libraries. */
static bool use_openssl(void)
{
	unsigned char digest[EVP_MAX_MD_SIZE], octets[16];

	return EVP_Digest("a", 1, digest, NULL, EVP_sha256(), NULL) == 1 &&
	       RAND_bytes(octets, sizeof(octets)) == 1;
}

static bool use_membarrier(void)
{
	return syscall(SYS_membarrier, 0 /* MEMBARRIER_CMD_QUERY */, 0, 0) >= 0;
}

/* There is no map -1. */
static bool use_map_update(void)
{
	union bpf_attr attr = { .map_fd = (uint32_t)-1 };

	return syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)) == -1;
}

/* Nobody listens there, which the last call tells. */
static bool use_sd_notify(void)
{
	setenv("NOTIFY_SOCKET", "@volley-test-of-nobody", 1);
	return sd_notify(0, "WATCHDOG=1") == -ECONNREFUSED;
}

/* As sd_journal_send() with a message that is too large for a datagram, but to nobody. */
static bool use_journal(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/nonexistent/volley" };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to) };
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = 8 << 20;
	const int file = memfd_create("journal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool works = fd >= 0 && file >= 0 &&
		     !setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) &&
		     write(file, "a", 1) == 1 && !fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) &&
		     sendmsg(fd, &message, MSG_NOSIGNAL) == -1 && errno == ENOENT;

	close(fd);
	close(file);
	return works;
}

static bool use_tcp_listener(void)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool works = fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof(at)) &&
		     !listen(fd, 1) && accept4(fd, NULL, NULL, SOCK_CLOEXEC) == -1 &&
		     errno == EAGAIN;

	close(fd);
	return works;
}

/* The interface of a link-local address, as text and back. */
static bool use_interface_name(void)
{
	char name[IF_NAMESIZE];

	return if_indextoname(1, name) && if_nametoindex(name) == 1;
}

static bool use_file(void)
{
	FILE *in = fopen("/proc/self/stat", "re");
	const int c = in ? fgetc(in) : EOF;

	return in && !fclose(in) && c != EOF;
}

/* As LMDB locks its file, and OpenSSL and libevent look at theirs. */
static bool use_fcntl(void)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	const int fd = memfd_create("lock", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	bool works = copy >= 0 && !fcntl(fd, F_SETLK, &lock) && !fcntl(fd, F_GETLK, &lock) &&
		     fcntl(fd, F_GETFD) == FD_CLOEXEC && !fcntl(fd, F_SETFD, FD_CLOEXEC) &&
		     fcntl(fd, F_GETFL) >= 0 && !fcntl(fd, F_SETFL, O_NONBLOCK) &&
		     fcntl(fd, F_GET_SEALS) >= 0;

	close(fd);
	close(copy);
	return works;
}

static bool use_own_place(void)
{
	struct sched_param none = { 0 };
	cpu_set_t now;

	return !sched_getaffinity(0, sizeof(now), &now) &&
	       !sched_setaffinity(0, sizeof(now), &now) && !affinity_stand_behind(gettid()) &&
	       sched_setscheduler(0, SCHED_OTHER, &none) == 0;
}

/* The calls that arm64's C library makes for access() and readlink(): it has no others. */
static bool use_path(void)
{
	char link[16];

	return !syscall(SYS_faccessat, AT_FDCWD, "/proc/self/stat", R_OK) &&
	       syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", link, sizeof(link)) > 0;
}

static bool use_thread(void)
{
	pthread_t thread;

	return !pthread_create(&thread, NULL, stay_idle, NULL) && !pthread_join(thread, NULL);
}

struct use {
	const char *name;
	bool (*run)(void);
	uint32_t kinds; /* that need it */
};

static const struct use uses[] = {
	{ "memory is given back", use_heap, CLOSED },
	{ "a time as text", use_clock_text, CLOSED },
	{ "OpenSSL", use_openssl, ALL },
	{ "membarrier", use_membarrier, CLOSED },
	{ "a map is written", use_map_update,
	  K(CONTROL) | K(WORKER) | K(FILES) | K(QUIET) | K(BROKER) },
	{ "sd_notify()", use_sd_notify, K(CONTROL) | K(QUIET) },
	{ "the journal", use_journal, K(REPORTER) },
	{ "a TCP listener", use_tcp_listener, K(CONTROL) },
	{ "the name of an interface", use_interface_name,
	  K(CONTROL) | K(TRANSFER) | K(RESOLVER) | K(BROKER) },
	{ "a file is read", use_file,
	  K(BROKER) | K(CONTROL) | K(TRANSFER) | K(RESOLVER) | K(FILES) | K(REPORTER) },
	{ "fcntl()", use_fcntl, K(CONTROL) | K(TRANSFER) | K(RESOLVER) | K(FILES) | K(REPORTER) },
	{ "its place", use_own_place, CLOSED },
	{ "a path is looked at", use_path,
	  K(BROKER) | K(CONTROL) | K(TRANSFER) | K(RESOLVER) | K(FILES) | K(REPORTER) },
	{ "a thread", use_thread, K(CONTROL) | K(RESOLVER) | K(FILES) | K(BROKER) },
};

static int use_all_of(enum sandbox_kind kind)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		if (!(uses[i].kinds >> kind & 1) || (uses[i].run() && !count_refusals()))
			continue;
		fprintf(stderr, "%s: %s: %s\n", sandbox_kind_text(kind), uses[i].name,
			strerror(errno));
		return IS_REFUSED;
	}
	return ALL_WELL;
}

static void *use_all(void *arg)
{
	const enum sandbox_kind kind = *(enum sandbox_kind *)arg;

	sandbox_enter(kind);
	return (void *)(intptr_t)use_all_of(kind);
}

static int use_process(enum sandbox_kind kind)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(kind))
		return NO_SANDBOX;
	return use_all_of(kind);
}

static int use_sandboxed(enum sandbox_kind kind)
{
	pthread_t thread;
	void *result = NULL;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(SANDBOX_CONTROL) ||
	    pthread_create(&thread, NULL, use_all, &kind) || pthread_join(thread, &result))
		return NO_SANDBOX;
	return (int)(intptr_t)result;
}

static void libraries_lack_no_call(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < SANDBOX_N_KINDS; kind++)
		assert_int_equal(status_of(kind < SANDBOX_N_OF_THREADS ? use_sandboxed :
									 use_process,
					   (enum sandbox_kind)kind),
				 ALL_WELL);
}

/* A call of another architecture would be a way around each filter: x32 has numbers of its own. */
static int call_foreign(enum sandbox_kind kind)
{
	(void)kind;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(SANDBOX_CONTROL))
		return NO_SANDBOX;
#ifdef __x86_64__
	(void)syscall(0x40000000 + SYS_getpid);
#else
	abort();
#endif
	return ALL_WELL;
}

static void another_architecture_ends_the_process(void **state)
{
	(void)state;
	assert_int_equal(status_of(call_foreign, SANDBOX_CONTROL), -1);
}

/* posix_spawn() blocks signals while it calls clone(), so the refusal cannot be counted. */
static void *spawn_program(void *arg)
{
	char word[] = "/bin/true", *argv[] = { word, NULL };
	pid_t pid;

	sandbox_enter(SANDBOX_WORKER);
	(void)!posix_spawn(&pid, word, NULL, NULL, argv, NULL);
	return arg;
}

static int spawn_in_thread(enum sandbox_kind kind)
{
	pthread_t thread;

	(void)kind;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(SANDBOX_CONTROL) ||
	    pthread_create(&thread, NULL, spawn_program, NULL))
		return NO_SANDBOX;
	pthread_join(thread, NULL);
	return HAS_WORKED;
}

static void a_refusal_that_cannot_be_counted_ends_the_process(void **state)
{
	(void)state;
	assert_int_equal(status_of(spawn_in_thread, SANDBOX_WORKER), -1);
}

static int make_victim(void **state)
{
	(void)state;
	victim = fork();
	if (!victim) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return victim < 0;
}

static int end_victim(void **state)
{
	(void)state;
	return kill(victim, SIGKILL) || waitpid(victim, NULL, 0) != victim;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_break_in_gets_nothing),
		cmocka_unit_test(a_refusal_that_cannot_be_counted_ends_the_process),
		cmocka_unit_test(libraries_lack_no_call),
		cmocka_unit_test(another_architecture_ends_the_process),
	};

	return cmocka_run_group_tests(tests, make_victim, end_victim);
}
