/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one header that the XDP program and userspace share: the layout of the maps.
 *
 *   volley_abi_10  one struct volley_state: switches, service addresses, hash keys
 *   volley_index   buckets of 8 words, one cache line each:  tag (32 bits) | location (32 bits)
 *   volley_store   segments of 256 KiB; each a header and then entries, end to end
 *   volley_zones   one struct volley_zone for each zone: its generation
 *   volley_clients which views a client may read: longest prefix first (an LPM trie)
 *   volley_refresh a ring buffer: answers that are asked for and expire soon
 *   volley_link    the settings of this interface alone
 *   volley_cpu     per CPU: counters, and rooms, the working memory of a run (VOLLEY_ROOMS)
 *   xsks_map       the AF_XDP socket of each receive queue
 *   volley_queues  how far the worker of each receive queue is behind
 *   volley_shares  per CPU: how many packets of each prefix of clients went up lately
 *   volley_near    per CPU: the load of recent answers to each prefix of clients, roughly
 *   volley_cookies per CPU: cookies of clients that were found good lately
 *   volley_rrl     one struct volley_rrl: the rate limits, and the prefixes that are over them
 *   volley_loads   the load of recent answers to each prefix of clients
 *   volley_blocks  the table of blocks (xdp/block.h), a map in a map: as large as needed, or none
 *   volley_names   a filter of the names that exist in our zones (xdp/names.h), and behind it
 *                  intervals (xdp/intervals.h)
 *   volley_taps    rings of hits for dnstap and the query log, as maps in a map
 *   volley_blocked per CPU: how many packets each list of blocks has matched
 *
 * Each interface has its own program and its own volley_link, volley_cpu, xsks_map, volley_queues,
 * volley_shares, volley_near and volley_cookies. All interfaces share the other maps.
 *
 *      word = tag:location
 *      struct volley_entry at segment[location / units] + location % units * 16
 *
 * A location counts units of 16 bytes over the whole store. 0 is no location, because the first
 * segment's header lies there; so a zeroed map is an empty cache.
 *
 * Order of memory: a writer fills an entry, then publishes its word with one 8-byte release store
 * or compare-and-swap. Readers load the word once and reach the entry through the address that they
 * compute from it: xdp/memory_order.h has this rule and the others. After publication only `freq`
 * and `refreshing` of an entry change, and its bytes are used again only after a grace period. A
 * field that one side changes while the other side reads it has at most 8 bytes, is aligned, and is
 * read once.
 *
 * A change of any structure here needs a new VOLLEY_ABI, and so a new name of the first map: by
 * that name alone a daemon knows whether it can adopt the maps that it finds on an interface. Two
 * fields have the same place and meaning in every ABI, for a daemon that replaces the program of
 * another ABI (docs/decisions/0032): serve_until_s in the first map, by_daemon in volley_link.
 */
#ifndef VOLLEY_XDP_ABI_H
#define VOLLEY_XDP_ABI_H

#include <linux/types.h>

#include "xdp/cookie.h"

#define VOLLEY_ABI          10
#define VOLLEY_STATE_MAP    "volley_abi_10"
#define VOLLEY_STATE_PREFIX "volley_abi_" /* of any version */
#define VOLLEY_MAGIC        0x766c6579u   /* "vley": the daemon has set the maps up */

#define VOLLEY_BUCKET_SLOTS  8
#define VOLLEY_UNIT_BYTES    16
#define VOLLEY_SEGMENT_BYTES (256u * 1024)
#define VOLLEY_SEGMENT_UNITS (VOLLEY_SEGMENT_BYTES / VOLLEY_UNIT_BYTES)

/*
 * The driver reads at most VOLLEY_READ_MAX bytes of an entry, and an entry starts at least as far
 * before its segment's end. So one comparison bounds all of its reads.
 */
#define VOLLEY_READ_MAX  2176u
#define VOLLEY_START_MAX (VOLLEY_SEGMENT_BYTES - VOLLEY_READ_MAX)

#define VOLLEY_NAME_BYTES     256 /* of a folded name: 255 octets, padded */
#define VOLLEY_NAME_WORDS     (VOLLEY_NAME_BYTES / 8)
#define VOLLEY_QUERY_MAX      2047 /* DNS octets; a longer query goes up */
#define VOLLEY_UDP_MAX        1432 /* upper bound of max_udp_bytes */
#define VOLLEY_SERVICES       256  /* service addresses */
#define VOLLEY_TUNNEL_ENDS    512  /* further addresses at which tunnels may end */
#define VOLLEY_SERVICE_SLOTS  2048 /* of the table of both; a power of two */
#define VOLLEY_SERVICE_PROBES 8
#define VOLLEY_QUEUES         64 /* receive queues of an interface */

/* Sizes in the object file, for a load by `ip link` or `xdp-loader`: 64 MiB in all. */
#define VOLLEY_DEFAULT_BYTES    (64u << 20)
#define VOLLEY_DEFAULT_SEGMENTS 232u
#define VOLLEY_DEFAULT_BUCKETS  81600u
#define VOLLEY_DEFAULT_ZONES    4096u

/* Key flags. */
#define VOLLEY_KEY_DO 0x01
#define VOLLEY_KEY_CD 0x02

/*
 * Views: which clients may read an entry. The hash of a key does not depend on its view, so all
 * views of a question lie in the same two buckets. The driver looks at the client's address only if
 * an entry is not public.
 */
