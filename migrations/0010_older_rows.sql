CREATE TABLE `account_older` (
	`address_id` integer NOT NULL,
	`block_number` integer NOT NULL,
	`nonce` blob NOT NULL,
	`balance` blob,
	`code_id` integer,
	`incarnation` integer NOT NULL,
	PRIMARY KEY(`address_id`, `block_number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `storage_older` (
	`address_id` integer NOT NULL,
	`incarnation` integer NOT NULL,
	`slot` blob NOT NULL,
	`block_number` integer NOT NULL,
	`value` blob NOT NULL,
	PRIMARY KEY(`address_id`, `incarnation`, `slot`, `block_number`)
) WITHOUT ROWID;
