CREATE TABLE `hashed_accounts` (
	`hash` blob PRIMARY KEY NOT NULL,
	`id` integer NOT NULL,
	`nonce` blob NOT NULL,
	`balance` blob NOT NULL,
	`code_id` integer,
	`has_storage` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `hashed_storage` (
	`account_id` integer NOT NULL,
	`slot_hash` blob NOT NULL,
	`value` blob NOT NULL,
	PRIMARY KEY(`account_id`, `slot_hash`)
) WITHOUT ROWID;
