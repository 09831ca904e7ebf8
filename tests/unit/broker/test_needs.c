/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which capability each call of the broker needs (the table of docs/decisions/0068): without one of
 * them, its calls fail and no others do. Each case is a process of its own in a network namespace
 * of its own. CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, so these are taken with it.
 */
#include "broker/serve.h"

#include <arpa/inet.h>
#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "bpf/hook.h"
#include "broker/named.h"
#include "port/xsk_rings.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"
#include "xdp/key.h"

#define NOBODY       65534
#define PORT_OF_FILE 54

#define PROBES(X)                                                      \
	X(MAPS)        /* BPF_MAP_CREATE */                            \
	X(CLOCK)       /* BPF_PROG_LOAD of a few instructions */       \
	X(OPEN)        /* BPF_PROG_LOAD of the program, RTM_SETLINK */ \
	X(RECOVER)     /* BPF_PROG_GET_FD_BY_ID */                     \
	X(ATTACHED)    /* RTM_GETLINK: is the program still there? */  \
	X(XSK)         /* socket(AF_XDP) */                            \
	X(XSK_POLL)    /* SO_PREFER_BUSY_POLL */                       \
	X(XSK_BEYOND)  /* XDP_UMEM_REG beyond RLIMIT_MEMLOCK */        \
	X(BUFFER)      /* SO_RCVBUFFORCE */                            \
	X(NEIGHBOUR)   /* RTM_NEWNEIGH */                              \
	X(BIND)        /* bind() to port 53 */                         \
	X(CONFIG_FILE) /* open() of a file of another owner */

enum probe {
#define PROBE(name) PROBE_##name,
	PROBES(PROBE)
#undef PROBE
		N_PROBES
};

static const char *const probe_names[] = {
#define PROBE(name) #name,
	PROBES(PROBE)
#undef PROBE
};

#define BIT(probe) (1u << PROBE_##probe)
#define CAP(cap)   (1ull << CAP_##cap)

static const struct row {
	const char *name;
	uint64_t taken;
	unsigned int failing;
} rows[] = {
	{ "none", 0, 0 },
	{ "CAP_SYS_ADMIN", CAP(SYS_ADMIN), BIT(RECOVER) },
	{ "CAP_BPF and CAP_SYS_ADMIN", CAP(BPF) | CAP(SYS_ADMIN),
	  BIT(MAPS) | BIT(CLOCK) | BIT(OPEN) | BIT(RECOVER) },
	{ "CAP_PERFMON and CAP_SYS_ADMIN", CAP(PERFMON) | CAP(SYS_ADMIN),
	  BIT(OPEN) | BIT(RECOVER) },
	{ "CAP_NET_ADMIN", CAP(NET_ADMIN),
	  BIT(OPEN) | BIT(XSK_POLL) | BIT(BUFFER) | BIT(NEIGHBOUR) },
	{ "CAP_NET_RAW", CAP(NET_RAW), BIT(XSK) | BIT(XSK_POLL) | BIT(XSK_BEYOND) },
	{ "CAP_IPC_LOCK", CAP(IPC_LOCK), BIT(XSK_BEYOND) },
	{ "CAP_NET_BIND_SERVICE", CAP(NET_BIND_SERVICE), BIT(BIND) | BIT(CONFIG_FILE) },
	{ "CAP_DAC_READ_SEARCH", CAP(DAC_READ_SEARCH), BIT(CONFIG_FILE) },
};

/* Those of volley-broker: base/privilege.c. */
#define ALL_CAPS                                                                    \
	(CAP(NET_ADMIN) | CAP(NET_RAW) | CAP(BPF) | CAP(PERFMON) | CAP(SYS_ADMIN) | \
	 CAP(NET_BIND_SERVICE) | CAP(IPC_LOCK) | CAP(DAC_READ_SEARCH))

static const struct cache_sizes sizes = {
	.bytes = 16u << 20, .n_segments = 64, .n_buckets = 4 * VOLLEY_PAGE_BUCKETS, .n_zones = 16
};

/* --- Requests --------------------------------------------------------------------------------- */

static struct named named;

