/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/tcp_conn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/page.h"
#include "base/wire.h"
#include "port/tcp_tls.h"

#define FLUSH_IOVS 16
#define KEPT_BYTES 4096u /* of a slot for input, without a connection */

_Static_assert(sizeof(struct tcp_chunk) == TCP_CHUNK_BYTES, "a chunk is as long as it says");
_Static_assert(TCP_CHUNKS_PER_MSG * sizeof(((struct tcp_chunk *)0)->bytes) >=
		       TCP_PREFIX_BYTES + TCP_MESSAGE_MAX,
	       "a message fits its chunks");
_Static_assert(TCP_IN_BYTES >= TCP_PREFIX_BYTES + TCP_MESSAGE_MAX, "a message fits");

int tcp_pool_init(struct tcp_pool *pool, uint32_t n_bytes)
{
	void *area = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (area == MAP_FAILED)
		return -errno;
	pool->chunks = area;
	pool->n_chunks = pool->n_free = pool->n_cold = n_bytes / TCP_CHUNK_BYTES;
	/* A linked list would touch memory that was never used, so this is an array. */
	pool->cold = calloc(pool->n_chunks, sizeof(*pool->cold));
	if (!pool->cold)
		return -ENOMEM;
	for (uint32_t i = 0; i < pool->n_chunks; i++)
		pool->cold[i] = pool->n_chunks - 1 - i;
	pool->warm = NULL;
	pool->n_warm = 0;
	return 0;
}

void tcp_pool_fini(struct tcp_pool *pool)
{
	if (pool->chunks)
		munmap(pool->chunks, (size_t)pool->n_chunks * TCP_CHUNK_BYTES);
	free(pool->cold);
}

static struct tcp_chunk *chunk_get(struct tcp_pool *pool)
{
	struct tcp_chunk *chunk = pool->warm;

	assert(pool->n_free);
	if (chunk) {
		pool->warm = chunk->next;
		pool->n_warm--;
	} else {
		chunk = &pool->chunks[pool->cold[--pool->n_cold]];
	}
	pool->n_free--;
	chunk->next = NULL;
	chunk->start = chunk->end = 0;
	return chunk;
}

static void chunk_put(struct tcp_pool *pool, struct tcp_chunk *chunk)
{
	pool->n_free++;
	if (pool->n_warm == TCP_POOL_WARM) {
		page_release(chunk, TCP_CHUNK_BYTES);
		pool->cold[pool->n_cold++] = (uint32_t)(chunk - pool->chunks);
		return;
	}
	chunk->next = pool->warm;
	pool->warm = chunk;
	pool->n_warm++;
}

/* Makes room after in_end for the rest of a message of any length. */
static void make_tcp_conn_room(struct tcp_conn *c)
{
	if (c->in_start == c->in_end) {
		c->in_start = c->in_end = 0;
	} else if (c->in_end == TCP_IN_BYTES) {
		memmove(c->in, c->in + c->in_start, c->in_end - c->in_start);
		c->in_end -= c->in_start;
		c->in_start = 0;
	}
}

