/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words about commands, options, exit codes and counters, and the sentences made of a key's bounds.
 * The keys themselves are in words_keys.c.
 */
#include "config/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "resolver/resolver.h"
#include "worker/responder.h"

const struct words_command words_commands[] = {
	{ "status", "", 0, 0, "what runs, on which interfaces, and what is degraded",
	  "Shows whether the daemon is starting, serving or stopping, each interface with the XDP mode "
	  "and port in use and why, the zones, how upstreams are asked and how many questions wait "
	  "for them, and the fill of the cache. What does not work as configured is listed as "
	  "degraded, each in a sentence." },
	{ "stats", "", 0, 0, "who answered how much, and every counter",
	  "Shows how many answers the driver, the workers, the kernel sockets and TCP gave, then the "
	  "counters of the XDP program by reason, of the engine by response code, of the resolver "
	  "where there is one, and of each port. "
	  "In the driver, received is always the sum of hit, up, passed and dropped." },
	{ "zone list", "", 0, 0, "every zone with its state and serial",
	  "Lists the configured zones. A zone whose last file was refused but which still serves the "
	  "one before is stale and shows the error beside the state. One whose file is being loaded "
	  "is loading, with how far that is; serial and records are those of the version that serves "
	  "meanwhile." },
	{ "zone reload", "[NAME]", 0, 1, "read zone files again, all or one",
	  "Reads the file of the zone NAME and puts it in place without a gap. Without NAME, reads the "
	  "configuration, puts in place what it says of zones, clients and recursion, and reads every "
	  "zone's file, as SIGHUP does. A "
	  "broken file is refused with file and line, and the zone keeps serving what it had. When "
	  "the command returns, no CPU gives an answer of the old zone. Files are read in the "
	  "background, whoever ends the command does not end that, and on a terminal a line tells how "
	  "far it is. The file is opened after the command was given: if the zone is being loaded "
	  "already, it is loaded once more behind that. Without NAME the zones are put in place all "
	  "at once, when the last of them is loaded. Of a zone's cached answers those that changed are "
	  "withdrawn. The others stay, negative ones with the SOA record that they have if nothing of "
	  "it but the serial number changed. Where too much changed, or it cannot be told what, all "
	  "are withdrawn." },
	{ "zone status", "[NAME]", 0, 1, "one zone in full",
	  "Shows the zone NAME, or every zone: serial, records, names, memory, when it was loaded and "
	  "in what time, and the last error. While a file is loaded also the stage (waiting, reading, "
	  "building, verifying, loaded), the share of the text that is read, its records so far, and "
	  "the time since it began. Of the last change how many names it was about and how many "
	  "answers were withdrawn from the cache, or why all were." },
	{ "zone check", "NAME FILE", 2, 2, "check a zone file, serve nothing",
	  "Reads FILE as the zone NAME would be read and says what is wrong, with file and line. "
	  "Nothing that is served changes, and the command of zones[].verify is not run. The daemon "
	  "opens the file, so it must be able to read it." },
	{ "cache stats", "[-n N]", 0, 2, "what the answer cache holds, its memory and turnover",
	  "Shows the budget and the memory in use, with the maps that the driver reads, the number of "
	  "entries, and how many were published, replaced, evicted, refused and expired. Then "
	  "what share of the queries for it driver and workers found, and the driver's share of all "
	  "answers. Then entries and bytes by type, by kind of answer, by zone (the N that take most, "
	  "10 if nothing is said) and by variant (view, DO, CD), and their ages. The cache is looked "
	  "through in the background; medians are at most a 32nd too low." },
	{ "cache lookup", "NAME [TYPE]", 1, 2, "the cached answers for a name",
	  "Shows every answer that the cache holds for NAME, or for NAME and TYPE: with and without DO "
	  "and CD, in which view (public: for everyone; recursive: from upstream, for clients that may "
	  "recurse; private: of our zones, for those of server.allow), its state, age and sizes with and "
	  "without optional records, how often it was used since it was written (3 stands for more, "
	  "too), in which queue it is, and its records. The TTLs of what came from upstream are what is "
	  "left of them." },
	{ "cache flush", "NAME [TYPE] | WHICH", 0, 2, "withdraw cached answers",
	  "Withdraws the answers for NAME, or for NAME and TYPE, or those that WHICH tells, and says "
	  "how many these were. WHICH is --subtree NAME for NAME and all names below it, or --zone ZONE "
	  "for what comes from this zone, or --type TYPE for the answers to all queries of a type. It is "
	  "--negative for those that say that there is nothing (NODATA and NXDOMAIN), and --all for "
	  "every one. When the command returns, no CPU gives a withdrawn answer. What is asked "
	  "meanwhile is answered and cached anew. Answers from upstream are flushed alike, and, but "
	  "by --zone, the resolver forgets what it knows itself; questions that wait for upstreams "
	  "are asked again." },
	{ "cache top", "[-n N] [--by name|type|zone]", 0, 4, "what is asked for most",
	  "Shows the N names, types or zones that driver and workers answer most, 10 if nothing is said, "
	  "with their share of all answers. They are estimates: where there is much to answer, one of "
	  "256 answers is looked at, and counters are kept for 1024 names. The true share is within "
	  "the error 95 times of 100. What was asked 5 minutes ago counts half." },
	{ "cache dump", "FILE", 1, 1, "write the cached answers to a file",
	  "Writes every valid answer to FILE, in the background; queries are answered meanwhile. FILE is "
	  "replaced when the whole is on the disk, and only if it was a snapshot before. Zones that "
	  "change meanwhile are left out. The file is for volleyd alone (mode 0600)." },
	{ "cache load", "FILE", 1, 1, "take answers back from a file",
	  "Reads what cache dump wrote, in the background. The whole file is checked first: of one that is "
	  "cut, altered or of another version nothing is loaded. An answer is loaded when its zone is "
	  "served with the very content and settings that it had (else it counts as other content), "
	  "when it has not expired, and when there is no valid answer for the same question. Answers "
	  "that were in use come first, for the case that there is not room for all. FILE must belong "
	  "to root or the user of volleyd, and be writable to nobody else. After a reboot the wall "
	  "clock says how old the file is; if it has gone back, what expires is not loaded." },
	{ "cache resize", "SIZE", 1, 1, "give the answer cache another size, in use",
	  "Gives the cache the budget SIZE, written as cache.size in volley.yaml(5), larger or smaller, "
	  "while driver and workers go on answering from it. The answers are copied to a new cache in "
	  "the background, those that are asked most first; what has no room is left out, what is "
	  "asked least before the rest. Then workers and XDP programs take the new one, and the memory "
	  "of the old one is given back. Until then both budgets are in use: the command is refused "
	  "where there is not so much memory available. cache stats says how far it is. Snapshots wait "
	  "meanwhile. The configuration is not changed: after a restart, and when another cache.size is "
	  "read by a reload, the cache is resized to that." },
	{ "attach", "IF", 1, 1, "start answering on an interface",
	  "Loads the XDP program on the interface IF, or adopts it when it is there already, and opens "
	  "ports. The interface need not be in the configuration; what is configured for it holds." },
	{ "detach", "IF", 1, 1, "stop answering on an interface",
	  "Closes the ports of the interface IF and removes the XDP program, also one that was adopted. "
	  "Kernel sockets go on answering, and the cache is kept for attach." },
	{ "port status", "", 0, 0, "every port: queue, core, mode and counters",
	  "Lists the ports, one line for each queue, with the core that serves it, whether frames are "
	  "copied, and what was received, sent, tried again and dropped." },
	{ "port queues", "IF N|auto", 2, 2, "how many queues of an interface have AF_XDP sockets",
	  "Serves the queues of the interface IF below N by AF_XDP, as interfaces[].queues does, and no "
	  "others, until volleyd ends; with auto, all that it has. What arrives on the others goes to "
	  "kernel sockets, and nothing is lost. The kernel takes no queue away that has such a socket: "
	  "before ethtool -L gives the interface fewer queues, say how many are to be left, and auto "
	  "when it has been done. More queues are noticed by themselves." },
	{ "doctor", "[--config FILE] [IF...]", 0, 66, "what on this host is in Volley's way",
	  "Looks at kernel, memory, processors, service addresses and the interfaces IF, or those of "
	  "the configuration: drivers known to be bad, XDP, queues, rings, offloads, MTU, interrupts. For "
	  "each check it says ok, warn, fail or unknown, what is wrong and what to type. Nothing is "
	  "changed. FILE is the configuration, /etc/volley/volley.yaml where it is not given and that "
	  "is there. No daemon is needed; one that runs is asked. Without root, what could not be "
	  "looked at is said. The status is 1 when something will not work." },
	{ "stop", "[--keep]", 0, 1, "stop the daemon",
	  "Stops volleyd as SIGTERM does: what it attached is detached, what it adopted stays. With "
	  "--keep all stays in place, and the driver goes on answering from the cache for the next "
	  "daemon, as long as cache.orphan-serve allows." },
	{ 0 },
};

