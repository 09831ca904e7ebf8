/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zones that a command has added: volleyctl zone add, zone remove. The configuration does not name
 * them. Each is made from a template, as the members of catalogs are, and served in the same way:
 *
 *      zone add ─► template ─► load ─► publish ─► store ─► done
 *                               └─ the file does not load ─► removed ─► done, with the error
 *      zone remove ─► publish without it ─► the store forgets it ─► done
 *      start: store ─► template ─► loaded together with the zones of the configuration
 *
 * So when a zone is done, it is answered for, and after a crash it is there. All changes of one
 * turn of control's loop share one publish and one transaction.
 *
 * The zone's record in the store has the note (store_zone: `group` without a catalog). A zone that
 * the configuration names, too, has the settings of the configuration; when the configuration does
 * not name it any more, it is the command's zone again. Control's thread.
 */
#ifndef VOLLEY_ZONEMGR_ADDED_H
#define VOLLEY_ZONEMGR_ADDED_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "zonemgr/catalogs.h"
#include "zonemgr/maintenance.h"
#include "zonemgr/zonemgr.h"

struct added;

/* NULL: no memory. @store may be NULL: then no zone can be added. All have to outlive it. */
struct added *added_new(struct store *store, struct maintenance *maintenance,
			const struct catalogs *catalogs);
void added_free(struct added *a); /* after added_cancel(); NULL is allowed */
void added_set_zones(struct added *a, struct zones *zones);

/* Adds the zones that the store has, before zones_configure() of a start. 0 or a negative code. */
int added_recall(struct added *a) __attribute__((warn_unused_result));

/* Templates have changed: at the next added_poll() the zones get the settings of the new ones.
 * After catalogs_take_config(). */
void added_reconfigure(struct added *a);

/* The longest path of a zone's file that can be kept beside the name of its template. */
#define ADDED_FILE_MAX 190u

/* The template of a zone for which no other is given. */
#define ADDED_DEFAULT_TEMPLATE "default"

struct added_zone {
	const char *name; /* as users write it */
	const char *template_name;
	const char *file; /* absolute; NULL: by the template's pattern */
};

/* The end of a change. 0: the zone is served and stored, or it is gone from both. Else a negative
 * code with a sentence; then the zone is as it was before. May not call functions of this module.
 */
typedef void added_done_fn(void *user, int code, const char *err);

/*
 * Adds a zone. 0: done() follows, from added_poll(). Else a negative code with a sentence in err:
 * -EEXIST (the zone is there), ERR_NOT_FOUND (no such template), -EPERM (there is no store), -EBUSY
 * (it is being removed), -EINVAL, -ENOMEM, or an error of the name.
 */
int added_add(struct added *a, const struct added_zone *zone, added_done_fn *done, void *user,
	      char *err, size_t err_cap) __attribute__((warn_unused_result));

/* Removes a zone that a command has added. 0: done() follows, from added_poll(), with -EPERM if a
 * new configuration names the zone meanwhile. Else as above; -EPERM: the configuration or a catalog
 * names it; ERR_NOT_FOUND: it is not there, or its template is missing. */
int added_remove(struct added *a, const char *name, added_done_fn *done, void *user, char *err,
		 size_t err_cap) __attribute__((warn_unused_result));

/* All changes under way end with done(-ECANCELED). NULL is allowed. */
void added_cancel(struct added *a);

/* Writes the name of its template to @name. False: zones_is_added() is false. */
bool added_template(const struct zones_entry *entry, char *name, size_t cap);

/* For zones_env.gone; and for gone_together, with the result of the store. */
void added_gone(struct added *a, const struct zones_entry *entry);
void added_gone_together(struct added *a, int code);

/* To be called before zones_poll() and zones_flush(): zones whose files did not load are not
 * published. */
void added_check(struct added *a);
/* To be called after each publish: stores zones that have come, and ends changes. */
void added_poll(struct added *a);

/* A sentence about stored zones that cannot be served, since their templates are missing; "": there
 * are none. Valid until the next call of this module. */
const char *added_problem(const struct added *a);

#endif
