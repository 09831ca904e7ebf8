/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/keeper.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <urcu-qsbr.h>

struct grace {
	int outer_fd; /* ARRAY_OF_MAPS with one place; -1: none */
	int inner_fd;
};

int grace_make_maps(int fds[2])
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int err;

	fds[1] = -1;
	fds[0] = bpf_map_create(BPF_MAP_TYPE_ARRAY, "volley_grace_in", 4, 4, 1, NULL);
	if (fds[0] < 0)
		return -errno;
	opts.inner_map_fd = (__u32)fds[0];
	fds[1] = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "volley_grace", 4, 4, 1, &opts);
	if (fds[1] >= 0)
		return 0;
	err = -errno;
	close(fds[0]);
	fds[0] = -1;
	return err;
}

static int wait_by_map(const struct grace *grace)
{
	const __u32 zero = 0;

	if (grace->outer_fd < 0)
		return -ENOENT;
	return bpf_map_update_elem(grace->outer_fd, &zero, &grace->inner_fd, BPF_ANY);
}

static int wait_by_membarrier(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ? -errno : 0;
}

static int wait_programs(const struct grace *grace)
{
	return wait_by_map(grace) ? wait_by_membarrier() : 0;
}

static void close_grace_maps(int inner_fd, int outer_fd)
{
	if (outer_fd >= 0)
		close(outer_fd);
	if (inner_fd >= 0)
		close(inner_fd);
}

int grace_open(struct grace **out, const int fds[2])
{
	struct grace *grace = malloc(sizeof(*grace));

	if (!grace) {
		close_grace_maps(fds[0], fds[1]);
		return -ENOMEM;
	}
	*grace = (struct grace){ .inner_fd = fds[0], .outer_fd = fds[1] };
	if (wait_by_map(grace) && wait_by_membarrier()) {
		grace_close(grace);
		return -EOPNOTSUPP;
	}
	*out = grace;
	return 0;
}

void grace_close(struct grace *grace)
{
	if (!grace)
		return;
	close_grace_maps(grace->inner_fd, grace->outer_fd);
	free(grace);
}

int grace_wait_userspace(void *unused)
{
	(void)unused;
	urcu_qsbr_synchronize_rcu();
	return 0;
}

int grace_wait(void *grace)
{
	int err = wait_programs(grace);

	return err ? err : grace_wait_userspace(NULL);
}
