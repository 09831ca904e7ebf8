/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of an AF_XDP socket, and the calls for which it needs capabilities. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "port/xsk_rings.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif
#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* --- Memory ----------------------------------------------------------------------------------- */

static int make_xsk_file(size_t n_bytes, unsigned int flags)
{
	int fd = memory_file_open("volley-xsk", MFD_ALLOW_SEALING | flags), err;

	if (fd < 0)
		return fd;
	if (!ftruncate(fd, (off_t)n_bytes) && !fcntl(fd, F_ADD_SEALS, SEALS))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The pages are there, or it fails: reserved huge pages may be used up. */
static void *map_xsk_reserved(int fd, size_t n_bytes)
{
	return mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
}

/* Without reserved huge pages: aligned memory gets transparent ones if possible. */
static void *map_transparent(int fd, size_t n_bytes)
{
	size_t more = n_bytes + XSK_HUGE_BYTES;
	uint8_t *whole = mmap(NULL, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *area;
	size_t before;

	if (whole == MAP_FAILED)
		return MAP_FAILED;
	before = -(uintptr_t)whole & (XSK_HUGE_BYTES - 1);
	area = mmap(whole + before, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (area == MAP_FAILED) {
		munmap(whole, more);
		return MAP_FAILED;
	}
	if (before)
		munmap(whole, before);
	munmap(area + n_bytes, XSK_HUGE_BYTES - before);
	/* Linux 5.14; before, pages come one by one */
	(void)madvise(area, n_bytes, MADV_POPULATE_WRITE);
	/* whatever shmem_enabled says, which is `never` nearly everywhere */
	(void)madvise(area, n_bytes, MADV_COLLAPSE);
	return area;
}

int xsk_memory_open(size_t n_bytes, void **area)
{
	int fd = make_xsk_file(n_bytes, MFD_HUGETLB | 21u << MAP_HUGE_SHIFT), err;

	*area = fd < 0 ? MAP_FAILED : map_xsk_reserved(fd, n_bytes);
	if (*area != MAP_FAILED)
		return fd;
	if (fd >= 0)
		close(fd);
	fd = make_xsk_file(n_bytes, 0);
	if (fd < 0)
		return fd;
	*area = map_transparent(fd, n_bytes);
	if (*area != MAP_FAILED)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

bool xsk_is_memory(int fd, uint64_t n_bytes)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && seals & F_SEAL_SHRINK && !fstat(fd, &st) &&
	       (uint64_t)st.st_size >= n_bytes;
}

/* --- The socket ------------------------------------------------------------------------------- */

static int set_busy_poll(int fd, const struct xsk_socket_wish *wish)
{
	const int prefer = 1, time_us = (int)wish->busy_poll_us,
		  budget = (int)wish->busy_poll_budget;

	if (!time_us)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &prefer, sizeof(prefer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &time_us, sizeof(time_us)) ||
	    setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &budget, sizeof(budget)))
		return -errno;
	return 0;
}

/* The kernel finds the pages by the caller's mapping, and holds them after that has gone. */
static int register_memory(int fd, int memory_fd, const struct xsk_socket_wish *wish)
{
	const size_t n_bytes = (size_t)wish->n_frames * wish->frame_bytes;
	void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	const struct xdp_umem_reg umem = { .addr = (uintptr_t)at,
					   .len = n_bytes,
					   .chunk_size = wish->frame_bytes };
	int err;

	if (at == MAP_FAILED)
		return -errno;
	err = setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem)) ? -errno : 0;
	munmap(at, n_bytes);
	return err;
}

int xsk_socket_open(int memory_fd, const struct xsk_socket_wish *wish)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = set_busy_poll(fd, wish);
	if (!err)
		err = register_memory(fd, memory_fd, wish);
	if (!err)
		return fd;
	close(fd);
	return err;
}
