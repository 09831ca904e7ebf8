/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/kernel.h"

#include <cap-ng.h>
#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>

static const unsigned int kept[] = {
	CAP_NET_ADMIN, CAP_NET_RAW,          CAP_BPF,      CAP_PERFMON,
	CAP_SYS_ADMIN, CAP_NET_BIND_SERVICE, CAP_IPC_LOCK, CAP_DAC_READ_SEARCH,
};

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

int privilege_drop(void)
{
	int err = keep_capabilities(kept, sizeof(kept) / sizeof(kept[0]));

	if (err)
		return err;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
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
