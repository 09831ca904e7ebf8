/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int block_map_make(uint32_t n_chunks)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "volley_block", sizeof(uint32_t),
				VOLLEY_BLOCK_CHUNK_BYTES, n_chunks, &opts);

	return fd < 0 ? -errno : fd;
}

int block_map_open(int fd, uint32_t n_chunks, void **memory)
{
	const size_t bytes = (size_t)n_chunks * VOLLEY_BLOCK_CHUNK_BYTES;
	int err;

	*memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*memory != MAP_FAILED)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void block_map_free(int fd, void *memory, uint32_t n_chunks)
{
	munmap(memory, (size_t)n_chunks * VOLLEY_BLOCK_CHUNK_BYTES);
	close(fd);
}

/* The update waits until all running programs have ended (cache/keeper.h). */
int block_map_put(int blocks_fd, int fd)
{
	const uint32_t zero = 0;

	return bpf_map_update_elem(blocks_fd, &zero, &fd, BPF_ANY) ? -errno : 0;
}

int block_map_met(int blocked_fd, uint64_t met[VOLLEY_BLOCK_LISTS])
{
	const uint32_t zero = 0;
	int n_cpus = libbpf_num_possible_cpus();
	struct volley_blocked *each;
	int err;

	memset(met, 0, VOLLEY_BLOCK_LISTS * sizeof(met[0]));
	if (n_cpus < 0)
		return n_cpus;
	each = calloc((size_t)n_cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	err = bpf_map_lookup_elem(blocked_fd, &zero, each) ? -errno : 0;
	for (int cpu = 0; !err && cpu < n_cpus; cpu++)
		for (uint32_t i = 0; i < VOLLEY_BLOCK_LISTS; i++)
			met[i] += each[cpu].met[i];
	free(each);
	return err;
}