#define VOLLEY_VIEW_PUBLIC    0 /* every client; its address is not looked at */
#define VOLLEY_VIEW_RECURSIVE 1 /* answers from upstream */
#define VOLLEY_VIEW_PRIVATE   2 /* of our zones, where server.allow is set */
#define VOLLEY_VIEW_ITERATIVE 3 /* leads out of our zones: for clients that may not recurse */
#define VOLLEY_N_VIEWS        4
#define VOLLEY_CLIENT_EXEMPT  (1u << 31) /* beside the views of a client: no rate limit */
#define VOLLEY_CLIENTS_MAX    65536      /* prefixes */

/* Key of volley_clients; the value is a __u32, bit n for view n. IPv4 as ::ffff:0:0/96 (RFC
 * 4291). */
struct volley_client {
	__u32 prefix_bits; /* 0 to 128 */
	__u8 address[16];
};

/* The driver ages at most this many TTLs; a query whose answer has more goes up. */
#define VOLLEY_TTLS_MAX 32

#define VOLLEY_REFRESH_BYTES 65536 /* of volley_refresh */

/* A record of volley_refresh: an entry that is asked for and is about to expire. */
struct volley_refresh {
	__u64 hash;
	__u32 location; /* as in an index word */
	__u32 born_s;   /* of the entry; if it differs, another entry has this location now */
};

/*
 * The key of an answer, without the name: 8 bytes that are hashed and compared as one word. The
 * name (wire form, A to Z folded, padded with zeros to a multiple of 8) follows in an entry.
 */
struct volley_key {
	__be16 qtype;
	__be16 qclass;
	__u8 flags; /* VOLLEY_KEY_* */
	__u8 view;
	__u8 name_bytes; /* 1 to 255 */
	__u8 kind;       /* VOLLEY_KEY_QUESTION, or VOLLEY_SHARED_KIND() */
};

/*
 * A rendered answer. The body is the part of the message behind the question, without OPT. Its
 * first `short_bytes` are the answer without the optional additional records; all `full_bytes` are
 * the whole answer. Compression pointers count from the start of a message with this question, so
 * the body fits every query for this key, in upper or lower case.
 *
 *   64 bytes of header │ name, padded to 8 │ body, padded to 2 │ offsets of TTLs │ padding to 16
 *
 * An answer from upstream ages: each of the n_ttls TTLs in the reply is the TTL in the body less
 * the seconds since born_s (RFC 1034 section 3.2.1). The whole answer expires with its first record
 * (RFC 2181 section 8), so no TTL falls below 0. The offsets of the TTLs in the body, a __u16 each
 * in host order, ascending, lie at volley_ttls_offset() (key.h). The sums take these TTLs as 0.
 */
struct volley_entry {
	__u64 hash;       /* of the key; compared first */
	__u32 bytes;      /* of all this, a multiple of VOLLEY_UNIT_BYTES */
	__u32 expires_s;  /* coarse monotonic second at which it expires; ~0: never */
	__u32 zone_slot;  /* in volley_zones */
	__u32 zone_gen;   /* the entry is valid while it is the zone's */
	__u32 born_s;     /* coarse monotonic second of publication */
	__be16 flags;     /* second 16 bits of the DNS header, QR set, without RD and CD */
	__u8 freq;        /* hits since it was written, at most VOLLEY_FREQ_MAX */
	__u8 partial : 1; /* optional records were left out that fit over TCP */
	/* an extended error's code and 1 (RFC 8914), for queries with EDNS; 0: none. Never in the
	 * public view */
	__u8 ede : 7;
	__be16 ancount;
	__be16 nscount;
	__be16 arcount_full; /* without OPT */
	__be16 arcount_short;
	__u16 full_bytes;
	__u16 short_bytes;
	__u16 full_sum;    /* one's complement sums of the body as it lies in a message, so */
	__u16 short_sum;   /* swapped where the body begins at an odd offset */
	__u16 body_offset; /* from the start of the entry */
	__u16 n_ttls;
	/* a hit with at most this many seconds left causes a refresh; 0: never */
	__u16 refresh_s;
	__u8 refreshing; /* the driver has reported it, once */
	__u8 memory;     /* of the resolver, 0 or 1: where it was fetched (resolver.h) */
	struct volley_key key;
	__u8 name[];
};

#define VOLLEY_FREQ_MAX 3
#define VOLLEY_NEVER    0xffffffffu

enum volley_segment_state {
	VOLLEY_SEGMENT_FREE = 0, /* a zeroed map is an empty cache */
	VOLLEY_SEGMENT_OPEN,     /* a writer appends */
	VOLLEY_SEGMENT_SEALED,
	VOLLEY_SEGMENT_RETIRED, /* withdrawn; free after a grace period */
};

/* At the start of each segment. Only userspace reads it, above all a new daemon. */
struct volley_segment {
	__u32 state;      /* enum volley_segment_state */
	__u32 queue;      /* 0 probation, with denials (docs/decisions/0011); 1 main */
	__u64 seq;        /* age: order of opening */
	__u32 used_bytes; /* with this header; whole entries lie below it */
	__u32 expires_s;  /* the latest of its entries */
	__u32 n_entries;
	__u32 reserved[9];
};

/* A zone's slot in volley_zones. Slot 0 is no zone's: its generation stays 0, which no entry
 * matches. */
