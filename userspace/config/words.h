/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words that people read, in one place: configuration keys, commands, options, exit codes,
 * counters.
 *
 *	words_*.c ─► document.c, reader.c: shape, bounds and default of each key, and its refusals
 *	          ├─► settings.c: config show, config diff
 *	          ├─► help.c: --help of both programs and the lists in the three man pages
 *	words.c ──┴─► volleyctl: which commands there are and how many arguments they take
 *
 * A key that is not in the table is an unknown key, a default that is not in the table is none: so
 * nothing can be configured that the man page does not tell. All of it is constant; any thread may
 * read it.
 */
#ifndef VOLLEY_CONFIG_WORDS_H
#define VOLLEY_CONFIG_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/abi.h"

/*
 * What is written behind a key, and so how config/value.c reads it. The order makes groups: maps,
 * lists, numbers, texts.
 */
enum words_type {
	WORDS_MAP,  /* keys below it */
	WORDS_MAPS, /* a list, each item with keys below it; .max items at most, 0: any */
	/* a list of ADDRESS or ADDRESS@PORT; .min is the port where none is said */
	WORDS_ADDRESSES,
	WORDS_PEERS,      /* the same; the port depends on more, and is 0 where none is said */
	WORDS_RULES,      /* a list of [PREFIX] [key NAME] [tls] */
	WORDS_CORES,      /* a list of whole numbers */
	WORDS_CHOICES,    /* a list of words of .choices, none twice: a bit for each */
	WORDS_PREFIXES,   /* a list of ADDRESS/LENGTH or ADDRESS; .max items, 0: 4,096 */
	WORDS_REMOTES,    /* a list of names of remotes */
	WORDS_UPSTREAMS,  /* a list of ADDRESS, ADDRESS@PORT or ADDRESS@PORT#NAME */
	WORDS_HOSTS,      /* a list of ADDRESS */
	WORDS_RECORDS,    /* a list of records as text */
	WORDS_DOMAINS,    /* a list of domain names */
	WORDS_COMMAND,    /* a list of a command and its arguments */
	WORDS_WORDS,      /* a list of texts */
	WORDS_PATHS,      /* a list of files */
	WORDS_PATTERNS,   /* a path with wildcards, or a list of such; see config/include.h */
	WORDS_COUNT,      /* a whole number */
	WORDS_PORT,       /* the same, a port, which is stored in wire order */
	WORDS_AUTO_COUNT, /* a whole number, or auto, which is read as 0 */
	WORDS_POWER,      /* a power of two */
	WORDS_BUDGET,     /* a whole number, or false (0), or true (WORDS_BUDGET_TRUE) */
	WORDS_SIZE,       /* octets: a number with K, M, G or T behind it */
	WORDS_SECONDS,    /* a time: a number with s, m, h or d behind it */
	WORDS_MS,         /* the same with ms, too, and read as milliseconds */
	WORDS_BOOL,       /* true or false */
	WORDS_CHOICE,     /* one of .choices: .min is the first, and so on */
	WORDS_MODE,       /* file permissions, octal */
	WORDS_BITS,       /* IPv4/IPv6 lengths of prefixes: 256 times the first, and the second */
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

/* Lists are from WORDS_MAPS to the first of these; from the second on a list may be one of
 * texts. */
#define WORDS_LISTS_END WORDS_PATHS
#define WORDS_TEXTS     WORDS_PREFIXES
/* Numbers are from here to WORDS_BITS. */
#define WORDS_NUMBERS_IN WORDS_COUNT

/* The C type of the field that has the value: rows.h finds it out. */
enum words_field {
	WORDS_NO_FIELD,      /* a function of config_*.c reads the value */
	WORDS_FIELD_NUMBER,  /* bool, an enum, or an unsigned integer of .n_bytes octets */
	WORDS_FIELD_TEXT,    /* char *; NULL: absent */
	WORDS_FIELD_TEXTS,   /* char **, NULL behind the last; NULL: none */
	WORDS_FIELD_ADDRESS, /* struct config_addr; family 0: absent */
	WORDS_FIELD_NAME,    /* char [IF_NAMESIZE] */
	WORDS_FIELD_RULES,   /* struct config_rules */
	/* Arrays with how many they have in another field; NULL: none. */
	WORDS_FIELD_ADDRESSES, /* struct config_addr * */
	WORDS_FIELD_PREFIXES,  /* struct config_prefix * */
	WORDS_FIELD_CORES,     /* uint16_t * */
	WORDS_FIELD_OCTETS,    /* uint8_t * */
	/* Of WORDS_MAPS an array, a struct for each item. Of WORDS_MAP no array, but the struct. */
	WORDS_FIELD_STRUCTS,
};

/*
 * Packets that one busy poll takes at most when busy-poll says only "true": the kernel's NAPI
 * weight.
 */
#define WORDS_BUDGET_TRUE 64

/*
 * A row for each key. The parser, bounds, refusals, the man page, config show, config diff and the
 * JSON schema are derived from it. ROW() of config/rows.h fills in path, type and the field.
 */
struct words_key {
	const char *path; /* "interfaces[].name": dots between levels, [] for each item of a list */
	enum words_type type;
	uint64_t min; /* bounds of a number or a length, both allowed; octets, seconds or a count */
	uint64_t max;
	const char *choices;  /* WORDS_CHOICE, _CHOICES: "auto|native|generic|off" */
	const char *fallback; /* the value when the key is absent; NULL: none, see the text */
	bool is_required;     /* its map, or the configuration, is refused without it */
	bool is_unique;       /* no two items of the list have the same */
	bool needs_start;     /* a reload does not put it in place: config_next_for_start() */
	bool is_secret;       /* its value is never printed */
	/* why a list of no item is refused, and what to do; NULL: it is fine */
	const char *if_empty;
	const char *text; /* a paragraph for volley.yaml(5) */

