// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a break-in. A thread that gets the signal tries, one after the other, what
 * somebody who runs code in it would try, and writes a line for each attempt to stderr:
 *
 *	BREAK-IN TID ATTEMPT: worked|EPERM|... [filter NUMBER]
 *	BREAK-IN TID end
 *
 * "filter" says that seccomp has refused a system call, and which. The value of the signal is the
 * process that is attacked. Attempts at files are below the folder BREAKIN_FOLDER. The programs are
 * those that are installed: no build of them has any of this. test_break_in.py compiles it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BREAK_IN (SIGRTMIN + 7)
#define AF_XDP_  44

typedef void on_signal(int, siginfo_t *, void *);

static on_signal *real_refused;
/* Of a library that is there from the start, so the memory of both needs no allocation. */
static __thread int refused __attribute__((tls_model("initial-exec")));
static pid_t victim;

/* --- Attempts: -1 with errno, or not ---------------------------------------------------------- */

static const char *path_of(const char *name)
{
	static __thread char path[512] __attribute__((tls_model("initial-exec")));

	snprintf(path, sizeof(path), "%s/%s", getenv("BREAKIN_FOLDER"), name);
	return path;
}

static long take(int fd)
{
	const int code = errno;

	if (fd < 0)
		return -1;
	close(fd);
	errno = code;
	return 0;
}

