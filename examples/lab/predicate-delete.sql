-- READ COMMITTED and conditions: a DELETE looks at the rows as they were when it began, and once more at those that were changed while it waited. So T2 finds no row
-- with 20, though there is one at any time.
--
--     krait-lab record -d postgresql -l rc -w examples/lab/predicate-delete.sql --check pl-2,pl-2l --explain
-- setup
CREATE TABLE t (k INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- transaction T1
UPDATE t SET v = v + 10 RETURNING k, v;
-- transaction T2
DELETE FROM t WHERE v = 20 RETURNING k, v;
-- order T1 T2 T1 T2
