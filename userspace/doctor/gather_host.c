/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/kernel.h"
#include "bpf/object.h"
#include "doctor/gather.h"
#include "resolver/unbound_version.h"

/* --- Files ------------------------------------------------------------------------------------ */

static int read_host_line(char *buf, size_t cap, const char *path)
{
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	buf[0] = 0;
	if (fd < 0)
		return -errno;
	got = read(fd, buf, cap - 1);
	if (got < 0) {
		got = -errno;
		close(fd);
		return (int)got;
	}
	close(fd);
	buf[got] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return 0;
}

#define MAKE_PATH(path, format)                              \
	do {                                                 \
		va_list args;                                \
                                                             \
		va_start(args, format);                      \
		vsnprintf(path, sizeof(path), format, args); \
		va_end(args);                                \
	} while (0)

int doctor_read_line(char *buf, size_t cap, const char *format, ...)
{
	char path[256];

	MAKE_PATH(path, format);
	return read_host_line(buf, cap, path);
}

int64_t doctor_read_number(const char *format, ...)
{
	char path[256], text[64], *end;
	int64_t value;
	int err;

	MAKE_PATH(path, format);
	err = read_host_line(text, sizeof(text), path);
	if (err)
		return err;
	value = strtoll(text, &end, 10);
	return end == text || value < 0 ? -ENODATA : value;
}

void doctor_read_cpus(cpu_set_t *cpus, const char *format, ...)
{
	char path[256], text[1024], *at = text;

	MAKE_PATH(path, format);
	CPU_ZERO(cpus);
	if (read_host_line(text, sizeof(text), path))
		return;
	while (*at) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, cpus);
		at = *end == ',' ? end + 1 : end;
	}
}

/* The number after "KEY:" in a file of such lines; "kB" means KiB. */
static int64_t read_key(const char *path, const char *key, int base)
{
	FILE *in = fopen(path, "re");
	char line[256];
	int64_t value = -ENODATA;
	size_t len = strlen(key);

	if (!in)
		return -errno;
	while (fgets(line, sizeof(line), in)) {
		if (strncmp(line, key, len) || line[len] != ':')
			continue;
		value = (int64_t)strtoull(line + len + 1, NULL, base);
		if (strstr(line, " kB"))
			value *= 1024;
		break;
	}
	fclose(in);
	return value;
}

/* --- Kernel ----------------------------------------------------------------------------------- */

static void gather_kernel(struct doctor_host *host)
{
	struct utsname name;

	if (uname(&name))
		return;
	snprintf(host->release, sizeof(host->release), "%s", name.release);
	if (sscanf(name.release, "%u.%u.%u", &host->kernel[0], &host->kernel[1], &host->kernel[2]) <
	    2)
		host->kernel[0] = 0;
}

static int has_af_xdp(void)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	/* Without CAP_NET_RAW, a kernel with AF_XDP returns EPERM, and one without EAFNOSUPPORT. */
	if (fd < 0)
		return errno == EPERM ? 1 : -errno;
	close(fd);
	return 1;
}

static int is_bpffs(void)
{
	struct statfs fs;

	return !statfs("/sys/fs/bpf", &fs) && fs.f_type == BPF_FS_MAGIC;
}

static int is_hugetlbfs(void)
{
	struct statfs fs;

	return !statfs("/dev/hugepages", &fs) && fs.f_type == HUGETLBFS_MAGIC;
}

/* Tries it, because a distribution's kernel may have features of a later version. */
static void try_load(struct doctor_load *load)
{
	load->is_tried = privilege_has_xdp();
	if (!load->is_tried)
		return;
	load->err = object_try_load(load->why, sizeof(load->why));
	if (!load->err || !needs_find_missing(load->missing, sizeof(load->missing)))
		load->missing[0] = 0;
}

/* --- Library ---------------------------------------------------------------------------------- */

