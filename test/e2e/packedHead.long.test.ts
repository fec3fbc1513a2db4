import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openForReading, packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { checkDatabase, digestDatabase } from '../support/checkDatabase.js'
import { encodeChain, fixtureBlocks } from '../support/fixture.js'
import { EMITTER, NUMBERED_TOPIC } from '../support/fixtureChain.js'
import { packHead } from '../support/packHead.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* A database whose newest block is packed, as `kill -9` leaves it when it comes between the two commits of a block at the
 * head of the chain: served, described and gone on with as any other. */

const HEAD = 57
const GENESIS = packagePath('fixtures/chain/genesis.json')

type Test = Parameters<typeof temporaryDirectory>[0]

async function importBlocks(t: Test, datadir: string, from: number, to: number): Promise<void> {
  const file = join(temporaryDirectory(t), 'chain.rlp')
  const blocks = fixtureBlocks().filter(({ header }) => header.number >= from && header.number <= to)
  writeFileSync(file, encodeChain(blocks))
  await runCairnOk(['import', '--datadir', datadir, '--genesis', GENESIS, file])
}

/** The chain up to HEAD, and a copy with its newest block packed. */
async function importTwice(t: Test): Promise<{ rows: string; packed: string }> {
  const [rows, packed] = [temporaryDirectory(t), temporaryDirectory(t)]
  await importBlocks(t, rows, 0, HEAD)
  cpSync(rows, packed, { recursive: true })
  const db = openForWriting(packed)
  packHead(db)
  db.close()
  return { rows, packed }
}

function isPacked(datadir: string): boolean {
  const db = openForReading(datadir)
  const found = db.prepare('SELECT 1 FROM packed_bodies').get() !== undefined
  db.close()
  return found
}

interface BlockAnswer {
  hash: string
  transactions: string[]
}

/** Requests about the newest block, in every way that its transactions, receipts and logs can be asked for. */
function requestsAbout({ hash, transactions }: BlockAnswer): [method: string, params: unknown[]][] {
  const number = `0x${HEAD.toString(16)}`
  const before = `0x${(HEAD - 2).toString(16)}`
  const numbered = { address: EMITTER, topics: [NUMBERED_TOPIC] }
  const lastIndex = `0x${(transactions.length - 1).toString(16)}`
  return [
    ...transactions.flatMap((transaction): [string, unknown[]][] => [
      ['eth_getTransactionByHash', [transaction]],
      ['eth_getTransactionReceipt', [transaction]],
    ]),
    ...['latest', number].flatMap((block): [string, unknown[]][] => [
      ['eth_getBlockByNumber', [block, true]],
      ['eth_getBlockByNumber', [block, false]],
      ['eth_getBlockReceipts', [block]],
      ['eth_getBlockTransactionCountByNumber', [block]],
      ['eth_getTransactionByBlockNumberAndIndex', [block, '0x0']],
      ['eth_getTransactionByBlockNumberAndIndex', [block, lastIndex]],
      ['eth_getTransactionByBlockNumberAndIndex', [block, '0x4000']],
      ['eth_feeHistory', ['0x5', block, [0, 25, 50, 100]]],
    ]),
    ['eth_getBlockByHash', [hash, true]],
    ['eth_getBlockTransactionCountByHash', [hash]],
    ['eth_getTransactionByBlockHashAndIndex', [hash, '0x0']],
    ['eth_gasPrice', []],
    ['eth_maxPriorityFeePerGas', []],
    ['eth_getLogs', [{}]],
    ['eth_getLogs', [{ blockHash: hash }]],
    ['eth_getLogs', [{ ...numbered, blockHash: hash }]],
    ['eth_getLogs', [{ ...numbered, fromBlock: before }]],
    ['eth_getLogs', [{ ...numbered, fromBlock: '0x0', toBlock: before }]],
    ['eth_getLogs', [{ topics: [null, `0x${'7'.padStart(64, '0')}`], fromBlock: '0x0' }]],
    ['eth_getLogs', [{ topics: [[]], fromBlock: '0x0' }]],
    ['eth_getLogsWithCursor', [{ ...numbered, fromBlock: before }, undefined, 10_000]],
    ['eth_getLogsWithCursor', [{ ...numbered, fromBlock: before }, undefined, 2_500]],
    ['eth_getLogsWithCursor', [{ ...numbered, fromBlock: number }, undefined, 1_000]],
  ]
}

test('a server answers for a packed block with the same bytes as for its rows', async (t) => {
  const { rows, packed } = await importTwice(t)
  assert.deepEqual([isPacked(rows), isPacked(packed)], [false, true])
  assert.deepEqual(checkDatabase(packed), checkDatabase(rows))
  const servers = await Promise.all([rows, packed].map((datadir) => startCairn(t, ['--open', '--datadir', datadir])))
  const block = await resultOf<BlockAnswer>(servers[0].url, 'eth_getBlockByNumber', ['latest', false])
  assert.ok(block.transactions.length > 0)
  let bytes = 0
  for (const [method, params] of requestsAbout(block)) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'Content-Type': 'application/json' }
    const texts = await Promise.all(
      servers.map(async ({ url }) => (await fetch(url, { method: 'POST', headers, body })).text()),
    )
    assert.equal(texts[1], texts[0], body)
    bytes += texts[0].length
  }
  assert.ok(bytes > 1_000_000, `only ${bytes} bytes were compared`)
  assert.equal(isPacked(packed), true)
})

test('the next import makes rows of it, and goes on to the same database', async (t) => {
  const { rows, packed } = await importTwice(t)
  const status = (datadir: string) => runCairnOk(['status', '--datadir', datadir, '--json'])
  const headOf = async (datadir: string) => JSON.parse(await status(datadir)).head
  assert.deepEqual(await headOf(packed), await headOf(rows))
  await runCairnOk(['verify', '--index', '--datadir', packed])
  for (const datadir of [rows, packed]) await importBlocks(t, datadir, HEAD + 1, HEAD + 1)
  for (const datadir of [rows, packed]) await importBlocks(t, datadir, HEAD + 2, 60)
  assert.equal(isPacked(packed), false)
  assert.deepEqual(checkDatabase(packed), checkDatabase(rows))
  assert.equal(digestDatabase(packed), digestDatabase(rows))
})
