CREATE TABLE `signature_pages` (
	`set_id` integer NOT NULL,
	`kind` integer NOT NULL,
	`first_key` integer NOT NULL,
	`data` blob NOT NULL,
	PRIMARY KEY(`set_id`, `kind`, `first_key`)
);
--> statement-breakpoint
CREATE TABLE `signature_sets` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`functions` integer NOT NULL,
	`events` integer NOT NULL,
	`added_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `abis` ADD `compiler` text;--> statement-breakpoint
ALTER TABLE `abis` ADD `sourcify_match` text;--> statement-breakpoint
ALTER TABLE `abis` ADD `metadata_matches` integer;