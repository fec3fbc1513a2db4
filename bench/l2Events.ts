import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatFelt } from '../src/chain/starknet/felt.js'
import { starknetKeccak } from '../src/chain/starknet/hash.js'
import type { L2Event } from '../src/chain/starknet/types.js'
import { silentLogger } from '../src/lib/logger.js'
import { runMethod } from '../src/rpc/core/dispatch.js'
import { DEFAULT_LIMITS } from '../src/rpc/core/limits.js'
import { openContext } from '../src/rpc/core/openContext.js'
import { getEvents } from '../src/rpc/starknet/getEvents.js'
import { openL2Database } from '../test/support/chains/l2.js'
import { makeBlock, UNCHECKED } from '../test/support/chains/l2Blocks.js'
import { seededRandom } from '../test/support/random.js'

/* `npm run bench:l2-events -- [BLOCKS]`: stores made-up layer-2 blocks of 200 events, 5,000 blocks by default, and
 * prints the time and bytes of their events, and how long `starknet_getEvents` takes for filters from rare to all, page
 * by page, in process. */

const BLOCKS = Number(process.argv[2] ?? 5_000)
const TRANSACTIONS = 20
const EVENTS = 10 // per transaction

const felt = (seed: string) => starknetKeccak(new TextEncoder().encode(seed))
const contracts = Array.from({ length: 2_000 }, (_, i) => felt(`contract ${i}`))
const selectors = Array.from({ length: 100 }, (_, i) => felt(`selector ${i}`))
const users = Array.from({ length: 50_000 }, (_, i) => felt(`user ${i}`))
const random = seededRandom(16)
/** Few are frequent, most are rare. */
const pick = (felts: readonly bigint[]) => felts[Math.floor(felts.length * (random.below(1_000_000) / 1_000_000) ** 4)]

const datadir = mkdtempSync(join(tmpdir(), 'cairn-l2-events-'))
const database = openL2Database(datadir)
try {
  fill()
  await query()
} finally {
  database.close()
  rmSync(datadir, { recursive: true })
}

function makeEvent(): L2Event {
  const keys = [pick(selectors), pick(users), pick(users)]
  return { fromAddress: pick(contracts), keys, data: [BigInt(random.below(1e9)), 0n] }
}

function fill(): void {
  let [parentHash, written] = [0n, 0]
  for (let from = 0; from < BLOCKS; from += 100) {
    const blocks = Array.from({ length: Math.min(100, BLOCKS - from) }, (_, i) => {
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
  const total = BLOCKS * TRANSACTIONS * EVENTS
  console.log(`${total} events of ${BLOCKS} blocks stored in ${(written / 1000).toFixed(1)} s (recordings left out)`)
  for (const table of ['l2_events', 'l2_event_terms', 'l2_block_txs', 'l2_block_txs_by_hash']) {
    console.log(`  ${table.padEnd(22)} ${(sizeOf(table) / total).toFixed(1)} bytes per event`)
  }
}

async function query(): Promise<void> {
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
  console.log(['filter', 'events', 'pages', 'first page ms', 'slowest page ms', 'all ms'].join(' | '))
  for (const [name, filter] of Object.entries(filters)) {
    const times: number[] = []
    let events = 0
    for (let token: string | undefined; ; ) {
      const begun = performance.now()
      const outcome = await runMethod(getEvents, [{ ...filter, chunk_size: 1024, continuation_token: token }], context)
      times.push(performance.now() - begun)
      if ('error' in outcome) throw new Error(outcome.error.message)
      const page = JSON.parse(Buffer.from(outcome.result).toString()) as { events: []; continuation_token?: string }
      events += page.events.length
      token = page.continuation_token
      if (token === undefined) break
    }
    const all = times.reduce((sum, time) => sum + time, 0)
    const row = [name, events, times.length, ...[times[0], Math.max(...times), all].map((time) => time.toFixed(1))]
    console.log(row.join(' | '))
  }
  close()
}