static long read_file(const char *path)
{
	return take((int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
}

static long write_file(const char *path)
{
	return take((int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static long write_to_victim(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", victim, name);
	return take((int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
}

static long read_shadow(void)
{
	return read_file("/etc/shadow");
}

static long read_secret(void)
{
	return read_file(path_of("secret"));
}

static long read_foreign(void)
{
	return read_file(path_of("foreign"));
}

static long write_system(void)
{
	return write_file("/etc/volley-break-in");
}

static long write_foreign(void)
{
	return write_file(path_of("open/made"));
}

static long remove_foreign(void)
{
	return (long)syscall(SYS_unlinkat, AT_FDCWD, path_of("open/theirs"), 0);
}

static long make_device(void)
{
	return (long)syscall(SYS_mknodat, AT_FDCWD, path_of("open/device"), S_IFCHR | 0600, 0x101);
}

static long open_by_handle(void)
{
	return (long)syscall(SYS_open_by_handle_at, -1, NULL, 0);
}

static long write_victims_memory(void)
{
	return write_to_victim("mem");
}

static long open_victims_file(void)
{
	return write_to_victim("fd/2");
}

static long trace(void)
{
	return ptrace(PTRACE_SEIZE, victim, NULL, NULL);
}

static long read_memory(void)
{
	return (long)syscall(SYS_process_vm_readv, victim, NULL, 0, NULL, 0, 0);
}

static long take_victims_file(void)
{
	return (long)syscall(SYS_pidfd_open, victim, 0) < 0 ? -1 : 0;
}

static long kill_victim(void)
{
	return (long)syscall(SYS_kill, victim, SIGURG);
}

static long kill_victims_thread(void)
{
	return (long)syscall(SYS_tgkill, victim, victim, SIGURG);
}

/* The process gets SIGIO, or the signal that F_SETSIG chooses, for each event of the file. */
static long own_file(void)
{
	const long ret = fcntl(STDERR_FILENO, F_SETOWN, victim);
	const int code = errno;

	(void)!fcntl(STDERR_FILENO, F_SETOWN, 0);
	errno = code;
	return ret;
}

static long limit_victim(void)
{
	struct rlimit now;

	return prlimit(victim, RLIMIT_CPU, NULL, &now);
}

static long move_victim(void)
{
	cpu_set_t now;

	return sched_getaffinity(victim, sizeof(now), &now) ?
		       -1 :
		       sched_setaffinity(victim, sizeof(now), &now);
}

static long slow_victim(void)
{
	return setpriority(PRIO_PROCESS, (id_t)victim, getpriority(PRIO_PROCESS, (id_t)victim));
}

static long outlive_parent(void)
{
	return prctl(PR_SET_PDEATHSIG, 0);
}

static long execute(void)
{
	char *const argv[] = { (char *)(uintptr_t) "/nonexistent", NULL };

	return (long)syscall(SYS_execve, argv[0], argv, NULL);
}

static long make_process(void)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

	if (!pid)
		_exit(0);
	if (pid < 0)
		return -1;
	(void)!waitpid(pid, NULL, __WALL);
	return 0;
}

static long make_code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? -1 : munmap(at, 4096);
}

static long load_bpf(void)
{
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_XDP };

	return (long)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static long make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};

	return take((int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static long find_program(void)
{
	union bpf_attr attr = { .prog_id = 1 };

	return take((int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr)));
}

static long open_raw(void)
{
	return take(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

static long open_packet(void)
{
	return take(socket(AF_PACKET, SOCK_RAW, 0));
}

static long open_xdp(void)
{
	return take(socket(AF_XDP_, SOCK_RAW, 0));
}

static long open_netlink(void)
{
	return take(socket(AF_NETLINK, SOCK_RAW, 0));
}

static long reach(int type)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	const int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);
	long ret;

	if (fd < 0)
		return -1;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret = connect(fd, (struct sockaddr *)&to, sizeof(to));
	take(fd);
	return ret;
}

static long connect_tcp(void)
{
	return reach(SOCK_STREAM);
}

static long connect_udp(void)
{
	return reach(SOCK_DGRAM);
}

/* A listener that is shut down is an unconnected socket; a send may connect it. */
static long connect_fast(void)
{
	if (shutdown(-1, SHUT_RD) && errno != EBADF)
		return -1;
	return send(-1, "", 0, MSG_FASTOPEN);
}

static long bind_low_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(1) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	long ret;

	if (fd < 0)
		return -1;
	ret = bind(fd, (struct sockaddr *)&at, sizeof(at));
	take(fd);
	return ret;
}

static long mount_there(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL);
}

static long become_root_of_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

static long enter_namespace(void)
{
	return setns(0, 0);
}

static long change_root(void)
{
	return chroot("/tmp");
}

static long become_root(void)
{
	return (long)syscall(SYS_setuid, 0);
}

static long load_module(void)
{
	return (long)syscall(SYS_init_module, NULL, 0, "");
}

static long reboot_host(void)
{
	return (long)syscall(SYS_reboot, 0, 0, 0, NULL); /* the numbers are wrong on purpose */
}

static long set_clock(void)
{
	return (long)syscall(SYS_clock_settime, 0, NULL);
}

static long add_kernel_key(void)
{
	return (long)syscall(SYS_add_key, "user", "volley", "x", 1, -2);
}

static long measure_kernel(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE };

	return take((int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static long watch_faults(void)
{
	return take((int)syscall(SYS_userfaultfd, 0));
}

static long use_uring(void)
{
	char params[256] = { 0 };

	return take((int)syscall(SYS_io_uring_setup, 1, params));
}

static const struct attempt {
	const char *name;
	long (*run)(void);
} attempts[] = {
	{ "read /etc/shadow", read_shadow },
	{ "read another user's secret", read_secret },
	{ "read a file outside", read_foreign },
	{ "write below /etc", write_system },
	{ "write a file outside", write_foreign },
	{ "remove a file outside", remove_foreign },
	{ "make a device", make_device },
	{ "open a file by its handle", open_by_handle },
	{ "write another process's memory", write_victims_memory },
	{ "open another process's file", open_victims_file },
	{ "trace", trace },
	{ "read another process's memory", read_memory },
	{ "pidfd", take_victims_file },
	{ "kill a process", kill_victim },
	{ "kill a thread", kill_victims_thread },
	{ "signals by a file's owner", own_file },
	{ "limits of another process", limit_victim },
	{ "processors of another process", move_victim },
	{ "priority of another process", slow_victim },
	{ "outlive volleyd", outlive_parent },
	{ "execute", execute },
	{ "fork", make_process },
	{ "make code", make_code },
	{ "load a BPF program", load_bpf },
	{ "make a BPF map", make_map },
	{ "find a BPF program", find_program },
	{ "raw socket", open_raw },
	{ "packet socket", open_packet },
	{ "AF_XDP socket", open_xdp },
	{ "netlink socket", open_netlink },
	{ "connect by TCP", connect_tcp },
	{ "connect by TCP Fast Open", connect_fast },
	{ "connect by UDP", connect_udp },
	{ "bind a port below 1024", bind_low_port },
	{ "mount", mount_there },
	{ "a user namespace", become_root_of_namespace },
	{ "enter a namespace", enter_namespace },
	{ "chroot", change_root },
	{ "become root", become_root },
	{ "load a module", load_module },
	{ "reboot", reboot_host },
	{ "set the clock", set_clock },
	{ "a key of the kernel", add_kernel_key },
	{ "perf_event_open", measure_kernel },
	{ "userfaultfd", watch_faults },
	{ "io_uring", use_uring },
};

/* --- The thread ------------------------------------------------------------------------------- */

static void tell(const char *name, const char *result, int number)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "BREAK-IN %d %s%s%s", gettid(), name,
			 *result ? ": " : "", result);

	if (number)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " filter %d", number - 1);
	line[n++] = '\n';
	(void)!write(STDERR_FILENO, line, (size_t)n);
}

static void break_in(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	victim = info->si_value.sival_int;
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		const char *result = "worked";

		refused = errno = 0;
		if (attempts[i].run() == -1)
			result = strerrorname_np(errno);
		tell(attempts[i].name, result, refused);
	}
	tell("end", "", 0);
}

static void count_refused(int number, siginfo_t *info, void *context)
{
	if (!refused)
		refused = info->si_syscall + 1;
	real_refused(number, info, context);
}

/* The handler that volleyd has for refused calls is called by ours. */
int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	int (*real)(int, const struct sigaction *, struct sigaction *) =
		(int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT,
										  "sigaction");
	struct sigaction ours;

	if (number != SIGSYS || !action)
		return real(number, action, old);
	ours = *action;
	real_refused = action->sa_sigaction;
	ours.sa_sigaction = count_refused;
	return real(number, &ours, old);
}

/* Somebody who runs code in a thread does not wait until it takes a signal. */
static int mask(const char *name, int how, const sigset_t *set, sigset_t *old)
{
	int (*real)(int, const sigset_t *, sigset_t *) =
		(int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT, name);
	sigset_t ours;

	if (!set || how == SIG_UNBLOCK)
		return real(how, set, old);
	ours = *set;
	sigdelset(&ours, BREAK_IN);
	return real(how, &ours, old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask("pthread_sigmask", how, set, old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask("sigprocmask", how, set, old);
}

__attribute__((constructor)) static void prepare_break_in(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

	action.sa_sigaction = break_in;
	sigemptyset(&action.sa_mask);
	sigaction(BREAK_IN, &action, NULL);
}