struct volley_zone {
	__u32 gen;        /* 0: none of its answers is valid */
	__u32 last_gen;   /* the last one that was given out; a slot never repeats one */
	__u64 name_id[2]; /* hash of the apex; 0, 0: the slot is free */
	__u64 digest[2];  /* of the content and settings of this generation */
	/* its place in volley_answers.by_zone; in slot 0: how many places were given out */
	__u32 counter;
	__u32 n_given_back; /* in slot 0: places whose zone is gone */
	__u64 reserved[2];
};

/*
 * Counters of answers by response code, type and zone (xdp/count.h). Each CPU has one for each
 * interface and each engine has one, so no cache line is shared. volley_zone.counter gives a zone's
 * place in by_zone.
 */
#define VOLLEY_COUNT_RCODES     32u  /* with the high bits from OPT */
#define VOLLEY_COUNT_TYPES      128u /* places, a power of two */
#define VOLLEY_COUNT_OTHER_TYPE 119u
#define VOLLEY_COUNT_ZONES      1024u /* places, a power of two */
#define VOLLEY_COUNT_NO_ZONE    0u    /* the answer is of no zone */
#define VOLLEY_COUNT_OTHER_ZONE 1u    /* of a zone for which no place was left */
#define VOLLEY_COUNT_FIRST_ZONE 2u

struct volley_answers {
	__u64 by_rcode[VOLLEY_COUNT_RCODES];
	__u64 by_type[VOLLEY_COUNT_TYPES][2]; /* over IPv4, over IPv6 */
	__u64 by_zone[VOLLEY_COUNT_ZONES];
};

/* In the table of services, with port 0: an address at which tunnels may end, not a service. */
#define VOLLEY_TUNNEL_END 0x10

/* A service address. `address` holds 4 words as on the wire; IPv4 uses the first. */
struct volley_service {
	__be32 address[4];
	__be16 port;
	__u8 family; /* 4 or 6, VOLLEY_TUNNEL_END added or not; 0: empty. Stored last (release) */
	__u8 reserved;
	__u32 reserved2;
};

/*
 * A hash table with open addressing: an address lies within VOLLEY_SERVICE_PROBES slots from
 * volley_service_slot() on. userspace/bpf/services.c draws hash keys until all addresses do.
 */
struct volley_services {
	__u64 keys[3]; /* one for each word of a struct volley_service */
	__u64 reserved[5];
	struct volley_service slots[VOLLEY_SERVICE_SLOTS];
};

#define VOLLEY_NSID_BYTES 256u /* that may be read */

/* Values for the EDNS options COOKIE and NSID. A query for one that is not set goes up. */
struct volley_options {
	__u32 n_secrets;  /* at most VOLLEY_COOKIE_SECRETS; 0: no cookies */
	__u32 nsid_bytes; /* of the option with its header, at most 132; 0: none */
	/* as they lie in memory; new cookies are made with the first */
	__u64 secrets[VOLLEY_COOKIE_SECRETS][2];
	__u64 nsid_sum; /* of the option, one's complement, as at an even offset */
	__u8 nsid[VOLLEY_NSID_BYTES];
};

/* A cookie that was good: the input of its hash (cookie, client, secret), and the hash. */
struct volley_good_cookie {
	__u64 head[2]; /* as on the wire: client cookie, version and seconds */
	__u64 address[2];
	__u64 secret; /* a digest of it, and of the family */
	__u64 hash;   /* 0: the slot is free */
};

#define VOLLEY_GOOD_COOKIES 512u /* slots, a power of two; 24 KiB on each CPU */

struct volley_cookies {
	struct volley_good_cookie slots[VOLLEY_GOOD_COOKIES];
};

#define VOLLEY_SUFFIXES 128u /* of a name: 127 labels, and the root */

/* The kinds of blocks in volley_blocks. The driver looks for no other kind. */
#define VOLLEY_BLOCKS_PREFIXES 0x01u
#define VOLLEY_BLOCKS_NAMES    0x02u
#define VOLLEY_BLOCKS_TYPES    0x04u

/* volley_blocks has at most one table, an array of chunks: two filters, then the head. */
#define VOLLEY_BLOCK_CHUNK_BYTES (2u << 20)
#define VOLLEY_BLOCK_HEAD        2u
#define VOLLEY_BLOCK_LISTS       256u

struct volley_blocked {
	__u64 met[VOLLEY_BLOCK_LISTS];
};

/* A line of the filter of names that exist: xdp/names.h. */
#define VOLLEY_NAMES_N_BITS        7u
#define VOLLEY_NAMES_LINE_BYTES    64u
#define VOLLEY_DEFAULT_NAMES_LINES 1024u /* in the object file: 64 KiB */

/* Of queries with a shared answer one in so many goes up to be checked. A power of two. */
#define VOLLEY_CHECK_EVERY 1024u

struct volley_names_line {
	__u64 words[8];
};

struct volley_names_state {
	/* of the filter's content, random, below 2^22; 0: not in use, and nothing is denied */
	__u32 id;
	/* of the filter, the first of volley_names; the others are for xdp/intervals.h */
	__u32 n_lines;
	/* of the shortest apex, without the root's; shorter suffixes are not looked up */
	__u32 labels;
	/* random, below 2^31; 0: the driver uses no intervals. Each region has its own id */
	__u32 intervals_id;
	/* secret, random: one for each distance of an octet from the name's end */
	__u64 keys[VOLLEY_NAME_BYTES];
};

