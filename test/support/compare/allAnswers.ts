import { createHash } from 'node:crypto'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { createApiKeyReader } from '../../../src/store/keys/apiKeys.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { ALICE, TOKEN } from '../chains/fixtureChain.js'
import { ACCOUNT_ROWS, STORAGE_ROWS } from '../chains/historyRows.js'

/** A call of a method. */
export interface Ask {
  method: string
  params: unknown[]
}

/** Calls that together ask for everything that a database holds: every block, transaction, receipt, uncle and log by
 *  each method that gives it, accounts and slots at every block that changes them, contract calls, all of layer 2. With
 *  `fromBlock`, what the blocks before it hold is left out. */
export function listAsks(datadir: string, fromBlock = 0): Ask[] {
  const db = openForReading(datadir)
  const asks: Ask[] = []
  const ask = (method: string, ...params: unknown[]) => void asks.push({ method, params })
  try {
    const reader = createChainReader(db)
    const { head } = reader.coverage()!
    const addresses = db.prepare<[], Uint8Array>('SELECT address FROM addresses ORDER BY id').pluck().all()
    const topics = db.prepare<[], Uint8Array>('SELECT topic FROM topics ORDER BY id').pluck().all()
    const slots = db
      .prepare<[], { address: Uint8Array; slot: Uint8Array; block: number }>(
        `SELECT a.address, s.slot, s.block_number AS block FROM ${STORAGE_ROWS} s
         JOIN addresses a ON a.id = s.address_id WHERE s.block_number >= ${fromBlock}`,
      )
      .all()
    const accounts = db
      .prepare<[], { address: Uint8Array; block: number }>(
        `SELECT a.address, h.block_number AS block FROM ${ACCOUNT_ROWS} h JOIN addresses a ON a.id = h.address_id
         WHERE h.block_number >= ${fromBlock}`,
      )
      .all()
    for (const method of [
      'eth_chainId',
      'eth_blockNumber',
      'eth_syncing',
      'eth_gasPrice',
      'eth_maxPriorityFeePerGas',
    ]) {
      ask(method)
    }
    for (let number = fromBlock; number <= head; number++) {
      const at = formatQuantity(number)
      const block = reader.blockByNumber(number)!
      ask('eth_getBlockByNumber', at, true)
      ask('eth_getBlockByHash', formatData(block.hash), false)
      ask('eth_getBlockReceipts', at)
      ask('debug_getRawBlock', at)
      ask('eth_getUncleCountByBlockNumber', at)
      ask('eth_getUncleByBlockNumberAndIndex', at, '0x0')
      ask('eth_getLogs', { fromBlock: at, toBlock: at })
      ask('eth_feeHistory', '0x2', at, [10, 90])
      for (const hash of reader.transactionHashes(block)) {
        ask('eth_getTransactionByHash', formatData(hash))
        ask('eth_getTransactionReceipt', formatData(hash))
      }
      if (number % 10 === 0) {
        ask('eth_call', { to: TOKEN, data: '0x18160ddd' }, at) // totalSupply()
        ask('eth_call', { to: TOKEN, data: `0x70a08231${ALICE.slice(2).padStart(64, '0')}` }, at) // balanceOf(alice)
      }
    }
    // Between two rows nothing changes.
    for (const { address, block } of accounts) {
      ask('eth_getBalance', formatData(address), formatQuantity(Math.max(0, block - 1)))
      for (const method of ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode']) {
        ask(method, formatData(address), formatQuantity(block))
      }
    }
    for (const { address, slot, block } of slots) {
      for (const number of [block, head]) {
        ask(
          'eth_getStorageAt',
          formatData(address),
          `0x${Buffer.from(slot).toString('hex').padStart(64, '0')}`,
          formatQuantity(number),
        )
      }
    }
    for (const address of addresses) {
      for (let from = fromBlock; from <= head; from += 50) {
        const range = { fromBlock: formatQuantity(from), toBlock: formatQuantity(Math.min(head, from + 49)) }
        ask('eth_getLogs', { ...range, address: formatData(address) })
      }
    }
    for (const topic of topics) {
      for (let from = fromBlock; from <= head; from += 50) {
        const range = { fromBlock: formatQuantity(from), toBlock: formatQuantity(Math.min(head, from + 49)) }
        ask('eth_getLogs', { ...range, topics: [formatData(topic)] })
      }
    }
    for (const method of ['starknet_chainId', 'starknet_blockNumber', 'starknet_blockHashAndNumber']) ask(method)
    const l2 = db.prepare<[], { number: number; hash: Uint8Array }>('SELECT number, hash FROM l2_blocks').all()
    for (const { number, hash } of l2) {
      ask('starknet_getBlockWithTxHashes', { block_number: number })
      ask('starknet_getBlockWithTxHashes', { block_hash: `0x${BigInt(formatData(hash)).toString(16)}` })
      ask('starknet_getBlockTransactionCount', { block_number: number })
    }
    for (const tag of ['latest', 'pending', 'l1_accepted']) ask('starknet_getBlockWithTxHashes', tag)
  } finally {
    db.close()
  }
  return asks
}

/** A digest of each answer, and last one of what the API keys open. A database that cannot be asked gives one
 *  digest. */
export async function answerAll(datadir: string, asks: readonly Ask[], keys: readonly string[]): Promise<string[]> {
  let opened: ReturnType<typeof openContext>
  try {
    opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  } catch (error) {
    return [`cannot be opened: ${String(error)}`]
  }
  try {
    const digests: string[] = []
    for (const { method, params } of asks) {
      const outcome = await runMethod(METHODS.get(method)!, params, opened.context)
      const hash = createHash('sha1')
      if ('error' in outcome) hash.update(JSON.stringify(outcome.error))
      else hash.update(outcome.result)
      digests.push(hash.digest('base64'))
    }
    const reader = createApiKeyReader(opened.db)
    digests.push(keys.map((key) => reader.find(key)).join(' '))
    return digests
  } finally {
    opened.close()
  }
}
