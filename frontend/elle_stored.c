/* Jepsen's block format, test.jepsen: the operations of the history in it, as forms.
 *
 * "JEPSEN", a version of 4 bytes and the place of the index, then blocks: 8 bytes of length, 4 of checksum (a
 * CRC-32 of the data and then of the header, without the sum itself), 2 of type, 14 that are 0, the data; all
 * numbers big-endian. The index has the root's number and, for each block, number and place. The root is the
 * test: a map whose :history is the number of a block. That has the operations as one list (version 0), as
 * values one behind the other, or is a vector of blocks of either, each with the index of its first. Blocks
 * are checked before they are read, and that no operation is missing. An operation is on the line that it has
 * in history.edn. Cost: one pass, and the file in memory. */
#include <string.h>
#include <zlib.h>

#include "frontend/elle.h"
#include "frontend/elle_stored.h"

enum { HEAD = 18, HEADER = 28, SUM_AT = 8, TYPE_AT = 12, ENTRY = 12 };

enum block_type { INDEX = 1, VALUE, PARTIAL_MAP, STREAM, VECTOR };

struct block {
	enum block_type type;
	const unsigned char *data;
	size_t length;
};

static bool is_whole(const unsigned char *header, size_t length)
{
	unsigned char blank[HEADER];
	uLong sum = crc32_z(0, header + HEADER, length - HEADER);

	memcpy(blank, header, HEADER);
	memset(blank + SUM_AT, 0, TYPE_AT - SUM_AT);
	memset(blank + TYPE_AT + 2, 0, HEADER - TYPE_AT - 2);
	return crc32_z(sum, blank, HEADER) == kr_word_at(header + SUM_AT, 4);
}

/* The block at that place. */
static enum kr_status take_block(struct kr_elle_stored *s, uint64_t place, struct block *out)
{
	const unsigned char *at;

	if (place > s->size || s->size - place < HEADER)
		return kr_fressian_bad(&s->values, s->file + s->size,
			"the file is cut off: it ends before the block of byte %llu, expected all of it",
			(unsigned long long)place);
	at = s->file + place;
	uint64_t length = kr_word_at(at, 8);
	if (length < HEADER || length > s->size - place)
		return kr_fressian_bad(&s->values, at,
			"the file is cut off, or damaged: a block of %llu bytes begins %llu before its end",
			(unsigned long long)length, (unsigned long long)(s->size - place));
	if (!is_whole(at, (size_t)length))
		return kr_fressian_bad(&s->values, at,
			"the file is damaged: a block's checksum is not that of its bytes");
	*out = (struct block){(enum block_type)kr_word_at(at + TYPE_AT, 2), at + HEADER,
		(size_t)length - HEADER};
	return KR_OK;
}

/* The block of that number. */
static enum kr_status find_block(struct kr_elle_stored *s, uint64_t id, struct block *out)
{
	for (size_t i = 4; i + ENTRY <= s->index_length; i += ENTRY)
		if (kr_word_at(s->index + i, 4) == id)
			return take_block(s, kr_word_at(s->index + i + 4, 8), out);
	return kr_fressian_bad(&s->values, s->index, "the index has no block %llu, expected it",
		(unsigned long long)id);
}

static enum kr_status take_index(struct kr_elle_stored *s)
{
	struct block index;
	uint64_t version = s->size < HEAD ? 0 : kr_word_at(s->file + 6, 4), place;

	if (s->size < HEAD)
		return kr_fressian_bad(&s->values, s->file + s->size, "the file is cut off in its head");
	if (version > 1)
		return kr_fressian_bad(&s->values, s->file + 6,
			"is in version %llu of Jepsen's block format, expected 0 or 1",
			(unsigned long long)version);
	place = kr_word_at(s->file + 10, 8);
	if (place == 0)
		return kr_fressian_bad(&s->values, s->file + 10,
			"nothing has been saved in it, expected a test");
	KR_TRY(take_block(s, place, &index));
	if (index.type != INDEX || index.length < 4)
		return kr_fressian_bad(&s->values, index.data,
			"found a block of type %d, expected the index (1)", (int)index.type);
	s->index = index.data;
	s->index_length = index.length;
	return KR_OK;
}

/* The number of the block that has the history, by the map of the test, or what is left of it elsewhere. */
static enum kr_status find_history(struct kr_elle_stored *s, uint64_t *out)
{
	static const char *const names[] = {"history"};
	struct kr_forms *f = s->values.forms;
	uint64_t id = kr_word_at(s->index, 4);
	uint32_t history = KR_NONE;
	struct block block = {.data = s->index};

