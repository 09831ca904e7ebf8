/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration keys: shape, bounds, default and meaning of each, in the order of the man page. */
#include "config/words.h"

#define SIZE_M (1ull << 20)
#define SIZE_T (1ull << 40)

const struct words_key words_keys[] = {
	{ .path = "server", .type = WORDS_MAP, .text = "What the whole server does." },
	{ .path = "server.listen",
	  .type = WORDS_ADDRESSES,
	  .text = "The service addresses. Required, and none twice. The driver answers for these "
		  "addresses and ports only; 0.0.0.0 and :: stand for every address of the host, "
		  "in the driver for all but loopback and link-local ones." },
	{ .path = "server.allow",
	  .type = WORDS_PREFIXES,
	  .text = "The clients that may ask for the zones; others are refused, and get nothing from the "
		  "driver either. Default: everyone." },
	{ .path = "server.workers",
	  .type = WORDS_AUTO_COUNT,
	  .min = 1,
	  .max = 1024,
	  .fallback = "auto",
	  .text = "Workers, each a thread pinned to a processor. Every worker serves kernel sockets and "
		  "TCP, and the AF_XDP queues are shared out among them. With auto, one for each "
		  "processor that volleyd may use, but for those of server.control-cores." },
	{ .path = "server.control-cores",
	  .type = WORDS_CORES,
	  .min = 0,
	  .max = 1023,
	  .text = "The processors of all threads that are no workers: they read zones, walk over the "
		  "cache, ask upstream, talk to volleyctl. Default: those that volleyd may use and that no "
		  "worker is pinned to. Where that leaves none, as with server.workers: auto, they share "
		  "the workers' with less priority for what takes long: give some here, or fewer "
		  "workers, so that a reload costs no answer." },
	{ .path = "server.max-udp-size",
	  .type = WORDS_COUNT,
	  .min = 512,
	  .max = 1432,
	  .fallback = "1232",
	  .text = "The longest answer over UDP, in bytes of DNS message, whatever the client offers. "
		  "What is longer is truncated, and the client comes back over TCP." },
	{ .path = "server.minimal-responses",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "With true, records that a client does not need are never added to an answer." },
	{ .path = "server.any",
	  .type = WORDS_CHOICE,
	  .choices = "minimal|full",
	  .fallback = "minimal",
	  .text = "What a query of type ANY gets: minimal, one RRset of the name (RFC 8482), or full, all "
		  "of them." },
	{ .path = "server.nsid",
	  .type = WORDS_OCTETS,
	  .min = 1,
	  .max = 128,
	  .text = "The name of this server, for clients that ask for it by the EDNS option NSID (RFC "
		  "5001). Default: the option is ignored." },
	{ .path = "server.version",
	  .type = WORDS_TEXT,
	  .min = 1,
	  .max = 255,
	  .text = "The answer to version.bind and version.server, class CH, type TXT. Default: these are "
		  "refused." },
	{ .path = "server.identity",
	  .type = WORDS_TEXT,
	  .min = 1,
	  .max = 255,
	  .text = "The answer to id.server and hostname.bind, class CH, type TXT (RFC 4892). Default: "
		  "these are refused." },
	{ .path = "server.pid-file",
	  .type = WORDS_PATH,
	  .text = "The file that a running volleyd holds locked and writes its process id to. A second "
		  "volleyd with the same file refuses to start. Default: control.socket with .lock "
		  "behind it." },
	{ .path = "server.tcp", .type = WORDS_MAP, .text = "Queries over TCP." },
	{ .path = "server.tcp.max-connections",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = 1000000,
	  .fallback = "1000",
	  .text = "Connections open at a time, over all workers. Past that, the one longest idle is "
		  "closed." },
	{ .path = "server.tcp.idle-timeout",
	  .type = WORDS_SECONDS,
	  .min = 1,
	  .max = 3600,
	  .fallback = "10s",
	  .text = "How long a connection may be silent before it is closed." },
	{ .path = "server.tcp.max-queries",
	  .type = WORDS_COUNT,
	  .min = 0,
	  .max = 1000000,
	  .fallback = "0",
	  .text = "Queries that one connection may ask before it is closed. 0: no limit." },
	{ .path = "server.cookies", .type = WORDS_MAP, .text = "DNS cookies (RFC 7873, RFC 9018)." },
	{ .path = "server.cookies.secret",
	  .type = WORDS_SECRET,
	  .text = "The secret that server cookies are made with. Give the same to all servers behind "
		  "one anycast address, and keep the file unreadable to others. Default: a random one "
		  "at each start." },
	{ .path = "interfaces",
	  .type = WORDS_MAPS,
	  .text = "The network interfaces to answer on in the driver. Without any, volleyd serves by "
		  "kernel sockets." },
	{ .path = "interfaces[].name",
	  .type = WORDS_INTERFACE,
	  .text = "The interface. Required, and none twice. It may come later. See INTERFACES." },
	{ .path = "interfaces[].xdp",
	  .type = WORDS_CHOICE,
	  .choices = "auto|native|generic|off",
	  .fallback = "auto",
	  .text = "How the XDP program is attached: native in the driver, generic in the kernel's stack "
		  "behind it, off not at all. With auto, native where the driver can, else generic. See "
		  "INTERFACES." },
	{ .path = "interfaces[].port",
	  .type = WORDS_CHOICE,
	  .choices = "auto|xsk|dpdk|socket",
	  .fallback = "auto",
	  .text = "How packets that the driver does not answer reach a worker: xsk by AF_XDP rings, "
		  "socket by kernel sockets. With auto, xsk where it works, else socket; volleyctl "
		  "status says which and why. dpdk by DPDK, if volleyd was built with it: see DPDK." },
	{ .path = "interfaces[].driver-answers",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "With false, the XDP program answers nothing and only hands up: to measure and to "
		  "diagnose." },
	{ .path = "interfaces[].zero-copy",
	  .type = WORDS_CHOICE,
	  .choices = "auto|on|off",
	  .fallback = "auto",
	  .text = "Whether the driver writes to AF_XDP memory itself. With on, kernel sockets answer "
		  "where it cannot, and that is a fault; with auto its frames are copied." },
	{ .path = "interfaces[].busy-poll",
	  .type = WORDS_BUDGET,
	  .min = 1,
	  .max = 4096,
	  .fallback = "false",
	  .text = "Whether the worker drives the queue itself instead of by interrupts, and how many "
		  "packets it takes at a time; true means 64. It costs a whole processor." },
	{ .path = "interfaces[].umem-frames",
	  .type = WORDS_POWER,
	  .min = 64,
	  .max = 1ull << 20,
	  .fallback = "4096",
	  .text = "Packet buffers of each queue, of 2048 bytes each, or of 4096 where the interface's MTU "
		  "needs it. At least twice ring-size." },
	{ .path = "interfaces[].ring-size",
	  .type = WORDS_POWER,
	  .min = 32,
	  .max = 32768,
	  .fallback = "2048",
	  .text = "Places in each of the four AF_XDP rings of a queue." },
	{ .path = "interfaces[].queues",
	  .type = WORDS_AUTO_COUNT,
	  .min = 1,
	  .max = 64,
	  .fallback = "auto",
	  .text = "Receive queues to serve by AF_XDP, from queue 0 on; kernel sockets serve the others. "
		  "With auto, all that the interface has, also when ethtool -L changes them." },
	{ .path = "interfaces[].cores",
	  .type = WORDS_CORES,
	  .min = 0,
	  .max = 1023,
	  .text = "The processors that the workers of the queues are pinned to, in the order of the "
		  "queues. When queues is a number, as many as that. Default: queue 0 belongs to worker "
		  "0, and so on, those near the card's memory (NUMA) first." },
	{ .path = "interfaces[].tunnels",
	  .type = WORDS_CHOICES,
	  .choices = "ipip|gue",
	  .fallback = "[]",
	  .text = "The tunnels of L4 balancers from which queries are taken, and answered directly to the "
		  "client: ipip, IPv4 or IPv6 in either of the two, and gue, the same in UDP. They have to "
		  "end at an address of this host. See TUNNELS." },
	{ .path = "interfaces[].gue-port",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = 65535,
	  .fallback = "6080",
	  .text = "The UDP port that gue comes to." },
	{ .path = "interfaces[].return-path",
	  .type = WORDS_CHOICE,
	  .choices = "swap|fib",
	  .fallback = "swap",
	  .text = "Where answers go: with swap back to where the query came from, its Ethernet address that "
		  "is. With fib to the next hop of the routing table, if that is on this interface; else "
		  "the kernel gets the query, and a kernel socket answers. See RETURN PATH." },
	{ .path = "interfaces[].device",
	  .type = WORDS_TEXT,
	  .min = 1,
	  .max = 400,
	  .text = "For port: dpdk the device in DPDK's words: a PCI address (0000:3b:00.0), or a driver "
		  "without hardware and its parameters (net_af_xdp0,iface=eth0,busy_budget=0). With net_af_xdp on this "
		  "interface and no xdp_prog the XDP program answers as ever. Any other device is DPDK's "
		  "own, and name is the tap interface by which the kernel sees it. Default: net_af_xdp on "
		  "this interface." },
	{ .path = "cache", .type = WORDS_MAP, .text = "The answer cache." },
	{ .path = "cache.size",
	  .type = WORDS_SIZE,
	  .min = 8 * SIZE_M,
	  .max = SIZE_T,
	  .fallback = "256M",
	  .text = "The memory of the whole cache, its index included. It is taken at the start and never "
		  "passed; the answers least asked for make room. A reload or a restart with another "
		  "size, and cache resize, move the answers to a cache of that size while they are "
		  "in use, those asked most first; for that time there must be memory for both." },
	{ .path = "cache.orphan-serve",
	  .type = WORDS_SECONDS,
	  .min = 0,
	  .max = 7 * 86400,
	  .fallback = "5m",
	  .text = "How long the driver goes on answering from the cache when the daemon has died, but 3 "
		  "seconds at least, since a heartbeat may be late." },
	{ .path = "cache.snapshot",
	  .type = WORDS_PATH,
	  .text = "A file for the answers of the cache, so that they outlive a reboot: written when volleyd "
		  "is stopped, loaded in the background when it starts and finds no cache to adopt. Of "
		  "each zone only answers of the very content that is served then are taken back. A "
		  "relative path starts at the folder of the configuration file. Default: none." },
	{ .path = "cache.snapshot-interval",
	  .type = WORDS_SECONDS,
	  .min = 0,
	  .max = 7 * 86400,
	  .fallback = "0",
	  .text = "How often cache.snapshot is written while volleyd runs. 0: at the stop only, so nothing is "
		  "left of a daemon that dies with its host." },
	{ .path = "zones", .type = WORDS_MAPS, .text = "The zones to serve." },
	{ .path = "zones[].name",
	  .type = WORDS_DOMAIN,
	  .text = "The name of the zone, always absolute, with or without the last dot. Required, and "
		  "none twice." },
	{ .path = "zones[].file",
	  .type = WORDS_PATH,
	  .text = "The master file (RFC 1035) of the zone. Required. A relative path starts at the folder "
		  "of the configuration file." },
	{ .path = "zones[].verify",
	  .type = WORDS_COMMAND,
	  .text = "A command that has to accept each new version of the zone before it is served, with "
		  "its arguments: no shell reads them. A path with a slash starts at the folder of the "
		  "configuration file; a name without one is looked for in PATH. See "
		  "VERIFYING ZONES. Default: every version that can be read is served." },
	{ .path = "zones[].verify-timeout",
	  .type = WORDS_SECONDS,
	  .min = 1,
	  .max = 86400,
	  .fallback = "30s",
	  .text = "How long the command may take. After that it is killed with all processes of its "
		  "group, and the version is refused." },
	{ .path = "recursion",
	  .type = WORDS_MAP,
	  .text = "Answers for names outside the zones, asked upstream. See RECURSION." },
	{ .path = "recursion.allow",
	  .type = WORDS_PREFIXES,
	  .fallback = "[]",
	  .text = "The clients that may ask for recursion: give your own prefixes, since an open resolver "
		  "is used against others. Without any at the start, nothing is asked upstream until "
		  "volleyd is started again." },
	{ .path = "recursion.forward",
	  .type = WORDS_UPSTREAMS,
	  .fallback = "[]",
	  .text = "Resolvers that are asked instead of the servers of each zone. Without any volleyd "
		  "asks these itself, from the root on. For TLS with the port and the name in its "
		  "certificate: \"192.0.2.1@853#dns.example\"." },
	{ .path = "recursion.transport",
	  .type = WORDS_CHOICE,
	  .choices = "udp|tcp|tls",
	  .fallback = "udp",
	  .text = "How upstreams are asked: udp, with TCP for what is truncated, tcp always, or tls (RFC "
		  "7858), for which recursion.forward and recursion.tls-bundle are needed: the "
		  "certificate of each has to be valid and for its name, else it is not asked. With "
		  "a trust anchor or stubs tls needs a libunbound that was built with it." },
	{ .path = "recursion.tls-bundle",
	  .type = WORDS_PATH,
	  .text = "The file of the certificates that are trusted, in PEM, for recursion.transport: tls, "
		  "such as /etc/ssl/certs/ca-certificates.crt. It is read at the start, and at a "
		  "reload where it has changed. A relative path starts at the folder of the "
		  "configuration file, as for all files here." },
	{ .path = "recursion.stubs",
	  .type = WORDS_MAPS,
	  .text = "Zones whose servers are known: names below them are asked there, not where the root "
		  "or a forwarder leads to." },
	{ .path = "recursion.stubs[].zone",
	  .type = WORDS_DOMAIN,
	  .text = "The name of the zone. Required. Given again, it has more than one server." },
	{ .path = "recursion.stubs[].address",
	  .type = WORDS_UPSTREAM,
	  .text = "One authoritative server of the zone. Required." },
	{ .path = "recursion.root-hints",
	  .type = WORDS_PATH,
	  .text = "The names and addresses of the root servers, as a master file. Default: those that were "
		  "installed with volleyd, else those of libunbound." },
	{ .path = "recursion.trust-anchor",
	  .type = WORDS_PATH,
	  .text = "A file of DS or DNSKEY records with which answers are validated (RFC 4035). Default: "
		  "none. Without this and the next key nothing is validated." },
	{ .path = "recursion.auto-trust-anchor",
	  .type = WORDS_PATH,
	  .text = "The same, kept up to date as keys roll (RFC 5011). volleyd writes to the file and makes "
		  "others beside it, so that folder must be its own. Default: none." },
	{ .path = "recursion.qname-minimisation",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether a server is told no more of a name than it needs (RFC 9156)." },
	{ .path = "recursion.aggressive-nsec",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether the proof that one name does not exist answers for others in the same gap (RFC "
		  "8198). Only what was validated is used." },
	{ .path = "recursion.caps-for-id",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether names are asked upstream in random letter case, which a forged reply does not "
		  "know. Some servers do not keep it." },
	{ .path = "recursion.query-localhost",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether upstreams may be on 127.0.0.0/8 and ::1." },
	{ .path = "recursion.threads",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = 16,
	  .fallback = "1",
	  .text = "Threads that ask upstream, beside the workers." },
	{ .path = "recursion.max-outstanding",
	  .type = WORDS_COUNT,
	  .min = 16,
	  .max = 4194304,
	  .fallback = "131072",
	  .text = "Questions that wait for upstreams at a time. What comes on top gets SERVFAIL. A reload "
		  "does not go over what was said at the start." },
	{ .path = "recursion.max-per-client",
	  .type = WORDS_COUNT,
	  .min = 0,
	  .max = 4194304,
	  .fallback = "0",
	  .text = "The same of one client: an IPv4 address, or the first 64 bits of an IPv6 address. 0: no "
		  "limit." },
	{ .path = "recursion.upstream-timeout",
	  .type = WORDS_MS,
	  .min = 100,
	  .max = 60000,
	  .fallback = "2s",
	  .text = "The longest wait for one reply of a server, before it or another is asked again." },
	{ .path = "recursion.query-timeout",
	  .type = WORDS_MS,
	  .min = 100,
	  .max = 60000,
	  .fallback = "5s",
	  .text = "The longest wait of a client. After that it gets SERVFAIL." },
	{ .path = "recursion.max-ttl",
	  .type = WORDS_SECONDS,
	  .min = 1,
	  .max = 7 * 86400,
	  .fallback = "1d",
	  .text = "The longest time for which an answer is kept and told to be good." },
	{ .path = "recursion.min-ttl",
	  .type = WORDS_SECONDS,
	  .min = 0,
	  .max = 3600,
	  .fallback = "0",
	  .text = "The shortest. More than 0 keeps answers longer than their owners wish." },
	{ .path = "recursion.max-negative-ttl",
	  .type = WORDS_SECONDS,
	  .min = 1,
	  .max = 86400,
	  .fallback = "1h",
	  .text = "The longest time for answers that say that there is nothing (RFC 2308)." },
	{ .path = "recursion.serve-stale",
	  .type = WORDS_SECONDS,
	  .min = 0,
	  .max = 7 * 86400,
	  .fallback = "0",
	  .text = "How long after it has expired an answer may still be given where upstreams do not reply "
		  "(RFC 8767). 0: never." },
	{ .path = "recursion.stale-client-timeout",
	  .type = WORDS_MS,
	  .min = 10,
	  .max = 60000,
	  .fallback = "1800ms",
	  .text = "How long a client waits for a fresh answer before it gets such a stale one." },
	{ .path = "recursion.prefetch",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether answers that are in use are asked for anew shortly before they expire, from a "
		  "TTL of 8 seconds on." },
	{ .path = "recursion.local-data",
	  .type = WORDS_RECORDS,
	  .fallback = "[]",
	  .text = "Records that are answered instead of what upstreams would say, to clients that may ask "
		  "for recursion. A name that has any has no others." },
	{ .path = "recursion.rpz",
	  .type = WORDS_MAPS,
	  .text = "Response policy zones: which names are answered otherwise than upstreams would. The "
		  "first that has a rule for a name decides." },
	{ .path = "recursion.rpz[].name",
	  .type = WORDS_DOMAIN,
	  .text = "The name of the policy zone. Required, and none twice." },
	{ .path = "recursion.rpz[].file", .type = WORDS_PATH, .text = "Its master file. Required." },
	{ .path = "dpdk",
	  .type = WORDS_MAP,
	  .text = "DPDK itself, which is started if an interface has port: dpdk. Read at the start only." },
	{ .path = "dpdk.huge-pages",
	  .type = WORDS_CHOICE,
	  .choices = "auto|on|off",
	  .fallback = "auto",
	  .text = "Whether its memory is huge pages. With auto, if as many are free as dpdk.memory says." },
	{ .path = "dpdk.memory",
	  .type = WORDS_SIZE,
	  .min = 64 * SIZE_M,
	  .max = SIZE_T,
	  .fallback = "512M",
	  .text = "Its memory, for packet buffers above all: 20 MiB for each queue. Ordinary memory is "
		  "taken when it is used, huge pages at once." },
	{ .path = "dpdk.options",
	  .type = WORDS_WORDS,
	  .text = "More words for DPDK's start (its EAL), such as [--iova-mode, va]." },
	{ .path = "control", .type = WORDS_MAP, .text = "The control socket for volleyctl(8)." },
	{ .path = "control.socket",
	  .type = WORDS_SOCKET,
	  .fallback = WORDS_SOCKET_PATH,
	  .text = "Where the Unix socket is made. A relative path starts at the folder of the "
		  "configuration file." },
	{ .path = "control.mode",
	  .type = WORDS_MODE,
	  .min = 0600,
	  .max = 0777,
	  .fallback = "0660",
	  .text = "The permissions of the socket, in octal. Whoever may write to it may command the "
		  "daemon." },
	{ .path = "metrics", .type = WORDS_MAP, .text = "Counters for monitoring. See METRICS." },
	{ .path = "metrics.listen",
	  .type = WORDS_LISTEN,
	  .text = "Where they are told over HTTP, in the text format of Prometheus: an address of the host with "
		  "@ and a port, such as 127.0.0.1@9253. Whoever can connect may read them. Default: "
		  "nowhere." },
	{ 0 },
};
