/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All words for users in one place: configuration keys, commands, options, exit codes, counters.
 *
 *	words_*.c ─► document.c, reader.c: shape, bounds and default of each key, and its refusals
 *	          ├─► settings.c: config show, config diff
 *	          ├─► help.c: --help of both programs and the lists in the three man pages
 *	words.c ──┴─► volleyctl: the commands, and the number of their arguments
 *
 * A key that is not in the table is unknown, and a key has no default but that of the table: so the
 * man page describes all that can be configured. The tables are constant; any thread may read them.
 */
#ifndef VOLLEY_CONFIG_WORDS_H
#define VOLLEY_CONFIG_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/abi.h"

/* The type of a key's value, for config/value.c. Groups by order: maps, lists, numbers, texts. */
enum words_type {
	WORDS_MAP,  /* keys below it */
	WORDS_MAPS, /* a list whose items have keys; at most .max items, 0: no limit */
	/* a list of ADDRESS or ADDRESS@PORT; .min is the default port */
	WORDS_ADDRESSES,
	WORDS_PEERS,      /* the same; port 0: not given, the default depends on other keys */
	WORDS_RULES,      /* a list of [PREFIX] [key NAME] [tls] */
	WORDS_CORES,      /* a list of whole numbers */
	WORDS_CHOICES,    /* a list of words of .choices, none twice; stored as a bit for each */
	WORDS_PREFIXES,   /* a list of ADDRESS/LENGTH or ADDRESS; .max items, 0: 4,096 */
	WORDS_REMOTES,    /* a list of names of remotes */
	WORDS_UPSTREAMS,  /* a list of ADDRESS, ADDRESS@PORT or ADDRESS@PORT#NAME */
	WORDS_HOSTS,      /* a list of ADDRESS */
	WORDS_RECORDS,    /* a list of records as text */
	WORDS_DOMAINS,    /* a list of domain names */
	WORDS_COMMAND,    /* a list of a command and its arguments */
	WORDS_WORDS,      /* a list of texts */
	WORDS_USERS,      /* a list of users and groups: NAME or group:NAME, or their numbers */
	WORDS_PATHS,      /* a list of files */
	WORDS_PATTERNS,   /* a path with wildcards, or a list of them; see config/document.h */
	WORDS_COUNT,      /* a whole number */
	WORDS_PORT,       /* a port, stored in wire order */
	WORDS_AUTO_COUNT, /* a whole number, or auto, stored as 0 */
	WORDS_POWER,      /* a power of two */
	WORDS_BUDGET,     /* a whole number, or false (0), or true (WORDS_BUDGET_TRUE) */
	WORDS_SIZE,       /* octets: a number followed by K, M, G or T */
	WORDS_SECONDS,    /* a time: a number followed by s, m, h or d */
	WORDS_MS,         /* the same, or followed by ms; stored in milliseconds */
	WORDS_BOOL,       /* true or false */
	WORDS_CHOICE,     /* one of .choices: .min is the first, and so on */
	WORDS_MODE,       /* file permissions, octal */
	WORDS_BITS,       /* lengths of IPv4 and IPv6 prefixes: 256 * first + second */
	WORDS_TEXT,       /* .min to .max octets */
	WORDS_NAME,       /* .min to .max letters, digits, dots, hyphens and underscores */
	WORDS_PATH,
	WORDS_SOCKET, /* a path short enough for a Unix socket */
	WORDS_DOMAIN,
	WORDS_UPSTREAM,       /* ADDRESS or ADDRESS@PORT */
	WORDS_UPSTREAM_NAMED, /* ADDRESS, ADDRESS@PORT or ADDRESS@PORT#NAME */
	WORDS_LISTEN,         /* ADDRESS@PORT */
	WORDS_INTERFACE,
	WORDS_SECRET, /* 32 hexadecimal digits */
	WORDS_BASE64, /* .min to .max octets as base64 */
	WORDS_OCTETS, /* as text, or 0x and hexadecimal digits */
};

/* Lists are from WORDS_MAPS to WORDS_LISTS_END, lists of texts from WORDS_TEXTS on. */
#define WORDS_LISTS_END WORDS_PATHS
#define WORDS_TEXTS     WORDS_PREFIXES
/* Numbers are from here to WORDS_BITS. */
#define WORDS_NUMBERS_IN WORDS_COUNT

/* The C type of the field for the value: rows.h derives it from the field. */
enum words_field {
	WORDS_NO_FIELD,      /* a function of config_*.c reads the value */
	WORDS_FIELD_NUMBER,  /* bool, an enum, or an unsigned integer of .n_bytes octets */
	WORDS_FIELD_TEXT,    /* char *; NULL: absent */
	WORDS_FIELD_TEXTS,   /* char **, ended by NULL; NULL: none */
	WORDS_FIELD_ADDRESS, /* struct config_addr; family 0: absent */
	WORDS_FIELD_NAME,    /* char [IF_NAMESIZE] */
	WORDS_FIELD_RULES,   /* struct config_rules */
	/* Arrays whose length is in another field; NULL: none. */
	WORDS_FIELD_ADDRESSES, /* struct config_addr * */
	WORDS_FIELD_PREFIXES,  /* struct config_prefix * */
	WORDS_FIELD_CORES,     /* uint16_t * */
	WORDS_FIELD_OCTETS,    /* uint8_t * */
	/* WORDS_MAPS: an array with a struct for each item. WORDS_MAP: one struct. */
	WORDS_FIELD_STRUCTS,
};