static void read_installed(char *version, size_t cap)
{
	void *library = dlopen(UNBOUND_VERSION_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	const char *(*get)(void) = library ? dlsym(library, "ub_version") : NULL;

	snprintf(version, cap, "%s", get ? get() : "");
	if (library)
		dlclose(library);
}

/* Without a daemon every recursion counts as by libunbound: recursion_settings decides that. */
void doctor_gather_libunbound(struct doctor_libunbound *u, const json_t *status,
			      const struct config *config)
{
	const json_t *recursion = json_object_get(status, "recursion");
	const char *runs = json_string_value(json_object_get(recursion, "libunbound"));
	const char *by = json_string_value(json_object_get(recursion, "by"));

	snprintf(u->runs, sizeof(u->runs), "%s", runs ? runs : "");
	read_installed(u->installed, sizeof(u->installed));
	u->is_asked = runs ? by && !strcmp(by, "libunbound") : config && config->recursion.n_allow;
}

/* --- Processes -------------------------------------------------------------------------------- */

static int find_process(const char *name)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int pid = 0;

	while (!pid && proc && (entry = readdir(proc))) {
		char comm[32];
		int number = atoi(entry->d_name);

		if (number > 0 && !doctor_read_line(comm, sizeof(comm), "/proc/%d/comm", number) &&
		    !strcmp(comm, name))
			pid = number;
	}
	if (proc)
		closedir(proc);
	return pid;
}

/* The capabilities of a process, or -errno. */
static int64_t read_caps(int pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return read_key(path, "CapPrm", 16);
}

/* A process that has what the daemon has given up: the parent of its broker, or a broker with a
 * unit of its own, which systemd has started. */
static bool has_caps_of_broker(int number, int pid)
{
	char comm[32], path[64];
	int64_t parent;

	if (doctor_read_line(comm, sizeof(comm), "/proc/%d/comm", number))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", number);
	parent = read_key(path, "PPid", 10);
	return (!strcmp(comm, "volley-parent") && parent == pid) ||
	       (!strcmp(comm, "volley-broker") && parent == 1);
}

/* Those of the daemon and of its broker, which has what the daemon has given up; or -errno. */
static int64_t read_caps_of_both(int pid)
{
	int64_t caps = read_caps(pid), more;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (caps >= 0 && proc && (entry = readdir(proc))) {
		int number = atoi(entry->d_name);

		if (number <= 0 || !has_caps_of_broker(number, pid))
			continue;
		more = read_caps(number);
		caps |= more > 0 ? more : 0;
	}
	if (proc)
		closedir(proc);
	return caps;
}

/* "Max locked memory         8388608              8388608              bytes" */
static int64_t read_memlock(int pid)
{
	static const char key[] = "Max locked memory";
	char path[64], line[256];
	int64_t value = -ENODATA;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/limits", pid);
	in = fopen(path, "re");
	if (!in)
		return -errno;
	while (value == -ENODATA && fgets(line, sizeof(line), in))
		if (!strncmp(line, key, strlen(key)))
			value = strstr(line, "unlimited") ? DOCTOR_UNLIMITED :
							    strtoll(line + strlen(key), NULL, 10);
	fclose(in);
	return value;
}

/* The memory that the group and its ancestors still allow (control groups v2). */
static int64_t read_cgroup(const char *group)
{
	int64_t left = DOCTOR_UNLIMITED;
	char path[256];

	snprintf(path, sizeof(path), "%s", group);
	for (;;) {
		int64_t max = doctor_read_number("/sys/fs/cgroup%s/memory.max", path);
		int64_t used = doctor_read_number("/sys/fs/cgroup%s/memory.current", path);
		char *slash = strrchr(path, '/');

		if (max >= 0 && max - (used > 0 ? used : 0) < left)
			left = max > used ? max - (used > 0 ? used : 0) : 0;
		if (!slash)
			return left;
		*slash = 0;
	}
}

/* The control group and limits of the daemon; PID 0: of volleyd.service, or else our own. */
static void gather_process(struct doctor_host *host, int pid)
{
	static const char service[] = "/system.slice/volleyd.service";
	struct doctor_process *p = &host->process;
	int of = pid ? pid : (int)getpid();
	char group[200];
	int64_t caps = read_caps_of_both(of);

	p->pid = pid;
	p->is_root = !geteuid();
	p->caps_err = caps < 0 ? (int)caps : 0;
	p->caps = caps < 0 ? 0 : (uint64_t)caps;
	p->memlock_bytes = read_memlock(of);
	if (!pid && !access("/sys/fs/cgroup/system.slice/volleyd.service/memory.max", R_OK))
		host->cgroup_bytes = read_cgroup(service);
	else if (!doctor_read_line(group, sizeof(group), "/proc/%d/cgroup", of) &&
		 !strncmp(group, "0::/", 4))
		host->cgroup_bytes = read_cgroup(group[4] ? group + 3 : "");
	else
		host->cgroup_bytes = -EOPNOTSUPP;
}

