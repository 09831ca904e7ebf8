/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which XDP program is on an interface, and which maps it uses. */
#ifndef VOLLEY_BPF_FOUND_H
#define VOLLEY_BPF_FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Descriptors of a program's maps, by the names of xdp/abi.h; -1: the program does not use it. */
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
	int other; /* the first state map of another ABI */
};

enum found_kind {
	FOUND_NOTHING,
	FOUND_OTHER,     /* not Volley */
	FOUND_OTHER_ABI, /* Volley of another ABI */
	FOUND_MISFIT,    /* Volley by its maps' names, but a map differs from xdp/abi.h */
	FOUND_VOLLEY,
};

struct found {
	enum found_kind kind;
	bool is_generic;
	bool is_alone; /* not behind libxdp's dispatcher */
	uint32_t id;
	/* only for FOUND_OTHER_ABI, of which only prog_fd, maps.other and maps.link are open */
	uint32_t abi;
	uint8_t tag[8]; /* the kernel's digest of the program */
	int prog_fd;
	char name[32];
	char misfit[128]; /* for FOUND_MISFIT: the map, and how it differs */
	struct found_maps maps;
};

/*
 * Looks at the interface. Returns 0 and *found, for found_close(), or -errno. Needs root. For
 * FOUND_VOLLEY, all maps may be read and mapped: each has the type, the sizes of key and value, the
 * entries and the flags that this volleyd's own object declares. The entries of the index, the
 * store, the zones and the names may differ, but are within bounds.
 */
int found_look(struct found *found, int ifindex) __attribute__((warn_unused_result));
void found_close(struct found *found);

/* The number of the program that the kernel runs on the interface, which may be a dispatcher; 0:
 * there is none, or it cannot be known. Needs no capability. */
uint32_t found_number(int ifindex);

/* True if a volleyd of any ABI attached it: then a volleyd may replace it. */
bool found_is_by_daemon(const struct found *found);

/* Points to the coarse monotonic second until which a program of any ABI may answer. Release it
 * with found_unmap(). NULL: it cannot be read. */
uint32_t *found_serve_until(const struct found *found);
/* A new descriptor of the map that has this second (below 0: none), and the same pointer from that
 * descriptor, which may be closed afterwards. */
int found_until_fd(const struct found *found);
uint32_t *found_map_until(int fd);
void found_unmap(uint32_t *serve_until_s);

/* The number of a map's entries; 0: it cannot be read. */
uint32_t found_entries(int fd);

/* The actual sizes of the maps of FOUND_VOLLEY. 0 or -errno. */
struct cache_sizes;
int found_sizes(const struct found_maps *maps, struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

#endif
