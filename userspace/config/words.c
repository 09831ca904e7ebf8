/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words about commands, options, exit codes and counters; numbers with units. Keys: words_*.c. */
#include "config/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/fault_list.h"
#include "engine/engine.h"
#include "resolver/resolver_counters.h"
#include "worker/responder.h"

const struct words_command words_commands[] = {
	{ "status", "", 0, 0, "what runs, on which interfaces, and what is degraded",
	  "Shows whether volleyd is starting, serving or stopping. "
	  "For each interface it shows the XDP mode and the port in use, with the reason. "
	  "It also shows the zones, how upstreams are asked, how many questions wait for them, "
	  "and how full the cache is. "
	  "Under degraded it lists everything that is not as configured, a sentence each." },
	{ "stats", "", 0, 0, "who answered how much, and every counter",
	  "Shows how many answers the driver, the workers, the kernel sockets and TCP gave. "
	  "Then it shows the counters: of the XDP program by reason, of the engine by response "
	  "code, of transfers, NOTIFY and UPDATE, of the resolver if there "
	  "is one, and of each port. "
	  "In the driver, received is always the sum of hit, up, passed and dropped." },
	{ "zone list", "[PATTERN] [OPTION...]", 0, 8, "zones with their states and serials",
	  "Lists the zones of the configuration, the members of catalogs, and the zones that "
	  "zone add has added, in the canonical order of their names. "
	  "Origin says where a zone comes from. "
	  "PATTERN chooses names: * stands for any characters, ? for one, as in '*.example.com'. "
	  "--state STATE lists only zones in this state: serving, stale, loading, failed, awaited "
	  "or expired. "
	  "--limit N lists at most N zones. "
	  "--after NAME lists only zones that come after this name, so that a long list can be "
	  "read in parts: with --json, next is the name for the next part. "
	  "NAME need not be a zone. "
	  "--names prints only names, one on each line. "
	  "Of many zones the first are printed at once, and volleyd does not wait for the reader. "
	  "With --json-lines each zone is an object on a line of its own; with --json "
	  "the zones are an array. "
	  "A zone is stale if its last file was refused and the version before is still served; "
	  "the error is beside the state. "
	  "A zone is loading while its file is loaded, with the progress; serial and records "
	  "are those of the version that is served. "
	  "These states answer SERVFAIL: failed, the file does not load and nothing was served "
	  "before; awaited, no primary has given the zone yet; expired, no primary could be "
	  "asked for longer than the SOA record allows." },
	{ "zone reload", "[NAME]", 0, 1, "read zone files again, all or one",
	  "Reads the file of the zone NAME and puts it in place without a gap. "
	  "Without NAME, reads the configuration, puts zones, clients and recursion in place, "
	  "and reads the zone files that have changed, as SIGHUP does. "
	  "Members of catalogs follow their templates; their files are read again if "
	  "the templates name others. "
	  "Changed keys that need a new start are listed as warnings. "
	  "A broken file is refused with file and line, and the version before is served; the "
	  "status is then 1, the rest is in force, and the message says so. "
	  "When the command returns, no CPU gives an answer of the old zone. "
	  "Files are read in the background. "
	  "Ending the command does not end the reload. "
	  "On a terminal a line shows the progress. "
	  "The file is opened after the command was given: a zone that is being loaded at that "
	  "moment is loaded once more. "
	  "Without NAME, all zones are put in place together when the last one is loaded. "
	  "Of the cached answers of a zone only the changed ones are withdrawn. "
	  "Negative answers stay with their SOA record if only its serial number has changed. "
	  "If too much has changed, or if the differences are not known, all answers "
	  "of the zone are withdrawn." },
	{ "zone status", "[NAME]", 0, 1, "one zone in full",
	  "Shows the zone NAME, or every zone: serial, records, names, memory, time and "
	  "duration of the last load, and the last error. "
	  "While a file is loaded it also shows the stage (waiting, reading, building, "
	  "verifying, loaded), the share of the text that is read, the records so far, and the "
	  "time since the load began. "
	  "Of the last change it shows how many names it touched and how many answers were "
	  "withdrawn from the cache, or why all of them were." },
	{ "zone check", "NAME FILE", 2, 2, "check a zone file, serve nothing",
	  "Reads FILE as the file of the zone NAME, and prints each mistake with file and line. "
	  "volleyctl does this by itself, with the rights of its user, and needs no daemon. "
	  "Nothing that is served changes, and the command of zones[].verify is not run." },
	{ "zone edit", "NAME add|remove RECORD...", 2, 4096,
	  "change records of a zone that is served",
	  "Changes the zone NAME. 'add OWNER [TTL] TYPE RDATA' adds a record. "
	  "'remove OWNER [TYPE [RDATA]]' removes a record, all records of "
	  "a type, or all of a name. "
	  "Owners without a last dot are relative to the zone; @ is the zone itself. "
	  "Several changes are made together if each is one argument in quotes. "
	  "The serial number grows by one, unless the SOA record was changed. "
	  "The change goes to the journal in server.storage and not to the zone's file. "
	  "When the command returns, the change survives a crash, and no CPU "
	  "gives an answer from before. "
	  "Only zones without primaries can be changed." },
	{ "zone add", "NAME|--batch FILE [--template T] [--file F]", 1, 4096,
	  "serve another zone, without a line in the configuration",
	  "Serves the zone NAME with the settings of the template T, or of the template with the "
	  "name default. "
	  "Its file is where the template says. --file names another one, by its absolute path; "
	  "only root and the user of volleyd may give it, and volleyd opens it with the rights "
	  "of its own user. "
	  "control.zones-add lists the templates that other users may give. "
	  "The zone is kept in server.storage: reloads and restarts keep it, and follow a "
	  "template that has changed. "
	  "When the command returns, the zone is answered for, and survives a crash. "
	  "A zone whose file does not load is refused; a zone with primaries need not have been "
	  "transferred yet. "
	  "If the configuration names the zone, too, the settings there are used. "
	  "--batch reads names from FILE, or with - from standard input, one in each line, and "
	  "prints 'added NAME' for each zone, as soon as it is answered for and survives a crash. "
	  "If one of several zones is refused, the others are added, and the status is 1." },
	{ "zone remove", "NAME|--batch FILE", 1, 4096,
	  "end the service of a zone that zone add has added",
	  "Ends the service of the zone NAME, and forgets its journal. "
	  "The file of the zone stays, unless volleyd has made it in server.storage. "
	  "When the command returns, no CPU gives an answer of the zone, and it does not come "
	  "back at the next start. "
	  "A zone of the configuration or of a catalog is refused: remove it from there. "
	  "--batch works as for zone add, and prints 'removed NAME'." },
	{ "zone refresh", "NAME", 1, 1, "ask the primaries whether there is something newer",
	  "Asks the primaries of the zone NAME for their serial number now, and "
	  "transfers a newer version." },
	{ "zone retransfer", "NAME", 1, 1, "transfer the whole zone anew",
	  "Asks the primaries of the zone NAME for the whole zone, newer or not." },
	{ "zone notify", "NAME", 1, 1, "tell the secondaries of a zone",
	  "Sends NOTIFY to all whom zones[].notify names for the zone NAME." },
	{ "zone flush", "[NAME]", 0, 1, "write zone files that lack changes",
	  "Writes the file of the zone NAME, or of each zone that was changed since its file "
	  "was written or read, in the background. "
	  "When the command returns, the files are written. "
	  "If a file cannot be written, the command names it, and status "
	  "reports it until it is written. "
	  "Order and comments of the old file are lost." },
	{ "zone ds", "NAME", 1, 1, "the DS records that the parent should have",
	  "Shows the DS records (SHA-256) for the keys that secure the zone NAME now or later. "
	  "Enter them at the parent." },
	{ "zone keys", "NAME", 1, 1, "the keys of a zone that is signed here",
	  "Shows each key of the zone NAME with its role and its tag, and the times at which it "
	  "was made and published, began and ended to sign, and was or will be removed." },
	{ "zone rollover", "NAME ROLE", 2, 2, "replace a key of a zone that is signed here",
	  "Begins to replace the key of the zone NAME that has this ROLE (zsk, ksk or "
	  "csk) by a new one (RFC 7583). "
	  "For a ksk or csk, the rollover waits for zone ds-seen." },
	{ "zone ds-seen", "NAME", 1, 1, "tell that the parent has the DS of the new key",
	  "Tells volleyd that all servers of the parent of the zone NAME have the DS "
	  "records of the waiting keys. "
	  "The rollover then goes on." },
	{ "cache stats", "[-n N]", 0, 2, "what the answer cache holds, its memory and turnover",
	  "Shows the budget and the memory in use, including the maps that the driver reads; "
	  "the number of entries; and how many were published, replaced, "
	  "evicted, refused and expired. "
	  "Then it shows which share of the queries driver and workers found in the cache, and "
	  "the driver's share of all answers. "
	  "Then come entries and octets by type, by kind of answer, by zone (the N largest, "
	  "default 10) and by variant (view, DO, CD), and the ages of entries. "
	  "The cache is examined in the background; medians are at most a 32nd too low." },
	{ "cache lookup", "NAME [TYPE]", 1, 2, "the cached answers for a name",
	  "Shows every cached answer for NAME, or for NAME and TYPE, with and without DO and "
	  "CD. For each it shows the view (public: for everyone; recursive: from upstream, for "
	  "clients that may recurse; private: of our zones, for those of server.allow), the "
	  "state, the age, the sizes with and without optional records, how often it was used "
	  "since it was written (3 stands for more, too), its queue, and its records. "
	  "TTLs of answers from upstream are the remaining ones. "
	  "If the name has no answer in the cache, the command says what the driver does with "
	  "queries for it: it denies the name by the filter of names (cache.names in "
	  "volley.yaml(5)), or the query goes up, and why." },
	{ "cache flush", "NAME [TYPE] | WHICH", 0, 2, "withdraw cached answers",
	  "Withdraws the answers for NAME, for NAME and TYPE, or those that WHICH describes, "
	  "and prints their number. "
	  "WHICH is --subtree NAME for NAME and all names below it; --zone ZONE for the answers "
	  "of a zone; --type TYPE for the answers to all queries of a type; --negative for "
	  "NODATA and NXDOMAIN; or --all. "
	  "When the command returns, no CPU gives a withdrawn answer. "
	  "Queries that come meanwhile are answered and cached again. "
	  "Answers from upstream are flushed, too. "
	  "Except with --zone, the resolver also forgets what it knows itself, and asks again "
	  "the questions that wait for upstreams." },
	{ "cache top", "[-n N] [--by name|type|zone]", 0, 4, "what is asked for most",
	  "Shows the N names, types or zones that driver and workers answer most (default 10), "
	  "with their share of all answers. "
	  "These are estimates: if there are many answers, one of 256 is counted, and there are "
	  "counters for 1024 names. "
	  "The true share is within the error in 95 of 100 cases. "
	  "Answers of 5 minutes ago count half." },
	{ "top", "[--once] [--by VIEW] [-n N]", 0, 5, "who asks, and for what, in these seconds",
	  "Shows on a terminal, once a second, the answers per second with those of the last 60 "
	  "seconds, the parts that answered, and one of these views: clients by prefix (IPv4 "
	  "/24, IPv6 /48), names, types, response codes, zones, and prefixes "
	  "that are over their limit. "
	  "The keys c, n, t, r, z and l choose the view, the space bar stops and continues, ? "
	  "shows the keys, q ends the command. "
	  "Clients and names are estimates from about 8,000 answers a second, which driver and "
	  "workers draw at random; answers of 5 seconds ago count half, and the true share is "
	  "within the error in 95 of 100 cases. "
	  "All other figures are exact. "
	  "Answers are drawn until 10 seconds after the last look; dnstap "
	  "and query-log do not change. "
	  "Without a terminal, or with --once, one view is printed after two "
	  "seconds; with --json all views. "
	  "VIEW is clients, names, types, rcodes, zones or limited. "
	  "N is the largest number of rows; without a terminal the default is 20." },
	{ "capture", "[FILTER] [-n COUNT] [-t SECONDS] -w FILE", 2, 14,
	  "queries and answers over UDP as a pcap file",
	  "Writes queries and answers over UDP to FILE, which tcpdump -r can "
	  "read; - is standard output. "
	  "It includes those of the driver, which tcpdump does not see. "
	  "It ends after COUNT packets (default 10,000), after SECONDS (default 60), and by "
	  "SIGINT or SIGTERM. Then it prints to standard error how many packets it wrote, and "
	  "how many were lost because there was no room. "
	  "FILTER is name NAME (NAME and all names below it), type TYPE, client PREFIX, rcode "
	  "RCODE, or several of these, each once; all of them must match. "
	  "IP and UDP headers are made anew. "
	  "For an answer of the driver, the query is made from the answer, so it has no EDNS "
	  "options except DO. Answers over TCP and TLS are left out and counted. "
	  "FILE gets mode 0600 and is overwritten. "
	  "One capture runs at a time. "
	  "While it runs, each answer is reported, which takes at most a third of the "
	  "driver's hits per second. "
	  "Packets of the driver and of the workers may be out of order by some "
	  "milliseconds; their times are right." },
	{ "cache dump", "FILE", 1, 1, "write the cached answers to a file",
	  "Writes every valid answer to FILE in the background, while queries are answered. "
	  "FILE is replaced when all of it is on the disk, and only if "
	  "it was a snapshot before. "
	  "Zones that change meanwhile are left out. volleyctl opens FILE, so it belongs to the "
	  "user who gives the command (mode 0600)." },
	{ "cache load", "FILE", 1, 1, "take answers back from a file",
	  "Reads a file of cache dump in the background. "
	  "The whole file is checked first: nothing is loaded from a file that is cut, "
	  "altered or of another version. "
	  "An answer is loaded if its zone is served with the same content and settings (else "
	  "it counts as other content), if it has not expired, and if there is no valid "
	  "answer to the same question. "
	  "Answers that were in use come first, in case there is not room for all. "
	  "FILE must belong to root or the user of volleyd, and nobody else "
	  "may be able to write to it. "
	  "After a reboot the wall clock tells the age of the file; if the clock has gone back, "
	  "answers that expire are not loaded." },
	{ "cache resize", "SIZE", 1, 1, "give the answer cache another size, in use",
	  "Gives the cache the size SIZE, written as cache.size in volley.yaml(5), while driver "
	  "and workers go on answering from it. "
	  "The answers are copied to a new cache in the background, the most frequent ones "
	  "first; those that have no room are left out. "
	  "Then workers and XDP programs use the new cache, and the "
	  "memory of the old one is freed. "
	  "Until then both caches need memory, and the command is refused if there is not "
	  "enough. cache stats shows the progress. "
	  "Snapshots wait meanwhile. "
	  "The configuration is not changed: a restart, or a reload that reads another "
	  "cache.size, resizes the cache to that size." },
	{ "names", "", 0, 0, "the driver's filter of names that exist",
	  "Shows the filter that cache.names in volley.yaml(5) gives the driver: its size; how "
	  "many names the zones have, how many were added since it began, and how many of these "
	  "no zone has any more (queries for them go to workers); the share of its bits that is "
	  "set, and the share of missing names that it knows by mistake, so that a worker "
	  "answers; how often it was rebuilt, and how long the last time took. "
	  "It is rebuilt when a quarter of its names has gone or when mistakes are many, at "
	  "most once in 10 minutes. answers_compared: answers of the driver for many names that "
	  "workers have compared with the zone's, record by record. answers_undecided: "
	  "comparisons without a result, because a zone was changing. answers_wrong: answers "
	  "that differed. denials_wrong: names that exist and that the filter did not know. "
	  "zones_not_denied: zones for which the driver denies nothing since "
	  "such a fault, with the fault." },
	{ "names rebuild", "", 0, 0, "begin the filter of names anew",
	  "Begins a new filter with the names that the zones have now. "
	  "Until it has all names, the driver denies nothing, and control does nothing else. "
	  "Zones in zones_not_denied are denied again." },
	{ "rrl status", "", 0, 0, "the rate limits in force, and how many prefixes are over them",
	  "Shows the settings of rrl in volley.yaml(5), how many prefixes of clients are over "
	  "their limit now, and how many packets over a limit came from prefixes for which the "
	  "list of 1024 had no place. stats has the counters of all of them." },
	{ "rrl top", "[-n N]", 0, 2, "which prefixes are over their limit",
	  "Lists the N prefixes of clients (default 10) that are over their limit now or were "
	  "so in the last 10 seconds, beginning with the prefix of which "
	  "most answers are withheld. "
	  "For each it shows since when, how many answers were over the limit in the last "
	  "second, and how many were sent with TC=1 or as BADCOOKIE, or dropped, "
	  "since the prefix was listed." },
	{ "policy list", "", 0, 0, "response policy zones and local data, each with its state",
	  "Lists recursion.local-data and each list of recursion.rpz with its state, the number "
	  "of its rules, the number of ignored ones (prefixes that cannot be read, and CNAMEs "
	  "to names rpz-... that are no known action), how often a rule has changed an answer "
	  "of a worker (repetitions from the cache are not counted), when it was loaded, its "
	  "file or zone, and the error of the last load. "
	  "The state is serving; stale: the file does not load, or its zone is no longer "
	  "served, and the version before is in force; or failed: it does not load and was not "
	  "loaded since the start, so it filters nothing. "
	  "Status, health and metrics report stale and failed lists, too." },
	{ "resolver lookup", "NAME [TYPE]", 1, 2,
	  "why a name of others is answered as it is, or fails",
	  "Shows what answers for NAME, or for NAME and TYPE (default A), before upstream is "
	  "asked: a zone served here, local data, a policy with its list "
	  "and rule, or a special name. "
	  "Then it shows which upstream would be asked (forward, forward zone, stub, or from "
	  "the root down) and what is known of it, as resolver infra does; which trust anchors "
	  "of the files apply to the name, and whether a negative one "
	  "(recursion.domain-insecure, a special name) is nearer; the last failures with the "
	  "reason, as in the log, and the extended error; and the cached answers, as cache "
	  "lookup does, with their records only with --json. "
	  "No query is sent. "
	  "Rules for clients and for addresses in answers are not shown. "
	  "Each resolver thread keeps its last 256 failures, since that resolver began; a "
	  "reload that changes upstreams and cache flush begin a new one. "
	  "Refusals because of a client's limit, and questions with CD that got a bogus "
	  "answer, are not among them." },
	{ "resolver infra", "", 0, 0, "the upstreams and what the resolver knows of them",
	  "If Volley's own forwarder asks: shows each upstream for each resolver thread, "
	  "because each thread learns by itself. "
	  "The state is well; silent: the last query got no reply in time; failing: the last 16 "
	  "replies were SERVFAIL, REFUSED or the like; down: 8 queries or more got no reply for "
	  "half a second; or not asked yet. "
	  "Then it shows the smoothed round-trip time, the outstanding questions, the queries "
	  "sent, and how many of these got an answer, a failure or no reply in time; whether "
	  "EDNS is used; the DNS cookie (known, none, refused, not used); whether the upstream "
	  "keeps the letter case of names (caps); and the TCP or TLS connection. "
	  "If libunbound asks: nothing is known of single servers. "
	  "There is a row for each stub and forward zone and one (.) for all other names, with "
	  "the questions that began there, and how many of them are outstanding, were answered "
	  "by servers, were known without asking, were bogus, failed; the clients that waited "
	  "until their deadline, and the mean time of an answer. --json has the "
	  "names of further columns. "
	  "Values of a row may be some microseconds apart." },
	{ "block add", "WHAT [--for TIME] [--action ACTION] [--why TEXT]", 1, 7,
	  "do not answer a prefix of clients, a name or a type",
	  "Blocks WHAT at once, on every way in: a prefix of clients (192.0.2.0/24) or an "
	  "address; a name with all names below it (example.com; a top-level domain with its "
	  "dot, mx.); or a type (ANY). "
	  "TIME is written as 90s, 10m, 12h or 7d; without it the block "
	  "lasts until it is removed. "
	  "ACTION is drop (the default), refuse, truncate, up or allow: see "
	  "BLOCKS in volley.yaml(5). "
	  "If WHAT is blocked already, it gets this time, action and reason. "
	  "With server.storage the block survives a restart of volleyd; else the "
	  "reply says that it is not kept." },
	{ "block remove", "WHAT", 1, 1, "end a block",
	  "Ends a block of block add. "
	  "If a list of policy.block also has WHAT, that list then decides." },
	{ "block list", "[-n N]", 0, 2, "what is blocked, and how many packets each block has met",
	  "Shows each list of policy.block with the number of its blocks and "
	  "of its lines that are none. "
	  "Then it shows the first N (default 1000) of the blocks that commands have set: how "
	  "long they last, why, and how many packets each has met. "
	  "Packets of a list are counted for the whole list." },
	{ "cookies", "", 0, 0, "the secrets of DNS cookies: how many, since when",
	  "Lists the secrets of DNS cookies, the active one first. "
	  "A secret itself is never shown. "
	  "For each there is a digest of 8 digits, which is the same on all hosts that have the "
	  "secret; since when it is active or only accepted; and its file. "
	  "The command also says whether volleyd makes the secrets or the configuration gives "
	  "them, where they are kept, and when the next one is due." },
	{ "cookies rotate", "", 0, 0, "a new secret for DNS cookies",
	  "Makes a new secret, which makes all cookies from now on, if volleyd makes its own "
	  "secrets (server.cookies in volley.yaml(5)). "
	  "Cookies of the previous secret are accepted for an hour, the lifetime of a cookie; "
	  "four secrets at most are accepted. "
	  "When the command returns, no worker and no CPU makes a "
	  "cookie with an earlier secret. "
	  "If the configuration gives the secrets, the command is refused: change them there, "
	  "and reload. docs/fleet.md says how to do this on several servers." },
	{ "attach", "IF", 1, 1, "start answering on an interface",
	  "Loads the XDP program on the interface IF, or adopts it if it is there "
	  "already, and opens ports. "
	  "The interface need not be in the configuration, if root or the owner of the "
	  "configuration's file gives the command. "
	  "If it is, its keys apply." },
	{ "detach", "IF", 1, 1, "stop answering on an interface",
	  "Closes the ports of the interface IF and removes the XDP program, "
	  "also one that was adopted. "
	  "Kernel sockets go on answering, and the cache is kept for attach. "
	  "For volleyctl health, an interface that the configuration "
	  "names is then out of service. "
	  "An interface that only attach has added is forgotten." },
	{ "port status", "", 0, 0, "every port: queue, core, mode and counters",
	  "Lists the ports, one line for each queue, with the core that serves it, whether frames "
	  "are copied, and how many were received, sent, tried again and dropped. "
	  "Counters whose names begin with kernel_ are kept by the kernel for each AF_XDP socket: "
	  "kernel_rx_ring_full counts queries that were lost because the worker was too late." },
	{ "port queues", "IF N|auto", 2, 2, "how many queues of an interface have AF_XDP sockets",
	  "Serves queues 0 to N-1 of the interface IF by AF_XDP, as interfaces[].queues does, "
	  "and no others, until volleyd ends; with auto, all queues that it has. "
	  "Packets on the other queues go to kernel sockets, and nothing is lost. "
	  "The kernel does not remove a queue that has such a socket. "
	  "So before ethtool -L gives the interface fewer queues, call this command with that "
	  "number, and afterwards with auto. volleyd notices new queues by itself. "
	  "A driver that changes no queues while there is a program (virtio_net) needs detach "
	  "before and attach after the change." },
	{ "doctor", "[--config FILE] [IF...]", 0, 66,
	  "what on this host keeps the driver from answering",
	  "Looks at kernel, memory, processors, service addresses and the interfaces IF, or "
	  "those of the configuration: drivers with known faults, XDP, queues, rings, "
	  "offloads, MTU, interrupts. "
	  "For each check it prints ok, warn, fail or unknown, what is wrong, and what to type. "
	  "Nothing is changed. "
	  "FILE is the configuration, by default /etc/volley/volley.yaml if it exists. "
	  "No daemon is needed; a running one is asked. "
	  "Without root it names the checks that it could not do. "
	  "The status is 1 if something will not work." },
	{ "health", "[OPTION...]", 0, 128, "whether queries may be sent to this host",
	  "Prints healthy, or the reasons why not, one a line, and warnings about everything "
	  "else that is not as configured. "
	  "The status is 0, 1, or 3 if no daemon replies in 5 seconds (-w). "
	  "It is meant for programs that announce the service addresses: see docs/fleet.md. "
	  "These are reasons: volleyd is starting or stopping. "
	  "The host is drained. "
	  "A worker has not gone round its loop for 3 seconds. "
	  "The host does not have a service address. "
	  "A zone is not served (a zone that is added to a host that served all its zones is "
	  "only a warning until its primary has given it). "
	  "An interface is gone, was detached, or does not have our program, or, with port: xsk "
	  "or dpdk, its queues lack sockets. "
	  "A response policy zone, local data or a list of policy.block did not load at the "
	  "start, so it filters nothing. "
	  "These are warnings: a step down from native to generic, or from zero-copy to copies "
	  "or kernel sockets; a zone, a policy or a list of which an earlier version is in use. "
	  "Options: --zones all|any|none, --interfaces all|any|none and --policies all|any|none "
	  "say how many of them have to be well, by default all. --ignore NAME leaves out this "
	  "zone or policy, and may be given several times. --strict makes warnings reasons. "
	  "--probe NAME[/TYPE] asks each service address by UDP, for the SOA record if there is "
	  "no TYPE, and expects NOERROR and an answer, so it also tests sockets, workers and "
	  "zones (server.allow has to allow the host itself)." },
	{ "drain", "[on [WHY] | off]", 0, 2, "take this host out of service, or back",
	  "With on, volleyctl health gives drained and WHY as a reason, until drain off; "
	  "queries are answered as before. "
	  "So the program that announces the service addresses withdraws "
	  "them, and no query is lost. "
	  "The state is kept beside the control socket and holds for the next volleyd with the "
	  "same socket, until a reboot. "
	  "Without an argument the command prints the state." },
	{ "config show", "[--effective]", 0, 1, "the configuration that volleyd has read",
	  "Shows the configuration that volleyd has read last, as YAML that it would read "
	  "again; with --json as an object whose values are texts. "
	  "Files of include are joined. "
	  "With --effective each key with a default is there, too: a comment behind it says "
	  "default, or template and its name; with --json, origins has these. "
	  "Secrets are shown as (secret). "
	  "Changed keys that need a new start are listed first. --effective "
	  "is for at most 10000 zones." },
	{ "config diff", "FILE", 1, 1, "what a reload with another file would change",
	  "Reads FILE as if it were the configuration file, checks it as volleyd --check does, "
	  "except for storage, policies and limits of the process, and lists each key that it "
	  "would change, and whether that needs a new start. "
	  "Items of lists are shown by their name, and each added or removed "
	  "item of a list by itself. "
	  "Another way to write the same value (300 and 5m, a default that is "
	  "written out) is no change. "
	  "Nothing is changed. volleyctl reads FILE; volleyd reads the "
	  "files that FILE includes. "
	  "For root and the user of volleyd." },
	{ "config apply", "FILE", 1, 1, "put another configuration in place",
	  "Checks FILE as config diff does, then reloads with it. "
	  "If it is accepted, the text of FILE replaces the configuration file at once, with "
	  "the mode and the owner that this file has. "
	  "If it is not accepted, the command says why, and volleyd and "
	  "the file stay as they were. "
	  "The command shows the changes. "
	  "Then zone files and lists are read, as by zone reload, and "
	  "the command waits for them. "
	  "If one of them is not in force, the status is 1, the command lists it under failed, "
	  "and the rest is in force. volleyctl replaces the file, so its user must be "
	  "allowed to write to the folder. "
	  "Files that include names are read and not replaced. "
	  "If two such commands run at once, the later one is refused. "
	  "A signal ends the command only after the file is replaced." },
	{ "log level", "[LEVEL]", 0, 1, "show or change which lines are logged",
	  "Shows the level of the log, and its format. "
	  "With LEVEL, one of error, warning, notice, info and debug, sets it: from now on "
	  "lines of this level and of the levels before it are written. "
	  "This holds until volleyd ends, or until a reload finds another "
	  "log.level in volley.yaml(5)." },
	{ "log reopen", "", 0, 0, "open the query log again, after it was renamed",
	  "Opens query-log.file and dnstap.file again if they were renamed or removed. "
	  "This is for programs that rotate logs; SIGUSR1 does the same. "
	  "The configuration is not read. "
	  "If the query log cannot be opened, lines go on to the file that is open." },
	{ "import", "FILE [--from KIND] [-o OUTPUT] [--zones FOLDER]", 1, 7,
	  "the configuration of another name server as a volley.yaml",
	  "Reads FILE, the configuration of nsd, knotd, named, unbound or PowerDNS, with all "
	  "files that it includes, and prints the same configuration for volley.yaml(5). "
	  "KIND is nsd, knot, named, unbound or pdns; by default the name or the "
	  "content of the file tells it. "
	  "Each option that is not carried over unchanged has a line on standard error, with "
	  "file and line, the most important ones first: see IMPORT. The status is 0 if "
	  "everything is carried over, 3 if only options without effect on clients were left "
	  "out, and 1 if you have to decide something before volleyd starts, "
	  "or if FILE cannot be read. "
	  "TSIG keys and other secrets are printed as they are. "
	  "With -o, the result goes to the file OUTPUT, which only its "
	  "owner can read (mode 0600). "
	  "With --zones, the zones and private keys of a database of PowerDNS become files in "
	  "FOLDER. "
	  "No daemon is needed, but python3." },
	{ "stop", "[--keep]", 0, 1, "stop the daemon",
	  "Stops volleyd as SIGTERM does: attached programs are detached, "
	  "and adopted programs stay. "
	  "With --keep all programs stay, and the driver goes on answering from the cache until "
	  "the next daemon, for at most cache.orphan-serve." },
	{ 0 },
};

