CREATE TABLE `abis` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`address` blob,
	`json` text NOT NULL,
	`added_at` integer NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE `account_recent` (
	`address_id` integer NOT NULL,
	`block_number` integer NOT NULL,
	`nonce` blob NOT NULL,
	`balance` blob,
	`code_id` integer,
	`incarnation` integer NOT NULL,
	PRIMARY KEY(`address_id`, `block_number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `address_appearances` (
	`block_number` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `address_big_postings` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `address_buckets` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `address_segments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`level` integer NOT NULL,
	`first_chunk` integer NOT NULL,
	`state` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `address_segments_by_state` ON `address_segments` (`state`,`first_chunk`);--> statement-breakpoint
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
	`revoked_at` integer,
	`rate_limit` integer,
	`max_concurrent` integer,
	`methods` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_by_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE TABLE `block_access_lists` (
	`block_number` integer PRIMARY KEY NOT NULL,
	`list` blob NOT NULL
);
--> statement-breakpoint
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
	`timestamp` blob NOT NULL,
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
	`n_logs` integer NOT NULL,
	`block_access_list_hash` blob,
	`slot_number` blob
);
--> statement-breakpoint
CREATE UNIQUE INDEX `blocks_by_hash` ON `blocks` (`hash`);--> statement-breakpoint
CREATE INDEX `blocks_by_first_log` ON `blocks` (`first_log`) WHERE n_logs > 0;--> statement-breakpoint
CREATE TABLE `changed_keys` (
	`block_number` integer PRIMARY KEY NOT NULL,
	`accounts` blob NOT NULL,
	`slots` blob NOT NULL
);
--> statement-breakpoint
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
CREATE INDEX `l2_block_txs_by_hash` ON `l2_block_txs` (`tx_hash`);--> statement-breakpoint
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
CREATE TABLE `l2_pending` (
	`slot` text PRIMARY KEY NOT NULL,
	`number` integer,
	`parent_hash` blob,
	`json` text NOT NULL,
	`fetched_at` integer NOT NULL,
	`raw` blob
);
--> statement-breakpoint
CREATE TABLE `l2_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`l1_head_number` integer,
	`l1_head_hash` blob,
	`finality_source` text,
	`claimed_number` integer,
	`claimed_source` text
);
--> statement-breakpoint
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
CREATE TABLE `removed_blocks` (
	`id` integer PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`hash` blob NOT NULL,
	`parent_hash` blob NOT NULL,
	`logs` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `state_trie_pages` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
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
CREATE TABLE `storage_recent` (
	`address_id` integer NOT NULL,
	`incarnation` integer NOT NULL,
	`slot` blob NOT NULL,
	`block_number` integer NOT NULL,
	`value` blob NOT NULL,
	PRIMARY KEY(`address_id`, `incarnation`, `slot`, `block_number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `topics` (
	`id` integer PRIMARY KEY NOT NULL,
	`topic` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `topics_by_topic` ON `topics` (`topic`);--> statement-breakpoint
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
CREATE TABLE `trie_page_versions` (
	`page_id` integer NOT NULL,
	`block_number` integer NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `trie_page_versions_by_page` ON `trie_page_versions` (`page_id`,`block_number`);--> statement-breakpoint
CREATE INDEX `trie_page_versions_by_block` ON `trie_page_versions` (`block_number`);--> statement-breakpoint
CREATE TABLE `uncles` (
	`block_number` integer NOT NULL,
	`idx` integer NOT NULL,
	`hash` blob NOT NULL,
	`header` blob NOT NULL,
	PRIMARY KEY(`block_number`, `idx`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE VIEW `v_blocks` AS SELECT
  number,
  '0x' || lower(hex(hash)) AS hash,
  '0x' || lower(hex(parent_hash)) AS parent_hash,
  timestamp,
  datetime(timestamp, 'unixepoch') AS time,
  '0x' || lower(hex(miner)) AS miner,
  CAST(difficulty AS TEXT) AS difficulty,
  CAST(total_difficulty AS TEXT) AS total_difficulty,
  gas_limit,
  gas_used,
  CAST(base_fee_per_gas AS TEXT) AS base_fee_per_gas,
  blob_gas_used,
  excess_blob_gas,
  size,
  n_tx AS transaction_count,
  n_logs AS log_count,
  (SELECT count(*) FROM uncles u WHERE u.block_number = blocks.number) AS uncle_count,
  '0x' || lower(hex(state_root)) AS state_root,
  '0x' || lower(hex(transactions_root)) AS transactions_root,
  '0x' || lower(hex(receipts_root)) AS receipts_root,
  CASE WHEN withdrawals_root IS NULL THEN NULL ELSE '0x' || lower(hex(withdrawals_root)) END AS withdrawals_root,
  CASE WHEN requests_hash IS NULL THEN NULL ELSE '0x' || lower(hex(requests_hash)) END AS requests_hash,
  CASE WHEN parent_beacon_block_root IS NULL THEN NULL ELSE '0x' || lower(hex(parent_beacon_block_root)) END AS parent_beacon_block_root,
  '0x' || lower(hex(uncles_hash)) AS uncles_hash,
  '0x' || lower(hex(extra_data)) AS extra_data,
  '0x' || lower(hex(mix_hash)) AS mix_hash,
  '0x' || lower(hex(nonce)) AS nonce,
  CASE WHEN block_access_list_hash IS NULL THEN NULL ELSE '0x' || lower(hex(block_access_list_hash)) END AS block_access_list_hash,
  slot_number
FROM blocks;
--> statement-breakpoint
CREATE VIEW `v_transactions` AS SELECT
  b.number AS block_number,
  '0x' || lower(hex(b.hash)) AS block_hash,
  b.timestamp AS timestamp,
  t.id - b.first_tx AS transaction_index,
  '0x' || lower(hex(t.hash)) AS hash,
  t.type AS type,
  '0x' || lower(hex(t.sender)) AS "from",
  CASE WHEN t.recipient IS NULL THEN NULL ELSE '0x' || lower(hex(t.recipient)) END AS "to",
  t.nonce AS nonce,
  CAST(t.value AS TEXT) AS value,
  CAST(t.value AS REAL) / 1e18 AS value_eth,
  t.gas_limit AS gas_limit,
  CAST(t.gas_price AS TEXT) AS gas_price,
  CAST(t.max_fee_per_gas AS TEXT) AS max_fee_per_gas,
  CAST(t.max_priority_fee_per_gas AS TEXT) AS max_priority_fee_per_gas,
  CAST(t.max_fee_per_blob_gas AS TEXT) AS max_fee_per_blob_gas,
  length(t.blob_versioned_hashes) / 32 AS blob_count,
  '0x' || lower(hex(t.input)) AS input,
  CASE WHEN length(t.input) < 4 THEN NULL ELSE '0x' || lower(hex(substr(t.input, 1, 4))) END AS selector,
  CAST(t.chain_id AS TEXT) AS chain_id
FROM blocks b CROSS JOIN transactions t ON t.id >= b.first_tx AND t.id < b.first_tx + b.n_tx;
--> statement-breakpoint
CREATE VIEW `v_receipts` AS SELECT
  b.number AS block_number,
  '0x' || lower(hex(b.hash)) AS block_hash,
  b.timestamp AS timestamp,
  t.id - b.first_tx AS transaction_index,
  '0x' || lower(hex(t.hash)) AS transaction_hash,
  t.type AS type,
  '0x' || lower(hex(t.sender)) AS "from",
  CASE WHEN t.recipient IS NULL THEN NULL ELSE '0x' || lower(hex(t.recipient)) END AS "to",
  CASE WHEN r.contract_address IS NULL THEN NULL ELSE '0x' || lower(hex(r.contract_address)) END AS contract_address,
  r.status AS status,
  CASE WHEN r.root IS NULL THEN NULL ELSE '0x' || lower(hex(r.root)) END AS root,
  r.gas_used AS gas_used,
  r.cumulative_gas_used AS cumulative_gas_used,
  CAST(r.effective_gas_price AS TEXT) AS effective_gas_price,
  CAST(r.gas_used AS REAL) * CAST(r.effective_gas_price AS REAL) / 1e18 AS fee_eth,
  r.blob_gas_used AS blob_gas_used,
  CAST(r.blob_gas_price AS TEXT) AS blob_gas_price,
  r.n_logs AS log_count
FROM blocks b CROSS JOIN transactions t ON t.id >= b.first_tx AND t.id < b.first_tx + b.n_tx
JOIN receipts r ON r.tx_id = t.id;
--> statement-breakpoint
CREATE VIEW `v_logs` AS SELECT
  b.number AS block_number,
  '0x' || lower(hex(b.hash)) AS block_hash,
  b.timestamp AS timestamp,
  l.tx_index AS transaction_index,
  '0x' || lower(hex(t.hash)) AS transaction_hash,
  l.id - b.first_log AS log_index,
  '0x' || lower(hex(a.address)) AS address,
  CASE WHEN z.topic IS NULL THEN NULL ELSE '0x' || lower(hex(z.topic)) END AS topic0,
  CASE WHEN l.topic1 IS NULL THEN NULL ELSE '0x' || substr('0000000000000000000000000000000000000000000000000000000000000000', 1, 64 - 2 * length(l.topic1)) || lower(hex(l.topic1)) END AS topic1,
  CASE WHEN l.topic2 IS NULL THEN NULL ELSE '0x' || substr('0000000000000000000000000000000000000000000000000000000000000000', 1, 64 - 2 * length(l.topic2)) || lower(hex(l.topic2)) END AS topic2,
  CASE WHEN l.topic3 IS NULL THEN NULL ELSE '0x' || substr('0000000000000000000000000000000000000000000000000000000000000000', 1, 64 - 2 * length(l.topic3)) || lower(hex(l.topic3)) END AS topic3,
  '0x' || lower(hex(CAST(zeroblob(ifnull(l.data_length, 32) - length(l.data)) || l.data AS BLOB))) AS data,
  ifnull(l.data_length, 32) AS data_length
FROM blocks b CROSS JOIN logs l ON l.id >= b.first_log AND l.id < b.first_log + b.n_logs
JOIN transactions t ON t.id = b.first_tx + l.tx_index
JOIN addresses a ON a.id = l.address_id
LEFT JOIN topics z ON z.id = l.topic0_id;
--> statement-breakpoint
CREATE VIEW `v_l2_blocks` AS SELECT
  number,
  CASE WHEN hash IS NULL THEN NULL WHEN ltrim(hex(hash), '0') = '' THEN '0x0' ELSE '0x' || lower(ltrim(hex(hash), '0')) END AS hash,
  CASE WHEN parent_hash IS NULL THEN NULL WHEN ltrim(hex(parent_hash), '0') = '' THEN '0x0' ELSE '0x' || lower(ltrim(hex(parent_hash), '0')) END AS parent_hash,
  CASE WHEN new_root IS NULL THEN NULL WHEN ltrim(hex(new_root), '0') = '' THEN '0x0' ELSE '0x' || lower(ltrim(hex(new_root), '0')) END AS new_root,
  timestamp,
  datetime(timestamp, 'unixepoch') AS time,
  CASE WHEN sequencer IS NULL THEN NULL WHEN ltrim(hex(sequencer), '0') = '' THEN '0x0' ELSE '0x' || lower(ltrim(hex(sequencer), '0')) END AS sequencer,
  version,
  CASE WHEN canonical = 0 THEN 'REJECTED'
    WHEN number <= (SELECT l1_head_number FROM l2_state) THEN 'ACCEPTED_ON_L1'
    ELSE 'ACCEPTED_ON_L2' END AS status,
  tx_count AS transaction_count,
  event_count,
  CAST(l1_wei AS TEXT) AS l1_gas_price_wei,
  CAST(l1_fri AS TEXT) AS l1_gas_price_fri,
  CAST(l1_data_wei AS TEXT) AS l1_data_gas_price_wei,
  CAST(l1_data_fri AS TEXT) AS l1_data_gas_price_fri,
  CAST(l2_wei AS TEXT) AS l2_gas_price_wei,
  CAST(l2_fri AS TEXT) AS l2_gas_price_fri,
  CASE da_mode WHEN 0 THEN 'CALLDATA' WHEN 1 THEN 'BLOB' END AS l1_da_mode,
  verified
FROM l2_blocks;
--> statement-breakpoint
-- ERC-20 transfers for any SQLite shell. The amount has up to 256 bits: each byte of the stored data, counted from the right,
-- has a weight in six limbs of 14 decimal digits; their sums are below 2^60, then carries go up. With the `+` the logs of each
-- block are found by their ids; without it by an index that SQLite makes of all transfers, once for each block.
CREATE VIEW `v_erc20_transfers` AS SELECT
  b.number AS block_number,
  b.timestamp AS timestamp,
  l.tx_index AS transaction_index,
  '0x' || lower(hex(t.hash)) AS transaction_hash,
  l.id - b.first_log AS log_index,
  '0x' || lower(hex(a.address)) AS address,
  '0x' || substr('0000000000000000000000000000000000000000', 1, 40 - 2 * length(l.topic1)) || lower(hex(l.topic1)) AS "from",
  '0x' || substr('0000000000000000000000000000000000000000', 1, 40 - 2 * length(l.topic2)) || lower(hex(l.topic2)) AS "to",
  (SELECT ifnull(nullif(ltrim(printf('%014d%014d%014d%014d%014d%014d', s5 % 100000000000000, s4 % 100000000000000, s3 % 100000000000000, s2 % 100000000000000, s1 % 100000000000000, s0 % 100000000000000), '0'), ''), '0')
   FROM (SELECT s0, s1, s2, s3, s4, s5 + s4 / 100000000000000 AS s5
   FROM (SELECT s0, s1, s2, s3, s4 + s3 / 100000000000000 AS s4, s5
   FROM (SELECT s0, s1, s2, s3 + s2 / 100000000000000 AS s3, s4, s5
   FROM (SELECT s0, s1, s2 + s1 / 100000000000000 AS s2, s3, s4, s5
   FROM (SELECT s0, s1 + s0 / 100000000000000 AS s1, s2, s3, s4, s5
   FROM (SELECT ifnull(sum(n * w0), 0) AS s0, ifnull(sum(n * w1), 0) AS s1, ifnull(sum(n * w2), 0) AS s2, ifnull(sum(n * w3), 0) AS s3, ifnull(sum(n * w4), 0) AS s4, ifnull(sum(n * w5), 0) AS s5
   FROM (SELECT instr(X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF', substr(l.data, -column1, 1)) - 1 AS n, column2 AS w0, column3 AS w1, column4 AS w2, column5 AS w3, column6 AS w4, column7 AS w5
   FROM (VALUES
    (1,1,0,0,0,0,0),
    (2,256,0,0,0,0,0),
    (3,65536,0,0,0,0,0),
    (4,16777216,0,0,0,0,0),
    (5,4294967296,0,0,0,0,0),
    (6,1099511627776,0,0,0,0,0),
    (7,81474976710656,2,0,0,0,0),
    (8,57594037927936,720,0,0,0,0),
    (9,44073709551616,184467,0,0,0,0),
    (10,82869645213696,47223664,0,0,0,0),
    (11,14629174706176,12089258196,0,0,0,0),
    (12,45068724781056,3094850098213,0,0,0,0),
    (13,37593543950336,92281625142643,7,0,0,0),
    (14,23947251286016,24096036516704,2028,0,0,0),
    (15,30496329220096,68585348276285,519229,0,0,0),
    (16,7060280344576,57849158729038,132922799,0,0,0),
    (17,7431768211456,9384634633746,34028236692,0,0,0),
    (18,2532662132736,2466466238995,8711228593176,0,0,0),
    (19,48361505980416,31415357182726,30074519853062,22,0,0),
    (20,80545530986496,42331438777979,99077082383952,5708,0,0),
    (21,19655932542976,36848327162830,63733090291820,1461501,0,0),
    (22,31918731001856,33171753684530,15671114706014,374144419,0,0),
    (23,71195136475136,91968943239761,11805364739668,95780971304,0,0),
    (24,25954937634816,44049469378998,22173373355243,24519928653854,0,0),
    (25,44464034512896,76664161023554,76383578942320,77101735386680,62,0),
    (26,82792835301376,26025222029937,54196209234116,38044258990275,16069,0),
    (27,94965837152256,62456839664083,74229563933762,39330301510538,4113761,0),
    (28,11254310977536,88950954005491,2768367043231,68557186697918,1053122916,0),
    (29,81103610249216,71444225405724,8701963067363,50639794667015,269599466671,0),
    (30,62524223799296,89721703865551,27702545245110,63787434755862,69017463467905,0),
    (31,6201292619776,68756189581216,91851582748389,29583297500742,68470647783843,176),
    (32,87530910662656,1584532791311,14005183587760,73324160190187,28485832663883,45231))
   WHERE column1 <= length(l.data))))))))) AS value
FROM blocks b CROSS JOIN logs l ON l.id >= b.first_log AND l.id < b.first_log + b.n_logs
JOIN transactions t ON t.id = b.first_tx + l.tx_index
JOIN addresses a ON a.id = l.address_id
WHERE +l.topic0_id = (SELECT id FROM topics WHERE topic = X'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
  AND length(l.topic1) <= 20 AND length(l.topic2) <= 20 AND l.topic3 IS NULL AND l.data_length IS NULL;
--> statement-breakpoint
-- The key of cursors (eth_getLogsWithCursor), as meta values are: JSON text.
INSERT INTO `meta` (`key`, `value`) VALUES ('cursor_secret', '"' || lower(hex(randomblob(32))) || '"');
