/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys of the host: server, interfaces, memory and sockets. */
#include "config/rows.h"

#define SIZE_M (1ull << 20)
#define SIZE_G (1ull << 30)
#define SIZE_T (1ull << 40)
/* With few zones the numbers of entries are enough for 71,678M: cache_sizes_plan(). */
#define CACHE_MAX (69 * SIZE_G)

static const struct words_key rows[] = {
	{ ROW_OF("server", WORDS_MAP), .text = "What the whole server does." },
	{ ROW_ARRAY("server.listen", WORDS_ADDRESSES, struct config, listen, n_listen),
	  .is_required = true, .min = 53,
	  .text = "The service addresses. Required, and none twice. The driver answers for these "
		  "addresses and ports only; 0.0.0.0 and :: stand for every address of the host, "
		  "in the driver for all but loopback and link-local ones. A reload opens those "
		  "that "
		  "are new and closes those that are gone, and no query to the others is lost; "
		  "where one "
		  "cannot be opened, the reload fails and nothing is changed. A link-local IPv6 "
		  "address has its interface behind it, which must exist: fe80::1%eth0@53; kernel "
		  "sockets answer there." },
	{ ROW_ARRAY("server.allow", WORDS_PREFIXES, struct config, allow, n_allow),
	  .if_empty = "has no prefix, so nobody could ask: leave it out to allow everyone",
	  .text = "The clients that may ask for the zones; others are refused, and get nothing "
		  "from the "
		  "driver either. Default: everyone." },
	{ ROW("server.workers", WORDS_AUTO_COUNT, struct config, n_workers), .needs_start = true,
	  .min = 1, .max = 1024, .fallback = "auto",
	  .text = "Workers, each a thread pinned to a processor. Every worker serves kernel "
		  "sockets and "
		  "TCP, and the AF_XDP queues are shared out among them. With auto, one for each "
		  "processor that volleyd may use, but for those of server.control-cores." },
	{ ROW_ARRAY("server.control-cores", WORDS_CORES, struct config, control_cores,
		    n_control_cores),
	  .needs_start = true, .min = 0, .max = 1023,
	  .text = "The processors of all threads that are no workers: they read zones, walk over "
		  "the "
		  "cache, ask upstream, talk to volleyctl. Default: those that volleyd may use and "
		  "that no "
		  "worker is pinned to. Where that leaves none, as with server.workers: auto, they "
		  "share "
		  "the workers' with less priority for what takes long: give some here, or fewer "
		  "workers, so that a reload costs no answer." },
	{ ROW("server.max-udp-size", WORDS_COUNT, struct config, max_udp_size_bytes),
	  .needs_start = true, .min = 512, .max = 1432, .fallback = "1232",
	  .text = "The longest answer over UDP, in bytes of DNS message, whatever the client "
		  "offers. "
		  "What is longer is truncated, and the client comes back over TCP. So is what the "
		  "MTU of "
		  "the interface has no room for, in the driver and by AF_XDP and DPDK; a VLAN "
		  "with a "
		  "smaller MTU is not looked at. What kernel sockets send is cut into fragments "
		  "then." },
	{ ROW("server.minimal-responses", WORDS_BOOL, struct config, minimal_responses),
	  .needs_start = true, .fallback = "false",
	  .text = "With true, records that a client does not need are never added to an answer." },
	{ ROW("server.any", WORDS_CHOICE, struct config, any), .needs_start = true,
	  .choices = "minimal|full", .fallback = "minimal",
	  .text = "What a query of type ANY gets: minimal, one RRset of the name (RFC 8482), or "
		  "full, all "
		  "of them." },
	{ ROW_ARRAY("server.nsid", WORDS_OCTETS, struct config, nsid, n_nsid), .min = 1, .max = 128,
	  .text = "The name of this server, for clients that ask for it by the EDNS option NSID "
		  "(RFC "
		  "5001). Default: the option is ignored." },
	{ ROW("server.version", WORDS_TEXT, struct config, version), .min = 1, .max = 255,
	  .text = "The answer to version.bind and version.server, class CH, type TXT. Default: "
		  "these are "
		  "refused." },
	{ ROW("server.identity", WORDS_TEXT, struct config, identity), .min = 1, .max = 255,
	  .text = "The answer to id.server and hostname.bind, class CH, type TXT (RFC 4892). "
		  "Default: "
		  "these are refused." },
	{ ROW("server.pid-file", WORDS_PATH, struct config, pid_file), .needs_start = true,
	  .text = "The file that a running volleyd holds locked and writes its process id to. A "
		  "second "
		  "volleyd with the same file refuses to start. Default: control.socket with .lock "
		  "behind it." },
	{ ROW_OF("server.tcp", WORDS_MAP), .text = "Queries over TCP." },
	{ ROW("server.tcp.max-connections", WORDS_COUNT, struct config, tcp_connections_cap),
	  .needs_start = true, .min = 1, .max = 1000000, .fallback = "1000",
	  .text = "Connections open at a time, over all workers and addresses. Past that, one is "
		  "closed "
		  "for each new one: first those that have sent half a message, then readers that "
		  "have "
		  "stalled, then those that never asked, then those longest idle. From half of "
		  "this "
		  "number on, timeouts shorten, down to a sixteenth." },
	{ ROW("server.tcp.max-connections-per-client", WORDS_COUNT, struct config, tcp_client_cap),
	  .needs_start = true, .min = 0, .max = 1000000, .fallback = "0",
	  .text = "Of these, connections of one client: an IPv4 /24 or an IPv6 /48. Past that, "
		  "each new "
		  "one closes another of the same client. 0: half of max-connections. Raise it "
		  "where "
		  "all clients come through one proxy." },
	{ ROW("server.tcp.idle-timeout", WORDS_SECONDS, struct config, tcp_idle_s),
	  .needs_start = true, .min = 1, .max = 3600, .fallback = "10s",
	  .text = "How long a connection may be silent before it is closed, while less than half "
		  "of "
		  "max-connections are open. Clients that ask are told (RFC 7828)." },
	{ ROW("server.tcp.max-queries", WORDS_COUNT, struct config, tcp_queries_max),
	  .needs_start = true, .min = 0, .max = 1000000, .fallback = "0",
	  .text = "Queries that one connection may ask before it is closed. 0: no limit." },
	{ ROW("server.tcp.backlog", WORDS_COUNT, struct config, tcp_backlog), .needs_start = true,
	  .min = 0, .max = 65535, .fallback = "0",
	  .text = "Connections to one address that the kernel keeps for each worker until it "
		  "accepts them. What comes on top waits for the client to try again. The "
		  "kernel keeps at most net.core.somaxconn. 0: as many as that." },
	{ ROW_OF("server.cookies", WORDS_MAP), .text = "DNS cookies (RFC 7873, RFC 9018)." },
	{ ROW_OF("server.cookies.secret", WORDS_SECRET), .is_secret = true,
	  .text = "The secret that server cookies are made with. Give the same to all servers "
		  "behind "
		  "one anycast address, and keep the file unreadable to others. Default: volleyd "
		  "makes "
		  "its own, and keeps them in server.storage where that is given; else each start "
		  "makes "
		  "a new one." },
	{ ROW_OF("server.cookies.secret-files", WORDS_PATHS),
	  .if_empty = "has no file: leave it out, and volleyd makes its own secrets",
	  .max = VOLLEY_COOKIE_SECRETS,
	  .text = "Secrets in files of their own, 1 to 4: cookies are made with the first one, and "
		  "those "
		  "made with any of them are accepted. A file has 32 hexadecimal digits, as BIND's "
		  "cookie-secret, with or without 0x before them, and is refused where everyone "
		  "can read "
		  "or write it. A reload reads the files again. To change the secret of several "
		  "servers: "
		  "see docs/fleet.md. A relative path starts at the folder of the configuration "
		  "file. Not "
		  "beside server.cookies.secret." },
	{ ROW("server.cookies.rotate", WORDS_SECONDS, struct config, cookie_rotate_s), .min = 0,
	  .max = (uint64_t)36 * 86400, .fallback = "1d",
	  .text = "How long secrets that volleyd makes itself are used, before a new one takes "
		  "their "
		  "place; cookies of the one before are accepted for another hour, as long as any "
		  "cookie "
		  "is. 0s: until 'volleyctl cookies rotate'. It means nothing where secrets are "
		  "given." },
	{ ROW_OF("server.tls", WORDS_MAP),
	  .text = "DNS over TLS, for transfers (RFC 9103) and for clients (RFC 7858), who get what "
		  "they get "
		  "over TCP. Replies to queries with padding are padded to a multiple of 468 "
		  "octets (RFC "
		  "8467)." },
	{ ROW_ARRAY("server.tls.listen", WORDS_ADDRESSES, struct config, tls_listen, n_tls_listen),
	  .min = 853,
	  .text = "The addresses where TLS is spoken, none twice, and none that server.listen has "
		  "with "
		  "the same port. Default: none." },
	{ ROW("server.tls.certificate", WORDS_PATH, struct config, tls_certificate),
	  .text = "The file of the server's certificate, in PEM, with those between it and the "
		  "authority "
		  "behind it. A relative path starts at the folder of the configuration file." },
	{ ROW("server.tls.key", WORDS_PATH, struct config, tls_key),
	  .text = "The file of its private key, in PEM. The two are given together. A reload reads "
		  "both "
		  "again: new connections get the new certificate, those that are open stay "
		  "open." },
	{ ROW("server.tls.min-version", WORDS_CHOICE, struct config, tls_min),
	  .choices = "TLSv1.2|TLSv1.3", .fallback = "TLSv1.2",
	  .text = "The oldest version of TLS that a client may use. With TLS 1.2 it gets only "
		  "ciphers with forward secrecy and authenticated encryption (RFC 9325). A rule "
		  "with the word tls always needs TLS 1.3 (RFC 9103). A reload changes it for new "
		  "connections." },
	{ ROW("server.tls.ticket-keys", WORDS_PATH, struct config, tls_ticket_keys),
	  .text = "A file of keys for session tickets (RFC 8446), by which a client that comes "
		  "back needs no "
		  "whole handshake. Give the same file to all servers behind one address. Each "
		  "line is one "
		  "key: 160 hexadecimal digits, as 'openssl rand -hex 80' makes them; 1 to 8 "
		  "lines. The first "
		  "key makes tickets, and tickets of all of them are read. The file is refused "
		  "where everyone "
		  "can read or write it. A reload reads it again; docs/fleet.md says how to change "
		  "a key. "
		  "Default: random keys, changed every two hours, which other servers and the next "
		  "start do "
		  "not have. A session can be resumed for two hours." },
	{ ROW("server.storage", WORDS_PATH, struct config, storage), .needs_start = true,
	  .text = "The folder for what volleyd keeps of zones: their changes, those that come from "
		  "elsewhere, keys that it made. A relative path starts at the folder of the "
		  "configuration "
		  "file. Needed as soon as a zone has primaries, allow-update, signing, catalog or "
		  "zonefile-sync. Default: none." },
	{ ROW("server.storage-size", WORDS_SIZE, struct config, storage_bytes), .needs_start = true,
	  .min = SIZE_M, .max = SIZE_T, .fallback = "1G",
	  .text = "What the journals of all zones take there at most. From three quarters on the "
		  "oldest "
		  "changes go that zone files have, too. Those that a file has not stay, and may "
		  "take as much "
		  "as is left for all; then the zone's changes are refused until 'volleyctl zone "
		  "flush'. "
		  "Status and log warn of that." },
	{ ROW("server.transfers-in", WORDS_COUNT, struct config, n_transfers), .min = 1,
	  .max = 10000, .fallback = "16",
	  .text = "Zones that come from their primaries at a time. Others wait." },
	{ ROW("server.transfers-out", WORDS_COUNT, struct config, n_transfers_out), .min = 1,
	  .max = 10000, .fallback = "64",
	  .text = "Zones that are given to secondaries at a time, three quarters of them to one "
		  "client, "
		  "an IPv4 /24 or an IPv6 /48. Others wait. A reader that takes nothing for a "
		  "second does not "
		  "count." },
	{ ROW_ARRAY("interfaces", WORDS_MAPS, struct config, interfaces, n_interfaces),
	  .max = CONFIG_INTERFACES_MAX,
	  .text = "The network interfaces to answer on in the driver. Without any, volleyd serves "
		  "by "
		  "kernel sockets. A reload attaches to those that are new, lets go of those that "
		  "are gone, and "
		  "attaches anew to those of which something else is said: meanwhile kernel "
		  "sockets answer what "
		  "comes there. Where one has port: dpdk, before or after, the reload is refused, "
		  "since that needs a "
		  "new start." },
	{ ROW("interfaces[].name", WORDS_INTERFACE, struct config_interface, name),
	  .is_required = true, .is_unique = true,
	  .text = "The interface. Required, and none twice. It may come later. See INTERFACES." },
	{ ROW("interfaces[].xdp", WORDS_CHOICE, struct config_interface, xdp),
	  .choices = "auto|native|generic|off", .fallback = "auto",
	  .text = "How the XDP program is attached: native in the driver, generic in the kernel's "
		  "stack "
		  "behind it, off not at all. With auto, native where the driver can, else "
		  "generic. See "
		  "INTERFACES." },
	{ ROW("interfaces[].port", WORDS_CHOICE, struct config_interface, port),
	  .choices = "auto|xsk|dpdk|socket", .fallback = "auto",
	  .text = "How packets that the driver does not answer reach a worker: xsk by AF_XDP "
		  "rings, "
		  "socket by kernel sockets. With auto, xsk where it works, else socket; volleyctl "
		  "status says which and why. dpdk by DPDK, if volleyd was built with it: see "
		  "DPDK." },
	{ ROW("interfaces[].driver-answers", WORDS_BOOL, struct config_interface, driver_answers),
	  .fallback = "true",
	  .text = "With false, the XDP program answers nothing and only hands up: to measure and "
		  "to "
		  "diagnose." },
	{ ROW("interfaces[].zero-copy", WORDS_CHOICE, struct config_interface, zero_copy),
	  .choices = "auto|on|off", .fallback = "auto",
	  .text = "Whether the driver writes to AF_XDP memory itself. With on, kernel sockets "
		  "answer "
		  "where it cannot, and that is a fault; with auto its frames are copied." },
	{ ROW("interfaces[].busy-poll", WORDS_BUDGET, struct config_interface, busy_poll_budget),
	  .min = 1, .max = 4096, .fallback = "false",
	  .text = "Whether the worker drives the queue itself instead of by interrupts, and how "
		  "many "
		  "packets it takes at a time; true means 64. It costs a whole processor. At low load "
		  "it makes answers faster; see docs/benchmarks.md." },
	{ ROW("interfaces[].umem-frames", WORDS_POWER, struct config_interface, n_umem_frames),
	  .min = 64, .max = 1ull << 20, .fallback = "4096",
	  .text = "Packet buffers of each queue, of 2048 bytes each, or of 4096 where the "
		  "interface's MTU "
		  "needs it. At least twice ring-size." },
	{ ROW("interfaces[].ring-size", WORDS_POWER, struct config_interface, ring_size), .min = 32,
	  .max = 32768, .fallback = "2048",
	  .text = "Places in each of the four AF_XDP rings of a queue." },
	{ ROW("interfaces[].queues", WORDS_AUTO_COUNT, struct config_interface, n_queues), .min = 1,
	  .max = 64, .fallback = "auto",
	  .text = "Receive queues to serve by AF_XDP, from queue 0 on; kernel sockets serve the "
		  "others. "
		  "With auto, all that the interface has, also when ethtool -L changes them." },
	{ ROW_ARRAY("interfaces[].cores", WORDS_CORES, struct config_interface, cores, n_cores),
	  .needs_start = true, .min = 0, .max = 1023,
	  .text = "The processors that the workers of the queues are pinned to, in the order of "
		  "the "
		  "queues. When queues is a number, as many as that. Default: queue 0 belongs to "
		  "worker "
		  "0, and so on, those near the card's memory (NUMA) first." },
	{ ROW("interfaces[].tunnels", WORDS_CHOICES, struct config_interface, tunnels),
	  .choices = "ipip|gue", .fallback = "[]",
	  .text = "The tunnels of L4 balancers from which queries are taken, and answered directly "
		  "to the "
		  "client: ipip, IPv4 or IPv6 in either of the two, and gue, the same in UDP. They "
		  "have to "
		  "end at an address of this host. See TUNNELS." },
	{ ROW("interfaces[].gue-port", WORDS_PORT, struct config_interface, net_gue_port), .min = 1,
	  .max = 65535, .fallback = "6080", .text = "The UDP port that gue comes to." },
	{ ROW_ARRAY("interfaces[].tunnel-sources", WORDS_PREFIXES, struct config_interface,
		    tunnel_sources, n_tunnel_sources),
	  .max = CONFIG_TUNNEL_SOURCES_MAX,
	  .if_empty = "has no prefix, so no tunnel could be taken off: leave it out for everyone's",
	  .text = "The balancers: only tunnels whose outer source is in one of these prefixes, at "
		  "most 16, "
		  "are taken off; others go to the kernel as they came. See TUNNELS. Default: "
		  "everyone's are." },
	{ ROW("interfaces[].return-path", WORDS_CHOICE, struct config_interface, return_path),
	  .choices = "swap|fib", .fallback = "swap",
	  .text = "Where answers go: with swap back to where the query came from, its Ethernet "
		  "address that "
		  "is. With fib to the next hop of the routing table, if that is on this "
		  "interface; else "
		  "the kernel gets the query, and a kernel socket answers. See RETURN PATH." },
	{ ROW("interfaces[].device", WORDS_TEXT, struct config_interface, device), .min = 1,
	  .max = 400,
	  .text = "For port: dpdk the device in DPDK's words: a PCI address (0000:3b:00.0), or a "
		  "driver "
		  "without hardware and its parameters (net_af_xdp0,iface=eth0,busy_budget=0). "
		  "With net_af_xdp on this "
		  "interface and no xdp_prog the XDP program answers as ever. Any other device is "
		  "DPDK's "
		  "own, and name is the tap interface by which the kernel sees it. Default: "
		  "net_af_xdp on "
		  "this interface." },
	{ ROW_OF("cache", WORDS_MAP), .text = "The answer cache." },
	{ ROW("cache.size", WORDS_SIZE, struct config, cache_size_bytes), .min = 8 * SIZE_M,
	  .max = CACHE_MAX, .fallback = "256M",
	  .text = "The memory of the whole cache, its index included. It is taken at the start and "
		  "never "
		  "passed; the answers least asked for make room. A reload or a restart with "
		  "another "
		  "size, and cache resize, move the answers to a cache of that size while they are "
		  "in use, those asked most first; for that time there must be memory for both." },
	{ ROW("cache.orphan-serve", WORDS_SECONDS, struct config, cache_orphan_serve_s),
	  .needs_start = true, .min = 0, .max = 7 * 86400, .fallback = "5m",
	  .text = "How long the driver goes on answering from the cache when the daemon has died, "
		  "but 3 "
		  "seconds at least, since a heartbeat may be late." },
	{ ROW("cache.snapshot", WORDS_PATH, struct config, cache_snapshot), .needs_start = true,
	  .text = "A file for the answers of the cache, so that they outlive a reboot: written "
		  "when volleyd "
		  "is stopped, loaded in the background when it starts and finds no cache to "
		  "adopt. Of "
		  "each zone only answers of the very content that is served then are taken back. "
		  "A "
		  "relative path starts at the folder of the configuration file. Default: none." },
	{ ROW("cache.snapshot-interval", WORDS_SECONDS, struct config, cache_snapshot_interval_s),
	  .needs_start = true, .min = 0, .max = 7 * 86400, .fallback = "0",
	  .text = "How often cache.snapshot is written while volleyd runs. 0: at the stop only, so "
		  "nothing is "
		  "left of a daemon that dies with its host." },
	{ ROW_OF("cache.names", WORDS_SIZE), .needs_start = true, .min = 0, .max = 4 * SIZE_G,
	  .fallback = "4M",
	  .text = "The memory of a filter of all names that zones have, beside cache.size, so that "
		  "the driver "
		  "answers NXDOMAIN by itself for a name that it has never been asked for. See "
		  "NAMES THAT DO NOT "
		  "EXIST. 64K at least, in whole lines of 64 octets. With 1.5 octets for each name "
		  "one of 200 "
		  "names that do not exist goes to a worker all the same, with 1 octet one of 40. "
		  "0: there is "
		  "none, and workers answer. A program that is adopted keeps the filter that it "
		  "has." },
	{ ROW_OF("cache.intervals", WORDS_SIZE), .needs_start = true, .min = 0, .max = 4 * SIZE_G,
	  .fallback = "4M",
	  .text = "The memory of what is known of chains of NSEC and NSEC3 beside cache.names, "
		  "without which there is none: "
		  "in which interval of its zone's chain a name lies that does not exist. 64K at "
		  "least, in whole "
		  "lines of 64 octets. Each signed zone takes 16 octets for each of its names, 128 "
		  "at least, "
		  "and as much again when many names have come and it is built anew. A zone for "
		  "which there is "
		  "no room, or whose NSEC3 has iterations or a salt of more than 8 octets, has "
		  "none. 0: there "
		  "are none. A program that is adopted keeps the memory that it has." },
	{ ROW("dpdk", WORDS_MAP, struct config, dpdk),
	  .text = "DPDK itself, which is started if an interface has port: dpdk." },
	{ ROW("dpdk.huge-pages", WORDS_CHOICE, struct config_dpdk, huge_pages), .needs_start = true,
	  .choices = "auto|on|off", .fallback = "auto",
	  .text = "Whether its memory is huge pages. With auto, if as many are free as dpdk.memory "
		  "says." },
	{ ROW("dpdk.memory", WORDS_SIZE, struct config_dpdk, memory_bytes), .needs_start = true,
	  .min = 64 * SIZE_M, .max = SIZE_T, .fallback = "512M",
	  .text = "Its memory, for packet buffers above all: 20 MiB for each queue. Ordinary "
		  "memory is "
		  "taken when it is used, huge pages at once." },
	{ ROW("dpdk.options", WORDS_WORDS, struct config_dpdk, options), .needs_start = true,
	  .text = "More words for DPDK's start (its EAL), such as [--iova-mode, va]." },
	{ ROW_OF("control", WORDS_MAP), .text = "The control socket for volleyctl(8)." },
	{ ROW("control.socket", WORDS_SOCKET, struct config, control_socket), .needs_start = true,
	  .fallback = WORDS_SOCKET_PATH,
	  .text = "Where the Unix socket is made. A relative path starts at the folder of the "
		  "configuration file." },
	{ ROW("control.mode", WORDS_MODE, struct config, control_mode), .needs_start = true,
	  .min = 0600, .max = 0777, .fallback = "0660",
	  .text = "The permissions of the socket, in octal. Users who may write to it reach the "
		  "daemon; control.read and control.change say what they may do." },
	{ ROW("control.read", WORDS_USERS, struct config, control_read),
	  .if_empty = "names nobody: leave it out, so that everyone who reaches the socket may "
		      "read, or give [root]",
	  .text = "The users and groups that may give commands that only read: status, stats, top, "
		  "lists and lookups. A user is given by its name or number, a group with group: "
		  "before it, such as [monitor, group:dns]. All groups of the peer's process count. "
		  "Root, the user of volleyd and control.change may read in any case, and everyone "
		  "who reaches the socket may ask for health. Default: everyone who reaches the "
		  "socket." },
	{ ROW("control.change", WORDS_USERS, struct config, control_change),
	  .text = "The users and groups that may also give the commands that change something, and "
		  "capture. Root and the user of volleyd always may. config diff and config apply are "
		  "for these two alone. Default: nobody else." },
	{ ROW_OF("metrics", WORDS_MAP), .text = "Counters for monitoring. See METRICS." },
	{ ROW("metrics.listen", WORDS_LISTEN, struct config, metrics), .needs_start = true,
	  .text = "Where they are told over HTTP, in the text format of Prometheus: an address of "
		  "the host with "
		  "@ and a port, such as 127.0.0.1@9253. Whoever can connect may read them. "
		  "Default: "
		  "nowhere." },
	{ ROW_OF("log", WORDS_MAP),
	  .text = "What goes to stderr, which is the journal under systemd. See LOG." },
	{ ROW("log.level", WORDS_CHOICE, struct config, log_level), .min = LOG_LEVEL_ERROR,
	  .choices = "error|warning|notice|info|debug", .fallback = "info",
	  .text = "Lines of this level and of more important ones, which stand before it, are "
		  "written. volleyctl log level "
		  "changes it until the end, or until a reload finds another word here. With the "
		  "option -v it is debug." },
	{ ROW("log.format", WORDS_CHOICE, struct config, log_format), .choices = "text|json",
	  .fallback = "text",
	  .text = "text: a sentence, or the word of an event and its fields as name=value. json: "
		  "one JSON object on each line." },
	{ ROW_OF("include", WORDS_PATTERNS),
	  .text = "Other files whose keys are joined with those of this one, such as "
		  "conf.d/*.yaml. They are read in the order of their names; "
		  "a pattern that fits none is no error, a path without wildcards that is not "
		  "there is one. The path starts at the "
		  "folder of the file that has it; all other relative paths, those in included "
		  "files too, start at the folder of the "
		  "first file. Lists (zones, keys, server.listen) are joined, items of the file "
		  "that includes before those that it "
		  "includes. Any other value that two files give is refused. An included file may "
		  "include others, down to 8 levels." },
};

const struct words_table words_host_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
