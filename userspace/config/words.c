/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words about commands, options, exit codes and counters; numbers with units. Keys: words_*.c. */
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
	  "Shows whether the daemon is starting, serving or stopping, each interface with the XDP "
	  "mode "
	  "and port in use and why, the zones, how upstreams are asked and how many questions wait "
	  "for them, and the fill of the cache. What does not work as configured is listed as "
	  "degraded, each in a sentence." },
	{ "stats", "", 0, 0, "who answered how much, and every counter",
	  "Shows how many answers the driver, the workers, the kernel sockets and TCP gave, then "
	  "the "
	  "counters of the XDP program by reason, of the engine by response code, of "
	  "transfers, NOTIFY and UPDATE, of the resolver where there is one, and of each port. "
	  "In the driver, received is always the sum of hit, up, passed and dropped." },
	{ "zone list", "", 0, 0, "every zone with its state and serial",
	  "Lists the zones of the configuration and the members of catalogs. A zone whose last "
	  "file was refused but which still serves the "
	  "one before is stale and shows the error beside the state. One whose file is being "
	  "loaded "
	  "is loading, with how far that is; serial and records are those of the version that "
	  "serves "
	  "meanwhile. What answers SERVFAIL is failed: its file does not load and nothing was "
	  "served "
	  "before; awaited: none of its primaries has given it yet; or expired: none could be "
	  "asked for "
	  "longer than its SOA record allows." },
	{ "zone reload", "[NAME]", 0, 1, "read zone files again, all or one",
	  "Reads the file of the zone NAME and puts it in place without a gap. Without NAME, reads "
	  "the "
	  "configuration, puts in place what it says of zones, clients and recursion, and reads "
	  "every "
	  "zone's file, as SIGHUP does; members of catalogs follow their templates, and their "
	  "files are "
	  "read again where these name others. Keys that were changed and need a new start are "
	  "told as "
	  "warnings. A "
	  "broken file is refused with file and line, and the zone keeps serving what it had; "
	  "the status is 1 then, all else is in force, and the sentence says so. When "
	  "the command returns, no CPU gives an answer of the old zone. Files are read in the "
	  "background, whoever ends the command does not end that, and on a terminal a line tells "
	  "how "
	  "far it is. The file is opened after the command was given: if the zone is being loaded "
	  "already, it is loaded once more behind that. Without NAME the zones are put in place "
	  "all "
	  "at once, when the last of them is loaded. Of a zone's cached answers those that changed "
	  "are "
	  "withdrawn. The others stay, negative ones with the SOA record that they have if nothing "
	  "of "
	  "it but the serial number changed. Where too much changed, or it cannot be told what, "
	  "all "
	  "are withdrawn." },
	{ "zone status", "[NAME]", 0, 1, "one zone in full",
	  "Shows the zone NAME, or every zone: serial, records, names, memory, when it was loaded "
	  "and "
	  "in what time, and the last error. While a file is loaded also the stage (waiting, "
	  "reading, "
	  "building, verifying, loaded), the share of the text that is read, its records so far, "
	  "and "
	  "the time since it began. Of the last change how many names it was about and how many "
	  "answers were withdrawn from the cache, or why all were." },
	{ "zone check", "NAME FILE", 2, 2, "check a zone file, serve nothing",
	  "Reads FILE as the zone NAME would be read and says what is wrong, with file and line. "
	  "volleyctl does it by itself, with the rights of who calls it, and needs no daemon. "
	  "Nothing that is "
	  "served changes, and the command of zones[].verify is not run." },
	{ "zone edit", "NAME add|remove RECORD...", 2, 4096,
	  "change records of a zone that is served",
	  "Changes the zone NAME. 'add OWNER [TTL] TYPE RDATA' adds a record, 'remove OWNER [TYPE "
	  "[RDATA]]' takes away one, all of a type, or all of a name; owners without a last dot "
	  "are "
	  "relative to the zone, @ is the zone itself. Several changes are made together when each "
	  "is one argument in quotes. Unless the SOA record was changed, the serial number grows "
	  "by one. "
	  "The change goes to the journal in server.storage, not to the zone's file; when the "
	  "command "
	  "returns it would survive a crash, and no CPU gives an answer from before. Only zones "
	  "without "
	  "primaries can be changed." },
	{ "zone refresh", "NAME", 1, 1, "ask the primaries whether there is something newer",
	  "Asks the primaries of the zone NAME for their serial number now, and transfers what is "
	  "newer." },
	{ "zone retransfer", "NAME", 1, 1, "transfer the whole zone anew",
	  "Asks the primaries of the zone NAME for the whole zone, newer or not." },
	{ "zone notify", "NAME", 1, 1, "tell the secondaries of a zone",
	  "Sends NOTIFY to all whom zones[].notify names for the zone NAME." },
	{ "zone flush", "[NAME]", 0, 1, "write zone files that lack changes",
	  "Writes the file of the zone NAME, or of each zone that was changed since its file was "
	  "written or read, in the background. When the command returns, they are written; else it "
	  "says which could not "
	  "be, and status says so until one is. What was written there by hand, order and "
	  "comments, is "
	  "lost." },
	{ "zone ds", "NAME", 1, 1, "the DS records that the parent is to have",
	  "Shows the DS records (SHA-256) of the keys that the zone NAME is or will be secured by, "
	  "to be "
	  "entered at the parent." },
	{ "zone keys", "NAME", 1, 1, "the keys of a zone that is signed here",
	  "Shows each key of the zone NAME with its role, its tag, and the times at which it was "
	  "made, "
	  "published, began and ended to sign, and was or will be removed." },
	{ "zone rollover", "NAME ROLE", 2, 2, "replace a key of a zone that is signed here",
	  "Begins to replace the key of the zone NAME in this ROLE, zsk, ksk or csk, by a new one "
	  "(RFC 7583). That of a ksk or csk waits for zone ds-seen." },
	{ "zone ds-seen", "NAME", 1, 1, "the parent has the DS of the new key",
	  "Says that all servers of the parent of the zone NAME have the DS records of the keys "
	  "that "
	  "wait for them, so that the rollover goes on." },
	{ "cache stats", "[-n N]", 0, 2, "what the answer cache holds, its memory and turnover",
	  "Shows the budget and the memory in use, with the maps that the driver reads, the number "
	  "of "
	  "entries, and how many were published, replaced, evicted, refused and expired. Then "
	  "what share of the queries for it driver and workers found, and the driver's share of "
	  "all "
	  "answers. Then entries and bytes by type, by kind of answer, by zone (the N that take "
	  "most, "
	  "10 if nothing is said) and by variant (view, DO, CD), and their ages. The cache is "
	  "looked "
	  "through in the background; medians are at most a 32nd too low." },
	{ "cache lookup", "NAME [TYPE]", 1, 2, "the cached answers for a name",
	  "Shows every answer that the cache holds for NAME, or for NAME and TYPE: with and "
	  "without DO "
	  "and CD, in which view (public: for everyone; recursive: from upstream, for clients that "
	  "may "
	  "recurse; private: of our zones, for those of server.allow), its state, age and sizes "
	  "with and "
	  "without optional records, how often it was used since it was written (3 stands for "
	  "more, "
	  "too), in which queue it is, and its records. The TTLs of what came from upstream are "
	  "what is "
	  "left of them. Of a name that has none it tells what the driver says to its queries: by "
	  "the filter "
	  "of names (cache.names in volley.yaml(5)) it denies the name, or the query goes up, and "
	  "why." },
	{ "cache flush", "NAME [TYPE] | WHICH", 0, 2, "withdraw cached answers",
	  "Withdraws the answers for NAME, or for NAME and TYPE, or those that WHICH tells, and "
	  "says "
	  "how many these were. WHICH is --subtree NAME for NAME and all names below it, or --zone "
	  "ZONE "
	  "for what comes from this zone, or --type TYPE for the answers to all queries of a type. "
	  "It is "
	  "--negative for those that say that there is nothing (NODATA and NXDOMAIN), and --all "
	  "for "
	  "every one. When the command returns, no CPU gives a withdrawn answer. What is asked "
	  "meanwhile is answered and cached anew. Answers from upstream are flushed alike, and, "
	  "but "
	  "by --zone, the resolver forgets what it knows itself; questions that wait for upstreams "
	  "are asked again." },
	{ "cache top", "[-n N] [--by name|type|zone]", 0, 4, "what is asked for most",
	  "Shows the N names, types or zones that driver and workers answer most, 10 if nothing is "
	  "said, "
	  "with their share of all answers. They are estimates: where there is much to answer, one "
	  "of "
	  "256 answers is looked at, and counters are kept for 1024 names. The true share is "
	  "within "
	  "the error 95 times of 100. What was asked 5 minutes ago counts half." },
	{ "top", "[--once] [--by VIEW] [-n N]", 0, 5, "who asks, and for what, in these seconds",
	  "Shows on a terminal, each second anew, answers per second with those of the last 60 "
	  "seconds, who answered, and one of these views: clients by prefix "
	  "(IPv4 /24, IPv6 /48), names, types, response codes, zones, and the prefixes that are "
	  "over their limit. The keys c, n, t, r, z and "
	  "l choose the view, the space bar stops and goes on, ? shows the keys, q ends it. Clients and names are "
	  "estimates: of about 8,000 answers in a second, drawn at "
	  "random by driver and workers, what came 5 seconds ago counts half, and the true share "
	  "is within the error 95 times of 100. All else is counted. "
	  "Answers are drawn until 10 seconds after the last look; dnstap and query-log get what "
	  "they get otherwise. Without a terminal, "
	  "or with --once, one view is printed after two seconds; with --json all of them. VIEW is "
	  "clients, names, types, rcodes, zones or limited; N is "
	  "how many rows there are at most, 20 if nothing is said and there is no terminal." },
	{ "capture", "[FILTER] [-n COUNT] [-t SECONDS] -w FILE", 2, 14,
	  "queries and answers over UDP as a pcap file",
	  "Writes queries and answers over UDP, those of the driver included, which tcpdump does "
	  "not see, to FILE, readable by tcpdump -r; - is standard output. "
	  "It ends after COUNT packets, 10,000 if nothing is said, after SECONDS, 60 if nothing is "
	  "said, and by SIGINT or SIGTERM; then packets, and how many were lost since there was no "
	  "room, are told on standard error. FILTER is name NAME (NAME and all below it), type "
	  "TYPE, client PREFIX, rcode RCODE, or several of them, each once, which "
	  "must all hold. IP and UDP headers are made anew; the query of an answer by the driver "
	  "is made of the answer, so other EDNS options than DO are "
	  "missing. Answers over TCP and TLS are left out, and counted. FILE is for its owner "
	  "alone (mode 0600), and overwritten. One capture runs at a time; "
	  "each answer is told while it does, which costs the driver a third of its hits per "
	  "second at most. Packets of the driver and of the workers may be out of order by some "
	  "milliseconds; their times are right." },
	{ "cache dump", "FILE", 1, 1, "write the cached answers to a file",
	  "Writes every valid answer to FILE, in the background; queries are answered meanwhile. "
	  "FILE is "
	  "replaced when the whole is on the disk, and only if it was a snapshot before. Zones "
	  "that "
	  "change meanwhile are left out. volleyctl opens FILE, so it belongs to the user who "
	  "gives the command (mode 0600)." },
	{ "cache load", "FILE", 1, 1, "take answers back from a file",
	  "Reads what cache dump wrote, in the background. The whole file is checked first: of one "
	  "that is "
	  "cut, altered or of another version nothing is loaded. An answer is loaded when its zone "
	  "is "
	  "served with the very content and settings that it had (else it counts as other "
	  "content), "
	  "when it has not expired, and when there is no valid answer for the same question. "
	  "Answers "
	  "that were in use come first, for the case that there is not room for all. FILE must "
	  "belong "
	  "to root or the user of volleyd, and be writable to nobody else. After a reboot the wall "
	  "clock says how old the file is; if it has gone back, what expires is not loaded." },
	{ "cache resize", "SIZE", 1, 1, "give the answer cache another size, in use",
	  "Gives the cache the budget SIZE, written as cache.size in volley.yaml(5), larger or "
	  "smaller, "
	  "while driver and workers go on answering from it. The answers are copied to a new cache "
	  "in "
	  "the background, those that are asked most first; what has no room is left out, what is "
	  "asked least before the rest. Then workers and XDP programs take the new one, and the "
	  "memory "
	  "of the old one is given back. Until then both budgets are in use: the command is "
	  "refused "
	  "where there is not so much memory available. cache stats says how far it is. Snapshots "
	  "wait "
	  "meanwhile. The configuration is not changed: after a restart, and when another "
	  "cache.size is "
	  "read by a reload, the cache is resized to that." },
	{ "names", "", 0, 0, "the driver's filter of names that exist",
	  "Shows the size of the filter that cache.names in volley.yaml(5) gives the driver; how "
	  "many names the zones have, how many "
	  "were added to it since it began, and how many of the names in it no zone has any more "
	  "(their queries go to "
	  "workers); which share of its bits is set, and of names that do not exist which share it "
	  "knows by mistake, so that a "
	  "worker answers; how often it was rebuilt, and how long the last time took. It is "
	  "rebuilt by itself when a quarter "
	  "of its names has gone or mistakes are many, once in 10 minutes at most. "
	  "answers_compared are answers "
	  "of the driver for many names that workers have compared with the zone's, record by "
	  "record; answers_undecided those that "
	  "could not be judged, since a zone was changing at that moment; answers_wrong those that "
	  "differed; denials_wrong names that exist and that the "
	  "filter did not know. zones_not_denied are zones for which the driver denies nothing "
	  "since then, and why: the filter "
	  "lacked a name, or an answer had other octets." },
	{ "names rebuild", "", 0, 0, "begin the filter of names anew",
	  "Begins a new filter of the names that the zones have now. Until it has all of them, the "
	  "driver denies nothing, and control "
	  "does nothing else. Zones in zones_not_denied are denied again." },
	{ "rrl status", "", 0, 0, "the rate limits in force, and how many prefixes are over them",
	  "Shows what rrl in volley.yaml(5) says, how many prefixes of clients are over their "
	  "limit now, and how many "
	  "packets over a limit were of prefixes for which the list of 1024 had no place. Their "
	  "counters are "
	  "in stats." },
	{ "rrl top", "[-n N]", 0, 2, "which prefixes are over their limit",
	  "Lists the N prefixes of clients, 10 if nothing is said, that are over their limit or "
	  "were in the last 10 "
	  "seconds, those first of which most answers are withheld: since when, how many in the "
	  "last second, and "
	  "how many were sent with TC=1 or as BADCOOKIE, or dropped, since the prefix was "
	  "listed." },
	{ "policy list", "", 0, 0, "response policy zones and local data, each with its state",
	  "Lists recursion.local-data and each of recursion.rpz with its state, how many rules it "
	  "has, how many "
	  "are ignored (prefixes that cannot be read, and CNAMEs to names rpz-... that are no "
	  "known "
	  "action), how often a rule has changed what a worker answered (what the cache says again "
	  "is not counted), when it was loaded, its file or zone and what was wrong with the last "
	  "load. The state is serving; stale: the file "
	  "does not load, or its zone is not served any more, and the version before is in force; "
	  "or failed: it does not load, and none was loaded since the "
	  "start, so nothing is filtered by this list. Status, health and metrics tell of the last "
	  "two." },
	{ "resolver lookup", "NAME [TYPE]", 1, 2,
	  "why a name of others is answered as it is, or fails",
	  "Shows what answers before upstream is asked for NAME, or for NAME and TYPE (A where "
	  "there is none): a zone served here, local data, a policy "
	  "with its list and rule, or a special name. Then where upstream would be asked (forward, "
	  "forward zone, stub, or from the root "
	  "down) and what is known there, as resolver infra shows it; which trust anchors of the "
	  "files hold for the name, "
	  "and whether a negative one (recursion.domain-insecure, a special name) is nearer; the "
	  "last failures with the "
	  "reason, as the log has it, and the extended error; and the cached answers, as cache "
	  "lookup, without their records but with --json. "
	  "Nothing is asked for it. Rules for clients and for addresses in answers are left out. "
	  "Of failures "
	  "the last 256 or fewer of each resolver thread are known, since that resolver began: a "
	  "reload that changes upstreams and cache "
	  "flush begin another one. Refusals for a limit of clients are not among them, nor are "
	  "questions with CD that got a bogus answer." },
	{ "resolver infra", "", 0, 0, "the upstreams and what the resolver knows of them",
	  "Where Volley's own forwarder asks: each upstream, for each resolver thread, since these "
	  "learn by themselves. The state is well; silent: the "
	  "last query got no reply in time; failing: the last 16 replies were SERVFAIL, REFUSED or "
	  "the like; down: silent to 8 queries or more for half a "
	  "second; or not asked yet. Then the smoothed round trip, the questions under way, the "
	  "queries sent, and of these how many got an answer, "
	  "a failure or no reply in time; whether EDNS is used; the DNS cookie (known, none, "
	  "refused, not used); "
	  "whether the letter case of names is kept (caps); and the TCP or TLS connection. Where "
	  "libunbound asks, it tells "
	  "nothing of single servers: there is a row for each stub and forward zone and one (.) "
	  "for all other names, with the questions that began there, "
	  "those still under way, answered by servers, known without asking, bogus and failed, the "
	  "clients that waited to their deadline, and the mean time of "
	  "an answer. The names of other columns are in JSON. Values of a row may be some "
	  "microseconds apart." },
	{ "block add", "WHAT [--for TIME] [--action ACTION] [--why TEXT]", 1, 7,
	  "do not answer a prefix of clients, a name or a type",
	  "Blocks WHAT on every way in, at once: a prefix of clients (192.0.2.0/24) or an address, "
	  "a "
	  "name with all below it (example.com; a top-level domain with its dot, mx.), or a type "
	  "(ANY). TIME is "
	  "written as 90s, 10m, 12h or 7d; without it the block holds until it is removed. ACTION "
	  "is drop "
	  "if nothing is said; or refuse, truncate, up or allow: see BLOCKS in volley.yaml(5). "
	  "What is blocked "
	  "already gets this time, action and reason. It survives a restart of volleyd where there "
	  "is "
	  "server.storage; else the reply says that it is not kept." },
	{ "block remove", "WHAT", 1, 1, "end a block",
	  "Ends what block add has begun. Where a list of policy.block has WHAT as well, it holds "
	  "again." },
	{ "block list", "[-n N]", 0, 2, "what is blocked, and how many packets that has met",
	  "Shows each list of policy.block with the number of its blocks and of lines that are "
	  "none, and the first N, "
	  "1000 if nothing is said, of the blocks that commands have set: how long they hold, why, "
	  "and how many "
	  "packets each has met. Those of a list are counted together." },
	{ "cookies", "", 0, 0, "the secrets of DNS cookies: how many, since when",
	  "Lists the secrets that DNS cookies are made with and accepted by: the active one first, "
	  "each with "
	  "a digest of 8 digits, which is the same on all hosts that have the secret, never the "
	  "secret "
	  "itself, since when it is active or only accepted, and its file. It says whether volleyd "
	  "makes "
	  "them or the configuration gives them, where they are kept, and when the next one is "
	  "due." },
	{ "cookies rotate", "", 0, 0, "a new secret for DNS cookies",
	  "Makes a new secret, which makes cookies from now on, where volleyd makes its own "
	  "(server.cookies in volley.yaml(5)). Cookies of the one before are accepted for an hour, "
	  "which is as "
	  "long as any cookie is, but of four secrets at most. When the command returns, no worker "
	  "and no "
	  "CPU makes a cookie with an earlier secret. Where the configuration gives the secrets it "
	  "is "
	  "refused: change them there, and reload; docs/fleet.md says how, for several servers." },
	{ "attach", "IF", 1, 1, "start answering on an interface",
	  "Loads the XDP program on the interface IF, or adopts it when it is there already, and "
	  "opens "
	  "ports. The interface need not be in the configuration; what is configured for it "
	  "holds." },
	{ "detach", "IF", 1, 1, "stop answering on an interface",
	  "Closes the ports of the interface IF and removes the XDP program, also one that was "
	  "adopted. "
	  "Kernel sockets go on answering, and the cache is kept for attach. An interface that the "
	  "configuration names is out of service then, for volleyctl health; of one that only "
	  "attach has "
	  "brought nothing stays." },
	{ "port status", "", 0, 0, "every port: queue, core, mode and counters",
	  "Lists the ports, one line for each queue, with the core that serves it, whether frames "
	  "are "
	  "copied, and what was received, sent, tried again and dropped." },
	{ "port queues", "IF N|auto", 2, 2, "how many queues of an interface have AF_XDP sockets",
	  "Serves the queues of the interface IF below N by AF_XDP, as interfaces[].queues does, "
	  "and no "
	  "others, until volleyd ends; with auto, all that it has. What arrives on the others goes "
	  "to "
	  "kernel sockets, and nothing is lost. The kernel takes no queue away that has such a "
	  "socket: "
	  "before ethtool -L gives the interface fewer queues, say how many are to be left, and "
	  "auto "
	  "when it has been done. More queues are noticed by themselves. A driver that changes "
	  "none "
	  "while there is a program (virtio_net) wants detach before, and attach after it." },
	{ "doctor", "[--config FILE] [IF...]", 0, 66, "what on this host is in Volley's way",
	  "Looks at kernel, memory, processors, service addresses and the interfaces IF, or those "
	  "of "
	  "the configuration: drivers known to be bad, XDP, queues, rings, offloads, MTU, "
	  "interrupts. For "
	  "each check it says ok, warn, fail or unknown, what is wrong and what to type. Nothing "
	  "is "
	  "changed. FILE is the configuration, /etc/volley/volley.yaml where it is not given and "
	  "that "
	  "is there. No daemon is needed; one that runs is asked. Without root, what could not be "
	  "looked at is said. The status is 1 when something will not work." },
	{ "health", "[OPTION...]", 0, 128, "whether queries may be sent to this host",
	  "Says healthy, or why not, a reason a line, and warns of what else is not as configured; "
	  "the status "
	  "is 0, 1, or 3 where no daemon replies in 5 seconds (-w). For what announces the service "
	  "addresses: see "
	  "docs/fleet.md. A reason is: volleyd is starting or stopping; the host is drained; a "
	  "worker has not "
	  "gone round its loop for 3 seconds; a service address that the host does not have; a "
	  "zone that is not served (one that is added to a host which had all once only warns "
	  "until it has come "
	  "from its primary); an interface that is gone, was detached, or does not have our "
	  "program, and, with port: xsk or dpdk, one whose queues lack sockets; a response policy "
	  "zone, local data "
	  "or a list of policy.block that did not load at the start, so that nothing is filtered "
	  "by it. A step down from native "
	  "to generic, or from zero-copy to copies or kernel sockets, is a warning, and so is a "
	  "zone, a policy or a list "
	  "of which an earlier version is in use. The options are --zones all|any|none, "
	  "--interfaces all|any|none and --policies all|any|none: how many have to be well, all if "
	  "nothing is said; --ignore NAME: not "
	  "this zone or policy, given as often as needed; --strict: warnings are reasons; --probe "
	  "NAME[/TYPE]: "
	  "asks each service address by UDP, for the SOA record if there is no TYPE, and expects "
	  "NOERROR and an answer, so that sockets, workers and zones are seen to work "
	  "(server.allow "
	  "has to allow the host itself)." },
	{ "drain", "[on [WHY] | off]", 0, 2, "take this host out of service, or back",
	  "With on, volleyctl health gives drained as a reason, with WHY, until drain off; queries "
	  "are "
	  "answered as before. So whoever announces the service addresses takes them back, and "
	  "nothing is lost. It is kept beside the control socket, and holds for the next volleyd "
	  "with the same one, until a reboot. Without an argument it is told." },
	{ "config show", "[--effective]", 0, 1, "the configuration that volleyd has read",
	  "Shows the configuration as volleyd has read it last, as YAML that it would read again; "
	  "with --json as an object, whose values "
	  "are texts. Files of include are joined. With --effective each key that has a default is "
	  "there, too: the comment "
	  "behind it is default, or template and its name; with --json these are in origins. "
	  "Secrets are not shown: (secret) stands for "
	  "them. Keys that were changed and need a new start are listed first. Up to 10000 zones "
	  "--effective can be asked for." },
	{ "config diff", "FILE", 1, 1, "what a reload with another file would change",
	  "Reads FILE as if it stood where the configuration is, checks it as volleyd --check "
	  "does, but for storage, policies and "
	  "limits of the process, and lists each key that it would change, and whether that needs "
	  "a new start. Items of lists "
	  "are named by their name, and what was added to or removed from a list is told one by "
	  "one. Values that say the same in "
	  "another way (300 and 5m, a default that is written out) are no change. Nothing is "
	  "changed. volleyctl reads FILE; volleyd reads what FILE includes. For root and the user "
	  "of volleyd." },
	{ "config apply", "FILE", 1, 1, "put another configuration in place",
	  "Checks FILE as config diff does, then reloads with it. If that is accepted the file of "
	  "the configuration is replaced by "
	  "the text of FILE, at once, with the mode and the owner that it has; if it is not, this "
	  "says why, and volleyd and the file are as before. "
	  "Shows what has changed. Zone files and lists are read behind that, as by zone reload, and "
	  "the command waits for them: with status 1 it lists under failed what is not in force, "
	  "while all else is. volleyctl "
	  "replaces the file, so who calls it must be allowed to write in its folder. What include "
	  "names is read, not replaced. Of two at once the later one is refused; signals that "
	  "would end it wait until the file is replaced." },
	{ "log level", "[LEVEL]", 0, 1, "which lines the log has, or from now on",
	  "Shows the level of the log, and its form. With LEVEL, one of error, warning, notice, "
	  "info and debug, sets it: lines of this level "
	  "and of more important ones are written from now on. It holds until volleyd ends, or "
	  "until a reload finds another word in log.level in "
	  "volley.yaml(5)." },
	{ "log reopen", "", 0, 0, "open the query log anew, after it was renamed",
	  "Opens query-log.file and dnstap.file anew if their names no longer lead to the open "
	  "files: for programs that rotate logs. The configuration is not read. SIGUSR1 does the "
	  "same. If the query log cannot be opened, lines go on to the file that is open." },
	{ "import", "FILE [--from KIND] [-o OUTPUT]", 1, 5,
	  "the configuration of another name server as a volley.yaml",
	  "Reads FILE, the configuration of nsd, knotd, named or unbound, with all files that it "
	  "includes, and prints what is the same in "
	  "volley.yaml(5). KIND is nsd, knot, named or unbound; without it the name of the file "
	  "tells, or what is in it. Each option that is not carried over as it is has a line on "
	  "standard error, with file and line, those of most weight first: see IMPORT. The status "
	  "is 0 if all is carried over, 3 if only options were left out that no client notices, "
	  "and 1 if something has to be decided before volleyd starts, or if FILE cannot be read. "
	  "TSIG keys and other secrets are "
	  "printed as they are: with -o the file OUTPUT is written "
	  "instead, readable for its owner alone (mode 0600). No daemon is needed, but python3." },
	{ "stop", "[--keep]", 0, 1, "stop the daemon",
	  "Stops volleyd as SIGTERM does: what it attached is detached, what it adopted stays. "
	  "With "
	  "--keep all stays in place, and the driver goes on answering from the cache for the next "
	  "daemon, as long as cache.orphan-serve allows." },
	{ 0 },
};

