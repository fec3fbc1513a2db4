CREATE TABLE `log_big_postings` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `log_buckets` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `log_segments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`level` integer NOT NULL,
	`first_chunk` integer NOT NULL,
	`state` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `log_segments_by_state` ON `log_segments` (`state`,`first_chunk`);--> statement-breakpoint
DROP INDEX `logs_by_address`;--> statement-breakpoint
DROP INDEX `logs_by_topic0`;--> statement-breakpoint
DROP INDEX `logs_by_topic1`;--> statement-breakpoint
DROP INDEX `logs_by_topic2`;--> statement-breakpoint
DROP INDEX `logs_by_topic3`;