import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { formatFelt } from '../../src/chain/starknet/felt.js'
import { starknetKeccak } from '../../src/chain/starknet/hash.js'
import type { L2Event } from '../../src/chain/starknet/types.js'
import { silentLogger } from '../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { runMethod } from '../../src/rpc/core/runCall.js'
import { getEvents } from '../../src/rpc/starknet/getEvents.js'
import { openL2Database } from '../../test/support/chains/l2.js'
import { makeBlock, UNCHECKED } from '../../test/support/chains/l2Blocks.js'
import { seededRandom } from '../../test/support/random.js'
import { printTable } from '../lib/table.js'
import type { LogsRun } from './options.js'

const CHUNK = 1024
const TRANSACTIONS = 20
const EVENTS = 10 // per transaction

const felt = (seed: string) => starknetKeccak(new TextEncoder().encode(seed))
const contracts = Array.from({ length: 2_000 }, (_, i) => felt(`contract ${i}`))
const selectors = Array.from({ length: 100 }, (_, i) => felt(`selector ${i}`))
const users = Array.from({ length: 50_000 }, (_, i) => felt(`user ${i}`))
const random = seededRandom(16)
/** Few are frequent, most are rare. */
const pick = (felts: readonly bigint[]) => felts[Math.floor(felts.length * (random.below(1_000_000) / 1_000_000) ** 4)]

/** A filter: the events that it finds, and the times of its pages. */
export interface EventFilterFigures {
  readonly filter: string
  readonly events: number
  readonly pages: number
  readonly firstPageMs: number
  readonly slowestPageMs: number
  readonly allMs: number
}

/** What storing and finding layer-2 events takes. */
export interface L2EventFigures {
  readonly events: number
  readonly storedMs: number
  /** By table. */
  readonly bytesPerEvent: { readonly [table: string]: number }
  readonly filters: readonly EventFilterFigures[]
}

/** Stores made-up layer-2 blocks of 200 events, and runs `starknet_getEvents` for filters from rare to all, page by
 *  page, in process. The recordings of the blocks are left out. */
export async function measureL2Events({ values, directory }: LogsRun): Promise<L2EventFigures> {
  const datadir = join(directory, 'l2')
  mkdirSync(datadir)
  const database = openL2Database(datadir)
  try {
    return { ...fillEvents(database, values['l2-blocks']), filters: await query(datadir) }
  } finally {
    database.close()
  }
}

/** Prints the figures, the filters as a table. */
export function printL2Events({ events, storedMs, bytesPerEvent, filters }: L2EventFigures): void {
  console.log(`${events} events stored in ${(storedMs / 1000).toFixed(1)} s`)
  for (const [table, bytes] of Object.entries(bytesPerEvent))
    console.log(`${table}: ${bytes.toFixed(1)} bytes per event`)
  printTable(
    ['filter', 'events', 'pages', 'first page ms', 'slowest page ms', 'all ms'],
    filters.map((each) => Object.values(each) as (string | number)[]),
  )
}

function makeEvent(): L2Event {
  const keys = [pick(selectors), pick(users), pick(users)]
  return { fromAddress: pick(contracts), keys, data: [BigInt(random.below(1e9)), 0n] }
}

function fillEvents(database: ReturnType<typeof openL2Database>, count: number) {
  let [parentHash, written] = [0n, 0]
  for (let from = 0; from < count; from += 100) {
    const blocks = Array.from({ length: Math.min(100, count - from) }, (_, i) => {
      const number = from + i
      const receipts = Array.from({ length: TRANSACTIONS }, (_, t) => ({
        transactionHash: felt(`transaction ${number}/${t}`),
        events: Array.from({ length: EVENTS }, makeEvent),
        messages: [],
      }))
      const transactionHashes = receipts.map(({ transactionHash }) => transactionHash)
      const hash = felt(`block ${number}`)
      const block = makeBlock({ number, hash, parentHash, transactionHashes, receipts })
      parentHash = hash
      return block
    })
    const begun = performance.now()
    database.writer.transaction(() => {
      for (const block of blocks) database.writer.importBlock(block, UNCHECKED)
    })
    written += performance.now() - begun
  }
  database.db.pragma('wal_checkpoint(TRUNCATE)')
  const sizeOf = (table: string) =>
    database.db.prepare<[string], number>('SELECT sum(pgsize) FROM dbstat WHERE name = ?').pluck().get(table) ?? 0
  const total = count * TRANSACTIONS * EVENTS
  const tables = ['l2_events', 'l2_event_terms', 'l2_block_txs', 'l2_block_txs_by_hash']
  const bytesPerEvent = Object.fromEntries(tables.map((table) => [table, sizeOf(table) / total]))
  return { events: total, storedMs: written, bytesPerEvent }
}

async function query(datadir: string): Promise<EventFilterFigures[]> {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const hex = (felts: readonly bigint[]) => felts.map(formatFelt)
  const filters: { [name: string]: object } = {
    everything: {},
    'frequent address': { address: formatFelt(contracts[0]) },
    'rare address': { address: formatFelt(contracts.at(-1)!) },
    'frequent key': { keys: [hex([selectors[0]])] },
    'rare user': { keys: [[], hex([users.at(-1)!])] },
    'frequent address, key and user': {
      address: formatFelt(contracts[0]),
      keys: [hex([selectors[0]]), hex([users[0]])],
    },
    'three that never meet': {
      address: formatFelt(contracts[3]),
      keys: [hex([selectors[50]]), hex([users[40]]), hex([users[60]])],
    },
    '1,000 users': { keys: [[], hex(users.slice(-1_000))] },
    'an address that is not there': { address: '0x1' },
  }
  const figures: EventFilterFigures[] = []
  for (const [name, filter] of Object.entries(filters)) {
    const times: number[] = []
    let events = 0
    for (let token: string | undefined; ; ) {
      const begun = performance.now()
      const outcome = await runMethod(getEvents, [{ ...filter, chunk_size: CHUNK, continuation_token: token }], context)
      times.push(performance.now() - begun)
      if ('error' in outcome) throw new Error(outcome.error.message)
      const page = JSON.parse(Buffer.from(outcome.result).toString()) as { events: []; continuation_token?: string }
      events += page.events.length
      token = page.continuation_token
      if (token === undefined) break
    }
    const own = { filter: name, events, pages: times.length }
    const allMs = times.reduce((sum, time) => sum + time, 0)
    figures.push({ ...own, firstPageMs: times[0], slowestPageMs: Math.max(...times), allMs })
  }
  close()
  return figures
}