const struct words_option words_volleyd_options[] = {
	{ "-c", "FILE",
	  "Read the configuration from FILE, see volley.yaml(5). Default: " VOLLEY_CONFIG "." },
	{ "--check", NULL,
	  "Check the configuration, say what is wrong, with file, line and key where it is in the "
	  "file, and exit. Files that it "
	  "names are read as at a start: root hints, trust anchors, certificates and keys, "
	  "policies, lists of blocks. What "
	  "a start would do without (a policy, a list or the file of a zone that cannot be read) "
	  "is a warning; zone files are not "
	  "read to their end: --zones does that. A file of the configuration that has secrets, and "
	  "server.tls.key, are warnings "
	  "where everyone can read or write them. Sockets, interfaces and what another volleyd has "
	  "open are left for "
	  "the start." },
	{ "--strict", NULL, "With --check: the status is 1 where there is a warning." },
	{ "--zones", NULL,
	  "With --check: load the file of each zone, several at a time, and print each mistake "
	  "with file and line; the status is 1 if "
	  "there is one. Journals, keys and commands of zones[].verify are left alone." },
	{ "--keep", NULL,
	  "At the end leave the XDP programs and the answer cache in place for the next volleyd." },
	{ "--schema", NULL,
	  "Print a JSON schema of the configuration and exit. With it an editor completes keys and "
	  "marks mistakes; see EDITORS in volley.yaml(5)." },
	{ "-v, --verbose", NULL, "Log everything, what the BPF libraries say included." },
	{ "--version", NULL,
	  "Print the version, and of each library the one that was there at the build and the one that "
	  "runs, and exit." },
	{ "--help", NULL, "Print a summary and exit." },
	{ 0 },
};

