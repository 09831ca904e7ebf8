/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the primary's side (transfer/primary.h), which its modules share. The loop's thread
 * owns it.
 */
#ifndef VOLLEY_TRANSFER_PRIMARY_STATE_H
#define VOLLEY_TRANSFER_PRIMARY_STATE_H

#include <urcu/list.h>

#include "base/limits.h"
#include "transfer/transfer_thread.h"

struct engine;
struct handover_rules;
struct notifier;
struct server_tls;

struct primary_settings {
	uint8_t **keys; /* names, folded wire: for the workers' rules */
	size_t n_keys;
	struct server_tls *tls; /* listeners; NULL: none */
};

struct primary {
	struct primary_settings *settings; /* NULL before the first configuration */
	struct event *on_handover;
	struct cds_list_head questions; /* questions.c */
	struct event *on_rules;
	struct handover_rules *rules; /* the rules that the workers have now */
	uint64_t rules_made_ns, rules_took_ns;
	struct engine *engine; /* for ordinary questions */
	struct notifier *notifier;
	/* Transfers: transfer_out.c. */
	struct cds_list_head transfers, transfers_waiting;
	uint32_t n_transfers;  /* transfers that have a place */
	uint32_t n_lent;       /* transfers that run without one: transfer_out.h */
	struct limits clients; /* places by client */
	bool is_starting;
	/* Updates that control has: updates.c. */
	struct cds_list_head updates;
	uint32_t n_updates;
	uint8_t out[DNS_MESSAGE_MAX + 1]; /* a reply */
};

#endif
