/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients may be sent: the keys below rrl. */
#include "config/take.h"

void take_limits(struct take *take)
{
	const struct config_raw_rrl *raw = &take->raw->rrl;
	struct config_rrl *rrl = &take->config->rrl;

	rrl->answers = (uint32_t)take_number(take, "rrl.", "answers", raw->answers);
	rrl->octets = (uint32_t)take_number(take, "rrl.", "octets", raw->octets);
	rrl->slip = (uint32_t)take_number(take, "rrl.", "slip", raw->slip);
	rrl->dry_run = take_number(take, "rrl.", "dry-run", raw->dry_run) != 0;
	rrl->exempt = take_prefixes(take, "rrl.exempt", &raw->exempt, CONFIG_PREFIXES_MAX,
				    &rrl->n_exempt);
}