/*
 * Shared answers: entries that answer many names. The `kind` of such a key is not 0, so no query
 * has it. It contains the filter's id, so an entry that was made with another filter is not found.
 *
 *      kind       name               type           answers
 *      DENIAL     the apex           0              names that do not exist in the zone
 *      WILDCARD   of the wildcard    of the query   names that it stands for
 *      INTERVAL   8 octets, and      0              names that do not exist, with proofs: those
 *                 the closest                       that have this closest encloser and lie in the
 *                 encloser                          interval that begins with these octets
 *                                    of the query   names that a wildcard stands for, likewise
 *
 * The driver sends the short body, which answers a question for the key's name. For another
 * question it adds the difference of the names' lengths to the pointers. In the full body a struct
 * volley_shared follows the short body.
 */
#define VOLLEY_KEY_QUESTION          0u
#define VOLLEY_KEY_DENIAL            1u
#define VOLLEY_KEY_WILDCARD          2u
#define VOLLEY_KEY_INTERVAL          3u
#define VOLLEY_NAMES_ID_MAX          0x3fffffu
#define VOLLEY_SHARED_KIND(kind, id) ((__u8)((kind) | (id) >> 16 << 2))
#define VOLLEY_SHARED_CLASS(id)      ((__u16)(id))
#define VOLLEY_IS_SHARED(key)        ((key).kind != VOLLEY_KEY_QUESTION)
#define VOLLEY_SHARED_POINTERS       24u
#define VOLLEY_SHARED_SUFFIXES       6u
#define VOLLEY_REGIONS_NOTED         16u
#define VOLLEY_LEAD_MAX              16u
#define VOLLEY_LEAD_FIRST            8u /* from this lead on a shared answer is looked for first */

/* The region of a zone's intervals, as its denial named it when it was last looked up. */
struct volley_region_note {
	__u64 apex; /* hash of the zone's apex */
	__u32 at;   /* the region's head in volley_names */
	__u32 id;   /* of the region; 0: nothing is noted */
};

/* Any alignment. */
struct volley_shared {
	__u16 n_pointers;                       /* at most VOLLEY_SHARED_POINTERS */
	__u16 pointers[VOLLEY_SHARED_POINTERS]; /* where they lie in the body */
	/* octets of names for which it is the answer: there is as much room for these */
	__u8 name_min, name_max;
	/* in the denial of a signed zone, with DO: the region of its intervals (xdp/intervals.h) */
	__u32 intervals_at;
	/* 0: this is the answer. Else it has no body, and the interval's entry is the answer */
	__u32 intervals_id;
	__u32 reserved;
	/*
	 * For names in the body below the base (the apex or the closest encloser): the hash of the
	 * suffix that is one label longer than the base. These names would be compressed with a
	 * question below that suffix, so such a question goes up. 0: none.
	 */
	__u64 suffixes[VOLLEY_SHARED_SUFFIXES];
};

struct volley_state {
	__u32 magic; /* VOLLEY_MAGIC, stored last: before that every packet passes */
	__u32 abi;
	__u32 n_buckets; /* a multiple of VOLLEY_PAGE_BUCKETS (key.h) */
	__u32 n_segments;
	__u32 n_zones;
	__u32 serve_until_s; /* last heartbeat and orphan time: from then on nothing is answered */
	__u32 realtime; /* a PREEMPT_RT kernel: each run takes a room of its own (VOLLEY_ROOMS) */
	__u32 max_udp_bytes;  /* our maximum, 512 to VOLLEY_UDP_MAX */
	__u64 option_up_mask; /* EDNS options (code < 64) that change the answer; others are free */
	__u64 next_seq;       /* of segments */
	__u32 block_kinds;    /* VOLLEY_BLOCKS_*; written behind the table */
	/* one hit in so many is reported until tap_until_s (xdp/tap.h); 0: none */
	__u32 tap_every;
	__u32 services_at;                      /* which of the tables is read, 0 or 1 */
	__u32 options_at;                       /* which of the options, likewise */
	__u64 hash_keys[VOLLEY_NAME_WORDS + 1]; /* secret, random */
	struct volley_services services[2];
	__u64 wall_ns; /* CLOCK_REALTIME less the coarse monotonic clock, modulo 2^64 */
	struct volley_options options[2];
	/* three seconds after the last heartbeat: from then on no hit is reported, since nobody
	 * reads the rings */
	__u32 tap_until_s;
	__u32 reserved;
	__u32 cache_kib; /* the budget that these maps were made for */
	__u32 n_resizes; /* that led to this cache: of two caches the newer one has more */
	struct volley_names_state names;
};

#define VOLLEY_HOPS           256u
#define VOLLEY_TUNNEL_SOURCES 16u

/* A prefix, as on the wire; IPv4 as ::ffff:0:0/96 (RFC 4291). */
struct volley_prefix {
	__u64 address[2];
	__u64 mask[2];
};

