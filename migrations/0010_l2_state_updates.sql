CREATE TABLE `l2_state_updates` (
	`l1_block` integer NOT NULL,
	`log_index` integer NOT NULL,
	`contract` blob NOT NULL,
	`number` integer NOT NULL,
	`hash` blob NOT NULL,
	`matches` integer,
	PRIMARY KEY(`l1_block`, `log_index`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `l2_state_updates_by_number` ON `l2_state_updates` (`number`);--> statement-breakpoint
CREATE INDEX `l2_state_updates_matching` ON `l2_state_updates` (`number`) WHERE matches = 1;--> statement-breakpoint
ALTER TABLE `l2_state` ADD `claimed_number` integer;--> statement-breakpoint
ALTER TABLE `l2_state` ADD `claimed_source` text;
--> statement-breakpoint
UPDATE `l2_state` SET `claimed_number` = `l1_head_number`, `claimed_source` = `finality_source`;
