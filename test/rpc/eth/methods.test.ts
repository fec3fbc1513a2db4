import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { decodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import { decodeTransaction } from '../../../src/chain/eth/transaction.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { ALL_METHODS } from '../../../src/rpc/methods.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { FIRST, FIRST_TOTAL_DIFFICULTY, type HandmadeChain, writeHandmadeChain } from './handmadeChain.js'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any method
type Json = any
type Ask = (name: string, ...params: unknown[]) => Promise<Json>

const LIMITS = { ...DEFAULT_LIMITS, maxLogs: 2, maxFilterParams: 3 }
/** Those of the Ethereum column. */
const ETH_METHODS = ALL_METHODS.filter(({ name }) => /^(eth|net|web3|debug)_/.test(name))
const byName = new Map(ETH_METHODS.map((method) => [method.name, method]))

function openDatadir(t: TestContext, datadir: string): Ask {
  const opened = openContext({ datadir, limits: LIMITS, log: silentLogger })
  t.after(() => opened.close())
  return async (name, ...params) => {
    const outcome = await runMethod(byName.get(name)!, params, opened.context)
    return 'error' in outcome ? outcome.error : JSON.parse(Buffer.from(outcome.result).toString())
  }
}

function serveHandmade(t: TestContext): { ask: Ask } & HandmadeChain {
  const datadir = temporaryDirectory(t)
  const chain = writeHandmadeChain(datadir)
  return { ask: openDatadir(t, datadir), ...chain }
}

test('has every method once, each with a summary and documented parameters', () => {
  assert.equal(byName.size, ETH_METHODS.length)
  for (const method of ETH_METHODS) {
    assert.match(method.name, /^(eth|net|web3|debug)_[a-zA-Z0-9]+$/)
    assert.ok(method.summary.endsWith('.'), method.name)
    for (const param of method.params) assert.ok(param.summary && Object.keys(param.schema).length > 0, method.name)
    assert.ok(Object.keys(method.result.schema).length > 0, method.name)
  }
})

test('serves a root before Byzantium and a status after, never both', async (t) => {
  const { ask, blocks } = serveHandmade(t)
  const [before] = await ask('eth_getBlockReceipts', '0xa')
  assert.equal(before.root.length, 66)
  assert.equal('status' in before, false)
  const [failed, succeeded] = await ask('eth_getBlockReceipts', formatData(blocks[1].hash))
  assert.deepEqual([failed.status, succeeded.status, 'root' in failed], ['0x0', '0x1', false])
  assert.deepEqual(await ask('eth_getTransactionReceipt', succeeded.transactionHash), succeeded)
})

test('numbers logs through the block, and gives receipts and log queries the same log objects', async (t) => {
  const { ask } = serveHandmade(t)
  const receipts = await ask('eth_getBlockReceipts', 11)
  const logs = await ask('eth_getLogs', { fromBlock: '0xb', toBlock: '0xb' })
  assert.deepEqual(logs, receipts[1].logs)
  assert.deepEqual(
    logs.map((log: Json) => log.logIndex),
    ['0x0', '0x1'],
  )
  assert.deepEqual(logs[0], {
    address: `0x${'0'.repeat(39)}8`,
    topics: [`0x${'0'.repeat(63)}1`],
    data: `0x${'0'.repeat(79)}1`,
    blockNumber: '0xb',
    transactionHash: receipts[1].transactionHash,
    transactionIndex: '0x1',
    blockHash: receipts[1].blockHash,
    blockTimestamp: '0x8f',
    logIndex: '0x0',
    removed: false,
  })
})

test('serves blocks with hashes or whole transactions, their total difficulty and their size', async (t) => {
  const { ask, blocks } = serveHandmade(t)
  const short = await ask('eth_getBlockByNumber', '0xc', false)
  const long = await ask('eth_getBlockByHash', formatData(blocks[2].hash), true)
  assert.deepEqual(
    short.transactions,
    long.transactions.map((transaction: Json) => transaction.hash),
  )
  assert.deepEqual({ ...short, transactions: 0 }, { ...long, transactions: 0 })
  assert.equal(BigInt(short.totalDifficulty), FIRST_TOTAL_DIFFICULTY + 200n)
  assert.equal(Number(short.size), encodeBlock(blocks[2]).length)
  for (const [i, transaction] of long.transactions.entries()) {
    assert.deepEqual(await ask('eth_getTransactionByHash', transaction.hash), transaction)
    assert.deepEqual(await ask('eth_getTransactionByBlockNumberAndIndex', '0xc', `0x${i}`), transaction)
    assert.deepEqual(await ask('eth_getTransactionByBlockHashAndIndex', long.hash, `0x${i}`), transaction)
  }
})

test('serves the members of each transaction type and no others', async (t) => {
  const { ask } = serveHandmade(t)
  const legacy = await ask('eth_getTransactionByBlockNumberAndIndex', '0xb', '0x0')
  assert.deepEqual(['chainId' in legacy, 'accessList' in legacy, 'yParity' in legacy], [false, false, false])
  const listed = await ask('eth_getTransactionByBlockNumberAndIndex', '0xc', '0x0')
  assert.deepEqual(
    [listed.type, listed.chainId, listed.accessList.length, listed.v],
    ['0x1', '0x539', 1, listed.yParity],
  )
  const market = await ask('eth_getTransactionByBlockNumberAndIndex', '0xc', '0x1')
  assert.equal(BigInt(market.gasPrice), 1_000_000_007n) // base fee and tip, what was paid
  assert.equal(BigInt(market.maxFeePerGas), 2_000_000_000n)
})

test('serves an uncle without transactions, its total difficulty above its parent', async (t) => {
  const { ask, blocks, uncle } = serveHandmade(t)
  const served = await ask('eth_getUncleByBlockHashAndIndex', formatData(blocks[1].hash), '0x0')
  assert.equal(served.hash, formatData(hashHeader(uncle)))
  assert.equal(BigInt(served.totalDifficulty), FIRST_TOTAL_DIFFICULTY + 90n)
  assert.deepEqual([served.uncles, 'transactions' in served], [[], false])
  assert.deepEqual(await ask('eth_getUncleByBlockNumberAndIndex', '0xb', '0x0'), served)
  assert.deepEqual((await ask('eth_getBlockByNumber', '0xb', false)).uncles, [served.hash])
  assert.equal(await ask('eth_getUncleByBlockNumberAndIndex', '0xb', '0x1'), null)
})

test('counts transactions and uncles, also of the pending block', async (t) => {
  const { ask, blocks } = serveHandmade(t)
  const hash = formatData(blocks[1].hash)
  assert.equal(await ask('eth_getBlockTransactionCountByNumber', '0xb'), '0x2')
  assert.equal(await ask('eth_getBlockTransactionCountByHash', hash), '0x2')
  assert.equal(await ask('eth_getUncleCountByBlockNumber', '0xb'), '0x1')
  assert.equal(await ask('eth_getUncleCountByBlockHash', hash), '0x1')
  assert.equal(await ask('eth_getBlockTransactionCountByNumber', 'pending'), '0x0')
  assert.equal(await ask('eth_getUncleCountByBlockNumber', 'pending'), '0x0')
  assert.equal(await ask('eth_getUncleCountByBlockNumber', '0xff'), null)
})

test('serves the pending block as an empty one on top of the head', async (t) => {
  const { ask, blocks } = serveHandmade(t)
  const pending = await ask('eth_getBlockByNumber', 'pending', true)
  assert.deepEqual([pending.hash, pending.number, pending.nonce, pending.logsBloom], [null, null, null, null])
  assert.deepEqual(pending.transactions, [])
  assert.equal(pending.parentHash, formatData(blocks[3].hash))
  assert.equal(BigInt(pending.totalDifficulty), FIRST_TOTAL_DIFFICULTY + 400n)
  assert.equal(BigInt(pending.baseFeePerGas), 875_000_000n) // an eighth less after an empty block
  assert.equal(await ask('eth_getTransactionByBlockNumberAndIndex', 'pending', '0x0'), null)
})

test('takes safe, finalized and latest for the head, and earliest for block 0', async (t) => {
  const { ask } = serveHandmade(t)
  for (const tag of ['safe', 'finalized', 'latest']) {
    assert.equal((await ask('eth_getBlockByNumber', tag, false)).number, '0xd')
  }
  const message = `block 0 is not available, blocks ${FIRST} to ${FIRST + 3} are`
  assert.deepEqual(await ask('eth_getBlockByNumber', 'earliest', false), { code: -32000, message })
})

test('answers null to look-ups that find nothing', async (t) => {
  const { ask } = serveHandmade(t)
  const unknown = `0x${'ab'.repeat(32)}`
  assert.equal(await ask('eth_getBlockByNumber', '0xe', true), null)
  assert.equal(await ask('eth_getBlockByHash', unknown, true), null)
  assert.equal(await ask('eth_getTransactionByHash', unknown), null)
  assert.equal(await ask('eth_getTransactionReceipt', unknown), null)
  assert.equal(await ask('eth_getBlockReceipts', '0xe'), null)
  assert.equal(await ask('eth_getTransactionByBlockNumberAndIndex', '0xb', '0x2'), null)
  assert.equal(await ask('debug_getRawBlock', unknown), null)
  assert.equal(await ask('debug_getRawTransaction', unknown), null)
})

test('says that blocks before the first held have no logs to give', async (t) => {
  const { ask } = serveHandmade(t)
  const message = `logs before block ${FIRST} are not available, the first block is ${FIRST}`
  assert.deepEqual(await ask('eth_getLogs', { fromBlock: 'earliest', toBlock: '0xb' }), { code: -32000, message })
})

test('refuses log queries beyond the limits and ranges that make no sense', async (t) => {
  const { ask } = serveHandmade(t)
  const refusal = async (filter: object) => {
    const { code, message, data } = await ask('eth_getLogs', filter)
    return `${code} ${message}${data ? ` ${JSON.stringify(data)}` : ''}`
  }
  const addresses = Array(4).fill(`0x${'ab'.repeat(20)}`)
  assert.equal(
    await refusal({ fromBlock: '0xa' }),
    '-32005 query returned more than 2 results {"from":"0xa","to":"0xb"}',
  )
  assert.equal(await refusal({ address: addresses }), '-32602 query contains 4 parameters, the limit is 3')
  assert.equal(await refusal({ fromBlock: '0xc', toBlock: '0xb' }), '-32602 invalid block range params')
  const beyond = '-32602 block range extends beyond current head block {"head":"0xd"}'
  assert.equal(await refusal({ fromBlock: '0xc', toBlock: '0xe' }), beyond)
  assert.equal(await refusal({ fromBlock: '0xe' }), beyond)
  assert.equal(await refusal({ blockHash: `0x${'ab'.repeat(32)}` }), '-32000 unknown block')
})

test('says that state is not available, or that the block is not known', async (t) => {
  const { ask } = serveHandmade(t)
  const address = `0x${'ab'.repeat(20)}`
  for (const method of ['eth_getBalance', 'eth_getCode', 'eth_getTransactionCount', 'eth_getAccountInfo']) {
    const message = 'historical state 13 is not available'
    assert.deepEqual(await ask(method, address), { code: -32000, message })
    assert.deepEqual(await ask(method, address, '0xff'), {
      ...{ code: -32000, message: 'header not found', data: { head: '0xd' } },
    })
  }
  const hash = { blockHash: `0x${'ab'.repeat(32)}`, requireCanonical: true }
  assert.deepEqual(await ask('eth_getStorageAt', address, '0x0', hash), { code: -32000, message: 'header not found' })
})

test('gives raw forms that decode to the same hashes', async (t) => {
  const { ask, blocks } = serveHandmade(t)
  const [, block] = blocks
  assert.equal(await ask('debug_getRawBlock', '0xb'), formatData(encodeBlock(block)))
  assert.deepEqual(hashHeader(decodeHeader(parseHex(await ask('debug_getRawHeader', '0xb')))), block.hash)
  const { hash } = block.transactions[1]
  const raw = await ask('debug_getRawTransaction', formatData(hash))
  assert.deepEqual(decodeTransaction(parseHex(raw)).hash, hash)
  assert.equal((await ask('debug_getRawReceipts', '0xb')).length, 2)
})

test('gives the fees of the blocks held, weighted tips, and the base fee of the next block', async (t) => {
  const { ask } = serveHandmade(t)
  const history = await ask('eth_feeHistory', '0x400', 'latest', [0, 70, 71, 100])
  assert.equal(history.oldestBlock, '0xa')
  assert.deepEqual(history.baseFeePerGas.map(Number), [0, 0, 1e9, 1e9, 875_000_000])
  assert.deepEqual(history.gasUsedRatio, [0.021, 0.042, 0.1, 0])
  // Of 100,000 gas the first 70,000 paid 7 wei, the others 0.5 gwei.
  assert.deepEqual(history.reward[2].map(Number), [7, 7, 500_000_000, 500_000_000])
  assert.deepEqual(history.reward[3], ['0x0', '0x0', '0x0', '0x0'])
  assert.equal('reward' in (await ask('eth_feeHistory', 2, '0xc')), false)
  assert.equal((await ask('eth_feeHistory', '1', '0xff')).message, 'request beyond head block: requested 255, head 13')
})

test('suggests a tip from the lowest of each block, and adds the base fee for a gas price', async (t) => {
  const { ask } = serveHandmade(t)
  // Lowest tips: 20 gwei; 20 and 20 gwei; 7 wei and 0.5 gwei. The 60th percentile of five is the third.
  assert.equal(BigInt(await ask('eth_maxPriorityFeePerGas')), 20_000_000_000n)
  assert.equal(BigInt(await ask('eth_gasPrice')), 21_000_000_000n)
  assert.equal(await ask('eth_blobBaseFee'), null) // before Cancun
  // 1 gwei in the head, which is empty.
  assert.equal(BigInt(await ask('eth_baseFee')), 875_000_000n)
})

test('says what it is', async (t) => {
  const { ask } = serveHandmade(t)
  assert.equal(await ask('eth_chainId'), '0x539')
  assert.equal(await ask('net_version'), '1337')
  assert.equal(await ask('eth_blockNumber'), '0xd')
  assert.match(await ask('web3_clientVersion'), /^Cairn\/v/)
  assert.deepEqual(await ask('eth_accounts'), [])
  assert.deepEqual([await ask('net_listening'), await ask('eth_syncing')], [true, false])
  const empty = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  assert.equal(await ask('web3_sha3', '0x'), empty)
})

test('says of an empty database that there is nothing yet', async (t) => {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const ask = openDatadir(t, datadir)
  const message = 'the database holds no chain yet; import one first'
  assert.deepEqual(await ask('eth_blockNumber'), { code: -32000, message })
  assert.deepEqual(await ask('eth_chainId'), { code: -32000, message })
  assert.deepEqual(await ask('eth_getBlockByNumber', 'latest', false), { code: -32000, message })
  assert.deepEqual(await ask('eth_getLogs', {}), { code: -32000, message })
})
