/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The faults of the whole daemon: one row each. Faults of a zone, an interface, a policy list, a
 * worker or a service address are judged one by one in report/health.c.
 *
 *	daemon/daemon_view.c: a sentence by enum fault ─► report/faults.h ─► status, health, metrics
 *	                                        FAULT_LIST ─► volleyctl(8)
 *
 * A row: F(ENUM, name in metrics, level, words before the sentence, words for the man page). FAILS:
 * a reason of health against this host; WARNS: a warning. If the part has no sentence of its own,
 * the words of the man page are the sentence.
 */
#ifndef VOLLEY_CONFIG_FAULT_LIST_H
#define VOLLEY_CONFIG_FAULT_LIST_H

/* clang-format off */
#define FAULT_LIST(F)                                                                         \
	F(STORAGE, storage, WARNS, "",                                                        \
	  "server.storage cannot be opened or written to: no change of a zone is stored")      \
	F(ZONES_ADDED, zones_added, WARNS, "",                                                \
	  "zones of zone add are not served: the configuration has their templates no more")  \
	F(ZONES_UNCACHED, zones_uncached, WARNS, "",                                          \
	  "more zones are served than the answer cache has places for, and workers render "   \
	  "each answer of the others: raise cache.zones, and restart volleyd")                \
	F(TAPS, taps, WARNS, "",                                                              \
	  "dnstap or the query log does not get all that the configuration asks for")         \
	F(RPZ_ABSENT, policies_absent, FAILS, "",                                             \
	  "response policy zones and local data could not be put in place: none is in force") \
	F(RPZ_OLD, policies_old, WARNS, "",                                                   \
	  "response policy zones and local data could not be put in place: those of before "  \
	  "are in force")                                                                     \
	F(BLOCKS_ABSENT, blocks_absent, FAILS, "policy.block: ",                              \
	  "a list of policy.block could not be put in place, and nothing of it is in force")  \
	F(BLOCKS_OLD, blocks_old, WARNS, "policy.block: ",                                    \
	  "a list of policy.block could not be put in place: the one of before is in force")  \
	F(BLOCK_JOURNAL, block_journal, WARNS, "",                                            \
	  "blocks of the command block add cannot be read or stored")                          \
	F(RECURSION_CLIENTS, recursion_clients, WARNS, "",                                    \
	  "the driver does not know all clients that may recurse: workers answer these")      \
	F(RESOLVER, resolver, WARNS, "",                                                      \
	  "the resolver's process does not start, or has ended within the last minute")       \
	F(RESIZE, resize, WARNS, "",                                                          \
	  "the cache could not get the size that a reload asked for")                          \
	F(SNAPSHOTS, snapshots, WARNS, "",                                                    \
	  "a snapshot of the cache could not be written or read")                              \
	F(DESCRIPTORS, descriptors, WARNS, "",                                                \
	  "the limit of file descriptors allows fewer connections than the configuration")    \
	F(RIGHTS, rights, WARNS, "",                                                          \
	  "a user or group of control.read or control.change is not on this host")            \
	F(SANDBOX, sandbox, WARNS, "",                                                        \
	  "a thread was refused a system call since the start, or may make each one")         \
	F(CONFINED, confined, WARNS, "",                                                      \
	  "a folder of the configuration is not written: it has the files of others, or only " \
	  "a reload has named it")                                                             \
	F(RUNNER, runner, WARNS, "",                                                          \
	  "the process has ended that starts the commands of zones[].verify, and opens files " \
	  "that the user of volleyd may not read")                                            \
	F(BROKER, broker, WARNS, "",                                                          \
	  "the process that attaches XDP programs and makes maps has ended")                  \
	F(PRIVILEGED, privileged, WARNS, "privileged: ",                                      \
	  "with port: dpdk the process that reads packets keeps the capabilities of the "     \
	  "broker, since DPDK works on the card in that process")                             \
	F(NO_MAPS, no_maps, WARNS, "",                                                        \
	  "there are interfaces, but no BPF maps: the driver cannot answer")                  \
	F(SERVICES, services, WARNS, "",                                                      \
	  "there are more service addresses than the driver can know: kernel sockets answer " \
	  "for the rest")                                                                     \
	F(TUNNEL_ENDS, tunnel_ends, WARNS, "",                                                \
	  "there are more addresses than the driver can know as ends of tunnels: the kernel " \
	  "gets tunnelled packets to the rest")
/* clang-format on */

enum fault {
#define FAULT(id, name, level, before, words) FAULT_##id,
	FAULT_LIST(FAULT)
#undef FAULT
		N_FAULTS,
};

/* The sentences of the faults that there are; NULL or "": there is none of that kind. */
typedef const char *fault_texts[N_FAULTS];

#endif
