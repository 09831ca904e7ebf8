/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/cache_queries.h"
#include "report/report.h"

int commands_resolver_lookup(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap)
{
	struct cache_queries *queries = user;
	const struct report_view *v = report_view_now(&queries->reports);
	struct cache_match match;
	json_t *o;
	int code = cache_match_read_name(&match, ctl_arg(args, 0), ctl_arg(args, 1), err, err_cap);

	(void)result;
	if (code)
		return code;
	if (!v->workers) /* the start has not put resolver and lists in place yet */
		return ctl_not_ready(err, err_cap);
	o = json_object();
	if (!o)
		return -ENOMEM;
	report_lookup(o, v, &match);
	return cache_queries_add(queries, &match, o, err, err_cap);
}

int commands_resolver_infra(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap)
{
	const struct report_view *v = user;
	struct recursion_report report;

	(void)args;
	if (!v->workers)
		return ctl_not_ready(err, err_cap);
	recursion_report(v->recursion, &report);
	*result = report_upstreams_all(report.resolver_config, report.resolver);
	return *result ? 0 : -ENOMEM;
}