/* One for each interface. */
struct volley_link {
	__u32 driver_answers; /* 0: hand up only */
	__u8 mac[6];          /* frames to another address pass; all zero: unknown, not checked */
	__u8 by_daemon;       /* volleyd attached it, so a later volleyd may detach it */
	__u8 finer;           /* of samples (VOLLEY_SAMPLES), 0 to VOLLEY_SAMPLE_FINEST */
	__u8 tunnels;         /* which tunnels are decapsulated: VOLLEY_TUNNEL_* */
	__u8 return_fib; /* answers go to the next hop by the routing table, or the query passes */
	__be16 gue_port; /* UDP port of GUE */
	/* How far the MTU's room for DNS is below VOLLEY_UDP_MAX: IPv4, IPv6; 0: not below. */
	__u16 udp_less[2];
	__u32 n_tunnel_sources; /* 0: tunnels from every source are decapsulated */
	/* With return_fib: whether a next hop was used, by volley_hop(). Userspace clears it. */
	__u8 hops[VOLLEY_HOPS];
	struct volley_prefix tunnel_sources[VOLLEY_TUNNEL_SOURCES];
};

#define VOLLEY_TUNNEL_IPIP 0x01 /* protocols 4 and 41 in either family (RFC 2003, 2473, 4213) */
#define VOLLEY_TUNNEL_GUE  0x02 /* variants 0, without flags, and 1 (draft-ietf-intarea-gue) */

/*
 * Overload (xdp/shed.h). The driver counts the packets that it hands to a queue's worker, and the
 * worker counts those that it takes: the difference is on its way. The kernel may lose packets
 * between them, so the worker corrects `taken` when it finds its ring empty. Each side writes its
 * own cache line.
 */
struct volley_queue {
	__u64 taken;
	__u32 limit;     /* of packets on their way; 0: nothing is ever shed */
	__u32 turn_bits; /* log2(VOLLEY_TURN * limit): the turn is taken >> turn_bits */
	__u64 reserved[6];
	__u64 handed;
	__u64 shed; /* DROP_OVERLOAD and DROP_SHARE */
	__u64 reserved2[6];
};

#define VOLLEY_TURN        8u    /* a turn is over after this many times `limit` packets */
#define VOLLEY_SHARE_SLOTS 4096u /* a power of two; 32 KiB on each CPU */

/*
 * Packets of a prefix of clients (IPv4 /24 or IPv6 /48, hashed to a slot) that went up in this turn
 * of the queue, and half of the count at the end of the turn before.
 */
struct volley_share {
	__u32 turn;
	__u32 sent;
};

struct volley_shares {
	struct volley_share slots[VOLLEY_SHARE_SLOTS];
};

/*
 * Response rate limiting (xdp/rrl.h). VOLLEY_RRL_FULL is the load of the answers that an address
 * may get in a second. A load loses a thousandth in each millisecond.
 *
 *      volley_near    slot:  period (30 bits) | hot (1) | load of this period (33)
 *                     by prefix, without its address
 *      volley_loads   slot:  id of the prefix (16 bits) | millisecond (16) | load (32)
 *                     7 to a line, and when the line was last tidied
 */
#define VOLLEY_RRL_FULL    (1u << 31)
#define VOLLEY_RRL_WAYS    7u
#define VOLLEY_RRL_LINES   65536u /* 4 MiB */
#define VOLLEY_NEAR_SLOTS  4096u  /* a power of two; 32 KiB on each CPU */
#define VOLLEY_RRL_LIMITED 1024u  /* prefixes that are listed */

struct volley_near {
	__u64 slots[VOLLEY_NEAR_SLOTS];
};

struct volley_rrl_line {
	__u64 slots[VOLLEY_RRL_WAYS];
	__u64 tidied; /* number of the turn of 16 s in which old loads were last removed */
};

/* A prefix that is over its limit. It gives its place to another one after RRL_LIST_REST_S without
 * such a packet. */
struct volley_limited {
	__u64 key;        /* a hash of the prefix; 0: free */
	__u64 address[2]; /* as on the wire; IPv4 as ::ffff:0:0/96 */
	/* of the prefix, IPv4 with the 96 before it; written last, with release: 0: not yet */
	__u32 bits;
	__u32 first_s; /* coarse monotonic second */
	__u32 last_s;
	__u32 reserved;
	__u64 slipped; /* told to come by TCP, or with a cookie; with dry_run: would have been */
	__u64 dropped; /* likewise */
};

struct volley_rrl {
	__u32 answer_cost; /* load that an answer adds to its address; 0: nothing is limited */
	__u32 octet_cost;  /* load of an octet sent, where an answer's are more than answer_cost */
	__u32 slip; /* one in so many over the limit is told so, the others are dropped; 0: none */
	__u8 dry_run;    /* everything is counted, nothing withheld */
	__u8 has_exempt; /* volley_clients has prefixes with VOLLEY_CLIENT_EXEMPT */
	__u16 reserved;
	__u64 near_cost; /* up to this load in a period a CPU does not look at volley_loads */
	__u64 keys[4];   /* secret, random */
	__u32 ahead_ms;  /* added to the clock: tests move time by it */
	__u32 reserved2;
	__u64 unlisted; /* packets over a limit whose prefix found no place in `limited` */
	/* the rest of a load of 2^32 after [i] times 1, 32 and 1024 ms */
	__u32 decay[3][32];
	struct volley_limited limited[VOLLEY_RRL_LIMITED];
};

/* The state of one prefix of the client during a check (rrl.h). */
#define VOLLEY_RRL_PREFIXES 5
struct volley_try {
	void *table; /* of loads, in userspace; the driver uses its map */
	__u64 word;  /* its slot's value when it was read */
	__u32 line;
	__u32 id;
	__u32 place;
	__u32 load; /* as of now */
	__u32 tick; /* the millisecond to write back */
	__u32 reserved;
};

