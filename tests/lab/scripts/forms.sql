-- setup
CREATE TABLE IF NOT EXISTS t (k INT PRIMARY KEY, v BIGINT);
INSERT INTO t (k, v) VALUES (1, 10), (2, 20), (12, 120);
-- transaction all
SELECT v FROM t WHERE k = 1;
SELECT * FROM t WHERE k = '7';
SELECT k, v FROM t WHERE k >= 2 AND k < 13 ORDER BY k;
select k, v from t where k >= 1 and k < 13 order by k limit 2;
SELECT * FROM t WHERE v > 10 AND v <= 120;
SELECT * FROM t WHERE v = 20;
SELECT * FROM t;
UPDATE t SET v = 11 WHERE k = 1;
UPDATE t SET v = 5 WHERE k = 7;
SELECT v FROM t WHERE k = :int(2,2);
UPDATE t SET v = :row.v + 1 - 3 WHERE k = 2;
SELECT v FROM t WHERE k = 9;
UPDATE t SET v = :row.nothing WHERE k = 1;
INSERT INTO t VALUES (3, 30);
INSERT INTO t VALUES (3, 31) ON CONFLICT DO NOTHING;
DELETE FROM t WHERE k = 3; -- a comment; with a semicolon
DELETE FROM t WHERE k = 3;
SELECT k, v FROM t WHERE v % 2 = 0 --> r k
SELECT max(v) FROM t --> none
SELECT k AS a, v AS b FROM t --> scan
INSERT INTO t VALUES (4, 40) ON CONFLICT (k) DO UPDATE SET v = 40 --> w 4 40
SELECT ':key;' AS x, v FROM t WHERE k = 4 --> none
UPDATE t SET v = 99 WHERE v >= 100 AND v <= 120 RETURNING k, v;
UPDATE t SET v = 98 WHERE v >= 1000 RETURNING *;
UPDATE t SET v = v - 5 WHERE v >= 40 RETURNING k, v;
UPDATE t SET v = v + 1 WHERE k >= 1 AND k < 3 RETURNING v, k;
DELETE FROM t WHERE k >= 2 AND k < 5 RETURNING k, v;
DELETE FROM t WHERE v < 0 RETURNING k, v;
DELETE FROM t RETURNING *;
