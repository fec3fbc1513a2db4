import assert from 'node:assert/strict'
import type { TracedCall } from '../../../src/evm/tracing/callTree.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { traceTransactionCalls } from '../../../src/rpc/ots/tracedCalls.js'
import type { Database } from '../../../src/store/database.js'
import { createAppearanceReader, decodeAppearances } from '../../../src/store/rows/appearances.js'
import { TRANSFER_TOPIC } from '../chains/fixtureChain.js'
import { callMethod } from '../compare/traces.js'

/** Topics of ERC-1155: TransferSingle and TransferBatch. */
export const ERC_1155_TOPICS = [
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
]

interface Place {
  blockNumber: number
  hash: string
}

/** The transactions of each address in chain order, by looking at all of them. */
export type AddressHistory = ReadonlyMap<string, readonly Place[]>

/** Looks at every transaction: its parts, the logs of its receipt, and its calls as tracers see them. */
export async function readHistory(context: RpcContext, withCalls = true): Promise<AddressHistory> {
  const history = new Map<string, Place[]>()
  const { first, head } = context.chain.coverage()!
  for (let blockNumber = Math.max(first, 1); blockNumber <= head; blockNumber++) {
    const number = formatQuantity(blockNumber)
    const block = await callMethod<{ transactions: Transaction[] }>(context, 'eth_getBlockByNumber', [number, true])
    const receipts = await callMethod<Receipt[]>(context, 'eth_getBlockReceipts', [number])
    for (const [i, { hash, from, to }] of block.transactions.entries()) {
      const addresses = new Set([from, to, receipts[i].contractAddress].filter((each) => typeof each === 'string'))
      for (const { topics } of receipts[i].logs) for (const party of partiesOf(topics)) addresses.add(party)
      if (withCalls) {
        const { root } = await traceTransactionCalls(context, parseHex(hash))
        for (const each of reached(root)) addresses.add(formatData(each))
      }
      for (const address of addresses) {
        const places = history.get(address) ?? []
        history.set(address, places)
        places.push({ blockNumber, hash })
      }
    }
  }
  return history
}

interface Transaction {
  hash: string
  from: string
  to: string | null
}

interface Receipt {
  contractAddress: string | null
  logs: { topics: string[] }[]
}

function* reached({ from, to, calls }: TracedCall): Generator<Uint8Array> {
  yield from
  yield to
  for (const call of calls) yield* reached(call)
}

function partiesOf(topics: readonly string[]): string[] {
  const count = topics[0] === TRANSFER_TOPIC ? 2 : ERC_1155_TOPICS.includes(topics[0]) && topics.length === 4 ? 3 : 0
  if (topics.length < 3) return []
  return topics
    .slice(1, 1 + count)
    .filter((topic) => /^0x0{24}/.test(topic))
    .map((topic) => `0x${topic.slice(26)}`)
}

/** A page as the methods answer it. */
export interface Page {
  txs: { hash: string; blockNumber: string }[]
  receipts: { transactionHash: string; timestamp: number }[]
  firstPage: boolean
  lastPage: boolean
  internalCalls: boolean
}

/** Asks for pages of every address, in both directions, from both ends and from its blocks on (at most `mostStarts` of
 *  them, evenly spread), and compares them with its history. Returns the number of pages. */
export async function comparePages(
  context: RpcContext,
  history: AddressHistory,
  { pageSizes, mostStarts = Number.POSITIVE_INFINITY }: { pageSizes: readonly number[]; mostStarts?: number },
): Promise<number> {
  let compared = 0
  for (const [address, places] of history) {
    const step = Math.ceil(Math.max(1, places.length / mostStarts))
    const starts = places.filter((_, i) => i % step === 0).map(({ blockNumber }) => blockNumber)
    const numbers = new Set([0, 1, context.chain.head()! + 5, ...starts])
    for (const pageSize of pageSizes) {
      for (const from of numbers) {
        for (const direction of ['Before', 'After'] as const) {
          const page = await callMethod<Page>(context, `ots_searchTransactions${direction}`, [address, from, pageSize])
          const expected = expectedPage(places, { direction, from, pageSize })
          const { firstPage, lastPage } = page
          const where = `${address} ${direction} ${from}, ${pageSize}`
          assert.deepEqual({ hashes: page.txs.map(({ hash }) => hash), firstPage, lastPage }, expected, where)
          assert.deepEqual(
            page.receipts.map(({ transactionHash }) => transactionHash),
            expected.hashes,
            where,
          )
          for (const [i, { timestamp }] of page.receipts.entries()) {
            assert.equal(
              BigInt(timestamp),
              context.chain.blockByNumber(Number(page.txs[i].blockNumber))!.header.timestamp,
            )
          }
          compared++
        }
      }
    }
  }
  return compared
}

function expectedPage(
  places: readonly Place[],
  { direction, from, pageSize }: { direction: 'Before' | 'After'; from: number; pageSize: number },
) {
  const isBefore = direction === 'Before'
  const inRange = places.filter(({ blockNumber }) => from === 0 || (isBefore ? blockNumber < from : blockNumber > from))
  const ordered = isBefore ? inRange.toReversed() : inRange
  const page: Place[] = []
  for (const place of ordered) {
    if (page.length >= pageSize && place.blockNumber !== page.at(-1)!.blockNumber) break
    page.push(place)
  }
  const hasMore = page.length < ordered.length
  const hashes = (isBefore ? page : page.toReversed()).map(({ hash }) => hash)
  return isBefore
    ? { hashes, firstPage: from === 0, lastPage: !hasMore }
    : { hashes, firstPage: !hasMore, lastPage: from === 0 }
}

/** The rows of the address index with addresses in place of ids, which differ between databases. */
export function storedAppearances(db: Database) {
  const addressOf = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  const rows = createAppearanceReader(db).blocks(0, Number.MAX_SAFE_INTEGER, false)
  return Array.from(rows, ({ number, data }) => ({ number, data })).map(({ number, data }) => ({
    number,
    transactions: decodeAppearances(data).map((ids) => ids.map((id) => formatData(addressOf.get(id)!)).sort()),
  }))
}