/*
 * A sample of the hits, to find the most frequent names: each CPU notes one hit in 256 on average,
 * with random gaps. `finer` halves the gaps that many times.
 */
#define VOLLEY_SAMPLES       256u /* kept on each CPU; a power of two */
#define VOLLEY_SAMPLE_GAP    511u /* the longest gap; a mask */
#define VOLLEY_SAMPLE_FINEST 9u   /* every hit */

/* A record of volley_taps: a hit for dnstap and the query log (xdp/tap.h). */
#define VOLLEY_TAP_RINGS 16u /* a power of two; a CPU uses the ring of its number modulo this */

struct volley_tap {
	__u64 ns;    /* of the kernel's monotonic clock */
	__u32 bytes; /* 0: the copy failed */
	__u32 reserved;
	__u8 octets[]; /* the answer, from its IP header on */
};

/*
 * Why a packet was answered, handed up, passed or dropped: V(counter, class, text). Each received
 * packet is counted under exactly one reason, so received = hit + up + passed + dropped.
 */
#define VOLLEY_REASONS(V)                                                           \
	V(HIT_FULL, HIT, "answered, whole")                                         \
	V(HIT_SHORT, HIT, "answered, without optional additional records")          \
	V(HIT_TRUNCATED, HIT, "answered with TC=1")                                 \
	V(HIT_SLIPPED, HIT, "answered with TC=1: over the rate limit")              \
	V(HIT_BADCOOKIE, HIT, "answered BADCOOKIE: over the rate limit")            \
	V(HIT_DENIED, HIT, "answered NXDOMAIN: no zone has the name")               \
	V(HIT_WILDCARD, HIT, "answered from a wildcard")                            \
	V(HIT_REFUSED, HIT, "answered REFUSED: blocked")                            \
	V(HIT_BLOCK_TRUNCATED, HIT, "answered with TC=1: blocked over UDP")         \
	V(UP_MISS, UP, "not in the cache")                                          \
	V(UP_MAYBE, UP, "not in the cache, and the name may exist")                 \
	V(UP_CHECKED, UP, "could be denied, handed up to be compared")              \
	V(UP_STALE, UP, "in the cache, but its zone has changed")                   \
	V(UP_EXPIRED, UP, "in the cache, but expired")                              \
	V(UP_VIEW, UP, "in the cache, but not for this client")                     \
	V(UP_MANY_TTLS, UP, "more records to age than the driver takes")            \
	V(UP_SWITCHED_OFF, UP, "driver answers are switched off")                   \
	V(UP_ORPHANED, UP, "no daemon for longer than cache.orphan-serve")          \
	V(UP_NO_ROOM, UP, "no room in the frame for the answer")                    \
	V(UP_LONG_QUERY, UP, "query of more than 2047 octets")                      \
	V(UP_OPCODE, UP, "opcode is not QUERY")                                     \
	V(UP_COUNTS, UP, "not one question and at most one more record")            \
	V(UP_NAME, UP, "malformed or compressed name")                              \
	V(UP_CLASS, UP, "class is not IN")                                          \
	V(UP_TAIL, UP, "too few octets for its records")                            \
	V(UP_EDNS, UP, "not a plain OPT record of version 0")                       \
	V(UP_OPTION, UP, "an EDNS option that the engine answers")                  \
	V(UP_OPTIONS, UP, "malformed EDNS options")                                 \
	V(UP_BLOCKED, UP, "a block says that a worker answers")                     \
	V(PASS_UNCONFIGURED, PASSED, "no daemon has set the program up yet")        \
	V(PASS_RUNT, PASSED, "frame is cut short")                                  \
	V(PASS_GROUP, PASSED, "Ethernet group address")                             \
	V(PASS_OTHER_HOST, PASSED, "another host's Ethernet address")               \
	V(PASS_ETHERTYPE, PASSED, "neither IPv4 nor IPv6")                          \
	V(PASS_VLAN, PASSED, "more than two VLAN tags")                             \
	V(PASS_IP_OPTIONS, PASSED, "IPv4 options")                                  \
	V(PASS_FRAGMENT, PASSED, "IPv4 fragment")                                   \
	V(PASS_IP_LENGTH, PASSED, "IP length and frame disagree")                   \
	V(PASS_PROTOCOL, PASSED, "not UDP, or IPv6 extension headers")              \
	V(PASS_SOURCE, PASSED, "source address or port that gets no answer")        \
	V(PASS_UDP_LENGTH, PASSED, "UDP and IP length disagree")                    \
	V(PASS_CHECKSUM, PASSED, "IPv6 without UDP checksum")                       \
	V(PASS_SERVICE, PASSED, "not a service address and port")                   \
	V(PASS_DNS_SHORT, PASSED, "shorter than a DNS header")                      \
	V(PASS_RESPONSE, PASSED, "a response")                                      \
	V(PASS_TUNNEL, PASSED, "a tunnel header that is not understood")            \
	V(PASS_TUNNEL_SOURCE, PASSED, "a tunnel of nobody in tunnel-sources")       \
	V(PASS_RETURN, PASSED, "the answer would leave by another way")             \
	V(DROP_EDIT, DROPPED, "the frame changed under the program")                \
	V(DROP_OVERLOAD, DROPPED, "not in the cache, and the worker is far behind") \
	V(DROP_SHARE, DROPPED, "the same, and its prefix had more than its share")  \
	V(DROP_LIMITED, DROPPED, "not answered: over the rate limit")               \
	V(DROP_BLOCKED, DROPPED, "blocked")

