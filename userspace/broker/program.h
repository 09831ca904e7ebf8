/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP program of one interface as the daemon sees it. Its maps are mapped here: counters and
 * switches are read and written as memory. The broker finds, attaches, replaces and detaches it
 * (bpf/hook.h says how); each of these calls is one request, and fails with ERR_BROKER while there
 * is no broker. The program then goes on as it is.
 *
 * Control's thread calls all of these. Requests may take a second.
 */
#ifndef VOLLEY_BROKER_PROGRAM_H
#define VOLLEY_BROKER_PROGRAM_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/object.h"
#include "bpf/program_want.h"
#include "config/config.h"

struct program;

/*
 * Finds or attaches the program and maps what it has. The first program fills *maps; the next ones
 * share it. On an error, err has a message that names the interface and says what to do: errors of
 * hook_open(), -ENOMEM or ERR_BROKER.
 */
int program_open(struct program **out, struct object_maps *maps, const struct program_want *want,
		 char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * 0: no Volley program of this ABI is on the interface; else 1 plus the number of resizes of its
 * cache. If several caches are found, an earlier volleyd used the one with the highest number last.
 */
uint32_t program_find(const char *ifname);

/* True if a Volley program of any ABI is on the interface. */
bool program_is_there(const char *ifname);

/*
 * True while an earlier volleyd's program still runs in the place of ours, with another cache. Call
 * program_take_place() when misses are answered, at least by kernel sockets: it exchanges the two
 * programs, and each packet meets one of them. Until then the caller keeps the old program
 * answering: program_old_deadline() points to the coarse monotonic second until which it may
 * answer, or is NULL. The pointer is valid until the exchange or program_close(). 0 or -errno;
 * after an error, neither program is on the interface.
 */
uint32_t *program_old_deadline(const struct program *program);
int program_take_place(struct program *program) __attribute__((warn_unused_result));

/* True if a volleyd, this one or an earlier one, attached it. */
bool program_is_by_daemon(const struct program *program);

/* True if program_open() would refuse nothing that is on the interface. */
bool program_is_welcome(const char *ifname);

/* Closes the program. It stays on the interface if `keep`, or if it was not a volleyd that attached
 * it. If it is no longer on this interface, it is told to stop answering. NULL is allowed. */
void program_close(struct program *program, bool keep);

/*
 * For an interface that shall have no program. A volleyd that was killed has left its program
 * there, and that goes on answering from an old cache. It is detached, or told to stop answering if
 * it was not a volleyd that attached it. If another volleyd works on the interface, nothing is
 * done. True if something was done.
 */
bool program_clean_up(const char *ifname);

/* Detaches the program, also if we did not attach it. If the driver refuses that because of the
 * MTU, lowers the MTU for a moment (bpf/hook_detach.c). 0 or -errno. */
int program_detach(struct program *program);

/*
 * Gives a running program another cache (cache/copy.h). program_prepare() loads a program that
 * reads `maps` and shares the running program's own maps; what is attached does not change.
 * program_switch() puts it in place, so that each packet meets one of the two; it prepares first if
 * necessary. After an error the old program goes on. program_unprepare() undoes program_prepare().
 * All do nothing if the program reads these maps already. 0 or -errno.
 */
int program_prepare(struct program *program, const struct object_maps *maps)
	__attribute__((warn_unused_result));
/* As program_switch(), but also if the program reads these maps already: some drivers run a program
 * only on the queues that existed when it was attached. */
int program_renew(struct program *program, const struct object_maps *maps)
	__attribute__((warn_unused_result));
int program_switch(struct program *program, const struct object_maps *maps)
	__attribute__((warn_unused_result));
void program_unprepare(struct program *program);

/*
 * For DPDK (bpf/hook_lend.c), in a daemon without a broker. program_lend() detaches the program.
 * program_take_back() attaches it again; if is_borrowed, it replaces the program that is there now
 * and uses its xsks_map. program_use_sockets() gives an attached program another xsks_map; the
 * caller keeps the descriptor. After an error of program_take_back(), the program may not be on the
 * interface. 0 or -errno.
 */
int program_lend(struct program *program) __attribute__((warn_unused_result));
int program_take_back(struct program *program, const struct object_maps *maps, bool is_borrowed)
	__attribute__((warn_unused_result));
int program_use_sockets(struct program *program, const struct object_maps *maps, int xsks_fd)
	__attribute__((warn_unused_result));

/* True if the interface still runs it; others may have detached it. Also true if the check runs out
 * of descriptors or memory, or if there is no broker: the last check found it. */
bool program_is_attached(const struct program *program);

void program_set_answers(struct program *program, bool driver_answers);

/*
 * Takes off only tunnels from these sources from now on, at most VOLLEY_TUNNEL_SOURCES; n 0: all.
 */
void program_set_tunnel_sources(struct program *program, const struct config_prefix *sources,
				uint32_t n);
/* Which tunnels are taken off (VOLLEY_TUNNEL_*, the port of GUE), and if answers are routed. */
void program_set_ways(struct program *program, uint8_t tunnels, __be16 gue_port, bool return_fib);
void program_set_mac(struct program *program, const uint8_t mac[6]);
/* VOLLEY_HOPS flags: which next hops return-path: fib has used. The reader clears them. The
 * program's memory. */
uint8_t *program_hops(struct program *program);
/* The driver's answers make no packet longer than this. 0: not known. */
void program_set_mtu(struct program *program, uint32_t mtu);

enum program_origin program_origin(const struct program *program);
enum program_mode program_mode(const struct program *program);
/*
 * Why native mode was refused; "": it was not tried. Generic programs only. The program's memory.
 */
const char *program_generic_reason(const struct program *program);
uint32_t program_id(const struct program *program);

/*
 * The kernel's digest of the instructions in hexadecimal, and if it equals that of our own object.
 * True for all programs but adopted ones.
 */
#define PROGRAM_TAG_CAP OBJECT_TAG_CAP
const char *program_tag_text(const struct program *program, char text[PROGRAM_TAG_CAP]);
bool program_is_our_build(const struct program *program);
int program_xsks_fd(const struct program *program);

/* How far the worker of a receive queue (below VOLLEY_QUEUES) is behind. The program's memory. */
struct volley_queue *program_queue(const struct program *program, uint32_t queue);

/* XDP_FLAGS_* of its mode, for AF_XDP sockets. */
uint32_t program_xdp_flags(const struct program *program);

/* Sums the counters (the fields of struct volley_cpu up to `answers`) over all CPUs and their
 * rooms. 0 or -errno. */
int program_counters(const struct program *program, struct volley_cpu *sum)
	__attribute__((warn_unused_result));

/* Adds the same fields of one more CPU, or of another program's sum. */
void program_add_counters(struct volley_cpu *sum, const struct volley_cpu *one);

/* A new array of n: volley_cpu of each possible CPU, and on a real-time kernel of each of its
 * rooms. The caller frees it. 0 or -errno. */
int program_cpus(const struct program *program, struct volley_cpu **cpus, int *n)
	__attribute__((warn_unused_result));

/* How finely hits are sampled: volley_link.finer. */
void program_set_finer(struct program *program, unsigned int finer);

/* "native", "generic"; "loaded", "adopted", "replaced". Static strings. */
const char *program_mode_text(enum program_mode mode);
const char *program_origin_text(enum program_origin origin);

/* The class of a reason: hit, up, passed or dropped. */
enum volley_class program_reason_class(enum volley_reason reason);

#endif
