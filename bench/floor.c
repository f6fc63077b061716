/* Baseline: what a reader of Cobra's logs cannot do without. Reads each file to its end, and looks every key and every value up once in a
 * table of those that were met before, where it is put if it is new. Prints how many there were: bench/floor.py.
 *
 *     floor FILE... */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct table {
	uint64_t *words;
	uint64_t mask, n;
};

static uint64_t hash(uint64_t x)
{
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static void put(struct table *t, uint64_t word)
{
	uint64_t at = hash(word) & t->mask;

	while (t->words[at] != 0 && t->words[at] != word)
		at = (at + 1) & t->mask;
	t->n += t->words[at] == 0;
	t->words[at] = word;
}

static void meet(struct table *t, uint64_t word)
{
	struct table grown = {.mask = t->mask ? t->mask * 2 + 1 : 1023};

	if (t->n >= t->mask / 4 * 3) {
		grown.words = calloc(grown.mask + 1, sizeof *grown.words);
		if (!grown.words)
			exit(EXIT_FAILURE);
		for (uint64_t i = 0; t->words && i <= t->mask; i++)
			if (t->words[i])
				put(&grown, t->words[i]);
		free(t->words);
		*t = grown;
	}
	put(t, word);
}

static uint64_t word_at(const unsigned char *at)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word = word << 8 | at[i];
	return word;
}

static size_t size_of(unsigned char tag) { return tag == 'R' ? 33 : tag == 'W' ? 25 : 9; }

/* The records that are whole. */
static size_t read_records(const unsigned char *at, size_t left, struct table *keys, struct table *values)
{
	const unsigned char *from = at;

	for (size_t size; left > 0 && (size = size_of(*at)) <= left; at += size, left -= size) {
		if (*at == 'R' || *at == 'W')
			meet(keys, word_at(at + (*at == 'R' ? 17 : 9)));
		if (*at != 'S')
			meet(values, word_at(at + (*at == 'R' ? 9 : 1)));
	}
	return (size_t)(at - from);
}

int main(int argc, char **argv)
{
	static unsigned char buffer[1 << 16];
	struct table keys = {0}, values = {0};

	for (int i = 1; i < argc; i++) {
		int file = open(argv[i], O_RDONLY);
		size_t n = 0;
		ssize_t got;

		while (file >= 0 && (got = read(file, buffer + n, sizeof buffer - n)) > 0) {
			size_t used = read_records(buffer, n += (size_t)got, &keys, &values);
			for (size_t left = used; left < n; left++)
				buffer[left - used] = buffer[left];
			n -= used;
		}
		if (file < 0 || close(file) != 0)
			return EXIT_FAILURE;
	}
	printf("%llu keys, %llu values\n", (unsigned long long)keys.n, (unsigned long long)values.n);
	return EXIT_SUCCESS;
}