enum volley_class {
	VOLLEY_CLASS_HIT,
	VOLLEY_CLASS_UP,
	VOLLEY_CLASS_PASSED,
	VOLLEY_CLASS_DROPPED,
};

#define VOLLEY_REASON_ENUM(name, class, words) VOLLEY_##name,
enum volley_reason { VOLLEY_REASONS(VOLLEY_REASON_ENUM) VOLLEY_N_REASONS };
#undef VOLLEY_REASON_ENUM

/* Further counters of answers: C(counter, text). The engine's have the same names. */
#define VOLLEY_NOTES(C)                                                          \
	C(cookies_new, "hits for a COOKIE with a client part only")              \
	C(cookies_good, "hits for a COOKIE of ours")                             \
	C(cookies_bad, "hits for a COOKIE that is not ours, or too old")         \
	C(rrl_judged, "hits of clients that are not far below their rate limit") \
	C(rrl_exempt, "hits that are not limited: a good cookie, or rrl.exempt") \
	C(rrl_dry, "hits, though over the rate limit: rrl.dry-run")              \
	C(taps_lost, "hits that dnstap and the query log missed: the ring was full")

/*
 * Rooms of a CPU. On most kernels the runs of a CPU come one after the other, and all use room 0. A
 * PREEMPT_RT kernel may preempt a run and begin another one on the same CPU: there each run takes
 * another room, and the packet passes if none is free (docs/decisions/0027).
 */
#define VOLLEY_ROOMS 5u

#define VOLLEY_OPTION_COOKIE 0x01
#define VOLLEY_OPTION_NSID   0x02
#define VOLLEY_OPTION_EDE    0x04
/* of the query alone: */
#define VOLLEY_OPTION_EXPIRE 0x08 /* a worker answers, if the name exists */
#define VOLLEY_OPTION_PLAIN  0x10 /* a COOKIE, though the server has no secret */

/*
 * Per CPU, room and interface. Userspace reads the counters; the rest is the program's working
 * memory for one query.
 */
struct volley_cpu {
	__u64 received;
	__u64 to_worker; /* part of those that went up: redirected to an AF_XDP socket */
	__u64 reasons[VOLLEY_N_REASONS];
#define VOLLEY_NOTE_FIELD(name, words) __u64 name;
	VOLLEY_NOTES(VOLLEY_NOTE_FIELD)
#undef VOLLEY_NOTE_FIELD
	struct volley_answers answers; /* the hits */

	__u64 jiffies; /* at the last read of the clock; it is read again when they differ */
	__u64 now_ms;  /* coarse monotonic millisecond */
	__u32 now_s;   /* and second */
	__u32 wall_s;  /* likewise CLOCK_REALTIME's second */

	__u64 sample_at; /* the next hit is noted once `received` is this large */

	__u32 l3_offset; /* in the frame */
	__u32 dns_offset;
	__u32 dns_bytes;
	__u32 frame_bytes;
	__u32 name_bytes;
	__u32 reply_limit; /* DNS octets that this client accepts */
	__u32 location;    /* of the entry that was found */
	__u32 moved;       /* how far the question lies behind its place in the answer */
	/* of the tunnel's headers before the IP header at l3_offset; 0: no tunnel */
	__u32 tunnel_bytes;
	__u32 grown; /* octets that were added before the frame */
	__u8 ipv6;
	__u8 edns;
	__u16 opt_bytes; /* of the answer's OPT with its options, or 0 */
	__u32 reason;    /* of the answer that is made, as are all fields up to body_sum */
	__u16 body_bytes;
	__be16 flags;
	__be16 ancount;
	__be16 nscount;
	__be16 arcount;  /* with OPT */
	__u16 cookie_at; /* offset of the query's COOKIE value in the message */
	__u32 in_use;    /* a run has taken this room; 0 in room 0 */
	__u64 body_sum;
	__u64 question_sum; /* of name, type and class */
	__u64 hash;
	__u32 block_kinds; /* volley_state.block_kinds when the packet came */
	__u32 shared;      /* VOLLEY_KEY_DENIAL or VOLLEY_KEY_WILDCARD: a shared answer; else 0 */
	/* queries with a shared answer, modulo 2^32: one in VOLLEY_CHECK_EVERY is checked */
	__u32 n_deniable;
	/* of recent answers: the shared ones less the others, 0 to VOLLEY_LEAD_MAX */
	__u32 shared_lead;
	__u32 region_at;    /* line of the region's head in volley_names */
	__u32 region_id;    /* of the zone's region; 0: it has none */
	__u32 tap_left;     /* hits until the next one is reported */
	__u32 opt_rcode;    /* high bits of the answer's rcode, in OPT */
	__u32 zone_counter; /* of the answer's zone, as in struct volley_zone */
	__u32 n_samples;    /* all that were ever noted, modulo 2^32 */
	__u64 rrl_cost;     /* load of the answer that is made */
	__u64 rrl_carry;    /* and with the load that volley_near held back */
	__u8 options;       /* of query and answer: VOLLEY_OPTION_* */
	/* the query has a good server cookie, so its source is not forged (options_make()) */
	__u8 cookie_good;
	__u8 options_at;    /* volley_state.options_at when the query was read */
	__u8 cookie_bytes;  /* of the query's COOKIE, 8 or 16 to 40 */
	__be32 cookie_head; /* the answer's COOKIE; its value follows */
	__u64 cookie[3];
	__u64 folded[1 + VOLLEY_NAME_WORDS]; /* key, name */

