/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secondary's side of a zone: when its primaries are asked, and the steps of one round.
 *
 *      IDLE ── time, NOTIFY, command ──► ASKING ── nothing newer, or no answer ──────► IDLE
 *        ▲                                  ├── a zone ───► SETTLING_ZONE ────┐
 *        │                                  └── changes ──► SETTLING_CHANGES ─┤
 *        └──────────────── control has published it, or will not ─────────────┘
 *
 * If control refuses changes, a round for the whole zone begins at once. A command ends a round
 * that is ASKING and begins another. A NOTIFY during a round, and a command while the zone settles,
 * make another round follow.
 *
 * A round waits for a slot of its primary (transfer/slots.h) before it asks: rounds by command come
 * first, then those for a NOTIFY.
 *
 * A primary that answers wrongly is asked in other ways, before the next one is asked (decision
 * 0056): over TCP, without OPT, for the zone without its SOA, for the whole zone.
 *
 * secondary.c decides when; refresh_round.c asks the primaries in turn; refresh_transfer.c reads
 * their transfers.
 */
#ifndef VOLLEY_TRANSFER_SECONDARY_H
#define VOLLEY_TRANSFER_SECONDARY_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sentence.h"
#include "port/addr.h"
#include "transfer/exchange.h"
#include "transfer/peer.h"
#include "transfer/remotes.h"
#include "transfer/slots.h"
#include "transfer/transfer_thread.h"
#include "xfr/xfr_in.h"
#include "xfr/xfr_request.h"

/* SOA queries at a time, of one remote three quarters (transfer/slots.h): by UDP; by TCP or TLS,
 * where each has a connection */
#define SECONDARY_CHECKS        341
#define SECONDARY_STREAM_CHECKS 85
/*
 * A received zone, or its changes, keeps its slot until control has settled it, because it needs
 * memory until then. Control settles thousands of zones as quickly as one. So small results give
 * their slots back at once, and others are fetched meanwhile: up to SECONDARY_SMALL_MAX, with
 * SECONDARY_SMALL_ALL octets together.
 */
#define SECONDARY_SMALL_BYTES (64u << 10) /* of messages */
#define SECONDARY_SMALL_MAX   4096
#define SECONDARY_SMALL_ALL   (16u << 20)
/* A transfer that brings fewer octets in this time is broken off, or it would keep its slot for
 * hours. */
#define SECONDARY_WATCH_S     60u
#define SECONDARY_WATCH_BYTES (60u << 10)
/* Zones that the log names within a second, because a round has failed after good ones; one line
 * counts the others. */
#define SECONDARY_LOGGED 8u

struct secondary {
	struct slots checks; /* SOA queries by UDP */
	struct slots stream_checks;
	struct slots transfers; /* kept until control has settled the result */
	uint32_t n_small;       /* small results that wait for control without a slot */
	uint64_t n_small_bytes; /* of their messages */
	uint32_t n_failures;    /* for the log, since `failures` was set */
	struct timer failures;  /* writes the line that counts those without a line of their own */
};

/* Times of a SOA in seconds, within the configured bounds. */
struct soa_times {
	uint32_t refresh_s, retry_s, expire_s;
};

enum secondary_state {
	SECONDARY_IDLE,
	SECONDARY_ASKING,
	SECONDARY_SETTLING_ZONE,
	SECONDARY_SETTLING_CHANGES,
};

/* What a round asks for. The next round asks for the highest value that was wanted meanwhile. */
enum secondary_wants {
	SECONDARY_WANTS_NEWER, /* changes, or the whole zone if there are no changes to be had */
	SECONDARY_WANTS_WHOLE,
	SECONDARY_WANTS_ANY, /* the whole zone, even if there is nothing newer */
};

struct secondary_zone {
	struct transfer *t;
	struct transfer_zone *zone;
	struct timer next; /* the next round: refresh or retry */
	struct timer expiry;
	enum secondary_state state;
	struct slot *place;          /* unless IDLE: waits for a slot, or has one */
	struct refresh_round *round; /* NULL while IDLE, and while it waits for its first slot */
	uint64_t checked_wall_s, next_wall_s, expires_wall_s;
	enum secondary_wants wants_next; /* what the next round asks for */
	/* the next round is by command: it also asks addresses that have not answered lately */
	bool is_asked_next;
	bool is_prompted; /* the round was begun by a NOTIFY */
	bool is_again;    /* another round was wanted while this one ran */
	bool is_notified; /* a NOTIFY had notified_serial */
	uint64_t settles_checked_s, settles_expires_s; /* times of the event that control settles */
	uint32_t notified_serial;
	struct port_addr notified_by; /* family 0: no NOTIFY */
	uint32_t n_failed;            /* failed rounds in a row */
	uint32_t n_futile;            /* rounds for a NOTIFY in a row that found nothing newer */
	uint64_t quiet_until_ns;      /* no NOTIFY begins a round before this time */
	struct sentence last_failed;  /* the remote that the next round asks last */
	struct sentence error;        /* of the last round */
	struct sentence remote;       /* that gave the zone, or said that it has nothing newer */
};

/* The result of a round. */
enum refresh_end {
	REFRESH_CURRENT,      /* nothing newer */
	REFRESH_SENT_ZONE,    /* an event is on its way to control */
	REFRESH_SENT_CHANGES, /* the same */
	REFRESH_FAILED,       /* s->error says why */
};

