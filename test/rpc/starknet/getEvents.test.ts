import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { auditL2 } from '../../../src/audit/l2.js'
import { formatFelt } from '../../../src/chain/starknet/felt.js'
import type { L2Block } from '../../../src/chain/starknet/types.js'
import { makePending, UNCHECKED } from '../../support/chains/l2Blocks.js'
import { blockOf, makeEventChain, rawOf } from '../../support/chains/l2EventChain.js'
import { toRpcReceiptsJson } from '../../support/chains/l2Json.js'
import { seededRandom } from '../../support/random.js'
import { openStarknet, type StarknetDatabase } from '../../support/upstream/l2Rpc.js'

type Json = Record<string, unknown>
interface Page {
  events: (Json & { block_number: number; keys: string[]; from_address: string })[]
  continuation_token?: string
}
function store({ writer }: StarknetDatabase, chain: readonly L2Block[]): void {
  for (const block of chain) writer.importBlock(block, UNCHECKED, rawOf(block))
}

/** All events of a filter, page by page. */
async function readAll({ ask }: StarknetDatabase, filter: object, chunkSize = 3) {
  const events: Page['events'] = []
  for (let token: string | undefined; ; ) {
    const page = (await ask('starknet_getEvents', [
      { ...filter, chunk_size: chunkSize, continuation_token: token },
    ])) as Page
    assert.ok(page.events.length <= chunkSize)
    events.push(...page.events)
    token = page.continuation_token
    if (token === undefined) return events
  }
}

/** What a filter finds, the slow way. */
function expectEvents(
  chain: readonly L2Block[],
  { from, to, address, keys = [] }: { from: number; to: number; address?: bigint[]; keys?: bigint[][] },
) {
  return chain.slice(from, to + 1).flatMap((block) =>
    block.receipts!.flatMap(({ events, transactionHash }, transaction) =>
      events!
        .map((event, index) => ({ event, index }))
        .filter(({ event }) => !address?.length || address.includes(event.fromAddress))
        .filter(({ event }) => keys.every((values, i) => values.length === 0 || values.includes(event.keys[i])))
        .map(({ event, index }) => ({
          from_address: formatFelt(event.fromAddress),
          keys: event.keys.map(formatFelt),
          data: event.data.map(formatFelt),
          block_hash: formatFelt(block.hash!),
          block_number: block.number,
          transaction_hash: formatFelt(transactionHash),
          transaction_index: transaction,
          event_index: index,
        })),
    ),
  )
}

test('pages of any filter are together what a scan of all events finds', async (t) => {
  const database = openStarknet(t)
  const chain = makeEventChain(60, 1)
  store(database, chain)
  const random = seededRandom(7)
  const felt = (kinds: number) => BigInt(1 + random.below(kinds)) ** 30n
  const felts = (limit: number) => Array.from({ length: random.below(limit) }, () => felt(6))
  for (let i = 0; i < 120; i++) {
    const from = random.below(60)
    const to = from + random.below(70)
    const address = random.below(2) ? undefined : felts(3)
    const keys = random.below(3) ? Array.from({ length: random.below(4) }, () => felts(3)) : undefined
    const filter = {
      from_block: { block_number: from },
      to_block: { block_number: to },
      address: address?.map(formatFelt),
      keys: keys?.map((values) => values.map(formatFelt)),
    }
    const found = await readAll(database, filter, 1 + random.below(9))
    assert.deepEqual(found, expectEvents(chain, { from, to, address, keys }), JSON.stringify(filter))
  }
  assert.equal(auditL2(database.db).blocks, 60)
})

test('a reorg removes the events of its blocks in the same transaction, and invalidates tokens that saw them', async (t) => {
  const database = openStarknet(t)
  const chain = makeEventChain(12, 1)
  store(database, chain)
  const filter = { from_block: { block_number: 0 } }
  const early = (await database.ask('starknet_getEvents', [{ ...filter, chunk_size: 1 }])) as Page
  const upTo = { ...filter, to_block: { block_number: 8 } }
  const count = expectEvents(chain, { from: 0, to: 8 }).length
  const late = (await database.ask('starknet_getEvents', [{ ...upTo, chunk_size: count - 1 }])) as Page
  const branch = makeEventChain(15, 2, chain.slice(0, 6))
  const fresh = branch.slice(6).map((block) => ({ block, verdict: UNCHECKED, raw: rawOf(block) }))
  database.writer.replaceBranch(5, fresh)
  assert.deepEqual(await readAll(database, filter), expectEvents(branch, { from: 0, to: 14 }))
  assert.equal(auditL2(database.db).blocks, 21)
  const next = (token?: string) =>
    database.answer('starknet_getEvents', [{ ...filter, chunk_size: 1, continuation_token: token }])
  assert.ok('result' in (await next(early.continuation_token)))
  assert.deepEqual(await next(late.continuation_token), {
    error: { code: 33, message: 'The supplied continuation token is invalid or unknown' },
  })
  database.writer.replaceBranch(
    5,
    chain.slice(6).map((block) => ({ block, verdict: UNCHECKED, raw: rawOf(block) })),
  )
  assert.deepEqual(await readAll(database, filter), expectEvents(chain, { from: 0, to: 11 }))
  assert.equal(auditL2(database.db).blocks, 21)
})

