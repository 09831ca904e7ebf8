/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP program of one interface: found there, or loaded and attached.
 *
 *      what is on the interface                    what happens
 *      nothing                                     loaded and attached, beside others where libxdp's
 *                                                  dispatcher can be used (program_attach.c)
 *      Volley, this ABI (ip link, xdp-loader,      adopted: its maps are the cache; where a volleyd attached it
 *        or a volleyd before us)                     and it is another build, ours takes its place at once
 *      Volley, this ABI, but another cache is in   ours, with our maps, waits to take its place
 *        use already
 *      Volley, another ABI, by a volleyd           the same, with a new cache
 *      Volley, another ABI, by others              refused
 *      another program, no dispatcher possible     refused
 *      anything, but another volleyd works on it   refused
 *
 * The maps of the cache are shared by the programs of all interfaces; volley_link, volley_cpu,
 * xsks_map, volley_queues, volley_shares, volley_near and volley_cookies are each program's own.
 *
 * Control's thread calls all of these; they load, attach and map, so they may take milliseconds.
 */
#ifndef VOLLEY_BPF_PROGRAM_H
#define VOLLEY_BPF_PROGRAM_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/object.h"
#include "bpf/program_want.h"
#include "config/config.h"

struct program;

/*
 * Finds or attaches the program and opens its maps. *maps is filled by the first program and shared
 * with the next ones. On an error err has a sentence that names the interface and what to do.
 * Errors: -ENODEV, -EPROTO (another ABI, not by a volleyd), -EBUSY (another program), ERR_RUNNING
 * (another volleyd), -EOPNOTSUPP (the driver knows no native XDP and only that is wanted), or what
 * refused the last way of loading and attaching it.
 */
