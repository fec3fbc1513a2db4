CREATE TABLE `l2_event_terms` (
	`term` integer NOT NULL,
	`number` integer NOT NULL,
	PRIMARY KEY(`term`, `number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `l2_events` (
	`number` integer PRIMARY KEY NOT NULL,
	`events` blob
);
--> statement-breakpoint
CREATE INDEX `l2_events_not_indexed` ON `l2_events` (`number`) WHERE events IS NULL;--> statement-breakpoint
ALTER TABLE `l2_pending` ADD `raw` blob;--> statement-breakpoint
CREATE INDEX `l2_block_txs_by_hash` ON `l2_block_txs` (`tx_hash`);
--> statement-breakpoint
INSERT INTO `l2_events` (`number`) SELECT `number` FROM `l2_blocks` WHERE `canonical` = 1;