static int serve(struct broker_serve *by, struct broker_request *request,
		 const struct broker_fds *fds, struct broker_reply *reply)
{
	struct broker_fds out;

	request->number = 1;
	request->log_level = LOG_LEVEL_ERROR;
	request->fds_mask = broker_fds_mask(fds);
	broker_serve(by, broker_channel_of(request->operation), request, fds, reply, &out);
	broker_fds_close(&out);
	return reply->code;
}

/* A request with one descriptor, which is closed, or with none: -1. */
static int ask(struct broker_request request, enum broker_fd place, int fd)
{
	struct broker_serve by = { .named = &named };
	struct broker_reply reply;
	struct broker_fds fds;
	int code;

	broker_fds_init(&fds);
	fds.fd[place] = fd;
	code = serve(&by, &request, &fds, &reply);
	broker_fds_close(&fds);
	return code;
}

static struct broker_serve opener; /* keeps the programs that are open */

static int open_on(const char *ifname, uint32_t *id)
{
	struct broker_request request = { .operation = BROKER_OPEN,
					  .flags = BROKER_GENERIC_ONLY,
					  .sizes = sizes };
	struct broker_reply reply;
	struct broker_fds none;
	int code;

	broker_fds_init(&none);
	snprintf(request.ifname, sizeof(request.ifname), "%s", ifname);
	code = serve(&opener, &request, &none, &reply);
	*id = reply.facts.id;
	return code;
}

/* Releases the locks of the interfaces; the programs end with the namespace. */
static void close_all(void)
{
	for (size_t i = 0; i < CONFIG_INTERFACES_MAX; i++)
		if (opener.at[i].hook)
			hook_close(opener.at[i].hook, true);
}

static int ask_xsk(uint32_t n_frames, uint32_t poll_us)
{
	const size_t n_bytes = ((size_t)n_frames * 2048 + XSK_HUGE_BYTES - 1) &
			       ~(XSK_HUGE_BYTES - 1);
	void *area;
	int fd = xsk_memory_open(n_bytes, &area);

	MUST(fd >= 0);
	munmap(area, n_bytes);
	return ask((struct broker_request){ .operation = BROKER_XSK_SOCKET,
					    .xsk = { .n_frames = n_frames,
						     .frame_bytes = 2048,
						     .busy_poll_us = poll_us,
						     .busy_poll_budget = poll_us ? 64 : 0 } },
		   BROKER_FD_MEMORY, fd);
}