/* What volleyd does with the file that a path names. */
enum words_use {
	WORDS_READ,   /* reads it; a zone file may also be written */
	WORDS_WRITE,  /* makes it and writes it; others need not read it */
	WORDS_FOLDER, /* lists, reads, makes and removes files directly in it */
	WORDS_OWN,    /* a folder of its own, with all that is below it */
};

/* The most packets of one busy poll with busy-poll: true: the kernel's NAPI weight. */
#define WORDS_BUDGET_TRUE 64

/*
 * A row for each key. The parser, bounds, refusals, the man page, config show, config diff and the
 * JSON schema are derived from it. ROW() of config/rows.h fills in path, type and the field.
 */
struct words_key {
	const char *path; /* "interfaces[].name": dots between levels, [] for each item of a list */
	enum words_type type;
	uint64_t min; /* bounds of a number or a length, inclusive; octets, seconds or a count */
	uint64_t max;
	const char *choices;  /* WORDS_CHOICE, _CHOICES: "auto|native|generic|off" */
	const char *fallback; /* the value if the key is absent; NULL: none, see the text */
	bool is_required;     /* without it its map, or the configuration, is refused */
	bool is_unique;       /* no two items of the list have the same value */
	bool needs_start;     /* a reload does not put it in place: config_next_for_start() */
	bool is_secret;       /* its value is never printed */
	enum words_use use;   /* of a path */
	/* why an empty list is refused, and the remedy; NULL: it is allowed */
	const char *if_empty;
	const char *text; /* a paragraph for volley.yaml(5) */

	/* The field for the value, in struct config or in the item of its list. */
	enum words_field field;
	uint16_t at;      /* offset of the field */
	uint16_t n_at;    /* offset of an array's length (uint32_t); 0: no field has it */
	uint16_t n_bytes; /* size of the field, or of one element of an array */
};

#define WORDS_KEYS_MAX 256 /* words_key_number() is below that */

/*
 * The keys of one subject, in the order of the man page: words_host.c, words_zones.c,
 * words_recursion.c, words_limits.c, words_blocks.c, words_tap.c.
 */
struct words_table {
	const struct words_key *keys;
	unsigned int n;
};

struct words_command {
	const char *name; /* "zone reload" */
	const char *args; /* "[NAME]" or "" */
	unsigned int min_args;
	unsigned int max_args;
	const char *line; /* for --help */
	const char *text; /* a paragraph for volleyctl(8) */
};

struct words_option {
	const char *flags; /* "-c" or "--check" or "-v, --verbose" */
	const char *arg;   /* "FILE" or NULL */
	const char *text;
};

struct words_exit {
	int code;
	const char *text;
};

/* A row of config/fault_list.h; the name is that in metrics. */
struct words_fault {
	const char *name;
	const char *text;
	const char *before; /* its sentence: the key that has a fault, or "" */
	bool is_reason;     /* of health; else a warning */
};

/* A counter; the name is that in JSON. */
struct words_counter {
	const char *name;
	const char *text;
};

extern const struct words_table words_host_keys, words_zone_keys, words_recursion_keys,
	words_limit_keys, words_block_keys, words_tap_keys;

/* Each of these ends with an entry whose first member is NULL; exits end with code -1. */
extern const struct words_command words_commands[];
extern const struct words_option words_volleyd_options[];
extern const struct words_option words_volleyctl_options[];
extern const struct words_exit words_volleyd_exits[];
extern const struct words_exit words_volleyctl_exits[];
extern const struct words_counter words_engine_counters[];
extern const struct words_counter words_resolver_counters[];
extern const struct words_counter words_responder_counters[];
extern const struct words_fault words_faults[]; /* by enum fault, config/fault_list.h */

/* The socket of volleyd and volleyctl if no other is given. */
#define WORDS_SOCKET_PATH "/run/volley/control.sock"
/* The environment variable that names another socket. */
#define WORDS_SOCKET_ENV "VOLLEY_CONTROL"

/* All keys are numbered from 0, in the order of the man page. NULL: the number is too large. */
const struct words_key *words_key_at(unsigned int number);
/* The number of a key from words_key_at() or words_find_key(). */
unsigned int words_key_number(const struct words_key *key);

/*
 * The key with that path, without list indices ("interfaces[].name"); NULL: unknown. A template has
 * the keys of a zone, except those of its own: "templates[].notify" gives "zones[].notify".
 */
const struct words_key *words_find_key(const char *path);

/* The longest command whose words begin ARGV; *n_words is the number of its words. NULL: none. */
const struct words_command *words_find_command(int argc, char *const argv[], int *n_words);

/*
 * Writes the values that a key accepts, to follow "give": "a size from 8M to 1T (...)". Always ends
 * in a zero octet; cuts a text that is too long.
 */
void words_accepts(const struct words_key *key, char *buf, size_t cap);

/*
 * A reason of the XDP program: its name in JSON ("hit-full"), written to KEY and returned; and its
 * text.
 */
#define WORDS_REASON_BYTES 64
const char *words_reason_key(enum volley_reason reason, char key[WORDS_REASON_BYTES]);
const char *words_reason_text(enum volley_reason reason);

/* Writes a number of bytes or seconds as a configuration would: 8388608 is "8M", 300 is "5m". */
void words_put_size(uint64_t bytes, char *buf, size_t cap);
void words_put_seconds(uint64_t seconds, char *buf, size_t cap);
/* The same for milliseconds: 1800 is "1800ms", 2000 is "2s". */
void words_put_ms(uint64_t ms, char *buf, size_t cap);

#endif