int program_open(struct program **out, struct object_maps *maps, const struct program_want *want,
		 char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * Whether a Volley program of this ABI is on the interface already: 0 for none, else one more than
 * the number of resizes that its cache has come through. Of several caches the one with most is the
 * one that a volleyd before us used last.
 */
uint32_t program_find(const char *ifname);

/* Whether a Volley program of any ABI is on the interface already. */
bool program_is_there(const char *ifname);

/*
 * Whether an earlier volleyd's program still runs in its place, with a cache that is not ours. When
 * misses are answered, by kernel sockets at least, program_take_place() exchanges the two: a packet
 * meets one of them. Until then who lives keeps the old one answering: program_old_deadline() is
 * the coarse monotonic second until which it may, or NULL; valid until the place is taken or the
 * program closed. 0 or -errno: then neither is on the interface.
 */
bool program_is_waiting(const struct program *program);
uint32_t *program_old_deadline(const struct program *program);
int program_take_place(struct program *program) __attribute__((warn_unused_result));

/* Whether a volleyd attached it, this one or one before. */
bool program_is_by_daemon(const struct program *program);

/* Whether nothing is there that program_open() would refuse. */
bool program_is_welcome(const char *ifname);

/*
 * Lets go of the program. It stays on the interface if `keep`, or if it was not volleyd that
 * attached it. One that is no longer on the interface that we see answers nothing any more. NULL is
 * allowed.
 */
void program_close(struct program *program, bool keep);

/*
 * For an interface that is not to have a program: one that a volleyd before us attached and left,
 * because it was killed, would go on answering from an old cache. It is taken off, or silenced if
 * somebody else loaded it; nothing is done if another volleyd works on it. Whether something was.
 */
bool program_clean_up(const char *ifname);

/*
 * Takes the program off the interface, whoever attached it. Where the driver refuses that because
 * of the MTU (program_detach.c), the MTU is lower for a moment. 0 or -errno.
 */
int program_detach(struct program *program);

/*
 * Another cache for a program that goes on answering (cache/copy.h). program_prepare() loads one
 * that reads `maps`, and has of the one that runs what is each program's own; nothing that is
 * attached changes. program_switch() puts it in the place of that one, so that every packet meets
 * one of the two, and prepares it first where that has not been done. On an error the old one goes
 * on; program_unprepare() gives up what was prepared. All do nothing where the program reads these
 * maps already. 0 or -errno.
 */
int program_prepare(struct program *program, const struct object_maps *maps)
	__attribute__((warn_unused_result));
/* program_switch() also where it reads these maps: for a driver that runs it on the queues alone
 * that it had then. */
int program_renew(struct program *program, const struct object_maps *maps)
	__attribute__((warn_unused_result));
int program_switch(struct program *program, const struct object_maps *maps)
	__attribute__((warn_unused_result));
void program_unprepare(struct program *program);

/*
 * For DPDK (program_lend.c): the program is taken off, and put on again, where is_borrowed in the
 * place of the one that is there now and with its xsks_map. program_use_sockets() gives one that is
 * attached another xsks_map; the descriptor stays the caller's. After an error of the second it may
 * not be on the interface. 0 or -errno.
 */
int program_lend(struct program *program) __attribute__((warn_unused_result));
int program_take_back(struct program *program, const struct object_maps *maps, bool is_borrowed)
	__attribute__((warn_unused_result));
int program_use_sockets(struct program *program, const struct object_maps *maps, int xsks_fd)
	__attribute__((warn_unused_result));

/*
 * Whether it is still what runs on its interface (somebody may have taken it off). True, too, where
 * descriptors or memory to look have run out: it was there when we looked last.
 */
bool program_is_attached(const struct program *program);

void program_set_answers(struct program *program, bool driver_answers);

/* Which tunnels are taken off (VOLLEY_TUNNEL_*, the port of GUE), and whether answers are
 * routed. */
/* From now on only the tunnels of these are taken off; n 0: everyone's. At most
 * VOLLEY_TUNNEL_SOURCES. */
void program_set_tunnel_sources(struct program *program, const struct config_prefix *sources,
				uint32_t n);
void program_set_ways(struct program *program, uint8_t tunnels, __be16 gue_port, bool return_fib);
void program_set_mac(struct program *program, const uint8_t mac[6]);
/* VOLLEY_HOPS flags: which next hops return-path: fib has used; cleared by whoever has looked. The
 * program's. */
uint8_t *program_hops(struct program *program);
/* No answer of the driver makes a packet that is longer. 0: not known. */
void program_set_mtu(struct program *program, uint32_t mtu);

enum program_origin program_origin(const struct program *program);
enum program_mode program_mode(const struct program *program);
/* Why native mode was refused, where the program is generic; "": native was not tried. The
 * program's. */
const char *program_generic_reason(const struct program *program);
uint32_t program_id(const struct program *program);

/* The kernel's digest of its instructions, as hexadecimal digits; and whether it is that of our own
 * object. */
#define PROGRAM_TAG_CAP 17
const char *program_tag_text(const struct program *program, char text[PROGRAM_TAG_CAP]);
bool program_is_our_build(const struct program *program);
int program_xsks_fd(const struct program *program);

/* How far the worker of a receive queue (below VOLLEY_QUEUES) is behind; the program's, until it is
 * closed. */
struct volley_queue *program_queue(const struct program *program, uint32_t queue);

/* XDP_FLAGS_* of its mode, as AF_XDP sockets want them. */
uint32_t program_xdp_flags(const struct program *program);

/* Sums the counters over all CPUs and their rooms (the fields of struct volley_cpu up to
 * `answers`). 0 or -errno. */
int program_counters(const struct program *program, struct volley_cpu *sum)
	__attribute__((warn_unused_result));

/* The same fields of one more CPU, or of the sum over another program. */
void program_add_counters(struct volley_cpu *sum, const struct volley_cpu *one);

/*
 * A new array of n: what each possible CPU has in volley_cpu, on a real-time kernel in each of its
 * rooms. free() it. 0 or -errno.
 */
int program_cpus(const struct program *program, struct volley_cpu **cpus, int *n)
	__attribute__((warn_unused_result));

/* How fine hits are drawn as samples: volley_link.finer. */
void program_set_finer(struct program *program, unsigned int finer);

/* "native", "generic"; "loaded", "adopted", "replaced". Static. */
const char *program_mode_text(enum program_mode mode);
const char *program_origin_text(enum program_origin origin);

/* Hit, up, passed or dropped. */
enum volley_class program_reason_class(enum volley_reason reason);

#endif