const struct words_option words_volleyctl_options[] = {
	{ "-s, --socket", "PATH",
	  "Ask the daemon behind this control socket. Default: $" WORDS_SOCKET_ENV
	  ", else " WORDS_SOCKET_PATH "." },
	{ "-j, --json", NULL,
	  "Print the result as JSON, with the daemon's own names and no units. What failed is an "
	  "object with "
	  "\"error\", a sentence, and perhaps \"code\", on standard output." },
	{ "-w, --wait", "SECONDS",
	  "Wait at most that long for the reply. Default: 60, for health 5, but for zone reload, "
	  "cache "
	  "dump, cache load and cache resize as long as they take. What was begun goes on in the "
	  "daemon." },
	{ "-p, --progress", NULL,
	  "Tell on standard error how far a reload is, twice a second, also when that is no "
	  "terminal." },
	{ "--version", NULL, "Print the version and exit." },
	{ "-h, --help", NULL, "Print a summary and exit." },
	{ 0 },
};

const struct words_exit words_volleyd_exits[] = {
	{ 0, "It ran and was stopped, or it would start (--check)." },
	{ 1, "It could not start, or would not (--check); the last line logged says why." },
	{ 2, "The command line or the configuration is wrong." },
	{ -1, NULL },
};

const struct words_exit words_volleyctl_exits[] = {
	{ 0, "The command was carried out." },
	{ 1,
	  "The daemon refused the command or failed; the sentence is on standard error. Of doctor: "
	  "something will not work. Of health: the host is not healthy. Of import: something was "
	  "left out." },
	{ 2, "The command line is wrong, or an argument cannot be read." },
	{ 3, "No daemon was reached; of health also: it did not reply in time." },
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

/* The number of words of NAME if ARGV begins with them; otherwise 0. */
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