const struct words_option words_volleyd_options[] = {
	{ "-c", "FILE", "Read the configuration from FILE, see volley.yaml(5). Required." },
	{ "--check", NULL,
	  "Check the configuration, say what is wrong with file, line and key, and exit." },
	{ "--keep", NULL,
	  "At the end leave the XDP programs and the answer cache in place for the next volleyd." },
	{ "-v, --verbose", NULL, "Log everything, what the BPF libraries say included." },
	{ "--version", NULL, "Print the version and exit." },
	{ "--help", NULL, "Print a summary and exit." },
	{ 0 },
};

const struct words_option words_volleyctl_options[] = {
	{ "-s, --socket", "PATH",
	  "Ask the daemon behind this control socket. Default: $" WORDS_SOCKET_ENV
	  ", else " WORDS_SOCKET_PATH "." },
	{ "-j, --json", NULL,
	  "Print the result as JSON, with the daemon's own names and no units." },
	{ "-w, --wait", "SECONDS",
	  "Wait at most that long for the reply. Default: 60, but for zone reload, zone check, cache "
	  "dump, cache load and cache resize as long as they take. What was begun goes on in the daemon." },
	{ "-p, --progress", NULL,
	  "Tell on standard error how far a reload is, twice a second, also when that is no "
	  "terminal." },
	{ "--version", NULL, "Print the version and exit." },
	{ "--help", NULL, "Print a summary and exit." },
	{ 0 },
};

