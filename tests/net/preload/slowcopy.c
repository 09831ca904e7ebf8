// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: a volleyd whose walks over the cache are slow, and which can be made to stand still
 * when it has given one interface another program. $SLOWCOPY_FILE holds two int64_t in host order, that
 * may change at any time: microseconds that each part of a walk waits behind it, and whether who has
 * replaced a program waits until this is 0 again. test_resize.py compiles it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct bpf_xdp_attach_opts;

static const volatile int64_t *words; /* pause_us, stands */

__attribute__((constructor)) static void open_words(void)
{
	const char *path = getenv("SLOWCOPY_FILE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 16, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		abort(); /* a test that would prove nothing */
	close(fd);
	words = map;
}

/* Between two parts of a walk, outside of every read section. */
int sched_yield(void)
{
	if (words[0])
		usleep((useconds_t)words[0]);
	return 0;
}

int bpf_xdp_attach(int ifindex, int prog_fd, unsigned int flags,
		   const struct bpf_xdp_attach_opts *opts)
{
	int (*real)(int, int, unsigned int, const struct bpf_xdp_attach_opts *) =
		(int (*)(int, int, unsigned int,
			 const struct bpf_xdp_attach_opts *))dlsym(RTLD_NEXT, "bpf_xdp_attach");
	int err = real(ifindex, prog_fd, flags, opts);

	while (!err && (flags & XDP_FLAGS_REPLACE) && words[1])
		usleep(1000);
	return err;
}