const struct words_option words_volleyd_options[] = {
	{ "-c", "FILE",
	  "Read the configuration from FILE, see volley.yaml(5). Default: " VOLLEY_CONFIG "." },
	{ "--check", NULL,
	  "Check the configuration, print each mistake with file, line and key, and exit. "
	  "Files that the configuration names are read as at a start: root hints, trust anchors, "
	  "certificates and keys, policies, lists of blocks. "
	  "A policy, a list or a zone file that cannot be read is a warning, because volleyd "
	  "starts without it. "
	  "Zone files are not read to their end: --zones does that. "
	  "A file of the configuration that has secrets, or server.tls.key, is a warning if "
	  "everyone can read or write it. "
	  "Sockets, interfaces and files that another volleyd has open are not checked." },
	{ "--strict", NULL, "With --check: the status is 1 if there is a warning." },
	{ "--zones", NULL,
	  "With --check: load the file of each zone, several at a time, and print each mistake "
	  "with file and line; the status is 1 if there is one. "
	  "Journals, keys and the commands of zones[].verify are not used." },
	{ "--keep", NULL,
	  "At the end leave the XDP programs and the answer cache in place for the next volleyd." },
	{ "--schema", NULL,
	  "Print a JSON schema of the configuration and exit. With it an editor completes keys and "
	  "marks mistakes; see EDITORS in volley.yaml(5)." },
	{ "-v, --verbose", NULL, "Log everything, also the messages of the BPF libraries." },
	{ "--version", NULL,
	  "Print the version of volleyd and two versions of each library, that of the build and "
	  "the one in use, and exit." },
	{ "--help", NULL, "Print a summary and exit." },
	{ 0 },
};

