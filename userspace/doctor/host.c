/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the host: kernel, capabilities, memory, processors, configuration. Pure. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>

#include "base/affinity.h"
#include "doctor/finding.h"
#include "resolver/unbound_version.h"

#define MIB        (1024.0 * 1024)
#define BASE_BYTES (64ull << 20) /* for program, workers and zones with some thousand names */
/* A longer wake-up exceeds the p99 of answers. tuned's latency-performance allows 3 us. */
#define IDLE_US_MAX 100

/* --- Kernel ----------------------------------------------------------------------------------- */

/* Decides by trying to load the program, or by the version if we may not load it. */
static void kernel(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_host *h = c->host;

	if (*h->load.missing) {
		doctor_fail(f, "Linux %s has no %s", h->release, h->load.missing);
		doctor_fix(f, "install a later kernel");
	} else if (!h->kernel[0] && !h->load.is_tried) {
		doctor_warn(f,
			    "the kernel release \"%s\" cannot be read: Linux 5.18 or later is "
			    "needed",
			    h->release);
		doctor_fix(f, "uname -r");
	} else if (h->load.is_tried || !doctor_is_before(h->kernel, 5, 18, 0)) {
		doctor_ok(f, "Linux %s", h->release);
	} else {
		doctor_fail(f,
			    "Linux %s: the XDP program needs 5.18 or later (bpf_xdp_store_bytes), "
			    "or a distribution's kernel that has it, which only root can see",
			    h->release);
		doctor_fix(f, "install a later kernel");
	}
}

static bool wants_host_xdp(const struct config *config)
{
	bool is_off = config && config->n_interfaces;

	for (uint32_t i = 0; config && i < config->n_interfaces; i++)
		is_off &= config->interfaces[i].xdp == CONFIG_XDP_OFF;
	return !is_off;
}

static void program_load(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_load *load = &c->host->load;

	if (!wants_host_xdp(c->config))
		return;
	if (doctor_is_unknown(f, load->is_tried ? 0 : -EPERM, "whether the XDP program loads"))
		return;
	if (!load->err) {
		doctor_ok(f, "the kernel accepts the XDP program");
		return;
	}
	doctor_fail(f, "the XDP program does not load: %s: kernel sockets answer", load->why);
	doctor_fix(f, *load->missing ?
			      "install a later kernel" :
			      "volleyd -v logs the verifier's last lines; try another kernel");
}

