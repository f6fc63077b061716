/* Parts of the report that concern the anomaly itself. Private to report/. */
#ifndef KR_REPORT_ANOMALY_H
#define KR_REPORT_ANOMALY_H

#include "report/argue.h"
#include "report/report.h"
#include "report/words.h"

/* The anomaly's name without its suffix, and the suffix ("" or "-session" or "-realtime"). */
const char *kr_anomaly_base(const struct kr_history *h, const struct kr_certificate *cert, const char **suffix);

/* The plain sentence, without a period. `arg`: the argument of a certificate of several cycles, else NULL. */
void kr_sentence(const struct kr_words *w, const struct kr_level *level, const struct kr_certificate *cert, const struct kr_argument *arg);

/* Is the argument more than one chain of facts that ends in a contradiction? */
bool kr_argument_is_involved(const struct kr_argument *arg);

/* Two reads of a key by one transaction that saw different values, which no world explains (two_states.c). */
struct kr_two_states { kr_txn txn; kr_key key; uint32_t first, second; };
bool kr_find_two_states(const struct kr_history *h, const struct kr_level *level, const struct kr_certificate *cert, struct kr_two_states *out);
void kr_say_two_states(const struct kr_words *w, const struct kr_two_states *s);     /* the sentence */
void kr_explain_two_states(const struct kr_words *w, const struct kr_two_states *s); /* the lines after "Then:" */

/* Explains a non-cyclic anomaly: the lines after "Then:". */
void kr_explain_operation(const struct kr_words *w, const struct kr_certificate *cert);

/* What a literal of the argument says: "T1 saw T2's x = 5"; `present`: in the present tense where that differs. */
void kr_say_literal(const struct kr_words *w, const struct kr_argument *arg, uint32_t literal, bool present);

/* Explains cycles: the lines after "Then:". */
void kr_explain_cycles(const struct kr_words *w, const struct kr_argument *arg);

/* A write of `value` to k, other than by `not_by`: the first by a transaction with this status, as the transaction's last write of k or (last == false) as an
 * earlier one. i == KR_NONE: there is none. */
struct kr_culprit { kr_txn txn; kr_op op; };
struct kr_culprit kr_find_write(const struct kr_history *h, kr_key k, kr_value value, enum kr_txn_status status, bool last, kr_txn not_by);
/* A write of `value` to k that took no effect: by an aborted transaction, else by one of unknown outcome. */
struct kr_culprit kr_find_aborted(const struct kr_history *h, kr_key k, kr_value value, kr_txn not_by);

/* The lines after "Then:", whatever the certificate. `arg`: as for kr_sentence, but also of a single cycle. */
void kr_explain_argument(const struct kr_report *r, const struct kr_words *w, const struct kr_argument *arg);

/* What the verdict rests on, a line "  NAME: TEXT" each. */
void kr_explain_assumed(const struct kr_report *r, struct kr_str *out);

#endif