const struct words_option words_volleyctl_options[] = {
	{ "-s, --socket", "PATH",
	  "Ask the daemon behind this control socket. Default: $" WORDS_SOCKET_ENV
	  ", else " WORDS_SOCKET_PATH "." },
	{ "-j, --json", NULL,
	  "Print the result as JSON, with the daemon's own names and no units. "
	  "If the command fails, standard output has an object with \"error\", a sentence, and "
	  "perhaps \"code\". "
	  "If zone list fails in the middle, the object of the zones is not closed, so that no "
	  "program takes them for the whole list; the object with \"error\" follows." },
	{ "--json-lines", NULL,
	  "The same with one object on each line: zone list prints a line for each zone, other "
	  "commands print one line." },
	{ "-w, --wait", "SECONDS",
	  "Wait at most that long for the reply. "
	  "Default: 60, 5 for health and top, and 3600 for each request of --batch; zone reload, "
	  "zone add, zone remove, zone flush, cache dump, cache load and cache resize have no "
	  "limit. "
	  "When the time is over, the daemon still ends the work that it has begun." },
	{ "-p, --progress", NULL,
	  "Show the progress of a reload on standard error twice a second, also if standard error "
	  "is no terminal." },
	{ "--version", NULL, "Print the version and exit." },
	{ "-h, --help", NULL, "Print a summary and exit." },
	{ 0 },
};

const struct words_exit words_volleyd_exits[] = {
	{ 0, "It ran and was stopped, or it would start (--check)." },
	{ 1, "It could not start, or a start would fail (--check); the last line of the log says "
	     "why." },
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

#define FAILS                               true
#define WARNS                               false
#define ROW(id, name, level, before, words) { #name, words, before, level },
const struct words_fault words_faults[] = { FAULT_LIST(ROW){ NULL, NULL, NULL, false } };
#undef ROW
#undef WARNS
#undef FAILS

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
