-- An index of the state history by block took a third of the time of writing a row. `changed_keys` has the same keys, one row for each block.
-- cairn_account_keys and cairn_slot_keys are aggregates of the connection that migrates (src/store/state/changedKeys.ts).
CREATE TABLE `changed_keys` (
	`block_number` integer PRIMARY KEY NOT NULL,
	`accounts` blob NOT NULL,
	`slots` blob NOT NULL
);
--> statement-breakpoint
-- Rows of at most 64 blocks, which have no index by block.
INSERT INTO `account_history` (address_id, block_number, nonce, balance, code_id, incarnation)
SELECT address_id, block_number, nonce, balance, code_id, incarnation FROM `account_recent`;
--> statement-breakpoint
DELETE FROM `account_recent`;
--> statement-breakpoint
INSERT INTO `storage_history` (address_id, incarnation, slot, block_number, value)
SELECT address_id, incarnation, slot, block_number, value FROM `storage_recent`;
--> statement-breakpoint
DELETE FROM `storage_recent`;
--> statement-breakpoint
DELETE FROM `meta` WHERE key = 'state_recent_from';
--> statement-breakpoint
INSERT INTO `changed_keys` (block_number, accounts, slots)
SELECT number,
  (SELECT cairn_account_keys(address_id) FROM `account_history` INDEXED BY `account_history_by_block` WHERE block_number = number),
  (SELECT cairn_slot_keys(address_id, incarnation, slot) FROM `storage_history` INDEXED BY `storage_history_by_block` WHERE block_number = number)
FROM (SELECT block_number AS number FROM `account_history` UNION SELECT block_number FROM `storage_history`);
--> statement-breakpoint
DROP INDEX `account_history_by_block`;
--> statement-breakpoint
DROP INDEX `storage_history_by_block`;