const struct words_exit words_volleyd_exits[] = {
	{ 0, "It ran and was stopped, or the configuration is right (--check)." },
	{ 1, "It could not start; the last line logged says why." },
	{ 2, "The command line or the configuration is wrong." },
	{ -1, NULL },
};

const struct words_exit words_volleyctl_exits[] = {
	{ 0, "The command was carried out." },
	{ 1,
	  "The daemon refused the command or failed; the sentence is on standard error. Of doctor: "
	  "something will not work." },
	{ 2, "The command line is wrong." },
	{ 3, "No daemon was reached." },
	{ -1, NULL },
};

#define COUNTER(name, words) { #name, words },
const struct words_counter words_engine_counters[] = { ENGINE_COUNTERS(COUNTER){ NULL, NULL } };
const struct words_counter words_resolver_counters[] = {
	RESOLVER_COUNTERS(COUNTER){ "outstanding", "now: submitted, and not completed" },
	{ NULL, NULL },
};
const struct words_counter words_responder_counters[] = {
	RESPONDER_COUNTERS(COUNTER){ NULL, NULL },
};
#undef COUNTER

const char *words_reason_key(enum volley_reason reason, char key[WORDS_REASON_BYTES])
{
	static const char *const names[] = {
#define NAME(name, class, words) #name,
		VOLLEY_REASONS(NAME)
#undef NAME
	};
	const char *name = names[reason];
	size_t i;

	for (i = 0; name[i] && i < WORDS_REASON_BYTES - 1; i++)
		key[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	key[i] = '\0';
	return key;
}

const char *words_reason_text(enum volley_reason reason)
{
	static const char *const texts[] = {
#define TEXT(name, class, words) words,
		VOLLEY_REASONS(TEXT)
#undef TEXT
	};

	return texts[reason];
}

const struct words_key *words_find_key(const char *path)
{
	for (const struct words_key *key = words_keys; key->path; key++)
		if (!strcmp(key->path, path))
			return key;
	return NULL;
}

/* How many of ARGV the words of NAME take; 0: they do not open it. */
static int match_words(const char *name, int argc, char *const argv[])
{
	int n = 0;

	while (*name) {
		size_t len = strcspn(name, " ");

		if (n >= argc || strlen(argv[n]) != len || strncmp(argv[n], name, len))
			return 0;
		n++;
		name += len + (name[len] == ' ');
	}
	return n;
}

const struct words_command *words_find_command(int argc, char *const argv[], int *n_words)
{
	const struct words_command *best = NULL;

	*n_words = 0;
	for (const struct words_command *command = words_commands; command->name; command++) {
		int n = match_words(command->name, argc, argv);

		if (n > *n_words) {
			*n_words = n;
			best = command;
		}
	}
	return best;
}

/* Writes VALUE with the largest unit that divides it. */
static void put_unit(uint64_t value, const uint64_t *units, const char *letters, char *buf,
		     size_t cap)
{
	for (size_t i = 0; letters[i]; i++) {
		if (value && value % units[i] == 0) {
			snprintf(buf, cap, "%" PRIu64 "%c", value / units[i], letters[i]);
			return;
		}
	}
	snprintf(buf, cap, "%" PRIu64, value);
}

void words_put_size(uint64_t bytes, char *buf, size_t cap)
{
	static const uint64_t units[] = { 1ull << 40, 1ull << 30, 1ull << 20, 1ull << 10 };

	put_unit(bytes, units, "TGMK", buf, cap);
}

void words_put_seconds(uint64_t seconds, char *buf, size_t cap)
{
	static const uint64_t units[] = { 86400, 3600, 60, 1 };

	put_unit(seconds, units, "dhms", buf, cap);
}

void words_put_ms(uint64_t ms, char *buf, size_t cap)
{
	if (ms % 1000)
		snprintf(buf, cap, "%" PRIu64 "ms", ms);
	else
		words_put_seconds(ms / 1000, buf, cap);
}

/* Writes "a, b or c" for "a|b|c". */
static void put_choices(const char *choices, char *buf, size_t cap)
{
	size_t used = 0;

	buf[0] = '\0';
	while (*choices && used < cap) {
		size_t len = strcspn(choices, "|");
		const char *rest = choices + len;
		const char *glue = "";

		if (*rest)
			glue = strchr(rest + 1, '|') ? ", " : " or ";
		used += (size_t)snprintf(buf + used, cap - used, "%.*s%s", (int)len, choices, glue);
		choices = *rest ? rest + 1 : rest;
	}
}

/* What takes a number: its bounds are written in the unit that the configuration uses. */
static const char *number_format(enum words_type type)
{
	switch (type) {
	case WORDS_COUNT:
		return "a whole number from %s to %s";
	case WORDS_AUTO_COUNT:
		return "auto or a whole number from %s to %s";
	case WORDS_POWER:
		return "a power of two from %s to %s";
	case WORDS_BUDGET:
		return "true, false or a number of packets from %s to %s";
	case WORDS_SIZE:
		return "a size from %s to %s: bytes, or a number with K, M, G or T behind it";
	case WORDS_SECONDS:
		return "a time from %s to %s: seconds, or a number with s, m, h or d behind it";
	case WORDS_MS:
		return "a time from %s to %s: seconds, or a number with ms, s, m, h or d behind it";
	case WORDS_TEXT:
		return "a text of %s to %s bytes";
	case WORDS_OCTETS:
		return "a text of %s to %s bytes, or 0x and the hexadecimal digits of as many";
	case WORDS_CORES:
		return "a list of processor numbers from %s to %s, none of them twice";
	default:
		return NULL;
	}
}

/* What takes no number: one phrase does for all keys of the type. */
static const char *fixed_phrase(enum words_type type)
{
	switch (type) {
	case WORDS_MAP:
		return "keys below it, each on a line of its own";
	case WORDS_MAPS:
		return "a list whose items have keys below them";
	case WORDS_ADDRESSES:
		return "a list of IPv4 or IPv6 addresses, each with @ and a port behind it if not 53";
	case WORDS_PREFIXES:
		return "a list of prefixes with zeros behind them, such as 192.0.2.0/24 or "
		       "\"2001:db8::/32\"";
	case WORDS_UPSTREAMS:
		return "a list of IPv4 or IPv6 addresses, each with @ and a port behind it if not 53; for "
		       "TLS each with # and its name";
	case WORDS_UPSTREAM:
		return "an IPv4 or IPv6 address, with @ and a port behind it if not 53";
	case WORDS_LISTEN:
		return "an IPv4 or IPv6 address with @ and a port behind it, such as 127.0.0.1@9253";
	case WORDS_RECORDS:
		return "a list of records as in a master file, such as \"host.lan. 300 IN A 192.0.2.1\"";
	case WORDS_COMMAND:
		return "a list of a command and its arguments, such as [check-zone, --strict]";
	case WORDS_WORDS:
		return "a list of words, such as [--log-level, pmd:debug]";
	case WORDS_BOOL:
		return "true or false";
	case WORDS_MODE:
		return "file permissions in octal from 0600 to 0777, such as 0660";
	case WORDS_SECRET:
		return "32 hexadecimal digits";
	case WORDS_PATH:
		return "the path of a file";
	case WORDS_SOCKET:
		return "a path of at most 107 bytes";
	case WORDS_DOMAIN:
		return "a domain name, such as example.com";
	case WORDS_INTERFACE:
		return "the name of a network interface, 1 to 15 bytes, such as eth0";
	default:
		return "something else";
	}
}

void words_accepts(const struct words_key *key, char *buf, size_t cap)
{
	const char *format = number_format(key->type);
	char min[24], max[24];

	if (key->type == WORDS_CHOICE) {
		put_choices(key->choices, buf, cap);
		return;
	}
	if (key->type == WORDS_CHOICES) {
		int used = snprintf(buf, cap, "a list, none twice, of ");

		put_choices(key->choices, buf + used, cap - (size_t)used);
		return;
	}
	if (!format) {
		snprintf(buf, cap, "%s", fixed_phrase(key->type));
		return;
	}
	if (key->type == WORDS_SIZE) {
		words_put_size(key->min, min, sizeof(min));
		words_put_size(key->max, max, sizeof(max));
	} else if (key->type == WORDS_SECONDS) {
		words_put_seconds(key->min, min, sizeof(min));
		words_put_seconds(key->max, max, sizeof(max));
	} else if (key->type == WORDS_MS) {
		words_put_ms(key->min, min, sizeof(min));
		words_put_ms(key->max, max, sizeof(max));
	} else {
		snprintf(min, sizeof(min), "%" PRIu64, key->min);
		snprintf(max, sizeof(max), "%" PRIu64, key->max);
	}
	snprintf(buf, cap, format, min, max);
}