/* A primary of the round, in the order of asking. */
struct refresh_primary {
	struct remote *remote;
	bool has_failed;
};

enum refresh_way { REFRESH_BY_UDP, REFRESH_BY_STREAM };

/* What is known of round.peer; reset at the next address. */
struct refresh_known {
	uint32_t expire_left_s; /* RFC 7314; UINT32_MAX: not given */
	enum refresh_way way;   /* of the SOA query, unless the remote has TLS */
	bool is_plain;          /* it does not know OPT: queries go without it */
	bool is_whole;          /* it gives no changes: it is asked for the whole zone */
	bool is_promised;       /* its SOA was newer */
	/* asked again on a new connection, as the old one gave nothing newer */
	bool has_new_connection;
};

/* A round. It ends with secondary_ended(), or when control has settled its result. */
struct refresh_round {
	struct secondary_zone *s;
	struct remotes *remotes;
	struct event *step; /* runs do_step() outside of all handlers */
	void (*do_step)(struct refresh_round *r);
	uint32_t n_primaries, at_primary, at_address;
	struct remote *remote; /* the remote that is being asked */
	struct peer *peer;
	struct refresh_known known;
	enum secondary_wants wants;
	bool is_asked;    /* by command */
	bool was_current; /* a primary had nothing newer */
	/* The highest known.expire_left_s of the primaries that had nothing newer: RFC 7314 section
	 * 4. */
	uint32_t current_expire_left_s;
	struct udp_query *query;
	struct exchange *exchange;
	struct timer deadline;    /* of the transfer */
	uint64_t ends_ns;         /* when the transfer has to be complete */
	uint64_t n_bytes_watched; /* that had come when the deadline was set */
	struct tsig tsig;
	uint16_t id;
	uint32_t soa_expire_s; /* of the zone that is being received */
	/* A transfer. */
	struct xfr_in *in;
	struct zone_builder *builder;
	struct zone_error builder_error;
	struct changeset *sets;
	size_t n_sets, sets_cap;
	uint64_t n_small_bytes; /* not 0: counted in secondary.n_small */
	struct refresh_primary primaries[];
};

/*
 * refresh_round.c. Begins a round, or begins it anew if it still waits for its first slot. A round
 * that waits has only its place in the queue: an outage or a start makes a million of them.
 * secondary_ended() follows, never within this call. 0 or -ENOMEM: then it has ended.
 */
int refresh_round_begin(struct secondary_zone *s) __attribute__((warn_unused_result));
/* Ends it, if there is one, without secondary_ended(), and gives its slot back. */
void refresh_round_end(struct secondary_zone *s);
/* Calls do_step() soon, from the loop. */
void refresh_round_step(struct refresh_round *r, void (*do_step)(struct refresh_round *r));
/* This address has failed, for the given reason; the next one is tried. */
void refresh_round_next(struct refresh_round *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* This primary has nothing newer, or not the version of the NOTIFY. */
void refresh_round_is_current(struct refresh_round *r);
/* Closes the connection to the primary, and drops the records received so far. */
void refresh_round_hang_up(struct refresh_round *r);

/* refresh_transfer.c: asks r->remote for the zone or its changes, after it has a slot of
 * `transfers`. */
void refresh_round_transfer(struct refresh_round *r);
void refresh_round_drop_content(struct refresh_round *r);

/* secondary.c, for rounds. */
void secondary_ended(struct secondary_zone *s, enum refresh_end end);
/* A time of a SOA within its bounds. A bound of 0 is none. */
uint32_t secondary_bound(uint32_t seconds, uint32_t min, uint32_t max);
/* True if a NOTIFY had a newer serial number than the served zone. */
bool secondary_is_notified_of_newer(const struct secondary_zone *s);
/* The times of the served version. False: the zone is not served. */
bool secondary_times(const struct secondary_zone *s, struct soa_times *times);

/* ---- secondary.c: for control's calls and for requests of others ----------------------------- */

/* An allowed NOTIFY (RFC 1996), from a primary or by allow-notify. @serial NULL: the message had no
 * serial number. @from is asked first if it is a primary. */
void secondary_notified(struct transfer *t, struct transfer_zone *zone,
			const struct port_addr *from, const uint32_t *serial);
int secondary_open(struct transfer *t) __attribute__((warn_unused_result));
void secondary_close(struct transfer *t);
/* The zone is new, or its configuration or the remotes have changed; the zone goes. */
void secondary_put_zone(struct transfer *t, struct transfer_zone *zone,
			const struct transfer_past *past);
void secondary_drop_zone(struct transfer_zone *zone);
void secondary_settled(struct transfer_zone *zone, int code);
void secondary_refresh(struct transfer_zone *zone, bool whole);
void secondary_status(const struct transfer_zone *zone, struct transfer_status *out);
void secondary_configured(struct transfer *t);
/*
 * How long the zone may still be served (RFC 7314 section 3.2): the time until it expires, or, if
 * it has no primaries, the expire value of its SOA. False: it is not served.
 */
bool secondary_expire_left(struct transfer *t, const struct transfer_zone *zone, uint32_t *seconds);

#endif
