/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration keys: shape, bounds, default and meaning of each, in the order of the man page. */
#include "control/words.h"

#define SIZE_M (1ull << 20)
#define SIZE_T (1ull << 40)

const struct words_key words_keys[] = {
	{ .path = "server", .type = WORDS_MAP, .text = "What the whole server does." },
	{ .path = "server.listen",
	  .type = WORDS_ADDRESSES,
	  .text = "The service addresses. Required, and none twice. The driver answers for these "
		  "addresses and ports only; 0.0.0.0 and :: stand for every address of the host, "
		  "in the driver for all but loopback and link-local ones." },
	{ .path = "server.workers",
	  .type = WORDS_AUTO_COUNT,
	  .min = 1,
	  .max = 1024,
	  .fallback = "auto",
	  .text = "Workers, each a thread pinned to a processor. Every worker serves kernel sockets and "
		  "TCP, and the AF_XDP queues are shared out among them. With auto, one for each "
		  "processor that volleyd may use." },
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
	  .text = "The interface. Required, and none twice." },
	{ .path = "interfaces[].xdp",
	  .type = WORDS_CHOICE,
	  .choices = "auto|native|generic|off",
	  .fallback = "auto",
	  .text = "How the XDP program is attached: native in the driver, generic in the kernel's stack "
		  "behind it, off not at all. With auto, native where the driver can, else generic." },
	{ .path = "interfaces[].port",
	  .type = WORDS_CHOICE,
	  .choices = "auto|xsk|dpdk|socket",
	  .fallback = "auto",
	  .text = "How packets that the driver does not answer reach a worker: xsk by AF_XDP rings, "
		  "socket by kernel sockets. With auto, xsk where it works, else socket; volleyctl "
		  "status says which and why. dpdk is for a later version: kernel sockets answer." },
	{ .path = "interfaces[].driver-answers",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "With false, the XDP program answers nothing and only hands up: to measure and to "
		  "diagnose." },
	{ .path = "interfaces[].zero-copy",
	  .type = WORDS_CHOICE,
	  .choices = "auto|on|off",
	  .fallback = "auto",
	  .text = "Whether the driver writes to AF_XDP memory itself. With on, an interface that cannot "
		  "is an error; with auto its frames are copied." },
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
	  .text = "Receive queues to serve, from queue 0 on. With auto, all that the interface has." },
	{ .path = "interfaces[].cores",
	  .type = WORDS_CORES,
	  .min = 0,
	  .max = 1023,
	  .text = "The processors that the workers of the queues are pinned to, in the order of the "
		  "queues. When queues is a number, as many as that. Default: volleyd chooses." },
	{ .path = "cache", .type = WORDS_MAP, .text = "The answer cache." },
	{ .path = "cache.size",
	  .type = WORDS_SIZE,
	  .min = 8 * SIZE_M,
	  .max = SIZE_T,
	  .fallback = "256M",
	  .text = "The memory of the whole cache, its index included. It is taken at the start and never "
		  "passed; the answers least asked for make room." },
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
	{ .path = "recursion", .type = WORDS_MAP, .text = "Recursive resolution." },
	{ .path = "recursion.allow",
	  .type = WORDS_PREFIXES,
	  .fallback = "[]",
	  .text = "The prefixes whose clients may ask for recursion. It must be empty: recursion is not "
		  "there yet." },
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
	{ 0 },
};
