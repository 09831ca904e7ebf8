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
	{ ROW_OF("server", WORDS_MAP), .text = "Settings of the whole server." },
	{ ROW_ARRAY("server.listen", WORDS_ADDRESSES, struct config, listen, n_listen),
	  .is_required = true, .min = 53,
	  .text = "The service addresses. "
		  "Required; each address only once. "
		  "The driver answers at these addresses and ports only. "
		  "0.0.0.0 and :: stand for every address of the host; in the driver, for every "
		  "address except loopback and link-local ones. "
		  "A reload opens new addresses and closes those that are no longer listed; "
		  "queries to the other addresses are not lost. "
		  "If an address cannot be opened, the reload fails and changes nothing. "
		  "A link-local IPv6 address is followed by its interface, which must exist: "
		  "fe80::1%eth0@53. "
		  "Kernel sockets answer there." },
	{ ROW_ARRAY("server.allow", WORDS_PREFIXES, struct config, allow, n_allow),
	  .if_empty = "has no prefix, so nobody could ask: leave it out to allow everyone",
	  .text = "The clients that may ask for the zones. "
		  "Other clients are refused, and the driver does not answer them either. "
		  "Default: everyone." },
	{ ROW("server.workers", WORDS_AUTO_COUNT, struct config, n_workers), .needs_start = true,
	  .min = 1, .max = 1024, .fallback = "auto",
	  .text = "The number of workers. "
		  "Each is a thread that is pinned to a processor. "
		  "Every worker serves kernel sockets and TCP; the AF_XDP queues are "
		  "divided among the workers. "
		  "With auto, there is one for each processor that volleyd may use, except "
		  "those of server.control-cores." },
	{ ROW_ARRAY("server.control-cores", WORDS_CORES, struct config, control_cores,
		    n_control_cores),
	  .needs_start = true, .min = 0, .max = 1023,
	  .text = "The processors of all other threads, which read zones, walk over the cache, "
		  "ask upstream and talk to volleyctl. "
		  "Default: the processors that volleyd may use and to "
		  "which no worker is pinned. "
		  "If none is left, as with server.workers: auto, these threads share the "
		  "processors of the workers, with a lower priority for long work. "
		  "Then name processors here, or take fewer workers, so "
		  "that a reload costs no answer." },
	{ ROW("server.max-udp-size", WORDS_COUNT, struct config, max_udp_size_bytes),
	  .needs_start = true, .min = 512, .max = 1432, .fallback = "1232",
	  .text = "The longest answer over UDP, in octets of the DNS message, "
		  "whatever size the client offers. "
		  "A longer answer is truncated, and the client asks again over TCP. The "
		  "driver, AF_XDP and DPDK also truncate an answer that does not fit into the "
		  "MTU of the interface; the smaller MTU of a VLAN is not considered. "
		  "Kernel sockets send such an answer in fragments." },
	{ ROW("server.minimal-responses", WORDS_BOOL, struct config, minimal_responses),
	  .needs_start = true, .fallback = "false",
	  .text = "With true, an answer has no NS records of the zone in its authority section "
		  "and no addresses in its additional section. A referral keeps its NS records "
		  "and the addresses without which it cannot be followed." },
	{ ROW("server.any", WORDS_CHOICE, struct config, any), .needs_start = true,
	  .choices = "minimal|full", .fallback = "minimal",
	  .text = "The answer to a query of type ANY: minimal is one RRset of the name (RFC "
		  "8482), full is all of them." },
	{ ROW_ARRAY("server.nsid", WORDS_OCTETS, struct config, nsid, n_nsid), .min = 1, .max = 128,
	  .text = "The name of this server, for clients that ask for it by the "
		  "EDNS option NSID (RFC 5001). "
		  "Default: the option is ignored." },
	{ ROW("server.version", WORDS_TEXT, struct config, version), .min = 1, .max = 255,
	  .text = "The answer to version.bind and version.server, class CH, type TXT. Default: "
		  "these queries are refused." },
	{ ROW("server.identity", WORDS_TEXT, struct config, identity), .min = 1, .max = 255,
	  .text = "The answer to id.server and hostname.bind, class CH, type TXT (RFC 4892). "
		  "Default: these queries are refused." },
	{ ROW("server.pid-file", WORDS_PATH, struct config, pid_file), .needs_start = true,
	  .use = WORDS_WRITE,
	  .text = "The file into which volleyd writes its process id, and which it "
		  "keeps locked while it runs. "
		  "A second volleyd with the same file refuses to start. "
		  "Default: control.socket with .lock behind it." },
	{ ROW_OF("server.tcp", WORDS_MAP), .text = "Queries over TCP." },
	{ ROW("server.tcp.max-connections", WORDS_COUNT, struct config, tcp_connections_cap),
	  .needs_start = true, .min = 1, .max = 1000000, .fallback = "1000",
	  .text = "The number of open connections, over all workers and addresses. "
		  "When it is reached, each new connection closes an old one: first one that "
		  "has sent half a message, then one whose reader has stalled, then one that "
		  "has never asked, then the one that is idle for longest. "
		  "From half of this number on, timeouts become shorter, down to a sixteenth." },
	{ ROW("server.tcp.max-connections-per-client", WORDS_COUNT, struct config, tcp_client_cap),
	  .needs_start = true, .min = 0, .max = 1000000, .fallback = "0",
	  .text = "The number of open connections of one client, that is "
		  "an IPv4 /24 or an IPv6 /48. "
		  "When it is reached, each new connection closes "
		  "another one of the same client. "
		  "0: half of max-connections. "
		  "Raise it if all clients come through one proxy." },
	{ ROW("server.tcp.idle-timeout", WORDS_SECONDS, struct config, tcp_idle_s),
	  .needs_start = true, .min = 1, .max = 3600, .fallback = "10s",
	  .text = "How long a connection may be silent before it is closed, while less than "
		  "half of max-connections are open. "
		  "Clients that ask for it are told this time (RFC 7828)." },
	{ ROW("server.tcp.max-queries", WORDS_COUNT, struct config, tcp_queries_max),
	  .needs_start = true, .min = 0, .max = 1000000, .fallback = "0",
	  .text = "The number of queries on one connection, after which it is closed. "
		  "0: no limit." },
	{ ROW("server.tcp.backlog", WORDS_COUNT, struct config, tcp_backlog), .needs_start = true,
	  .min = 0, .max = 65535, .fallback = "0",
	  .text = "The number of new connections to one address that the kernel keeps for each "
		  "worker until the worker accepts them. "
		  "A client whose connection does not fit tries again. "
		  "The kernel keeps at most net.core.somaxconn. "
		  "0: as many as that." },
	{ ROW_OF("server.cookies", WORDS_MAP), .text = "DNS cookies (RFC 7873, RFC 9018)." },
	{ ROW_OF("server.cookies.secret", WORDS_SECRET), .is_secret = true,
	  .text = "The secret that makes server cookies. "
		  "Give the same secret to all servers behind one anycast address, and let "
		  "no one else read the file. "
		  "Default: volleyd makes its own secrets. "
		  "It keeps them in server.storage; without server.storage "
		  "each start makes a new one." },
	{ ROW_OF("server.cookies.secret-files", WORDS_PATHS),
	  .if_empty = "has no file: leave it out, and volleyd makes its own secrets",
	  .max = VOLLEY_COOKIE_SECRETS,
	  .text = "Files with a secret each, 1 to 4. "
		  "The first one makes cookies, and cookies of all of them are accepted. "
		  "A file has 32 hexadecimal digits, as BIND's cookie-secret, with "
		  "or without 0x before them. "
		  "It is refused if everyone can read or write it. "
		  "A reload reads the files again. docs/fleet.md says how to change the "
		  "secret of several servers. "
		  "A relative path starts at the folder of the configuration file. "
		  "Not together with server.cookies.secret." },
	{ ROW("server.cookies.rotate", WORDS_SECONDS, struct config, cookie_rotate_s), .min = 0,
	  .max = (uint64_t)36 * 86400, .fallback = "1d",
	  .text = "How long volleyd uses a secret that it has made itself "
		  "before it makes a new one. "
		  "Cookies of the previous secret are accepted for another hour, which is "
		  "the lifetime of a cookie. "
		  "0s: until 'volleyctl cookies rotate'. "
		  "Without effect if secrets are given." },
	{ ROW_OF("server.tls", WORDS_MAP),
	  .text = "DNS over TLS, for transfers (RFC 9103) and for clients (RFC 7858), which get "
		  "the same answers as over TCP. Replies to queries with padding are padded to "
		  "a multiple of 468 octets (RFC 8467)." },
	{ ROW_ARRAY("server.tls.listen", WORDS_ADDRESSES, struct config, tls_listen, n_tls_listen),
	  .min = 853,
	  .text = "The addresses at which volleyd accepts DNS over TLS. No address may stand "
		  "here twice, or in server.listen with the same port. "
		  "Default: none." },
	{ ROW("server.tls.certificate", WORDS_PATH, struct config, tls_certificate),
	  .text = "The file of the server's certificate, in PEM, followed by the certificates "
		  "between it and the authority. "
		  "A relative path starts at the folder of the configuration file." },
	{ ROW("server.tls.key", WORDS_PATH, struct config, tls_key),
	  .text = "The file of the private key of the certificate, in PEM. Certificate "
		  "and key are given together. "
		  "A reload reads both again: new connections get the new certificate, and "
		  "open connections stay open." },
	{ ROW("server.tls.min-version", WORDS_CHOICE, struct config, tls_min),
	  .choices = "TLSv1.2|TLSv1.3", .fallback = "TLSv1.2",
	  .text = "The oldest version of TLS that a client may use. "
		  "With TLS 1.2 a client gets only ciphers with forward secrecy and "
		  "authenticated encryption (RFC 9325). "
		  "A rule with the word tls always needs TLS 1.3 (RFC 9103). "
		  "A reload changes this for new connections." },
	{ ROW("server.tls.ticket-keys", WORDS_PATH, struct config, tls_ticket_keys),
	  .text = "A file of keys for session tickets (RFC 8446). "
		  "With a ticket, a client that comes back needs no whole handshake. "
		  "Give the same file to all servers behind one address. "
		  "Each line is one key of 160 hexadecimal digits, as 'openssl rand -hex 80' "
		  "makes them; 1 to 8 lines. "
		  "The first key makes tickets, and tickets of all keys are read. "
		  "The file is refused if everyone can read or write it. "
		  "A reload reads it again; docs/fleet.md says how to change a key. "
		  "Default: random keys, changed every two hours, which other servers and "
		  "the next start do not have. "
		  "A session can be resumed for two hours." },
	{ ROW("server.storage", WORDS_PATH, struct config, storage), .needs_start = true,
	  .use = WORDS_OWN,
	  .text = "The folder in which volleyd keeps data of zones: their changes, zones from "
		  "primaries and catalogs, and keys that it has made. "
		  "A relative path starts at the folder of the configuration file. "
		  "Required if a zone has primaries, allow-update, signing, "
		  "catalog or zonefile-sync. "
		  "Default: none." },
	{ ROW("server.storage-size", WORDS_SIZE, struct config, storage_bytes), .needs_start = true,
	  .min = SIZE_M, .max = SIZE_T, .fallback = "1G",
	  .text = "The largest size of the journals of all zones together. "
		  "When three quarters are used, volleyd removes the oldest changes "
		  "that are also in zone files. "
		  "Changes that are in no file stay. "
		  "If they use all of the size, further changes of the zone are refused until "
		  "'volleyctl zone flush'; status and log warn before." },
	{ ROW("server.transfers-in", WORDS_COUNT, struct config, n_transfers), .min = 1,
	  .max = 10000, .fallback = "16",
	  .text = "The number of zones that are transferred from primaries at the same time. "
		  "Others wait. From 8 on, one remote has at most three quarters of them, and a "
		  "remote that has none gets one although all are taken, up to twice this "
		  "number in all. So remotes that do not end their transfers do not keep out "
		  "others." },
	{ ROW("server.transfers-out", WORDS_COUNT, struct config, n_transfers_out), .min = 1,
	  .max = 10000, .fallback = "64",
	  .text = "The number of zones that are transferred to secondaries at the same time, at "
		  "most three quarters of them to one client, that is "
		  "an IPv4 /24 or an IPv6 /48. "
		  "Others wait. "
		  "A secondary that reads nothing for a second does not count." },
	{ ROW_ARRAY("interfaces", WORDS_MAPS, struct config, interfaces, n_interfaces),
	  .max = CONFIG_INTERFACES_MAX,
	  .text = "The network interfaces on which the driver answers. "
		  "Without any, kernel sockets answer everything. "
		  "A reload attaches new interfaces, detaches those that are no longer listed, "
		  "and attaches an interface again if its keys have changed; kernel "
		  "sockets answer there meanwhile. "
		  "If an interface has port: dpdk, before or after, the reload is refused, "
		  "because DPDK needs a new start." },
	{ ROW("interfaces[].name", WORDS_INTERFACE, struct config_interface, name),
	  .is_required = true, .is_unique = true,
	  .text = "The name of the interface. "
		  "Required; each interface only once. "
		  "The interface may appear later. "
		  "See INTERFACES." },
	{ ROW("interfaces[].xdp", WORDS_CHOICE, struct config_interface, xdp),
	  .choices = "auto|native|generic|off", .fallback = "auto",
	  .text = "How the XDP program is attached: native in the driver, generic behind it in "
		  "the kernel's stack, off not at all. "
		  "With auto, native if the driver can, else generic. "
		  "See INTERFACES." },
	{ ROW("interfaces[].port", WORDS_CHOICE, struct config_interface, port),
	  .choices = "auto|xsk|dpdk|socket", .fallback = "auto",
	  .text = "How packets that the driver does not answer reach a worker: xsk by AF_XDP "
		  "rings, socket by kernel sockets, dpdk by DPDK if volleyd was "
		  "built with it (see DPDK). "
		  "With auto, xsk if it works, else socket; volleyctl status "
		  "says which of them and why." },
	{ ROW("interfaces[].driver-answers", WORDS_BOOL, struct config_interface, driver_answers),
	  .fallback = "true",
	  .text = "With false, the XDP program answers nothing and only hands packets up. "
		  "This is for measurements and diagnosis." },
	{ ROW("interfaces[].zero-copy", WORDS_CHOICE, struct config_interface, zero_copy),
	  .choices = "auto|on|off", .fallback = "auto",
	  .text = "Whether the driver writes to AF_XDP memory itself. "
		  "With auto, frames are copied if the driver cannot. "
		  "With on, this is a fault, and kernel sockets answer." },
	{ ROW("interfaces[].busy-poll", WORDS_BUDGET, struct config_interface, busy_poll_budget),
	  .min = 1, .max = 4096, .fallback = "false",
	  .text = "Whether the worker asks the queue for packets all the time instead of "
		  "waiting for interrupts, and how many packets it takes "
		  "at a time; true means 64. "
		  "This uses a whole processor. "
		  "At low load answers are faster; docs/benchmarks-tables.md has figures." },
	{ ROW("interfaces[].umem-frames", WORDS_POWER, struct config_interface, n_umem_frames),
	  .min = 64, .max = 1ull << 20, .fallback = "4096",
	  .text = "The number of packet buffers of each queue. "
		  "A buffer has 2048 octets, or 4096 if the MTU of the interface needs it. "
		  "The number must be at least twice ring-size." },
	{ ROW("interfaces[].ring-size", WORDS_POWER, struct config_interface, ring_size), .min = 32,
	  .max = 32768, .fallback = "2048",
	  .text = "The number of places in each of the four AF_XDP rings of a queue." },
	{ ROW("interfaces[].queues", WORDS_AUTO_COUNT, struct config_interface, n_queues), .min = 1,
	  .max = 64, .fallback = "auto",
	  .text = "The number of receive queues that AF_XDP serves, from queue 0 on; kernel "
		  "sockets serve the others. "
		  "With auto, AF_XDP serves all queues of the interface, also after ethtool -L "
		  "has changed their number." },
	{ ROW_ARRAY("interfaces[].cores", WORDS_CORES, struct config_interface, cores, n_cores),
	  .needs_start = true, .min = 0, .max = 1023,
	  .text = "The processors to which the workers of the queues are pinned, "
		  "in the order of the queues. "
		  "If queues is a number, there must be as many cores. "
		  "Default: queue 0 belongs to worker 0, and so on; workers near the card's "
		  "memory (NUMA) come first." },
	{ ROW("interfaces[].tunnels", WORDS_CHOICES, struct config_interface, tunnels),
	  .choices = "ipip|gue", .fallback = "[]",
	  .text = "Tunnels of layer 4 load balancers from which queries are taken. "
		  "ipip: an IPv4 or IPv6 packet in an IPv4 or IPv6 packet. "
		  "gue: the same with UDP between the two. "
		  "The answer goes directly to the client. "
		  "The tunnels have to end at an address of this host. "
		  "See TUNNELS." },
	{ ROW("interfaces[].gue-port", WORDS_PORT, struct config_interface, net_gue_port), .min = 1,
	  .max = 65535, .fallback = "6080", .text = "The UDP port for gue." },
	{ ROW_ARRAY("interfaces[].tunnel-sources", WORDS_PREFIXES, struct config_interface,
		    tunnel_sources, n_tunnel_sources),
	  .max = CONFIG_TUNNEL_SOURCES_MAX,
	  .if_empty = "has no prefix, so no tunnel could be taken off: leave it out for everyone's",
	  .text = "The addresses of the load balancers, at most 16 prefixes. "
		  "A tunnel whose outer source is in none of them goes to the kernel unchanged. "
		  "See TUNNELS. Default: every source is accepted." },
	{ ROW("interfaces[].return-path", WORDS_CHOICE, struct config_interface, return_path),
	  .choices = "swap|fib", .fallback = "swap",
	  .text = "Where an answer goes. "
		  "With swap, back to the Ethernet address that the query came from. "
		  "With fib, to the next hop in the routing table, if that is on this "
		  "interface; else the kernel gets the query, and a kernel socket answers. "
		  "See RETURN PATH." },
	{ ROW("interfaces[].device", WORDS_TEXT, struct config_interface, device), .min = 1,
	  .max = 400,
	  .text = "For port: dpdk, the device in DPDK's words: a PCI address (0000:3b:00.0), or "
		  "a driver without hardware and its parameters "
		  "(net_af_xdp0,iface=eth0,busy_budget=0). "
		  "With net_af_xdp on this interface and without xdp_prog, the XDP "
		  "program answers as usual. "
		  "Any other device belongs to DPDK alone, and name is the tap interface by "
		  "which the kernel sees it. "
		  "Default: net_af_xdp on this interface." },
	{ ROW_OF("cache", WORDS_MAP), .text = "The answer cache." },
	{ ROW("cache.size", WORDS_SIZE, struct config, cache_size_bytes), .min = 8 * SIZE_M,
	  .max = CACHE_MAX, .fallback = "256M",
	  .text = "The memory of the whole cache with its index. "
		  "It is taken at the start and never exceeded; the answers that are "
		  "asked for least make room. "
		  "After a reload or a restart with another size, or by cache resize, the "
		  "answers move to a cache of that size while they are in use, the "
		  "most frequent ones first. "
		  "Meanwhile there must be memory for both caches." },
	{ ROW("cache.orphan-serve", WORDS_SECONDS, struct config, cache_orphan_serve_s),
	  .needs_start = true, .min = 0, .max = 7 * 86400, .fallback = "5m",
	  .text = "How long the driver goes on answering from the cache after volleyd "
		  "has died, at least 3 seconds." },
	{ ROW("cache.snapshot", WORDS_PATH, struct config, cache_snapshot), .needs_start = true,
	  .use = WORDS_WRITE,
	  .text = "A file for the answers of the cache, which survive a reboot in it. volleyd "
		  "writes it when it stops. "
		  "It loads it in the background when it starts and finds no cache to adopt. "
		  "Answers of a zone are loaded only if the zone has the same content. "
		  "A relative path starts at the folder of the configuration file. "
		  "Default: none." },
	{ ROW("cache.snapshot-interval", WORDS_SECONDS, struct config, cache_snapshot_interval_s),
	  .needs_start = true, .min = 0, .max = 7 * 86400, .fallback = "0",
	  .text = "How often volleyd writes cache.snapshot while it runs. "
		  "0: only when it stops, so a crash of the host loses the answers." },
	{ ROW("cache.zones", WORDS_COUNT, struct config, cache_zones), .needs_start = true,
	  .min = 0, .max = 1u << 24, .fallback = "0",
	  .text = "The number of zones that may have answers in the cache, with those that "
		  "catalogs and volleyctl zone add bring. "
		  "Each takes 128 to 256 octets of cache.size. "
		  "If more are served, workers render each answer of the zones that came last, and "
		  "status says so. "
		  "There is always room for twice the zones of the configuration, and for 2,000." },
	{ ROW_OF("cache.names", WORDS_SIZE), .needs_start = true, .min = 0, .max = 4 * SIZE_G,
	  .fallback = "4M",
	  .text = "The memory of a filter of all names that zones have. "
		  "It is not part of cache.size. "
		  "With it, the driver answers NXDOMAIN for names that no "
		  "client has asked for before. "
		  "See NAMES THAT DO NOT EXIST. "
		  "A size other than 0 is at least 64K, and is rounded to lines of 64 octets. "
		  "If the filter is too small, the driver hands more queries for missing names "
		  "to a worker: with 1.5 octets for each name of the zones one query in 200, "
		  "with 1 octet one in 40. "
		  "With 0 there is no filter, and workers answer all such queries. "
		  "A program that is adopted keeps its filter." },
	{ ROW_OF("cache.intervals", WORDS_SIZE), .needs_start = true, .min = 0, .max = 4 * SIZE_G,
	  .fallback = "4M",
	  .text = "The memory for the intervals of NSEC and NSEC3 chains: in which interval of "
		  "its zone's chain a missing name lies. "
		  "It is not part of cache.size, and needs cache.names. "
		  "At least 64K, in whole lines of 64 octets. "
		  "A signed zone takes 16 octets for each name, at least 128, and as much again "
		  "while it is rebuilt because many names have come. "
		  "A zone gets no intervals if there is no room for it, or if its NSEC3 records "
		  "have iterations or a salt of more than 8 octets. "
		  "0: no intervals. "
		  "A program that is adopted keeps this memory." },
	{ ROW("dpdk", WORDS_MAP, struct config, dpdk),
	  .text = "DPDK, which is started if an interface has port: dpdk." },
	{ ROW("dpdk.huge-pages", WORDS_CHOICE, struct config_dpdk, huge_pages), .needs_start = true,
	  .choices = "auto|on|off", .fallback = "auto",
	  .text = "Whether DPDK uses huge pages. "
		  "With auto, if dpdk.memory fits into the free huge pages." },
	{ ROW("dpdk.memory", WORDS_SIZE, struct config_dpdk, memory_bytes), .needs_start = true,
	  .min = 64 * SIZE_M, .max = SIZE_T, .fallback = "512M",
	  .text = "The memory of DPDK, mainly for packet buffers: 20 MiB for each queue. "
		  "Ordinary memory is taken when it is used, huge pages at once." },
	{ ROW("dpdk.options", WORDS_WORDS, struct config_dpdk, options), .needs_start = true,
	  .text = "Further options of DPDK's start (its EAL), such as [--iova-mode, va]." },
	{ ROW_OF("control", WORDS_MAP), .text = "The control socket for volleyctl(8)." },
	{ ROW("control.socket", WORDS_SOCKET, struct config, control_socket), .needs_start = true,
	  .fallback = WORDS_SOCKET_PATH,
	  .text = "The path of the Unix socket. "
		  "A relative path starts at the folder of the configuration file." },
	{ ROW("control.mode", WORDS_MODE, struct config, control_mode), .needs_start = true,
	  .min = 0600, .max = 0777, .fallback = "0660",
	  .text = "The permissions of the socket, in octal. "
		  "Users who may write to it reach the daemon; control.read and control.change "
		  "say what they may do there." },
	{ ROW("control.read", WORDS_USERS, struct config, control_read),
	  .if_empty = "names nobody: leave it out, so that everyone who reaches the socket may "
		      "read, or give [root]",
	  .text = "The users and groups that may give commands that only read: status, "
		  "stats, top, lists and lookups. "
		  "A user is a name or a number, a group has group: before it, "
		  "such as [monitor, group:dns]. "
		  "All groups of the calling process count. "
		  "Root, the user of volleyd and control.change may always read, and everyone "
		  "who reaches the socket may ask for health. "
		  "Default: everyone who reaches the socket." },
	{ ROW("control.change", WORDS_USERS, struct config, control_change),
	  .text = "The users and groups that may also give commands that "
		  "change something, and capture. "
		  "Root and the user of volleyd always may. "
		  "Only these two may call config diff and config apply. "
		  "Default: nobody else." },
	{ ROW("control.zones-add", WORDS_WORDS, struct config, control_zones_add),
	  .text = "The templates of zones that the users and groups of control.change may add "
		  "and remove by volleyctl zone add and zone remove. "
		  "Such a user may add a zone of any name that volleyd does not serve yet; the "
		  "template decides about its file, its primaries and its clients. "
		  "Root and the user of volleyd may use each template. "
		  "Default: none." },
	{ ROW_OF("metrics", WORDS_MAP), .text = "Counters for monitoring. "
						"See METRICS." },
	{ ROW("metrics.listen", WORDS_LISTEN, struct config, metrics), .needs_start = true,
	  .text = "The address and port of the metrics over HTTP, in the text format of "
		  "Prometheus, such as 127.0.0.1@9253. "
		  "Everyone who can connect may read them. "
		  "Default: none." },
	{ ROW_OF("log", WORDS_MAP),
	  .text = "Messages to stderr, which is the journal under systemd. "
		  "See LOG." },
	{ ROW("log.level", WORDS_CHOICE, struct config, log_level), .min = LOG_LEVEL_ERROR,
	  .choices = "error|warning|notice|info|debug", .fallback = "info",
	  .text = "Lines of this level, and of the levels that stand before it, are written. "
		  "volleyctl log level changes it until volleyd ends, or until a reload "
		  "finds another level here. "
		  "With the option -v it is debug." },
	{ ROW("log.format", WORDS_CHOICE, struct config, log_format), .choices = "text|json",
	  .fallback = "text",
	  .text = "text: a sentence, or the word of an event and its fields as name=value. "
		  "json: one JSON object on each line." },
	{ ROW_OF("include", WORDS_PATTERNS),
	  .text = "Other files whose keys are joined with those of this "
		  "file, such as conf.d/*.yaml. "
		  "They are read in the order of their names. "
		  "A pattern that matches no file is no error; a path "
		  "without wildcards must exist. "
		  "The path starts at the folder of the file that has it. "
		  "All other relative paths, also those in included files, start at the "
		  "folder of the first file. "
		  "Lists (zones, keys, server.listen) are joined: items of the including file "
		  "come before items of the included ones. "
		  "Any other value that two files give is refused. "
		  "An included file may include others, down to 8 levels." },
};

const struct words_table words_host_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