	/* Where the value goes, in struct config or in the item of its list. */
	enum words_field field;
	uint16_t at;      /* offset of the field */
	uint16_t n_at;    /* offset of how many an array has (uint32_t); 0: no field says it */
	uint16_t n_bytes; /* of the field; of an array, of one element */
};

#define WORDS_KEYS_MAX 256 /* words_key_number() is below that */

/* Those of one subject, in the order of the man page: words_host.c, words_zones.c,
 * words_recursion.c, words_limits.c, words_blocks.c, words_tap.c. */
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

/* A counter, as JSON calls it. */
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

/* The socket that volleyctl asks and volleyd opens when nothing else is said. */
#define WORDS_SOCKET_PATH "/run/volley/control.sock"
/* The environment variable that names another one. */
#define WORDS_SOCKET_ENV "VOLLEY_CONTROL"

/* All keys are numbered from 0 on, in the order of the man page. NULL: there are not so many. */
const struct words_key *words_key_at(unsigned int number);
/* Of a key that words_key_at() or words_find_key() gave. */
unsigned int words_key_number(const struct words_key *key);

/*
 * The key with that path, list indices already taken out ("interfaces[].name"); NULL: unknown. A
 * template's keys are a zone's, but for those that it has itself: "templates[].notify" is
 * "zones[].notify".
 */
const struct words_key *words_find_key(const char *path);

/* The command whose words open ARGV, the longest one; *n_words is how many they are. NULL: none. */
const struct words_command *words_find_command(int argc, char *const argv[], int *n_words);

/*
 * Writes what a key accepts so that it may follow "give": "a size from 8M to 1T (...)".
 * Always ends in a zero byte; what is too long is cut.
 */
void words_accepts(const struct words_key *key, char *buf, size_t cap);

/*
 * A reason of the XDP program as JSON calls it, "hit-full" (it is key that is returned), and its
 * text.
 */
#define WORDS_REASON_BYTES 64
const char *words_reason_key(enum volley_reason reason, char key[WORDS_REASON_BYTES]);
const char *words_reason_text(enum volley_reason reason);

/* Writes a number of bytes or seconds as a configuration would: 8388608 is "8M", 300 is "5m". */
void words_put_size(uint64_t bytes, char *buf, size_t cap);
void words_put_seconds(uint64_t seconds, char *buf, size_t cap);
/* The same of milliseconds: 1800 is "1800ms", 2000 is "2s". */
void words_put_ms(uint64_t ms, char *buf, size_t cap);

#endif