static int ask_bind(uint16_t port)
{
	return ask((struct broker_request){ .operation = BROKER_BIND,
					    .address = { .family = AF_INET,
							 .net_port = htons(port) } },
		   BROKER_FD_SOCKET, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int ask_neighbour(void)
{
	int code = ask((struct broker_request){ .operation = BROKER_USE_NEIGHBOUR,
						.ifname = "d0",
						.address = { .family = AF_INET,
							     .bytes = { 192, 0, 2, 1 } } },
		       BROKER_FD_SOCKET, -1);

	return code == -ENOENT ? 0 : code; /* the kernel does not know it */
}

/* Of the broker that has attached the program. */
static int ask_attached(uint32_t id)
{
	struct broker_request request = { .operation = BROKER_IS_ATTACHED,
					  .ifname = "lo",
					  .program_id = id };
	struct broker_reply reply;
	struct broker_fds none;
	int code;

	broker_fds_init(&none);
	code = serve(&opener, &request, &none, &reply);
	return code ? code : reply.value ? 0 : -ENOENT;
}

static int try_probe(enum probe probe, uint32_t id)
{
	struct broker_request recover = { .operation = BROKER_IS_ATTACHED,
					  .ifname = "lo",
					  .program_id = id };

	switch (probe) {
	case PROBE_MAPS:
		return ask((struct broker_request){ .operation = BROKER_MAKE_SHARED,
						    .sizes = sizes },
			   BROKER_FD_SOCKET, -1);
	case PROBE_CLOCK:
		return ask((struct broker_request){ .operation = BROKER_CLOCK }, BROKER_FD_SOCKET,
			   -1);
	case PROBE_OPEN:
		return open_on("d0", &id);
	case PROBE_RECOVER:
		return ask(recover, BROKER_FD_SOCKET, -1);
	case PROBE_ATTACHED:
		return ask_attached(id);
	case PROBE_XSK:
		return ask_xsk(16, 0);
	case PROBE_XSK_POLL:
		return ask_xsk(16, 20);
	case PROBE_XSK_BEYOND:
		return ask_xsk(1024, 0);
	case PROBE_BUFFER:
		return ask((struct broker_request){ .operation = BROKER_BUFFER,
						    .n = SOCKET_RCVBUF_BYTES },
			   BROKER_FD_SOCKET, socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	case PROBE_NEIGHBOUR:
		return ask_neighbour();
	case PROBE_BIND:
		return ask_bind(53);
	case PROBE_CONFIG_FILE:
		return ask_bind(PORT_OF_FILE);
	default:
		return -ENOSYS;
	}
}

/* --- A case ----------------------------------------------------------------------------------- */

static void keep_caps(uint64_t caps)
{
	capng_clear(CAPNG_SELECT_CAPS);
	for (unsigned int cap = 0; cap < 64; cap++)
		if (caps >> cap & 1)
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, cap);
	MUST(!capng_apply(CAPNG_SELECT_CAPS));
}

/* The program on lo is that of a broker that has died. */
static uint32_t make_world(void)
{
	const struct rlimit limit = { 1 << 20, 1 << 20 };
	uint32_t id;

	MUST(!unshare(CLONE_NEWNET));
	MUST(!system("ip link set lo up && ip link add d0 type veth peer name d1 && "
		     "ip link set d0 up"));
	named_init(&named, NULL);
	snprintf(named.path, sizeof(named.path), "%s", tmpfolder_file);
	strcpy(named.interfaces[0], "lo");
	strcpy(named.interfaces[1], "d0");
	MUST(!open_on("lo", &id));
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	return id;
}

/* The number of probes that do not end as the row says. */
static int run_row(const struct row *row)
{
	const uint32_t id = make_world();
	int n_wrong = 0;

	keep_caps(ALL_CAPS & ~row->taken);
	for (unsigned int i = 0; i < N_PROBES; i++) {
		int code = try_probe(i, id);

		if ((code != 0) == (row->failing >> i & 1))
			continue;
		fprintf(stderr, "without %s: %s: %d\n", row->name, probe_names[i], code);
		n_wrong++;
	}
	close_all();
	return n_wrong;
}

static void test_what_needs_which(void **state)
{
	const struct row *row = *state;
	const pid_t pid = fork();
	int status;

	if (!pid)
		_exit(run_row(row));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Each capability of the broker is in the table. */
static void test_none_is_missing(void **state)
{
	uint64_t all = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		all |= rows[i].taken;
	assert_int_equal(all, ALL_CAPS);
}

/* --- All of them ------------------------------------------------------------------------------ */

static bool has_all_caps(void)
{
	MUST(!capng_get_caps_process());
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (ALL_CAPS >> cap & 1 &&
		    !capng_have_capability(CAPNG_EFFECTIVE, (unsigned int)cap))
			return false;
	return true;
}

static int need_caps(void **state)
{
	(void)state;
	if (!has_all_caps())
		skip();
	return 0;
}

/* A configuration that belongs to nobody, and that root may read only by a capability. */
static int make_file(void **state)
{
	FILE *file;
	int err = tmpfolder_make(state);

	if (err || !has_all_caps())
		return err;
	file = fopen(tmpfolder_file, "w");
	MUST(file && fprintf(file, "server: { listen: ['192.0.2.1@%d'] }\n", PORT_OF_FILE) > 0);
	MUST(!fchmod(fileno(file), 0400) && !fchown(fileno(file), NOBODY, NOBODY));
	MUST(!fclose(file));
	return 0;
}

int main(void)
{
	struct CMUnitTest tests[sizeof(rows) / sizeof(rows[0]) + 1];
	size_t n = 0;

	for (; n < sizeof(rows) / sizeof(rows[0]); n++)
		tests[n] = (struct CMUnitTest){ .name = rows[n].name,
						.test_func = test_what_needs_which,
						.setup_func = need_caps,
						.initial_state = (void *)&rows[n] };
	tests[n] = (struct CMUnitTest)cmocka_unit_test(test_none_is_missing);
	return cmocka_run_group_tests(tests, make_file, tmpfolder_remove);
}
