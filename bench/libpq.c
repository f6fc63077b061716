/* What krait-lab is held against: clients that do the statements of its workload
 * `registers:keys=KEYS,ops=4,least=4,rmw=0,readers=0,there=1` on PostgreSQL at level rr, and tell nobody: bench/lab.py.
 *
 *     libpq CONNECTION CLIENTS SECONDS|COUNT KEYS [times]     COUNT: "500x", so many transactions of each client
 *
 * Makes the table krait_bench.kv, and drops it. Prints transactions, seconds, and CPU seconds of this process;
 * with `times` also when each transaction ended, by the monotonic clock in ns. */
#include <inttypes.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLIENTS_MOST = 1000, OPS = 4, TIMES_MOST = 1 << 20 };

static const char *address;
static int keys;
static long count; /* of each client; 0: until it is over */
static double until;
static pthread_barrier_t start;
static _Atomic long done;
static int64_t *times; /* NULL: not asked for */
static _Atomic long times_n;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static PGconn *open_connection(void)
{
	PGconn *connection = PQconnectdb(address);

	if (PQstatus(connection) == CONNECTION_OK)
		return connection;
	fprintf(stderr, "%s", PQerrorMessage(connection));
	exit(1);
}

static void must(PGconn *connection, PGresult *answer)
{
	if (PQresultStatus(answer) != PGRES_COMMAND_OK && PQresultStatus(answer) != PGRES_TUPLES_OK) {
		fprintf(stderr, "%s", PQerrorMessage(connection));
		exit(1);
	}
	PQclear(answer);
}

/* False: the database refused it, which ends the transaction. */
static int run_one(PGconn *connection, uint64_t *random, long value)
{
	char key[16], text[24];
	const char *arguments[] = {key, text};
	int reads;
	PGresult *answer;

	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	reads = *random >> 63;
	snprintf(key, sizeof key, "r%02d", (int)((*random >> 33 & 0x3fffffff) % (uint64_t)keys));
	snprintf(text, sizeof text, "%ld", value);
	answer = PQexecPrepared(connection, reads ? "r" : "o", reads ? 1 : 2, arguments, NULL, NULL, 0);
	if (PQresultStatus(answer) == PGRES_FATAL_ERROR) {
		PQclear(answer);
		must(connection, PQexec(connection, "ROLLBACK"));
		return 0;
	}
	must(connection, answer);
	return 1;
}

static void *client(void *data)
{
	long number = (long)(intptr_t)data, n = 0;
	uint64_t random = (uint64_t)number * 7919 + 1;
	PGconn *connection = open_connection();

	must(connection, PQprepare(connection, "r", "SELECT v FROM krait_bench.kv WHERE k = $1", 0, NULL));
	must(connection, PQprepare(connection, "o", "UPDATE krait_bench.kv SET v = $2 WHERE k = $1", 0, NULL));
	pthread_barrier_wait(&start);
	for (; count ? n < count : now(CLOCK_MONOTONIC) < until; n++) {
		int i = 0;
		long at;

		must(connection, PQexec(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ"));
		while (i < OPS && run_one(connection, &random, number * 10000000 + OPS * n + i))
			i++;
		if (i == OPS)
			must(connection, PQexec(connection, "COMMIT"));
		if (times && (at = times_n++) < TIMES_MOST)
			times[at] = (int64_t)(now(CLOCK_MONOTONIC) * 1e9);
	}
	done += n;
	PQfinish(connection);
	return NULL;
}

static void make_table(PGconn *connection)
{
	char text[96];

	must(connection, PQexec(connection, "CREATE SCHEMA krait_bench"));
	must(connection, PQexec(connection, "CREATE TABLE krait_bench.kv (k text COLLATE \"C\" PRIMARY KEY, v bigint NOT NULL)"));
	must(connection, PQexec(connection, "BEGIN"));
	for (int i = 0; i < keys; i++) {
		snprintf(text, sizeof text, "INSERT INTO krait_bench.kv VALUES ('r%02d', %d)", i, i);
		must(connection, PQexec(connection, text));
	}
	must(connection, PQexec(connection, "COMMIT"));
}

int main(int argc, char **argv)
{
	pthread_t threads[CLIENTS_MOST];
	long clients = argc >= 5 ? atol(argv[2]) : 0;
	double began, cpu;
	PGconn *connection;

	if (clients < 1 || clients > CLIENTS_MOST) {
		fprintf(stderr, "usage: libpq CONNECTION CLIENTS SECONDS|COUNTx KEYS [times]\n");
		return 1;
	}
	address = argv[1];
	keys = atoi(argv[4]);
	times = argc == 6 ? calloc(TIMES_MOST, sizeof *times) : NULL;
	count = strchr(argv[3], 'x') ? atol(argv[3]) : 0;
	connection = open_connection();
	make_table(connection);
	pthread_barrier_init(&start, NULL, (unsigned)clients + 1);
	for (long i = 0; i < clients; i++)
		pthread_create(&threads[i], NULL, client, (void *)(intptr_t)i);
	until = now(CLOCK_MONOTONIC) + 3600;
	pthread_barrier_wait(&start);
	began = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	until = began + atof(argv[3]);
	for (long i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %.3f %.3f\n", (long)done, now(CLOCK_MONOTONIC) - began, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	for (long i = 0; times && i < times_n && i < TIMES_MOST; i++)
		printf("%lld\n", (long long)times[i]);
	free(times);
	must(connection, PQexec(connection, "SET client_min_messages = warning"));
	must(connection, PQexec(connection, "DROP SCHEMA krait_bench CASCADE"));
	PQfinish(connection);
	return 0;
}
