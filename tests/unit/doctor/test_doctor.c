/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doctor's checks of the host and of services, on made-up hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <linux/capability.h>

#include "doctorworld.h"

#define WITHOUT(cap) (~0ull & ~(1ull << (cap)))

#define REFUSED(w)                                                                             \
	((w)->host.load.err = -EACCES,                                                         \
	 strcpy((w)->host.load.why, "the kernel's verifier refuses the program: R1 offset is " \
				    "outside of the packet"))
#define MISSING(w)                     \
	((w)->host.load.err = -EINVAL, \
	 strcpy((w)->host.load.missing, "bpf_xdp_store_bytes(): take Linux 5.18 or later"))

static uint16_t core_of_row[] = { 30 };

static void put_libunbound(struct world *w, const char *runs, const char *installed, bool is_asked)
{
	struct doctor_libunbound *u = &w->host.libunbound;

	strcpy(u->runs, runs);
	strcpy(u->installed, installed);
	u->is_asked = is_asked;
}

/* clang-format off */
#define HOST_ROWS(X) \
	X(config_right, "configuration", , DOCTOR_OK, "volley.yaml") \
	X(config_none, "configuration", w->c.config = NULL, DOCTOR_NOTHING, "") \
	X(config_wrong, "configuration", w->c.config = NULL; \
	  w->c.config_err = "volley.yaml:3: x: y", \
	  DOCTOR_FAIL, "volley.yaml:3") \
	X(daemon_none, "daemon", , DOCTOR_NOTHING, "") \
	X(daemon_runs, "daemon", w->daemon.err = 0; w->daemon.pid = 7; w->daemon.is_ready = true, \
	  DOCTOR_OK, "process 7") \
	X(daemon_degraded, "daemon", w->daemon.err = 0; w->daemon.n_degraded = 1; \
	  strcpy(w->daemon.degraded[0], "eth0: gone"), \
	  DOCTOR_WARN, "eth0: gone") \
	X(daemon_denied, "daemon", w->daemon.err = -EACCES, DOCTOR_UNKNOWN, "only root") \
	X(kernel_good, "kernel", , DOCTOR_OK, "6.12.1") \
	X(kernel_lacks, "kernel", w->host.kernel[0] = 5; w->host.kernel[1] = 17; MISSING(w), \
	  DOCTOR_FAIL, "no bpf_xdp_store_bytes(): take Linux 5.18") \
	X(kernel_lacks_though_new, "kernel", MISSING(w), \
	  DOCTOR_FAIL, "6.12.1 has no bpf_xdp_store_bytes()") \
	X(kernel_518, "kernel", w->host.kernel[0] = 5; w->host.kernel[1] = 18; \
	  w->host.load.is_tried = false, \
	  DOCTOR_OK, "") \
	X(kernel_backport, "kernel", w->host.kernel[0] = 5; w->host.kernel[1] = 14, DOCTOR_OK, "") \
	X(kernel_unprobed, "kernel", w->host.kernel[0] = 5; w->host.kernel[1] = 14; \
	  w->host.load.is_tried = false, \
	  DOCTOR_FAIL, "only root") \
	X(kernel_odd, "kernel", w->host.kernel[0] = 0; w->host.load.is_tried = false, \
	  DOCTOR_WARN, "cannot be read") \
	X(kernel_odd_and_tried, "kernel", w->host.kernel[0] = 0, DOCTOR_OK, "") \
	X(load_good, "program-load", , DOCTOR_OK, "accepts the XDP program") \
	X(load_untried, "program-load", w->host.load.is_tried = false, \
	  DOCTOR_UNKNOWN, "only root") \
	X(load_refused, "program-load", REFUSED(w), \
	  DOCTOR_FAIL, "does not load: the kernel's verifier refuses the program: R1") \
	X(load_refused_what_to_do, "program-load", REFUSED(w), DOCTOR_FAIL, "volleyd -v") \
	X(load_not_wanted, "program-load", REFUSED(w); w->want.xdp = CONFIG_XDP_OFF, \
	  DOCTOR_NOTHING, "") \
	X(load_unknown_wish, "program-load", REFUSED(w); w->c.config = NULL, DOCTOR_FAIL, "") \
	X(load_lacks, "program-load", MISSING(w), DOCTOR_FAIL, "install a later kernel") \
	X(realtime, "realtime", w->host.realtime = 1, DOCTOR_OK, "PREEMPT_RT") \
	X(realtime_not, "realtime", , DOCTOR_NOTHING, "") \
	X(btf_none, "kernel-btf", w->host.btf = 0, DOCTOR_WARN, "CONFIG_DEBUG_INFO_BTF") \
	X(jit_off, "bpf-jit", w->host.jit = 0, DOCTOR_WARN, "sysctl -w net.core.bpf_jit_enable=1") \
	X(jit_hidden, "bpf-jit", w->host.jit = -EXDEV, DOCTOR_UNKNOWN, "network namespace") \
	X(af_xdp_none, "af-xdp", w->host.af_xdp = -EAFNOSUPPORT, \
	  DOCTOR_FAIL, "CONFIG_XDP_SOCKETS") \
	X(bpffs_none, "bpffs", w->host.bpffs = 0, DOCTOR_WARN, "mount -t bpf") \
	X(caps_all, "capabilities", , DOCTOR_OK, "") \
	X(caps_container, "capabilities", w->host.process.caps = WITHOUT(CAP_NET_ADMIN), \
	  DOCTOR_FAIL, "root lacks CAP_NET_ADMIN") \
	X(caps_daemon, "capabilities", w->host.process.pid = 9; \
	  w->host.process.caps = 1ull << CAP_BPF, \
	  DOCTOR_FAIL, "(process 9) and its broker lack CAP_NET_ADMIN, CAP_NET_RAW, CAP_PERFMON") \
	X(caps_old_kernel, "capabilities", \
	  w->host.process.caps = WITHOUT(CAP_BPF) & WITHOUT(CAP_PERFMON), \
	  DOCTOR_OK, "") \
	X(caps_adopt, "capabilities", w->host.process.caps = WITHOUT(CAP_SYS_ADMIN), \
	  DOCTOR_WARN, "adopted") \
	X(caps_user, "capabilities", w->host.process.caps = 0; w->host.process.is_root = false, \
	  DOCTOR_UNKNOWN, "not root") \
	X(caps_hidden, "capabilities", w->host.process.caps_err = -EACCES, \
	  DOCTOR_UNKNOWN, "only root") \
	X(memlock_cap, "memlock", , DOCTOR_OK, "32 MiB") \
	X(memlock_small, "memlock", w->host.process.caps = WITHOUT(CAP_IPC_LOCK), \
	  DOCTOR_WARN, "allows 8.0 MiB") \
	X(memlock_enough, "memlock", w->host.process.caps = WITHOUT(CAP_IPC_LOCK); \
	  w->host.process.memlock_bytes = 32 << 20, \
	  DOCTOR_OK, "") \
	X(memlock_unlimited, "memlock", w->host.process.caps = WITHOUT(CAP_IPC_LOCK); \
	  w->host.process.memlock_bytes = DOCTOR_UNLIMITED, \
	  DOCTOR_OK, "") \
	X(memlock_hidden, "memlock", w->host.process.caps = WITHOUT(CAP_IPC_LOCK); \
	  w->host.process.memlock_bytes = -EACCES, \
	  DOCTOR_UNKNOWN, "only root") \
	X(memlock_no_xsk, "memlock", w->c.umem_bytes = 0, DOCTOR_NOTHING, "") \
	X(memory_enough, "memory", , DOCTOR_OK, "352 MiB needed") \
	X(memory_short, "memory", w->host.available_bytes = 300 << 20, DOCTOR_FAIL, "cache.size") \
	X(memory_in_use, "memory", w->host.available_bytes = 1; w->daemon.pid = 3, \
	  DOCTOR_NOTHING, "") \
	X(memory_default, "memory", w->c.config = NULL; w->host.available_bytes = 300 << 20, \
	  DOCTOR_FAIL, "352 MiB") \
	X(cgroup_none, "control-group", , DOCTOR_NOTHING, "") \
	X(cgroup_enough, "control-group", w->host.cgroup_bytes = 1 << 30, DOCTOR_OK, "1024 MiB") \
	X(cgroup_short, "control-group", w->host.cgroup_bytes = 100 << 20, \
	  DOCTOR_FAIL, "MemoryMax=422M") \
	X(huge_not_wanted, "huge-pages", w->host.hugepage_bytes = 0, DOCTOR_NOTHING, "") \
	X(huge_free, "huge-pages", w->want.port = CONFIG_PORT_DPDK, DOCTOR_OK, "1024 MiB") \
	X(huge_none, "huge-pages", w->want.port = CONFIG_PORT_DPDK; w->host.hugepage_bytes = 0, \
	  DOCTOR_WARN, "vm.nr_hugepages") \
	X(huge_unmounted, "huge-pages", w->want.port = CONFIG_PORT_DPDK; w->host.hugetlbfs = 0, \
	  DOCTOR_WARN, "mount -t hugetlbfs") \
	X(cores_right, "cores", , DOCTOR_OK, "4 worker(s) on processor 0-3") \
	X(cores_absent, "cores", w->want.cores = core_of_row; w->want.n_cores = 1, \
	  DOCTOR_FAIL, "processor 30") \
	X(isolated_none, "isolated-cpus", , DOCTOR_NOTHING, "") \
	X(isolated_used, "isolated-cpus", world_add_cpus(&w->host.cpus.isolated, 4), \
	  DOCTOR_OK, "") \
	X(isolated_missed, "isolated-cpus", CPU_SET(6, &w->host.cpus.isolated), \
	  DOCTOR_WARN, "6 are isolated") \
	X(smt_apart, "hyper-threads", , DOCTOR_OK, "") \
	X(smt_shared, "hyper-threads", w->host.cpus.has_smt = 1, DOCTOR_WARN, "share one core") \
	X(governor_fast, "governor", , DOCTOR_OK, "") \
	X(governor_slow, "governor", strcpy(w->host.cpus.governor, "powersave"); \
	  CPU_SET(2, &w->host.cpus.slow), \
	  DOCTOR_WARN, "processor 2: the frequency governor is powersave") \
	X(governor_elsewhere, "governor", strcpy(w->host.cpus.governor, "powersave"); \
	  CPU_SET(6, &w->host.cpus.slow), \
	  DOCTOR_OK, "") \
	X(governor_none, "governor", w->host.cpus.governor[0] = 0, DOCTOR_NOTHING, "") \
	X(idle_shallow, "idle-states", , DOCTOR_OK, "2 us") \
	X(idle_deep, "idle-states", w->host.cpus.idle_us = 890, DOCTOR_WARN, "890 us") \
	X(idle_none, "idle-states", w->host.cpus.idle_us = -ENOENT, DOCTOR_NOTHING, "") \
	X(irqbalance_harmless, "irqbalance", w->host.irqbalance = 5, DOCTOR_NOTHING, "") \
	X(irqbalance_runs, "irqbalance", w->host.irqbalance = 5; w->want.n_cores = 1, \
	  DOCTOR_WARN, "process 5") \
	X(conntrack_none, "conntrack", w->host.conntrack = -ENOENT, DOCTOR_NOTHING, "") \
	X(conntrack_idle, "conntrack", , DOCTOR_OK, "") \
	X(conntrack_used, "conntrack", w->host.conntrack = 300, DOCTOR_WARN, "notrack") \
	X(libunbound_none, "libunbound", , DOCTOR_NOTHING, "") \
	X(libunbound_idle, "libunbound", put_libunbound(w, "1.17.1", "1.17.1", false), DOCTOR_OK, \
	  "libunbound 1.17.1, which is not asked") \
	X(libunbound_sound, "libunbound", put_libunbound(w, "1.26.2", "1.26.2", true), DOCTOR_OK, \
	  "libunbound 1.26.2") \
	X(libunbound_old, "libunbound", put_libunbound(w, "", "1.17.1", true), DOCTOR_WARN, \
	  "libunbound 1.17.1 is older than 1.26.2") \
	X(libunbound_runs_old, "libunbound", put_libunbound(w, "1.17.1", "1.17.1", true), DOCTOR_WARN, \
	  "install libunbound 1.26.2") \
	X(libunbound_replaced, "libunbound", put_libunbound(w, "1.17.1", "1.26.2", true), DOCTOR_WARN, \
	  "restart volleyd: libunbound 1.26.2")

