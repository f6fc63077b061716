-- InnoDB at REPEATABLE READ: T1 changes column v of a row, and with it comes what T2 has written to the row's column w; of the
-- other row it goes on seeing the old w. Columns are keys of their own here.
-- setup
CREATE TABLE pair (k INT PRIMARY KEY, v INT, w INT);
INSERT INTO pair (k, v, w) VALUES (1, 1, 1), (2, 2, 2);
-- transaction T0
UPDATE pair SET v = 101, w = 201 WHERE k = 1 --> w w/1 201
UPDATE pair SET w = 202 WHERE k = 2 --> w w/2 202
-- transaction T1
SELECT w FROM pair WHERE k = 2 --> r w/2
UPDATE pair SET v = 301 WHERE k = 1 --> w v/1 301
SELECT w FROM pair WHERE k = 1 --> r w/1
SELECT w FROM pair WHERE k = 2 --> r w/2
-- transaction T2
UPDATE pair SET w = 401 WHERE k = 1 --> w w/1 401
UPDATE pair SET w = 402 WHERE k = 2 --> w w/2 402
-- order T0 T0 T0 T1 T2 T2 T2 T1 T1 T1 T1
