CREATE TABLE `transaction_buckets` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `transaction_segments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`level` integer NOT NULL,
	`first_chunk` integer NOT NULL,
	`state` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `transaction_segments_by_state` ON `transaction_segments` (`state`,`first_chunk`);--> statement-breakpoint
DROP INDEX `transactions_by_hash`;