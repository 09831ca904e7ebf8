/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP hook of one interface, with our program in it: found there and adopted, or loaded and
 * attached. These functions need volleyd's capabilities: they run in the broker, and the daemon
 * asks for them by broker/program.h.
 *
 *      what is on the interface                what happens
 *      nothing                                 loaded and attached; beside other programs if
 *                                              libxdp's dispatcher works (hook_attach.c)
 *      Volley, this ABI (ip link, xdp-loader,  adopted, and its maps are our cache; if a volleyd
 *        or an earlier volleyd)                  attached another build, ours replaces it at once
 *      Volley, this ABI, but we already use    ours, with our maps, waits to replace it
 *        another cache
 *      Volley, another ABI, by a volleyd       ours, with a new cache, waits to replace it
 *      Volley, another ABI, by others          refused
 *      another program, no dispatcher possible refused
 *      anything, but another volleyd works     refused
 *        on it
 *
 * The programs of all interfaces share the maps of the cache. Each program has its own volley_link,
 * volley_cpu, xsks_map, volley_queues, volley_shares, volley_near and volley_cookies.
 *
 * One thread calls all of these. They load and attach, so they may take a second.
 *
 * The steps of attaching (hook_attach.c): native by libxdp's dispatcher, native alone, generic
 * by the dispatcher, generic alone, the kernel's sockets. If a step is refused, the next one that
 * interfaces[].xdp allows is tried; none, if another program is on the interface, or if the
 * verifier refuses the program, which it does in every mode. refusal.h logs each refusal in the
 * kernel's own words; needs.h probes for BPF helpers that the kernel lacks.
 */
#ifndef VOLLEY_BPF_HOOK_H
#define VOLLEY_BPF_HOOK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/object.h"
#include "bpf/program_want.h"

struct hook;

/*
 * Finds or attaches the program and opens its maps. The first program fills *maps; the next ones
 * share it. On an error, err has a message that names the interface and says what to do. Errors:
 * -ENODEV, -EPROTO (another ABI, not by a volleyd), -EBUSY (another program), ERR_RUNNING (another
 * volleyd), -EOPNOTSUPP (the configuration demands native XDP, which the driver lacks), or the
 * error of the last attempt to load and attach.
 */
int hook_open(struct hook **out, struct object_shared *maps, const struct program_want *want,
	      char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * The hook of a program that an earlier broker of this volleyd has opened. `id`: the program's
 * number. The lock of the interface is the daemon's. 0; -ENOENT if another program or none is
 * there; or -errno.
 */
int hook_recover(struct hook **out, const char *ifname, uint32_t id)
	__attribute__((warn_unused_result));

/*
 * 0: no Volley program of this ABI is on the interface; else 1 plus the number of resizes of its
 * cache. If several caches are found, an earlier volleyd used the one with the highest number last.
 */
uint32_t hook_find(const char *ifname);

/* True if a Volley program of any ABI is on the interface. */
bool hook_is_there(const char *ifname);

/*
 * To be called while an earlier volleyd's program still runs in the place of ours, with another
 * cache, and when misses are answered, at least by kernel sockets: it exchanges the two programs,
 * and each packet meets one of them. 0 or -errno; after an error, neither program is on the
 * interface. -ENOENT: the broker that had ours ready has died (hook_recover()).
 */
int hook_take_place(struct hook *hook) __attribute__((warn_unused_result));

/* True if hook_open() would refuse nothing that is on the interface. */
bool hook_is_welcome(const char *ifname);

/* Closes the program. It stays on the interface if `keep`, or if it was not a volleyd that attached
 * it. If it is no longer on this interface, it is told to stop answering. NULL is allowed. */
void hook_close(struct hook *hook, bool keep);

/*
 * For an interface that shall have no program. A volleyd that was killed has left its program
 * there, and that goes on answering from an old cache. It is detached, or told to stop answering if
 * it was not a volleyd that attached it. If another volleyd works on the interface, nothing is
 * done. True if something was done. `owner`: as in struct program_want.
 */
bool hook_clean_up(const char *ifname, pid_t owner);

/* Detaches the program, also if we did not attach it. If the driver refuses that because of the
 * MTU, lowers the MTU for a moment (hook_detach.c). 0 or -errno. */
int hook_detach(struct hook *hook);

/*
 * Gives a running program another cache (cache/copy.h). hook_prepare() loads a program that
 * reads `maps` and shares the running program's own maps; what is attached does not change.
 * hook_switch() puts it in place, so that each packet meets one of the two; it prepares first if
 * necessary. After an error the old program goes on. hook_unprepare() undoes hook_prepare().
 * All do nothing if the program reads these maps already. 0 or -errno.
 */
int hook_prepare(struct hook *hook, const struct object_shared *maps)
	__attribute__((warn_unused_result));
/* As hook_switch(), but also if the program reads these maps already: some drivers run a program
 * only on the queues that existed when it was attached. */
int hook_renew(struct hook *hook, const struct object_shared *maps)
	__attribute__((warn_unused_result));
int hook_switch(struct hook *hook, const struct object_shared *maps)
	__attribute__((warn_unused_result));
void hook_unprepare(struct hook *hook);

/*
 * For DPDK (hook_lend.c). hook_lend() detaches the program. hook_take_back() attaches it
 * again; if is_borrowed, it replaces the program that is there now and uses its xsks_map.
 * hook_use_sockets() gives an attached program another xsks_map; the caller keeps the
 * descriptor. After an error of hook_take_back(), the program may not be on the interface. 0 or
 * -errno.
 */
int hook_lend(struct hook *hook) __attribute__((warn_unused_result));
int hook_take_back(struct hook *hook, const struct object_shared *maps, bool is_borrowed)
	__attribute__((warn_unused_result));
int hook_use_sockets(struct hook *hook, const struct object_shared *maps, int xsks_fd)
	__attribute__((warn_unused_result));

/* True if the interface still runs it; others may have detached it. Also true if the check runs out
 * of descriptors or memory: the last check found it. */
bool hook_is_attached(const struct hook *hook);

void hook_set_answers(struct hook *hook, bool driver_answers);

/* True if the kernel's digest of its instructions equals that of our own object. The first call
 * loads a program. */
bool hook_is_our_build(const struct hook *hook);

/* XDP_FLAGS_* of its mode. */
uint32_t hook_xdp_flags(const struct hook *hook);

#endif
