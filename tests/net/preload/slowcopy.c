// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a volleyd whose walks over the cache are slow, and which can be made to stand
 * still when it has given one interface another program. $SLOWCOPY_FILE holds four int64_t in host
 * order. The first three may change at any time: microseconds that each part of a walk waits behind
 * it; whether who has replaced a program waits until this is 0 again; and, unless 0, the number of
 * parts behind which a walk stands still: this is for the thread alone that walks first after a 0.
 * The last is written here: the parts that this thread has done. test_resize.py compiles it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct bpf_xdp_attach_opts;

enum { PAUSE_US, STANDS, LIMIT, PARTS, N_WORDS };

static volatile int64_t *words;
static pthread_t walker; /* valid while has_walker */
static bool has_walker;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void open_words(void)
{
	const char *path = getenv("SLOWCOPY_FILE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED :
			     mmap(NULL, N_WORDS * sizeof(*words), PROT_READ | PROT_WRITE,
				  MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		abort(); /* a test that would prove nothing */
	close(fd);
	words = map;
}

/* Whether this is the thread that the limit is for. */
static bool is_walker(void)
{
	bool is = false;

	pthread_mutex_lock(&lock);
	if (!words[LIMIT]) {
		has_walker = false;
		words[PARTS] = 0;
	} else if (!has_walker) {
		has_walker = is = true;
		walker = pthread_self();
	} else {
		is = pthread_equal(walker, pthread_self());
	}
	pthread_mutex_unlock(&lock);
	return is;
}

/* Between two parts of a walk, outside of every read section. */
int sched_yield(void)
{
	if (words[PAUSE_US])
		usleep((useconds_t)words[PAUSE_US]);
	if (is_walker())
		for (words[PARTS]++; words[LIMIT] && words[PARTS] >= words[LIMIT];)
			usleep(1000);
	return 0;
}

int bpf_xdp_attach(int ifindex, int prog_fd, unsigned int flags,
		   const struct bpf_xdp_attach_opts *opts)
{
	int (*real)(int, int, unsigned int, const struct bpf_xdp_attach_opts *) =
		(int (*)(int, int, unsigned int,
			 const struct bpf_xdp_attach_opts *))dlsym(RTLD_NEXT, "bpf_xdp_attach");
	int err = real(ifindex, prog_fd, flags, opts);

	while (!err && (flags & XDP_FLAGS_REPLACE) && words[STANDS])
		usleep(1000);
	return err;
}
