/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What XDP program is on an interface, and which maps it has. */
#ifndef VOLLEY_BPF_FOUND_H
#define VOLLEY_BPF_FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Descriptors of a program's maps, by the names of xdp/abi.h; -1 where it has none. */
struct found_maps {
	int state;
	int index;
	int store;
	int zones;
	int clients;
	int refresh;
	int blocks;
	int blocked;
	int taps;
	int link;
	int cpu;
	int xsks;
	int queues;
	int shares;
	int near;
	int cookies;
	int rrl;
	int loads;
	int names;
	int other; /* the first map of another ABI */
};

enum found_kind {
	FOUND_NOTHING,
	FOUND_OTHER,     /* not Volley */
	FOUND_OTHER_ABI, /* Volley, of another version */
	FOUND_MISFIT,    /* Volley by its name, but a map is not what xdp/abi.h says */
	FOUND_VOLLEY,
};

struct found {
	enum found_kind kind;
	bool is_generic;
	bool is_alone; /* not behind libxdp's dispatcher */
	uint32_t id;
	/* of FOUND_OTHER_ABI, which has its program, its maps `other` and `link`, and no more */
	uint32_t abi;
	uint8_t tag[8]; /* the kernel's digest of the program */
	int prog_fd;
	char name[32];
	char misfit[128]; /* of FOUND_MISFIT: the map, and how it is */
	struct found_maps maps;
};

/*
 * Looks at the interface. 0 with *found (to be given to found_close), or -errno. Needs root. Of
 * FOUND_VOLLEY every map has the type, key, value, entries and flags that this volleyd's own object
 * declares, so all may be read and mapped; of the index, the store, the zones and the names the
 * entries are within bounds.
 */
int found_look(struct found *found, int ifindex) __attribute__((warn_unused_result));
void found_close(struct found *found);

/* Whether a volleyd of any ABI attached it, so that a volleyd may replace it. */
bool found_is_by_daemon(const struct found *found);

/*
 * Where a program of any ABI reads until which coarse monotonic second it may answer; for
 * found_unmap(). NULL: not to be had.
 */
uint32_t *found_serve_until(const struct found *found);
void found_unmap(uint32_t *serve_until_s);

/* How many entries a map has; 0: not to be had. */
uint32_t found_entries(int fd);

/* Sizes of the maps of FOUND_VOLLEY, as they are. 0 or -errno. */
struct cache_sizes;
int found_sizes(const struct found_maps *maps, struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

#endif