	struct volley_client client;
	__s32 rrl_over; /* which prefix is over its limit, or -1 */
	struct volley_try tries[VOLLEY_RRL_PREFIXES];
	struct volley_refresh refresh;
	__u64 suffix_before[VOLLEY_SUFFIXES]; /* of the octets before each suffix: xdp/suffixes.h */
	__u8 suffix_from[VOLLEY_SUFFIXES];    /* where each suffix begins in the name */
	__u32 n_suffixes;
	__u8 label_bytes;
	__u8 label_rest[3];
	__u32 apex_at;     /* where the deepest apex begins in the name */
	__u32 encloser_at; /* and the longest suffix in the filter */
	__u64 apex_hash;
	__u64 below_apex; /* hash of the suffix one label longer than the apex */
	__u64 below;      /* and one label longer than the shared answer's base */
	__u64 unknown;    /* hash of the shortest suffix that is not in the filter */
	__u64 interval;   /* the first point of its interval, in this leaf */
	__u32 interval_leaf;
	__u32 fence;        /* always 0; a compare-and-swap on it is a barrier */
	__u32 unknown_at;   /* where that suffix begins */
	__u32 shared_bytes; /* of the name in the shared answer's key */
	__u64 shared_hash;
	__u64 shared_key[1 + VOLLEY_NAME_WORDS];
	__u64 block_key[3]; /* the key to look for among the blocks: a struct volley_block_key */
	__u64 block_client[2];
	__u8 ede;           /* code of the answer's extended error, with VOLLEY_OPTION_EDE */
	__u8 block_is_done; /* the answer is written */
	__u8 block;         /* the action for this client: VOLLEY_BLOCK_* */
	__u8 block_rest[5];
	__u64 block_hashes[32];
	__u8 block_masks[32]; /* of groups of lengths: see volley_block_masks() */
	__u64 interval_point; /* of a name, for xdp/intervals.h */
	__u64 nsec3_salt;     /* octets, zeros behind them */
	__u32 nsec3_salt_bytes;
	__u32 sha1[5];          /* the hash, as numbers */
	__u64 sha1_message[44]; /* 5 blocks, and room for stores beyond them */
	struct volley_region_note
		regions[VOLLEY_REGIONS_NOTED]; /* by the apex's hash, modulo VOLLEY_REGIONS_NOTED */
	__u64 samples[VOLLEY_SAMPLES];         /* hashes of keys; the newest at n_samples - 1 */
};

#ifdef __cplusplus
#error "C only"
#endif
_Static_assert(sizeof(struct volley_key) == 8, "the key is one word");
_Static_assert(sizeof(struct volley_entry) == 64, "an entry's header is one cache line");
_Static_assert(sizeof(struct volley_client) == 20, "no padding, as the kernel wants it");
_Static_assert(sizeof(struct volley_refresh) == 16, "no padding that differs");
_Static_assert(sizeof(struct volley_segment) == 64, "entries begin aligned");
_Static_assert(sizeof(struct volley_zone) == 64, "a zone is one cache line");
_Static_assert(sizeof(struct volley_link) == 24 + 256 + 16 * 32, "no padding that differs");
_Static_assert(sizeof(struct volley_queue) == 128, "two cache lines");
_Static_assert(sizeof(struct volley_shares) <= 32768, "the kernel takes no more for each CPU");
_Static_assert(sizeof(struct volley_near) <= 32768, "the kernel takes no more for each CPU");
_Static_assert(sizeof(struct volley_cookies) <= 32768, "the kernel takes no more for each CPU");
_Static_assert(sizeof(struct volley_rrl_line) == 64, "a cache line");
_Static_assert(sizeof(struct volley_limited) == 56, "no padding that differs");
_Static_assert(sizeof(struct volley_rrl) == 24 + 32 + 16 + 3 * 32 * 4 + 1024 * 56,
	       "no padding that differs");
_Static_assert(sizeof(struct volley_cpu) <= 32768, "the kernel takes no more for each CPU");
_Static_assert(sizeof(struct volley_cpu) % 8 == 0, "the kernel lays these end to end");
_Static_assert(sizeof(struct volley_service) == 24, "no padding that differs");
_Static_assert(sizeof(struct volley_services) == 64 + 2048 * 24, "no padding that differs");
_Static_assert(sizeof(struct volley_state) == 64 + 33 * 8 + 2 * (64 + 2048 * 24) + 8 +
						      2 * (16 + 64 + 256) + 8 + 8 + 16 +
						      VOLLEY_NAME_BYTES * 8,
	       "no padding that differs");
_Static_assert(sizeof(struct volley_shared) == 112, "no padding that differs");
_Static_assert(sizeof(struct volley_names_line) == VOLLEY_NAMES_LINE_BYTES, "a cache line");
_Static_assert(__builtin_offsetof(struct volley_cpu, cookie) ==
		       __builtin_offsetof(struct volley_cpu, cookie_head) + 4,
	       "an option's head and its value lie together");
_Static_assert(__builtin_offsetof(struct volley_state, serve_until_s) == 20, "of every ABI");
_Static_assert(__builtin_offsetof(struct volley_link, by_daemon) == 10, "of every ABI");

#endif
