/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/kernel.h"

#include <cap-ng.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned int of_broker[] = {
	CAP_NET_ADMIN, CAP_NET_RAW,          CAP_BPF,      CAP_PERFMON,
	CAP_SYS_ADMIN, CAP_NET_BIND_SERVICE, CAP_IPC_LOCK, CAP_DAC_READ_SEARCH,
};

#define N_CAPS(list) (sizeof(list) / sizeof((list)[0]))

/* Gives up all capabilities except the n in `caps`. */
static int keep_capabilities(const unsigned int *caps, size_t n)
{
	unsigned int have = 0;
	size_t i;

	if (capng_get_caps_process())
		return -EPERM;
	for (i = 0; i < n; i++)
		if (capng_have_capability(CAPNG_PERMITTED, caps[i]))
			have |= 1u << i;
	capng_clear(CAPNG_SELECT_CAPS);
	for (i = 0; i < n; i++)
		if (have >> i & 1)
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, caps[i]);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

static bool is_kept_cap(const unsigned int *caps, size_t n, unsigned int cap)
{
	for (size_t i = 0; i < n; i++)
		if (caps[i] == cap)
			return true;
	return false;
}

/* Needs CAP_SETPCAP. Without it the bounding set stays, which means nothing with no_new_privs. */
static void limit_bounding_set(const unsigned int *caps, size_t n)
{
	for (unsigned int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!is_kept_cap(caps, n, cap))
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

/* Keeps these and lets no program that is executed get more. */
static int keep_for_good(const unsigned int *caps, size_t n)
{
	int err;

	limit_bounding_set(caps, n);
	err = keep_capabilities(caps, n);
	if (err)
		return err;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

/* True if this process, without CAP_BPF, may not even look a map up. No map has the number -1. */
static bool needs_bpf_for_maps(void)
{
	union bpf_attr attr = { .map_fd = (uint32_t)-1 };

	if (capng_get_caps_process())
		return false;
	if (capng_update(CAPNG_DROP, CAPNG_EFFECTIVE, CAP_BPF) ||
	    capng_update(CAPNG_DROP, CAPNG_EFFECTIVE, CAP_SYS_ADMIN) ||
	    capng_apply(CAPNG_SELECT_CAPS))
		return false;
	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) && errno == EPERM;
}

/* The kernel counts the memory of AF_XDP as locked, if CAP_IPC_LOCK is missing. */
static void raise_memory_limit(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit limit;

	if (!setrlimit(RLIMIT_MEMLOCK, &none) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_MEMLOCK, &limit);
}

int privilege_drop(void)
{
	static const unsigned int caps[] = { CAP_BPF };

	return keep_for_good(caps, needs_bpf_for_maps() ? 1 : 0);
}

int privilege_drop_broker(void)
{
	raise_memory_limit();
	return keep_for_good(of_broker, N_CAPS(of_broker));
}

int privilege_drop_thread(void)
{
	static const unsigned int caps[] = { CAP_DAC_READ_SEARCH };

	return keep_capabilities(caps, 1);
}

int privilege_drop_all(void)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return keep_capabilities(NULL, 0);
}

bool privilege_has_xdp(void)
{
	static const unsigned int caps[] = { CAP_BPF, CAP_PERFMON };
	bool is_admin;

	if (capng_get_caps_process())
		return false;
	/* Before Linux 5.8, CAP_SYS_ADMIN was used instead of both, and it still includes them. */
	is_admin = capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN);
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		if (!is_admin && !capng_have_capability(CAPNG_EFFECTIVE, caps[i]))
			return false;
	return capng_have_capability(CAPNG_EFFECTIVE, CAP_NET_ADMIN);
}
