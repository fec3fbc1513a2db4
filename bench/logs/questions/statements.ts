import type { QuestionChain } from './chain.js'

/** The questions of docs/queries.md by their headings, in DuckDB on the files of `cairn export`, whose views have the
 *  names of their datasets. Undefined: no dataset has what the answer needs. */
export function duckDbStatements(chain: QuestionChain): { readonly [heading: string]: string | undefined } {
  const bytes = (address: string) => `from_hex('${address.slice(2)}')`
  const [token, pair, collection] = [chain.token, chain.pair, chain.collection].map(bytes)
  const [holder, deployer] = [chain.holder, chain.deployer].map(bytes)
  const moves = (table: string, contract: string, value: string) => `
    SELECT to_address AS account, ${value} AS value FROM ${table} WHERE erc20 = ${contract}
    UNION ALL SELECT from_address, -${value} FROM ${table} WHERE erc20 = ${contract}`
  const exact = 'value_string::HUGEINT'
  return {
    'Daily active addresses': `
      SELECT day, count(DISTINCT address) FROM (
        SELECT ${day('timestamp')} AS day, unnest([from_address, to_address]) AS address FROM transactions)
      GROUP BY day ORDER BY day`,
    'Top holders of a token': `
      SELECT ${hex('account')}, sum(value)::VARCHAR FROM (${moves('erc20_transfers', token, exact)})
      WHERE account <> ${ZERO} GROUP BY account HAVING sum(value) > 0 ORDER BY sum(value) DESC, account LIMIT 20`,
    'Transfers of an address': `
      SELECT block_number, block_timestamp, ${hex('transaction_hash')}, log_index, ${hex('erc20')}, 'erc20', NULL,
        ${hex('from_address')}, ${hex('to_address')}, value_string
      FROM erc20_transfers WHERE from_address = ${holder} OR to_address = ${holder}
      UNION ALL
      SELECT block_number, block_timestamp, ${hex('transaction_hash')}, log_index, ${hex('erc20')}, 'erc721', token_id_string,
        ${hex('from_address')}, ${hex('to_address')}, '1'
      FROM erc721_transfers WHERE from_address = ${holder} OR to_address = ${holder}
      ORDER BY block_number, log_index`,
    'Gas by contract': `
      SELECT ${hex('to_address')} AS contract, count(*), sum(gas_used) AS gas FROM receipts
      WHERE to_address IN (SELECT address FROM codes) GROUP BY to_address ORDER BY gas DESC, contract`,
    'Reverted transactions': undefined,
    'Calls of a contract': `
      SELECT block_number, transaction_index, ${hex('from_address')}, ${hex('input[1:4]')}, ${hex('input')}, success
      FROM transactions WHERE to_address = ${token} ORDER BY block_number, transaction_index`,
    'Balance of an address at a block': `
      SELECT balance_string FROM balances WHERE address = ${holder} AND block_number <= 40
      ORDER BY block_number DESC LIMIT 1`,
    'New accounts a day': `
      SELECT ${day('first')} AS day, count(*) FROM (
        SELECT address, min(block_timestamp) AS first FROM (
          SELECT address, block_timestamp FROM balances UNION ALL SELECT address, block_timestamp FROM nonces
          UNION ALL SELECT address, block_timestamp FROM codes UNION ALL SELECT address, block_timestamp FROM slots)
        GROUP BY address)
      GROUP BY day ORDER BY day`,
    'Volume of a token': `
      SELECT ${day('block_timestamp')} AS day, count(*), sum(${exact})::VARCHAR FROM erc20_transfers
      WHERE erc20 = ${token} GROUP BY day ORDER BY day`,
    'Moving average of the base fee': `
      SELECT block_number, base_fee_per_gas,
        avg(base_fee_per_gas) OVER (ORDER BY block_number ROWS BETWEEN 19 PRECEDING AND CURRENT ROW)
      FROM blocks WHERE base_fee_per_gas IS NOT NULL ORDER BY block_number`,
    'Owners of an NFT collection': `
      SELECT token_id_string, ${hex('arg_max(to_address, block_number * 100000 + log_index)')}
      FROM erc721_transfers WHERE erc20 = ${collection} GROUP BY token_id_string
      HAVING arg_max(to_address, block_number * 100000 + log_index) <> ${ZERO}`,
    'Withdrawals and blobs a day': `
      SELECT day, sum(withdrawals), (sum(amount) * 1000000000)::VARCHAR, sum(blobs) FROM (
        SELECT ${day('block_timestamp')} AS day, 1 AS withdrawals, amount_gwei::HUGEINT AS amount, 0 AS blobs FROM withdrawals
        UNION ALL SELECT ${day('timestamp')}, 0, 0, coalesce(blob_gas_used, 0) // 131072 FROM blocks)
      GROUP BY day ORDER BY day`,
    'Swaps of a pair': `
      SELECT block_number, ${hex('transaction_hash')}, ${hex('topic1[13:32]')}, ${hex('topic2[13:32]')},
        ${[0, 1, 2, 3].map((word) => hex(`data[${32 * word + 1}:${32 * word + 32}]`)).join(', ')}
      FROM logs WHERE address = ${pair} AND topic0 = from_hex('${SWAP}') ORDER BY block_number, log_index`,
    // Accounts with code send by calls only, others by transactions only.
    'Internal transfers of an address': `
      SELECT block_number, ${hex('transaction_hash')}, transfer_index, 'call', ${hex('from_address')}, ${hex('to_address')},
        value_string
      FROM native_transfers
      WHERE (from_address = ${holder} OR to_address = ${holder}) AND from_address IN (SELECT address FROM codes)
      ORDER BY block_number, transfer_index`,
    'Contracts of a deployer': `
      WITH RECURSIVE created AS (
        SELECT block_number, create_index, contract_address, deployer, factory FROM contracts WHERE deployer = ${deployer}
        UNION
        SELECT n.block_number, n.create_index, n.contract_address, n.deployer, n.factory
        FROM created c JOIN contracts n ON n.factory = c.contract_address)
      SELECT block_number, ${hex('contract_address')}, ${hex('deployer')}, ${hex('nullif(factory, deployer)')} FROM created
      ORDER BY block_number, create_index`,
  }
}

const hex = (column: string) => `'0x' || lower(hex(${column}))`
const day = (column: string) => `strftime(make_timestamp(${column}::BIGINT * 1000000), '%Y-%m-%d')`
const ZERO = `from_hex('${'00'.repeat(20)}')`
/** Topic 0 of a swap of Uniswap v2. */
const SWAP = 'd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
