/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secondary's side of a zone: when its primaries are asked, and what one round of asking them
 * is.
 *
 *      IDLE ── time, NOTIFY, command ──► ASKING ── nothing newer, or nobody answers ──► IDLE
 *        ▲                                  ├── a zone ───► SETTLING_ZONE ────┐
 *        │                                  └── changes ──► SETTLING_CHANGES ─┤
 *        └──────────────── control has published it, or will not ─────────────┘
 *
 * If control refuses changes, a round begins at once that asks for the whole zone. A command ends a
 * round that is ASKING and begins another; a NOTIFY, and a command while it settles, make one
 * follow.
 *
 * secondary.c has the times; refresh_round.c asks the primaries in turn; refresh_transfer.c reads
 * their transfers.
 */
#ifndef VOLLEY_TRANSFER_SECONDARY_H
#define VOLLEY_TRANSFER_SECONDARY_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/addr.h"
#include "transfer/exchange.h"
#include "transfer/peer.h"
#include "transfer/remotes.h"
#include "transfer/slots.h"
#include "transfer/transfer_thread.h"
#include "transfer/udp_query.h"
#include "xfr/xfr_in.h"
#include "xfr/xfr_request.h"

#define SECONDARY_CHECKS 64 /* SOA queries that are out at a time */
/*
 * Control puts many zones in place as quickly as one. So a zone or changes that came keep their
 * slot until they are settled, because of the memory that they need. Up to SECONDARY_SMALL_MAX
 * small ones give it back, so that others are fetched meanwhile.
 */
#define SECONDARY_SMALL_BYTES (64u << 10) /* of messages */
#define SECONDARY_SMALL_MAX   256

struct secondary {
	struct slots checks;    /* SOA queries */
	struct slots transfers; /* until control has settled their result */
	uint32_t n_small;       /* that are to be settled, and have no slot any more */
};

/* Times of a SOA, within the bounds of the configuration; seconds. */
struct soa_times {
	uint32_t refresh_s, retry_s, expire_s;
};

enum secondary_state {
	SECONDARY_IDLE,
	SECONDARY_ASKING,
	SECONDARY_SETTLING_ZONE,
	SECONDARY_SETTLING_CHANGES,
};

/* What a round asks for. A round that follows asks for the highest of the values that were wanted
 * meanwhile. */
enum secondary_wants {
	SECONDARY_WANTS_NEWER, /* changes, or the whole zone where that cannot be */
	SECONDARY_WANTS_WHOLE,
	SECONDARY_WANTS_ANY, /* the whole zone, even if there is nothing newer */
};

struct secondary_zone {
	struct transfer *t;
	struct transfer_zone *zone;
	struct timer next; /* the next round: refresh or retry */
	struct timer expiry;
	enum secondary_state state;
	struct refresh_round *round; /* unless IDLE */
	uint64_t checked_wall_s, next_wall_s, expires_wall_s;
	enum secondary_wants wants_next; /* of the next round */
	/* by a person: addresses that have not answered lately are asked, too */
	bool is_asked_next;
	bool is_prompted; /* by a NOTIFY */
	bool is_again;    /* a round was asked for while one was under way */
	bool is_notified; /* of notified_serial by a NOTIFY */
	uint64_t settles_checked_s, settles_expires_s; /* of the event that control settles */
	uint32_t notified_serial;
	struct port_addr notified_by; /* family 0: nobody */
	uint32_t n_failed;            /* rounds in a row */
	uint32_t n_futile;            /* rounds in a row after a NOTIFY that found nothing newer */
	uint64_t quiet_until_ns;      /* no round for a NOTIFY before that */
	char last_failed[64];         /* the remote that is tried last, or "" */
	char error[256];
	char remote[128];
};

/* The result of a round. */
enum refresh_end {
	REFRESH_CURRENT,      /* nothing newer */
	REFRESH_SENT_ZONE,    /* an event is on its way to control */
	REFRESH_SENT_CHANGES, /* likewise */
	REFRESH_FAILED,       /* s->error says why */
};