static void kernel_btf(const struct doctor_case *c, struct doctor_finding *f)
{
	if (c->host->btf > 0) {
		doctor_ok(f, "the kernel has BTF");
		return;
	}
	doctor_warn(f, "/sys/kernel/btf/vmlinux does not exist: libxdp's dispatcher does not load");
	doctor_fix(f, "use a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

/* A real-time kernel is no fault. */
static void realtime(const struct doctor_case *c, struct doctor_finding *f)
{
	if (c->host->realtime > 0)
		doctor_ok(f, "PREEMPT_RT: each run of the XDP program has room of its own");
}

static void bpf_jit(const struct doctor_case *c, struct doctor_finding *f)
{
	if (doctor_is_unknown(f, c->host->jit, "net.core.bpf_jit_enable"))
		return;
	if (c->host->jit) {
		doctor_ok(f, "the kernel compiles BPF programs");
		return;
	}
	doctor_warn(f, "net.core.bpf_jit_enable is 0: the program is interpreted for each packet");
	doctor_fix(f, "sysctl -w net.core.bpf_jit_enable=1");
}

static void af_xdp(const struct doctor_case *c, struct doctor_finding *f)
{
	if (c->host->af_xdp == -EAFNOSUPPORT) {
		doctor_fail(f, "the kernel has no AF_XDP: kernel sockets answer misses");
		doctor_fix(f, "use a kernel with CONFIG_XDP_SOCKETS=y");
	} else if (!doctor_is_unknown(f, c->host->af_xdp, "AF_XDP")) {
		doctor_ok(f, "the kernel has AF_XDP sockets");
	}
}

static void bpffs(const struct doctor_case *c, struct doctor_finding *f)
{
	if (c->host->bpffs > 0) {
		doctor_ok(f, "mounted on /sys/fs/bpf");
		return;
	}
	doctor_warn(f, "/sys/fs/bpf is no BPF file system: libxdp cannot attach Volley beside "
		       "another program");
	doctor_fix(f, "mount -t bpf bpf /sys/fs/bpf");
}

/* --- Capabilities ----------------------------------------------------------------------------- */

struct cap {
	unsigned int number;
	const char *name;
};

/* Capabilities without which the driver cannot be used, in the order of base/kernel.h. */
static const struct cap needed[] = {
	{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
	{ CAP_NET_RAW, "CAP_NET_RAW" },
	{ CAP_BPF, "CAP_BPF" },
	{ CAP_PERFMON, "CAP_PERFMON" },
};

static bool has_cap(const struct doctor_process *p, unsigned int number)
{
	/* Before 5.8 CAP_SYS_ADMIN was needed in place of these two, and it still includes them. */
	uint64_t also = number == CAP_BPF || number == CAP_PERFMON ? 1ull << CAP_SYS_ADMIN : 0;

	return p->caps & (1ull << number | also);
}

static void capabilities(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_process *p = &c->host->process;
	char missing[128] = "";

	if (doctor_is_unknown(f, p->caps_err, "capabilities"))
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!has_cap(p, needed[i].number)) {
			strcat(missing, *missing ? ", " : "");
			strcat(missing, needed[i].name);
		}
	if (!*missing && !has_cap(p, CAP_SYS_ADMIN)) {
		doctor_warn(f,
			    "CAP_SYS_ADMIN is missing: an attached program cannot be adopted, so "
			    "the cache ends with the daemon");
	} else if (!*missing) {
		doctor_ok(f, p->pid ? "volleyd has the capabilities that it "
				      "needs" :
				      "enough to load XDP programs");
		return;
	} else if (p->pid) {
		doctor_fail(f, "volleyd (process %d) and its broker lack %s", p->pid, missing);
	} else if (p->is_root) {
		doctor_fail(f, "root lacks %s here, as in a container", missing);
	} else {
		f->level = DOCTOR_UNKNOWN;
		strcpy(f->text,
		       "no volleyd runs, and you are not root: volleyd's capabilities cannot be "
		       "checked");
		return;
	}
	doctor_fix(f, "start volleyd as root or by volleyd.service; in a container add these "
		      "capabilities");
}

static void memlock(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_process *p = &c->host->process;
	double need = (double)c->umem_bytes / MIB;

	if (!c->umem_bytes || (!p->pid && !p->is_root))
		return;
	if (doctor_is_unknown(f, p->caps_err, "RLIMIT_MEMLOCK"))
		return;
	if (has_cap(p, CAP_IPC_LOCK) || p->memlock_bytes == DOCTOR_UNLIMITED) {
		doctor_ok(f, "%.0f MiB of packet memory may be locked", need);
		return;
	}
	if (doctor_is_unknown(f, p->memlock_bytes, "RLIMIT_MEMLOCK"))
		return;
	if ((uint64_t)p->memlock_bytes >= c->umem_bytes) {
		doctor_ok(f, "%.0f MiB of packet memory may be locked", need);
		return;
	}
	doctor_warn(f,
		    "AF_XDP wants %.0f MiB locked, RLIMIT_MEMLOCK allows %.1f MiB, and there is no "
		    "CAP_IPC_LOCK: queues get fewer frames, or kernel sockets answer",
		    need, (double)p->memlock_bytes / MIB);
	doctor_fix(f, "LimitMEMLOCK=infinity in volleyd.service, or ulimit -l unlimited");
}

/* --- Memory ----------------------------------------------------------------------------------- */

static uint64_t needed_bytes(const struct doctor_case *c)
{
	/* A running daemon already has its cache. */
	if (c->daemon->pid)
		return 0;
	if (!c->config)
		return (256ull << 20) + c->umem_bytes + BASE_BYTES;
	return c->config->cache_size_bytes +
	       ((uint64_t)c->config->cache_names_lines + c->config->cache_intervals_lines) *
		       VOLLEY_NAMES_LINE_BYTES +
	       c->umem_bytes + BASE_BYTES;
}

static void memory(const struct doctor_case *c, struct doctor_finding *f)
{
	uint64_t need = needed_bytes(c);
	double have = (double)c->host->available_bytes / MIB;

	if (!need || doctor_is_unknown(f, c->host->available_bytes, "MemAvailable"))
		return;
	if ((uint64_t)c->host->available_bytes >= need) {
		doctor_ok(f, "%.0f MiB available, %.0f MiB needed", have, (double)need / MIB);
		return;
	}
	doctor_fail(
		f, "%.0f MiB available, but cache.size, packet memory and the daemon need %.0f MiB",
		have, (double)need / MIB);
	doctor_fix(f, "cache.size: %.0fM", (double)c->host->available_bytes / MIB / 2);
}

static void cgroup(const struct doctor_case *c, struct doctor_finding *f)
{
	uint64_t need = needed_bytes(c);

	if (!need || c->host->cgroup_bytes == DOCTOR_UNLIMITED ||
	    doctor_is_unknown(f, c->host->cgroup_bytes, "memory.max of the control group"))
		return;
	if ((uint64_t)c->host->cgroup_bytes >= need) {
		doctor_ok(f, "the control group leaves %.0f MiB",
			  (double)c->host->cgroup_bytes / MIB);
		return;
	}
	doctor_fail(
		f, "the control group leaves %.0f MiB, volleyd needs %.0f MiB: BPF maps count, too",
		(double)c->host->cgroup_bytes / MIB, (double)need / MIB);
	doctor_fix(f, "systemctl set-property volleyd.service MemoryMax=%.0fM",
		   (double)need * 1.2 / MIB);
}

static bool wants_dpdk(const struct config *config)
{
	for (uint32_t i = 0; config && i < config->n_interfaces; i++)
		if (config->interfaces[i].port == CONFIG_PORT_DPDK)
			return true;
	return false;
}

static void huge_pages(const struct doctor_case *c, struct doctor_finding *f)
{
	if (!wants_dpdk(c->config) || doctor_is_unknown(f, c->host->hugepage_bytes, "huge pages"))
		return;
	if (c->host->hugepage_bytes && c->host->hugetlbfs > 0) {
		doctor_ok(f, "%.0f MiB of huge pages are free",
			  (double)c->host->hugepage_bytes / MIB);
		return;
	}
	doctor_warn(f, c->host->hugepage_bytes ?
			       "hugetlbfs is not mounted: DPDK can only run without huge pages" :
			       "no huge page is free: DPDK can only run without them");
	doctor_fix(f, c->host->hugepage_bytes ? "mount -t hugetlbfs none /dev/hugepages" :
						"sysctl -w vm.nr_hugepages=512");
}

/* --- Processors ------------------------------------------------------------------------------- */

static void cores(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct config *config = c->config;
	cpu_set_t bad;
	char list[64];

	CPU_ZERO(&bad);
	for (uint32_t i = 0; config && i < config->n_interfaces; i++)
		for (uint32_t k = 0; k < config->interfaces[i].n_cores; k++)
			if (!CPU_ISSET(config->interfaces[i].cores[k], &c->host->cpus.online))
				CPU_SET(config->interfaces[i].cores[k], &bad);
	affinity_text(&bad, list, sizeof(list));
	if (*list) {
		doctor_fail(f, "cores: processor %s does not exist or is not online", list);
		doctor_fix(f, "name others in interfaces[].cores; lscpu -e shows which are online");
		return;
	}
	affinity_text(&c->host->workers, list, sizeof(list));
	doctor_ok(f, "%d worker(s) on processor %s", c->host->n_workers, list);
}

static void isolated(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_cpus *cpus = &c->host->cpus;
	char list[64];
	cpu_set_t outside;

	if (!CPU_COUNT(&cpus->isolated))
		return;
	CPU_AND(&outside, &c->host->workers, &cpus->isolated);
	CPU_XOR(&outside, &outside, &c->host->workers);
	affinity_text(&cpus->isolated, list, sizeof(list));
	if (!CPU_COUNT(&outside)) {
		doctor_ok(f, "the workers are on isolated processors");
		return;
	}
	doctor_warn(f, "processors %s are isolated, but workers run on others", list);
	doctor_fix(f, "name them in interfaces[].cores, and CPUAffinity= in volleyd.service");
}

static void smt(const struct doctor_case *c, struct doctor_finding *f)
{
	if (doctor_is_unknown(f, c->host->cpus.has_smt, "hyper-threads"))
		return;
	if (!c->host->cpus.has_smt) {
		doctor_ok(f, "each worker has a core of its own");
		return;
	}
	doctor_warn(f, "two workers share one core (hyper-threads)");
	doctor_fix(f, "name one thread of each core in interfaces[].cores; lscpu -e shows them");
}

static void governor(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_cpus *cpus = &c->host->cpus;
	cpu_set_t slow;
	char list[64];

	if (!*cpus->governor)
		return;
	CPU_AND(&slow, &cpus->slow, &c->host->workers);
	affinity_text(&slow, list, sizeof(list));
	if (!*list) {
		doctor_ok(f, "the workers' processors have the governor performance");
		return;
	}
	doctor_warn(f, "processor %s: the frequency governor is %s", list, cpus->governor);
	doctor_fix(f,
		   "cpupower frequency-set -g performance, or tuned-adm profile network-latency");
}

static void idle_states(const struct doctor_case *c, struct doctor_finding *f)
{
	if (doctor_is_unknown(f, c->host->cpus.idle_us, "idle states"))
		return;
	if (c->host->cpus.idle_us <= IDLE_US_MAX) {
		doctor_ok(f, "processors wake within %d us", c->host->cpus.idle_us);
		return;
	}
	doctor_warn(f, "processors may sleep so deeply that waking takes %d us",
		    c->host->cpus.idle_us);
	doctor_fix(f, "tuned-adm profile network-latency, or cpupower idle-set -D 10");
}

static void irqbalance(const struct doctor_case *c, struct doctor_finding *f)
{
	bool has_irqs = false;

	if (c->host->irqbalance <= 0)
		return;
	for (uint32_t i = 0; c->config && i < c->config->n_interfaces; i++)
		has_irqs |= c->config->interfaces[i].n_cores != 0;
	if (!has_irqs)
		return;
	doctor_warn(f,
		    "irqbalance runs (process %d) and moves interrupts away from the configured "
		    "cores",
		    c->host->irqbalance);
	doctor_fix(f, "systemctl disable --now irqbalance, or IRQBALANCE_BANNED_CPULIST in its "
		      "configuration");
}

/* --- Configuration, daemon, netfilter --------------------------------------------------------- */

static void configuration(const struct doctor_case *c, struct doctor_finding *f)
{
	if (c->config)
		doctor_ok(f, "%s is right", c->config_path);
	else if (*c->config_err)
		doctor_fail(f, "%s", c->config_err);
	else
		return;
	if (!c->config)
		doctor_fix(f, "volleyd --check -c %s", c->config_path);
}

static void daemon_state(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_daemon *d = c->daemon;

	if (d->err == -ENOENT || d->err == -ECONNREFUSED)
		return;
	if (doctor_is_unknown(f, d->err, "the running volleyd"))
		return;
	if (!d->n_degraded) {
		doctor_ok(f, "volleyd runs (process %d)%s", d->pid,
			  d->is_ready ? ", as configured" : " and is starting");
		return;
	}
	doctor_warn(f, "volleyd runs, but not as configured: %s%s", d->degraded[0],
		    d->n_degraded > 1 ? "; and more" : "");
	doctor_fix(f, "volleyctl status");
}

static void conntrack(const struct doctor_case *c, struct doctor_finding *f)
{
	if (doctor_is_unknown(f, c->host->conntrack, "connection tracking"))
		return;
	if (!c->host->conntrack) {
		doctor_ok(f, "no connection is tracked");
		return;
	}
	doctor_warn(
		f,
		"the kernel tracks connections (%d now): each query that a kernel socket answers "
		"takes an entry. Queries that the driver or AF_XDP answers take none",
		c->host->conntrack);
	doctor_fix(f, "nft add rule ... udp dport 53 notrack, in hooks prerouting and output, "
		      "priority raw");
}

/* A library that was replaced on disk is used after the next start. */
static void libunbound(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_libunbound *u = &c->host->libunbound;
	const char *version = *u->runs ? u->runs : u->installed;

	if (!*version)
		return;
	if (!u->is_asked || unbound_version_is_sound(version)) {
		doctor_ok(f, "libunbound %s%s", version, u->is_asked ? "" : ", which is not asked");
		return;
	}
	doctor_warn(f,
		    "libunbound %s%s is older than " UNBOUND_VERSION_SOUND
		    ": " UNBOUND_VERSION_REASON
		    ", unless the distribution has mended this under the old number",
		    version, *u->runs ? ", which volleyd runs with," : "");
	if (*u->runs && unbound_version_is_sound(u->installed))
		doctor_fix(f, "restart volleyd: libunbound %s is installed", u->installed);
	else
		doctor_fix(f, "install libunbound " UNBOUND_VERSION_SOUND
			      " or later, as Debian 13 has it: docs/libraries.md");
}

const struct doctor_check doctor_host_checks[] = {
	{ "configuration", configuration },
	{ "daemon", daemon_state },
	{ "kernel", kernel },
	{ "program-load", program_load },
	{ "kernel-btf", kernel_btf },
	{ "realtime", realtime },
	{ "bpf-jit", bpf_jit },
	{ "af-xdp", af_xdp },
	{ "bpffs", bpffs },
	{ "capabilities", capabilities },
	{ "memlock", memlock },
	{ "memory", memory },
	{ "control-group", cgroup },
	{ "huge-pages", huge_pages },
	{ "cores", cores },
	{ "isolated-cpus", isolated },
	{ "hyper-threads", smt },
	{ "governor", governor },
	{ "idle-states", idle_states },
	{ "irqbalance", irqbalance },
	{ "conntrack", conntrack },
	{ "libunbound", libunbound },
	{ NULL, NULL },
};
