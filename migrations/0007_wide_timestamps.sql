-- Times of 2^53 and more are decimal text, as other 64-bit integers are: a column of integer affinity would round it.
-- Only the declared type changes, by the procedure of SQLite's documentation (ALTER TABLE, section 7): stored values are
-- integers, which both types store alike, so that no row of a table of many gigabytes has to be written.
PRAGMA writable_schema = ON;
--> statement-breakpoint
UPDATE sqlite_schema SET sql = replace(sql, '`timestamp` integer NOT NULL', '`timestamp` blob NOT NULL') WHERE type = 'table' AND name = 'blocks';
--> statement-breakpoint
PRAGMA writable_schema = RESET;
--> statement-breakpoint
-- Changes the version of the schema, so that other connections read it anew.
CREATE VIEW schema_changed AS SELECT 1;
--> statement-breakpoint
DROP VIEW schema_changed;