	/* as often as there are blocks: a map may be in several */
	for (size_t left = s->index_length / ENTRY; history == KR_NONE && id != 0 && left > 0; left--) {
		bool found = false;

		KR_TRY(find_block(s, id, &block));
		size_t skip = block.type == PARTIAL_MAP ? 4 : 0;
		if ((block.type != VALUE && block.type != PARTIAL_MAP) || block.length < skip)
			return kr_fressian_bad(&s->values, block.data,
				"found a block of type %d, expected the test, a map (2)", (int)block.type);
		kr_fressian_begin(&s->values, block.data + skip, block.length - skip);
		KR_TRY(kr_fressian_next(&s->values, &found));
		if (found && f->nodes.at[0].type == KR_FORM_MAP)
			KR_TRY(kr_forms_fields(f, 0, names, &history, 1));
		id = skip ? kr_word_at(block.data, 4) : 0;
	}
	if (history == KR_NONE || f->nodes.at[history].type != KR_FORM_INT)
		return kr_fressian_bad(&s->values, block.data, "a test without a history, expected one");
	*out = (uint64_t)f->nodes.at[history].integer;
	return KR_OK;
}

/* ---- operations ---- */

/* Goes to the operations of a block. */
static enum kr_status enter_block(struct kr_elle_stored *s, const struct block *block)
{
	kr_fressian_begin(&s->values, block->data, block->length);
	if (block->type == VALUE)
		return kr_fressian_enter(&s->values);
	return block->type == STREAM
		? KR_OK
		: kr_fressian_bad(&s->values, block->data,
			  "found a block of type %d, expected operations (2 or 4)", (int)block->type);
}

/* The next block of the vector, if there is one. */
static enum kr_status enter_next(struct kr_elle_stored *s, bool *found)
{
	struct block block;

	*found = s->chunks_left >= ENTRY;
	if (!*found && s->is_vector && s->operations != s->count)
		return kr_fressian_bad(&s->values, s->chunks,
			"the history is to have %llu operations, but has %llu", (unsigned long long)s->count,
			(unsigned long long)s->operations);
	if (!*found)
		return KR_OK;
	if (kr_word_at(s->chunks, 8) != s->operations)
		return kr_fressian_bad(&s->values, s->chunks,
			"operation %llu is to come next, but %llu have been read",
			(unsigned long long)kr_word_at(s->chunks, 8), (unsigned long long)s->operations);
	KR_TRY(find_block(s, kr_word_at(s->chunks + 8, 4), &block));
	s->chunks += ENTRY;
	s->chunks_left -= ENTRY;
	return enter_block(s, &block);
}

static enum kr_status next_operation(struct kr_forms *f, bool *found)
{
	struct kr_elle_stored *s = f->from;
	bool more = true;

	*found = false;
	while (!*found && more) {
		f->line = (uint32_t)s->operations + 1;
		KR_TRY(kr_fressian_next(&s->values, found));
		if (*found)
			break;
		f->line = 0; /* what is said of blocks is of no operation */
		KR_TRY(enter_next(s, &more));
	}
	s->operations += *found;
	return KR_OK;
}

static enum kr_status enter_history(struct kr_elle_stored *s)
{
	struct block block;
	uint64_t id = 0;

	KR_TRY(take_index(s));
	KR_TRY(find_history(s, &id));
	KR_TRY(find_block(s, id, &block));
	if (block.type == VALUE && block.length == 1 && block.data[0] == 0xf7)
		return kr_fressian_bad(&s->values, block.data,
			"the history has not been saved in it: the test ended before");
	if (block.type != VECTOR)
		return enter_block(s, &block);
	if (block.length < 8)
		return kr_fressian_bad(&s->values, block.data, "a vector without its size, expected one");
	kr_fressian_begin(&s->values, block.data, 0);
	s->is_vector = true;
	s->count = kr_word_at(block.data, 8);
	s->chunks = block.data + 8;
	s->chunks_left = block.length - 8;
	return KR_OK;
}

enum kr_status kr_elle_stored_init(struct kr_elle_stored *s, struct kr_forms *f, struct kr_source *source)
{
	char *text = NULL;

	*s = (struct kr_elle_stored){.size = 0};
	kr_fressian_init(&s->values, f, NULL);
	f->line = 0;
	KR_TRY(kr_source_rest(source, &text, &s->size, f->err));
	s->file = s->values.file = (const unsigned char *)text;
	f->next = next_operation;
	f->from = s;
	return enter_history(s);
}

void kr_elle_stored_done(struct kr_elle_stored *s) { kr_fressian_done(&s->values); }

bool kr_elle_is_stored(const char *head, size_t length)
{
	return length >= 6 && memcmp(head, "JEPSEN", 6) == 0;
}
