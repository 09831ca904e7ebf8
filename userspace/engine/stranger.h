/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the audit (base/audit.h) hears of messages of strangers: transfers, NOTIFY and UPDATE that no rule allows this address, and
 * signatures by keys that we do not know, which an engine refuses at once. Any thread that answers.
 */
#ifndef VOLLEY_ENGINE_STRANGER_H
#define VOLLEY_ENGINE_STRANGER_H

#include "engine/engine_request.h"

/* The request rq, read as q, is refused with this response code. */
void stranger_tell(const struct engine_request *rq, const struct query *q, unsigned int rcode);

#endif