#define SERVICE_ROWS(X) \
	X(address_here, "address", , DOCTOR_OK, "") \
	X(address_wildcard, "address", w->service.is_wildcard = true, DOCTOR_OK, "all") \
	X(address_no_ipv6, "address", w->service.is_wildcard = true; w->service.is_here = 0, \
	  DOCTOR_FAIL, "this kernel was started without IPv6") \
	X(address_missing, "address", w->service.is_here = 0, \
	  DOCTOR_FAIL, "ip address add 192.0.2.53") \
	X(address_unknown, "address", w->service.is_here = -ENOMEM, DOCTOR_UNKNOWN, "addresses") \
	X(port_free, "port", , DOCTOR_OK, "free") \
	X(port_ours, "port", w->daemon.pid = 4, DOCTOR_OK, "volleyd listens") \
	X(port_udp, "port", w->service.udp_taken = 1; strcpy(w->service.holder, "named"), \
	  DOCTOR_FAIL, "named has the UDP port") \
	X(port_tcp, "port", w->service.tcp_taken = 1, DOCTOR_FAIL, "has the TCP port") \
	X(port_both, "port", w->service.tcp_taken = w->service.udp_taken = 1, \
	  DOCTOR_FAIL, "UDP and TCP") \
	X(port_unseen, "port", w->service.udp_taken = 2, DOCTOR_UNKNOWN, "only root")
/* clang-format on */

HOST_ROWS(WORLD_FUNCTION)
SERVICE_ROWS(WORLD_FUNCTION)
static const struct world_row host_rows[] = { HOST_ROWS(WORLD_ROW) };
static const struct world_row service_rows[] = { SERVICE_ROWS(WORLD_ROW) };

static void test_host(void **state)
{
	(void)state;
	world_test(doctor_host_checks, host_rows, sizeof(host_rows) / sizeof(host_rows[0]));
}

static void test_services(void **state)
{
	(void)state;
	world_test(doctor_service_checks, service_rows,
		   sizeof(service_rows) / sizeof(service_rows[0]));
}

static void test_healthy(void **state)
{
	(void)state;
	world_test_healthy(doctor_host_checks);
	world_test_healthy(doctor_service_checks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_services),
		cmocka_unit_test(test_healthy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
