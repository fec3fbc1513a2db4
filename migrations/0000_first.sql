CREATE TABLE `account_history` (
	`address_id` integer NOT NULL,
	`block_number` integer NOT NULL,
	`nonce` blob NOT NULL,
	`balance` blob,
	`code_id` integer,
	`incarnation` integer NOT NULL,
	PRIMARY KEY(`address_id`, `block_number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `account_history_by_block` ON `account_history` (`block_number`);--> statement-breakpoint
CREATE TABLE `addresses` (
	`id` integer PRIMARY KEY NOT NULL,
	`address` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `addresses_by_address` ON `addresses` (`address`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`hash` blob NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_by_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE TABLE `blocks` (
	`number` integer PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL,
	`parent_hash` blob NOT NULL,
	`uncles_hash` blob NOT NULL,
	`miner` blob NOT NULL,
	`state_root` blob NOT NULL,
	`transactions_root` blob NOT NULL,
	`receipts_root` blob NOT NULL,
	`logs_bloom` blob,
	`difficulty` blob NOT NULL,
	`total_difficulty` blob NOT NULL,
	`gas_limit` blob NOT NULL,
	`gas_used` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`extra_data` blob NOT NULL,
	`mix_hash` blob NOT NULL,
	`nonce` blob NOT NULL,
	`base_fee_per_gas` blob,
	`withdrawals_root` blob,
	`blob_gas_used` blob,
	`excess_blob_gas` blob,
	`parent_beacon_block_root` blob,
	`requests_hash` blob,
	`size` integer NOT NULL,
	`withdrawals` blob,
	`first_tx` integer NOT NULL,
	`n_tx` integer NOT NULL,
	`first_log` integer NOT NULL,
	`n_logs` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `blocks_by_hash` ON `blocks` (`hash`);--> statement-breakpoint
CREATE INDEX `blocks_by_first_log` ON `blocks` (`first_log`) WHERE n_logs > 0;--> statement-breakpoint
CREATE TABLE `code` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL,
	`bytes` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `code_by_hash` ON `code` (`hash`);--> statement-breakpoint
CREATE TABLE `l2_block_txs` (
	`block_hash` blob NOT NULL,
	`idx` integer NOT NULL,
	`tx_hash` blob NOT NULL,
	PRIMARY KEY(`block_hash`, `idx`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `l2_blocks` (
	`hash` blob PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`parent_hash` blob NOT NULL,
	`new_root` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`sequencer` blob,
	`version` text,
	`l1_wei` blob,
	`l1_fri` blob,
	`l1_data_wei` blob,
	`l1_data_fri` blob,
	`l2_wei` blob,
	`l2_fri` blob,
	`da_mode` integer,
	`transaction_commitment` blob,
	`event_commitment` blob,
	`receipt_commitment` blob,
	`state_diff_commitment` blob,
	`tx_count` integer NOT NULL,
	`event_count` integer,
	`state_diff_length` integer,
	`canonical` integer NOT NULL,
	`verified` integer,
	`upstream_status` text,
	`seen_at` integer NOT NULL,
	`orphaned_at` integer,
	`raw` blob
);
--> statement-breakpoint
CREATE UNIQUE INDEX `l2_blocks_by_number` ON `l2_blocks` (`number`) WHERE canonical = 1;--> statement-breakpoint
CREATE TABLE `l2_pending` (
	`slot` text PRIMARY KEY NOT NULL,
	`number` integer,
	`parent_hash` blob,
	`json` text NOT NULL,
	`fetched_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `l2_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`l1_head_number` integer,
	`l1_head_hash` blob,
	`finality_source` text
);
--> statement-breakpoint
CREATE TABLE `logs` (
	`id` integer PRIMARY KEY NOT NULL,
	`tx_index` integer NOT NULL,
	`address_id` integer NOT NULL,
	`topic0_id` integer,
	`topic1` blob,
	`topic2` blob,
	`topic3` blob,
	`data` blob NOT NULL,
	`data_length` integer
);
--> statement-breakpoint
CREATE INDEX `logs_by_address` ON `logs` (`address_id`);--> statement-breakpoint
CREATE INDEX `logs_by_topic0` ON `logs` (`topic0_id`);--> statement-breakpoint
CREATE INDEX `logs_by_topic1` ON `logs` (`topic1`) WHERE topic1 IS NOT NULL;--> statement-breakpoint
CREATE INDEX `logs_by_topic2` ON `logs` (`topic2`) WHERE topic2 IS NOT NULL;--> statement-breakpoint
CREATE INDEX `logs_by_topic3` ON `logs` (`topic3`) WHERE topic3 IS NOT NULL;--> statement-breakpoint
CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `receipts` (
	`tx_id` integer PRIMARY KEY NOT NULL,
	`status` integer,
	`root` blob,
	`cumulative_gas_used` blob NOT NULL,
	`gas_used` blob NOT NULL,
	`effective_gas_price` blob NOT NULL,
	`contract_address` blob,
	`blob_gas_used` blob,
	`blob_gas_price` blob,
	`first_log` integer NOT NULL,
	`n_logs` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `storage_history` (
	`address_id` integer NOT NULL,
	`incarnation` integer NOT NULL,
	`slot` blob NOT NULL,
	`block_number` integer NOT NULL,
	`value` blob NOT NULL,
	PRIMARY KEY(`address_id`, `incarnation`, `slot`, `block_number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `storage_history_by_block` ON `storage_history` (`block_number`);--> statement-breakpoint
CREATE TABLE `topics` (
	`id` integer PRIMARY KEY NOT NULL,
	`topic` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `topics_by_topic` ON `topics` (`topic`);--> statement-breakpoint
CREATE TABLE `transactions` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` blob NOT NULL,
	`block_number` integer NOT NULL,
	`type` integer NOT NULL,
	`sender` blob NOT NULL,
	`recipient` blob,
	`chain_id` blob,
	`nonce` blob NOT NULL,
	`gas_limit` blob NOT NULL,
	`gas_price` blob,
	`max_priority_fee_per_gas` blob,
	`max_fee_per_gas` blob,
	`value` blob NOT NULL,
	`input` blob NOT NULL,
	`access_list` blob,
	`max_fee_per_blob_gas` blob,
	`blob_versioned_hashes` blob,
	`authorization_list` blob,
	`v` blob NOT NULL,
	`r` blob NOT NULL,
	`s` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `transactions_by_hash` ON `transactions` (`hash`);--> statement-breakpoint
CREATE TABLE `uncles` (
	`block_number` integer NOT NULL,
	`idx` integer NOT NULL,
	`hash` blob NOT NULL,
	`header` blob NOT NULL,
	PRIMARY KEY(`block_number`, `idx`)
) WITHOUT ROWID;
