-- NOT INDEXED: else a condition such as `type = 2` has SQLite make an index of the whole table for each query.
DROP VIEW `v_transactions`;
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
FROM blocks b CROSS JOIN transactions t NOT INDEXED ON t.id >= b.first_tx AND t.id < b.first_tx + b.n_tx;
--> statement-breakpoint
DROP VIEW `v_receipts`;
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
FROM blocks b CROSS JOIN transactions t NOT INDEXED ON t.id >= b.first_tx AND t.id < b.first_tx + b.n_tx
JOIN receipts r NOT INDEXED ON r.tx_id = t.id;
--> statement-breakpoint
DROP VIEW `v_logs`;
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
FROM blocks b CROSS JOIN logs l NOT INDEXED ON l.id >= b.first_log AND l.id < b.first_log + b.n_logs
JOIN transactions t NOT INDEXED ON t.id = b.first_tx + l.tx_index
JOIN addresses a ON a.id = l.address_id
LEFT JOIN topics z ON z.id = l.topic0_id;