/* A primary that may be asked; they are in the order in which they are asked. */
struct refresh_primary {
	struct remote *remote;
	bool has_failed;
};

/* The state of a->peer; it begins anew with the next address. */
struct refresh_known {
	uint32_t expire_left_s;  /* RFC 7314; UINT32_MAX: it has not said it */
	bool is_plain;           /* it does not know OPT, and is asked without */
	bool is_promised;        /* it has said that it has something newer */
	bool has_new_connection; /* was asked on one, since an old one gave nothing newer */
};

/* A round: lives until secondary_ended(), or control's verdict. */
struct refresh_round {
	struct secondary_zone *s;
	struct remotes *remotes;
	struct event *step; /* the next thing to be done, out of all handlers */
	void (*do_step)(struct refresh_round *r);
	struct slot place;
	uint32_t n_primaries, at_primary, at_address;
	struct remote *remote; /* the remote that is asked just now */
	struct peer *peer;
	struct refresh_known known;
	enum secondary_wants wants;
	bool is_asked;    /* by a person */
	bool was_current; /* a primary had nothing newer */
	/* The most that a primary with nothing newer has said, as known.expire_left_s: RFC 7314
	 * section 4. */
	uint32_t current_expire_left_s;
	struct udp_query *query;
	struct exchange *exchange;
	struct timer deadline;
	struct tsig tsig;
	uint16_t id;
	uint32_t soa_expire_s; /* of the zone that comes */
	/* A transfer. */
	struct xfr_in *in;
	struct zone_builder *builder;
	struct zone_error builder_error;
	struct changeset *sets;
	size_t n_sets, sets_cap;
	bool is_small; /* one of secondary.n_small */
	struct refresh_primary primaries[];
};

/* refresh_round.c. Begins a round; secondary_ended() follows, never from within. -ENOMEM. */
int refresh_round_begin(struct secondary_zone *s) __attribute__((warn_unused_result));
/* Ends it without a word; gives its slot back. NULL is allowed. */
void refresh_round_free(struct refresh_round *r);
/* Calls do_step() soon, from the loop. */
void refresh_round_step(struct refresh_round *r, void (*do_step)(struct refresh_round *r));
/* This address has failed, in words; the next is tried. */
void refresh_round_next(struct refresh_round *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* It has nothing newer, or not the version of the NOTIFY. */
void refresh_round_is_current(struct refresh_round *r);
/* Closes the connection to the primary, and forgets the records that came. */
void refresh_round_hang_up(struct refresh_round *r);

/* refresh_transfer.c: asks a->remote for the zone or its changes; with a slot of transfers. */
void refresh_round_transfer(struct refresh_round *r);
void refresh_round_drop_content(struct refresh_round *r);

/* secondary.c, for rounds */
void secondary_ended(struct secondary_zone *s, enum refresh_end end);
/* A time of a SOA within its bounds, of which 0 is none. */
uint32_t secondary_bound(uint32_t seconds, uint32_t min, uint32_t max);
/* A NOTIFY had a newer serial number than the zone that is served. */
bool secondary_is_notified_of_newer(const struct secondary_zone *s);
/* Of the version that is served. False: none is. */
bool secondary_times(const struct secondary_zone *s, struct soa_times *times);

/* ---- secondary.c: for control's calls and for requests of others ----------------------------- */

/*
 * A NOTIFY that is allowed (RFC 1996), from a primary or by allow-notify; @serial NULL:
 * it had none. @from is asked first, if it is a primary.
 */
void secondary_notified(struct transfer *t, struct transfer_zone *zone,
			const struct port_addr *from, const uint32_t *serial);
int secondary_open(struct transfer *t) __attribute__((warn_unused_result));
void secondary_close(struct transfer *t);
/* A zone is new, or its configuration or the remotes have changed; goes. */
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
