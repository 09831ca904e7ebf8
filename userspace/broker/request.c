/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/request.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

struct row {
	const char *name;
	enum broker_channel channel;
	uint32_t needs;
	uint32_t flags;
	uint64_t fds;
	uint64_t more_fds;
	uint32_t n_max;
};

static const struct row *operation_row(uint32_t operation)
{
	static const struct row rows[] = {
#define ROW(name, channel, needs, flags, fds, more_fds, n_max) \
	{ #name, BROKER_CHANNEL_##channel, BROKER_NEEDS_##needs, flags, fds, more_fds, n_max },
		BROKER_OPERATIONS(ROW)
#undef ROW
	};

	return operation < sizeof(rows) / sizeof(rows[0]) ? &rows[operation] : NULL;
}

const char *broker_operation_text(uint32_t operation)
{
	const struct row *row = operation_row(operation);

	return row ? row->name : "?";
}

enum broker_channel broker_channel_of(enum broker_operation operation)
{
	return operation_row(operation)->channel;
}

bool broker_needs_named(uint32_t operation)
{
	const struct row *row = operation_row(operation);

	return row && (row->needs & BROKER_NEEDS_NAMED) == BROKER_NEEDS_NAMED;
}

static bool is_zero(const void *octets, size_t n)
{
	const uint8_t *at = octets;

	while (n && !*at) {
		at++;
		n--;
	}
	return !n;
}

/* As the kernel allows it (dev_valid_name()), with zeros behind it. */
static bool is_ifname(const char name[IF_NAMESIZE])
{
	const size_t n = strnlen(name, IF_NAMESIZE);

	if (!n || n == IF_NAMESIZE || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (size_t i = 0; i < n; i++)
		if (name[i] == '/' || name[i] == ':' || (unsigned char)name[i] <= ' ')
			return false;
	return is_zero(name + n, IF_NAMESIZE - n);
}

/* The limits of bpf/found.h, which a map that is adopted must keep, too. */
static bool are_sizes_right(const struct cache_sizes *sizes)
{
	return sizes->n_segments && sizes->n_segments <= (1ull << 32) / VOLLEY_SEGMENT_UNITS &&
	       sizes->n_buckets && sizes->n_buckets % VOLLEY_PAGE_BUCKETS == 0 &&
	       sizes->n_zones > 1;
}

static bool is_address(const struct broker_address *a)
{
	if (a->family == AF_INET)
		return !a->scope_id && is_zero(a->bytes + 4, sizeof(a->bytes) - 4);
	return a->family == AF_INET6;
}

static bool is_address_right(const struct broker_address *a, uint32_t needs)
{
	if (needs & BROKER_NEEDS_ADDRESS)
		return is_address(a) && a->net_port;
	if (needs & BROKER_NEEDS_HOST)
		return is_address(a) && !a->net_port && !a->scope_id;
	return is_zero(a, sizeof(*a));
}

static bool is_xsk_right(const struct xsk_socket_wish *x, uint32_t needs)
{
	if (!(needs & BROKER_NEEDS_XSK))
		return is_zero(x, sizeof(*x));
	return x->n_frames && x->n_frames <= BROKER_XSK_FRAMES_MAX &&
	       !(x->n_frames & (x->n_frames - 1)) &&
	       (x->frame_bytes == XSK_FRAME_SMALL || x->frame_bytes == XSK_FRAME_LARGE) &&
	       x->busy_poll_us <= BROKER_XSK_POLL_US_MAX &&
	       x->busy_poll_budget <= BROKER_XSK_BUDGET_MAX &&
	       !x->busy_poll_us == !x->busy_poll_budget;
}

static const char *find_broker_fault(const struct broker_request *r, const struct row *row)
{
	const bool has_sizes = row->needs & BROKER_NEEDS_SIZES;

	if (r->flags & ~row->flags)
		return "flags";
	if ((r->fds_mask & row->fds) != row->fds || r->fds_mask & ~(row->fds | row->more_fds))
		return "descriptors";
	/* all shared maps, or none */
	if (r->fds_mask & BROKER_SHARED_MASK && ~r->fds_mask & BROKER_SHARED_MASK)
		return "some of the shared maps";
	if (row->needs & BROKER_NEEDS_NAME ? !is_ifname(r->ifname) :
					     !is_zero(r->ifname, sizeof(r->ifname)))
		return "name";
	if ((row->needs & BROKER_NEEDS_PROGRAM) == BROKER_NEEDS_PROGRAM ? !r->program_id :
									  r->program_id)
		return "program";
	if (has_sizes ? !are_sizes_right(&r->sizes) : !is_zero(&r->sizes, sizeof(r->sizes)))
		return "sizes";
	if (row->needs & BROKER_NEEDS_NUMBER ? !r->n || r->n > row->n_max : r->n)
		return "number";
	if (!is_address_right(&r->address, row->needs))
		return "address";
	if (!is_xsk_right(&r->xsk, row->needs))
		return "frames";
	if (r->operation != BROKER_WAKE_VETH && !is_zero(r->mac, sizeof(r->mac)))
		return "mac";
	return NULL;
}

int broker_check(const struct broker_request *r, enum broker_channel channel, bool has_dpdk,
		 const char **why)
{
	const struct row *row = operation_row(r->operation);

	if (!row || row->channel != channel)
		*why = "operation";
	else if (row->needs & BROKER_NEEDS_DPDK && !has_dpdk)
		*why = "DPDK";
	else if (!r->number || r->log_level < LOG_LEVEL_ERROR || r->log_level > LOG_LEVEL_DEBUG ||
		 r->log_format > LOG_JSON || !is_zero(r->zero, sizeof(r->zero)))
		*why = "head";
	else
		*why = find_broker_fault(r, row);
	return *why ? -EINVAL : 0;
}

/* --- Descriptors ------------------------------------------------------------------------------ */

void broker_fds_init(struct broker_fds *fds)
{
	for (size_t i = 0; i < BROKER_N_FDS; i++)
		fds->fd[i] = -1;
}

void broker_fds_close(struct broker_fds *fds)
{
	for (size_t i = 0; i < BROKER_N_FDS; i++)
		if (fds->fd[i] >= 0)
			close(fds->fd[i]);
	broker_fds_init(fds);
}

uint64_t broker_fds_mask(const struct broker_fds *fds)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < BROKER_N_FDS; i++)
		if (fds->fd[i] >= 0)
			mask |= BROKER_BIT(i);
	return mask;
}

struct object_shared broker_fds_shared(const struct broker_fds *fds,
				       const struct cache_sizes *sizes)
{
	return (struct object_shared){
		.fds = {
#define TAKE(name) .name = fds->fd[BROKER_FD_##name],
			BROKER_SHARED(TAKE)
#undef TAKE
			},
		.sizes = *sizes,
		.is_open = fds->fd[BROKER_FD_state] >= 0,
	};
}

void broker_fds_put_shared(struct broker_fds *fds, const struct found_maps *maps)
{
#define PUT(name) fds->fd[BROKER_FD_##name] = maps->name;
	BROKER_SHARED(PUT)
#undef PUT
}
