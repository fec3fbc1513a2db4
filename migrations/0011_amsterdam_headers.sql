ALTER TABLE `blocks` ADD `block_access_list_hash` blob;--> statement-breakpoint
ALTER TABLE `blocks` ADD `slot_number` blob;
--> statement-breakpoint
DROP VIEW `v_blocks`;
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
