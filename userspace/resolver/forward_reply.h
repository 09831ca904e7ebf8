/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes back to a forwarder: replies, and broken channels. For the forwarder's files only. */
#ifndef VOLLEY_RESOLVER_FORWARD_REPLY_H
#define VOLLEY_RESOLVER_FORWARD_REPLY_H

#include "resolver/forward_question.h"

/* The callbacks of the forwarder's channels; ctx is the forwarder. */
struct forward_events forward_reply_events(struct forward *f);

#endif