/* Returns the number of octets read; 0: none, or eof is set; or -errno. */
static ssize_t read_tcp_conn_some(struct tcp_conn *c, uint8_t *out, size_t cap)
{
	ssize_t n;

	if (c->ssl)
		return tcp_tls_read(c->ssl, out, cap, &c->eof);
	n = recv(c->fd, out, cap, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	c->eof |= n == 0;
	return n;
}

int tcp_conn_read(struct tcp_conn *c)
{
	ssize_t n;

	make_tcp_conn_room(c);
	if (c->in_end == TCP_IN_BYTES)
		return 0;
	n = read_tcp_conn_some(c, c->in + c->in_end, TCP_IN_BYTES - c->in_end);
	if (n < 0)
		return (int)n;
	if (n == 0 && !c->eof)
		return 0;
	c->in_end += (uint32_t)n;
	if (c->in_end > c->in_peak)
		c->in_peak = c->in_end;
	if (c->stage != TCP_OPEN)
		c->in_start = c->in_end;
	return 1;
}

bool tcp_conn_is_hiding(const struct tcp_conn *c)
{
	return c->ssl && !c->eof && tcp_tls_is_hiding(c->ssl);
}

bool tcp_conn_has_message(struct tcp_conn *c)
{
	uint32_t n = c->in_end - c->in_start, len;

	if (c->stage != TCP_OPEN || n < TCP_PREFIX_BYTES)
		return false;
	len = wire_load_be16(c->in + c->in_start);
	if (!len) {
		c->stage = TCP_FINISHED;
		c->in_start = c->in_end;
		return false;
	}
	return n >= TCP_PREFIX_BYTES + len;
}

uint32_t tcp_conn_take(struct tcp_conn *c, const uint8_t **message)
{
	uint32_t len = wire_load_be16(c->in + c->in_start);

	*message = c->in + c->in_start + TCP_PREFIX_BYTES;
	c->in_start += TCP_PREFIX_BYTES + len;
	c->n_queries++;
	return len;
}

void tcp_conn_put_back(struct tcp_conn *c, uint32_t at, uint32_t n)
{
	assert(at < c->in_start && n <= c->n_queries);
	c->in_start = at;
	c->n_queries -= n;
	c->stage = TCP_OPEN; /* the message that finished it is among them or after them */
	c->alone = true;
}

static void queue(struct tcp_conn *c, struct tcp_pool *pool, const uint8_t *bytes, size_t n)
{
	while (n) {
		struct tcp_chunk *last = c->out_last;
		size_t room = last ? sizeof(last->bytes) - last->end : 0;

		if (!room) {
			last = chunk_get(pool);
			if (c->out_last)
				c->out_last->next = last;
			else
				c->out_first = last;
			c->out_last = last;
			continue;
		}
		if (room > n)
			room = n;
		memcpy(last->bytes + last->end, bytes, room);
		last->end += (uint32_t)room;
		c->out_bytes += (uint32_t)room;
		bytes += room;
		n -= room;
	}
}

/* Returns the bytes that the socket took (0: it is full) or -errno. */
static ssize_t push_tcp_conn(const struct tcp_conn *c, struct iovec *iov, unsigned int n)
{
	struct msghdr hdr = { .msg_iov = iov, .msg_iovlen = n };
	ssize_t done;

	if (c->ssl)
		return tcp_tls_write(c->ssl, iov, n);
	done = sendmsg(c->fd, &hdr, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (done >= 0)
		return done;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -errno;
}

int tcp_conn_write(struct tcp_conn *c, struct tcp_pool *pool, struct iovec *iov,
		   unsigned int n_replies, unsigned int n_pieces)
{
	unsigned int n = n_replies * n_pieces, n_waiting = 0;
	ssize_t done = c->out_bytes ? 0 : push_tcp_conn(c, iov, n);

	if (done < 0)
		return (int)done;
	for (unsigned int i = 0; i < n; i++) {
		size_t gone = (size_t)done < iov[i].iov_len ? (size_t)done : iov[i].iov_len;

		done -= (ssize_t)gone;
		if (gone == iov[i].iov_len)
			continue;
		queue(c, pool, (const uint8_t *)iov[i].iov_base + gone, iov[i].iov_len - gone);
		/* The last piece of a reply waits if any of its pieces waits. */
		n_waiting += i % n_pieces == n_pieces - 1;
	}
	c->n_queued += n_waiting;
	return (int)n_waiting;
}

/* Removes n sent bytes from the queue, and gives back the chunks that are empty. */
static void consume(struct tcp_conn *c, struct tcp_pool *pool, size_t n)
{
	c->out_bytes -= (uint32_t)n;
	while (c->out_first) {
		struct tcp_chunk *chunk = c->out_first;
		size_t here = chunk->end - chunk->start;

		if (n < here) {
			chunk->start += (uint32_t)n;
			return;
		}
		n -= here;
		c->out_first = chunk->next;
		if (!c->out_first)
			c->out_last = NULL;
		chunk_put(pool, chunk);
		c->progress = true;
	}
}

int tcp_conn_flush(struct tcp_conn *c, struct tcp_pool *pool)
{
	while (c->out_first) {
		struct iovec iov[FLUSH_IOVS];
		unsigned int n = 0;
		size_t n_bytes = 0;
		ssize_t done;

		for (struct tcp_chunk *k = c->out_first; k && n < FLUSH_IOVS; k = k->next) {
			iov[n++] = (struct iovec){ k->bytes + k->start, k->end - k->start };
			n_bytes += k->end - k->start;
		}
		done = push_tcp_conn(c, iov, n);
		if (done < 0)
			return (int)done;
		consume(c, pool, (size_t)done);
		if ((size_t)done < n_bytes)
			break;
	}
	return 0;
}

/* A client with large messages must not make the slot keep its memory for later clients. */
static void release_input(struct tcp_conn *c)
{
	if (c->in_peak > KEPT_BYTES)
		page_release(c->in + KEPT_BYTES, TCP_IN_BYTES - KEPT_BYTES);
	c->in_start = c->in_end = c->in_peak = 0;
}

void tcp_conn_trim(struct tcp_conn *c)
{
	if (c->in_start == c->in_end && c->in_peak > KEPT_BYTES)
		release_input(c);
}

void tcp_conn_reset(struct tcp_conn *c, struct tcp_pool *pool)
{
	while (c->out_first) {
		struct tcp_chunk *chunk = c->out_first;

		c->out_first = chunk->next;
		chunk_put(pool, chunk);
	}
	c->ssl = NULL;
	c->watch = NULL;
	c->out_last = NULL;
	c->out_bytes = c->n_queued = c->n_queries = c->n_taken = c->n_deferred = 0;
	release_input(c);
	c->class = TCP_CLIENTS;
	c->stage = TCP_OPEN;
	c->eof = c->alone = c->progress = false;
}