test('events of the unconfirmed block follow those of the confirmed ones, if it is asked for', async (t) => {
  const database = openStarknet(t)
  const chain = makeEventChain(4, 1)
  store(database, chain.slice(0, 3))
  const next = { ...chain[3], status: 'PRE_CONFIRMED' as const, hash: undefined, newRoot: undefined }
  database.writer.importBlock(next, UNCHECKED, deflateSync(JSON.stringify(unconfirmedJson(chain[3]))))
  const confirmed = expectEvents(chain, { from: 0, to: 2 })
  const bare = expectEvents(chain, { from: 3, to: 3 }).map(({ block_hash: _, ...event }) => event)
  assert.deepEqual(await readAll(database, {}), confirmed)
  assert.deepEqual(await readAll(database, { to_block: 'pre_confirmed' }), [...confirmed, ...bare])
  assert.deepEqual(await readAll(database, { from_block: 'pre_confirmed', to_block: 'pre_confirmed' }), bare)
})

function unconfirmedJson(block: L2Block): object {
  const { status: _, block_hash: __, new_root: ___, parent_hash: ____, ...rest } = toRpcReceiptsJson(block, 10) as Json
  return rest
}

test('limits: size of a page, number of keys, bytes, and tokens', async (t) => {
  const database = openStarknet(t, { maxFilterParams: 20 })
  store(database, makeEventChain(5, 1))
  const errorOf = async (filter: object) => {
    const outcome = await database.answer('starknet_getEvents', [filter])
    return 'error' in outcome ? outcome.error.code : outcome
  }
  assert.equal(await errorOf({ chunk_size: 1025 }), 31)
  assert.equal(await errorOf({ chunk_size: 0 }), -32602)
  assert.equal(await errorOf({}), -32602)
  assert.equal(await errorOf({ chunk_size: 1, keys: Array.from({ length: 17 }, () => []) }), 34)
  assert.equal(await errorOf({ chunk_size: 1, keys: [Array.from({ length: 21 }, () => '0x1')] }), 34)
  for (const token of ['', '1', '0-0-0-0x1', '1-2-99-0x1', '1-2-3-4-5', 'x'.repeat(100_000)]) {
    assert.equal(await errorOf({ chunk_size: 1, continuation_token: token }), 33, token.slice(0, 20))
  }
  assert.equal(await errorOf({ chunk_size: 1, from_block: { block_hash: '0x5' } }), 24)
  const large = blockOf({
    number: 5,
    hash: 5n,
    parentHash: database.reader.head()!.hash,
    receipts: [
      {
        transactionHash: 77n,
        events: Array.from({ length: 40 }, () => ({
          fromAddress: 9n,
          keys: [],
          data: new Array(3000).fill(2n ** 250n),
        })),
        messages: [],
      },
    ],
  })
  store(database, [large])
  const page = (await database.ask('starknet_getEvents', [{ chunk_size: 1000, address: '0x9' }])) as Page
  assert.ok(page.events.length < 40 && JSON.stringify(page).length < 5_000_000)
  assert.equal((await readAll(database, { address: '0x9' }, 1000)).length, 40)
})

test('a page ends when its time is over, and the next one continues there', async (t) => {
  const database = openStarknet(t, { logsTimeoutMs: 0 })
  const chain = makeEventChain(8, 1)
  store(database, chain)
  const first = (await database.ask('starknet_getEvents', [{ chunk_size: 1000 }])) as Page
  assert.ok(first.continuation_token !== undefined)
  assert.deepEqual(await readAll(database, {}, 1000), expectEvents(chain, { from: 0, to: 7 }))
  const keys = [[formatFelt(1n)], [formatFelt(2n ** 30n)]]
  const expected = expectEvents(chain, { from: 0, to: 7, keys: [[1n], [2n ** 30n]] })
  assert.deepEqual(await readAll(database, { keys }, 1000), expected)
})

test('blocks and events that are not available are an error, never an empty page', async (t) => {
  const database = openStarknet(t)
  const chain = makeEventChain(8, 1)
  store(database, chain.slice(2, 4))
  store(database, chain.slice(6, 7))
  const ask = (from: number, to: number) =>
    database.answer('starknet_getEvents', [
      { from_block: { block_number: from }, to_block: { block_number: to }, chunk_size: 9 },
    ])
  const unavailable = (number: number) => ({
    error: { code: -32000, message: `layer-2 block ${number} is not available; import it, or ask for blocks after it` },
  })
  assert.deepEqual(await ask(0, 3), unavailable(0))
  assert.deepEqual(await ask(2, 6), unavailable(4))
  assert.ok('result' in (await ask(2, 3)))
  assert.ok('result' in (await ask(6, 60)))
  const hashesOnly = { ...chain[7], receipts: undefined, transactions: undefined }
  database.writer.importBlock(hashesOnly, UNCHECKED)
  const answer = await ask(7, 7)
  assert.match('error' in answer ? answer.error.message : '', /^layer-2 block 7 is stored without events; import /)
  database.writer.importBlock(makePending({ parentHash: chain[7].hash }), UNCHECKED)
  const pending = await database.answer('starknet_getEvents', [
    { from_block: 'pre_confirmed', to_block: 'pre_confirmed', chunk_size: 9 },
  ])
  assert.match('error' in pending ? pending.error.message : '', /^layer-2 block 8 is stored without recording/)
})