void doctor_gather_host(struct doctor_host *host, int pid)
{
	int64_t pages = read_key("/proc/meminfo", "HugePages_Free", 10);
	int64_t page_bytes = read_key("/proc/meminfo", "Hugepagesize", 10);

	gather_process(host, pid);
	gather_kernel(host);
	host->btf = !access("/sys/kernel/btf/vmlinux", F_OK);
	host->jit = (int)doctor_read_number("/proc/sys/net/core/bpf_jit_enable");
	/* The kernel shows it only in the initial network namespace. */
	if (host->jit == -ENOENT)
		host->jit = -EXDEV;
	try_load(&host->load);
	host->realtime = kernel_is_realtime();
	host->af_xdp = has_af_xdp();
	host->bpffs = is_bpffs();
	host->available_bytes = read_key("/proc/meminfo", "MemAvailable", 10);
	host->hugepage_bytes = pages < 0 ? pages : pages * page_bytes;
	host->hugetlbfs = is_hugetlbfs();
	host->irqbalance = find_process("irqbalance");
	host->conntrack = (int)doctor_read_number("/proc/sys/net/netfilter/nf_conntrack_count");
	host->forwarding4 = (int)doctor_read_number("/proc/sys/net/ipv4/conf/lo/forwarding");
	host->forwarding6 = (int)doctor_read_number("/proc/sys/net/ipv6/conf/lo/forwarding");
	host->page_bytes = (int)sysconf(_SC_PAGESIZE);
}

/* --- Processors ------------------------------------------------------------------------------- */

/* The longest exit latency of the enabled idle states, in us. */
static int read_idle_us(int cpu)
{
	int worst = -ENOENT;

	for (int state = 0; state < 16; state++) {
		static const char dir[] = "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s";
		char path[128];
		int64_t us, off;

		snprintf(path, sizeof(path), dir, cpu, state, "latency");
		us = doctor_read_number("%s", path);
		snprintf(path, sizeof(path), dir, cpu, state, "disable");
		off = doctor_read_number("%s", path);
		if (us < 0)
			break;
		if (off <= 0 && us > worst)
			worst = (int)us;
	}
	return worst;
}

static bool shares_core(int cpu, const cpu_set_t *workers)
{
	cpu_set_t siblings;

	doctor_read_cpus(&siblings, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
			 cpu);
	CPU_AND(&siblings, &siblings, workers);
	return CPU_COUNT(&siblings) > 1;
}

static void gather_worker_cpu(struct doctor_cpus *cpus, int cpu, const cpu_set_t *workers)
{
	char governor[32];
	int idle_us = read_idle_us(cpu);

	if (idle_us > cpus->idle_us)
		cpus->idle_us = idle_us;
	if (shares_core(cpu, workers))
		cpus->has_smt = 1;
	if (doctor_read_line(governor, sizeof(governor),
			     "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu))
		return;
	if (!*cpus->governor || !strcmp(cpus->governor, "performance"))
		memcpy(cpus->governor, governor, sizeof(governor));
	if (strcmp(governor, "performance"))
		CPU_SET((size_t)cpu, &cpus->slow);
}

void doctor_gather_cpus(struct doctor_cpus *cpus, const cpu_set_t *workers)
{
	cpu_set_t possible;

	doctor_read_cpus(&cpus->online, "/sys/devices/system/cpu/online");
	doctor_read_cpus(&possible, "/sys/devices/system/cpu/possible");
	cpus->n_possible = CPU_COUNT(&possible);
	doctor_read_cpus(&cpus->isolated, "/sys/devices/system/cpu/isolated");
	for (unsigned int node = 0; node < DOCTOR_NODES; node++)
		doctor_read_cpus(&cpus->nodes[node], "/sys/devices/system/node/node%u/cpulist",
				 node);
	CPU_ZERO(&cpus->slow);
	cpus->governor[0] = 0;
	cpus->idle_us = -ENOENT;
	cpus->has_smt = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, workers))
			gather_worker_cpu(cpus, cpu, workers);
}
