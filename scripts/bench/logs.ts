import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openWritableChain } from '../../src/ingest/chainState.js'
import { formatData } from '../../src/lib/hex.js'
import { createChainWriter } from '../../src/store/chainWriter.js'
import { openForWriting } from '../../src/store/open.js'
import { startCairn } from '../../test/support/cairn.js'
import { makeBlocks } from './blocks.js'
import { finishMerges, type Loading, loadBulk, loadTip } from './load.js'
import { createLogChain, type LogChain } from './logChain.js'
import { measureShape, openClient, quantile, type ShapeResult } from './measure.js'
import { type OrdinaryLogs, openOrdinary } from './ordinary.js'
import { makeShapes } from './shapes.js'
import { measureBytes, measureOrdinaryBytes } from './size.js'
import { printTable } from './table.js'

/* `npm run bench:logs -- --logs N [--seed S] --json FILE`: a synthetic chain of N logs through the store's own writer and
 * into the ordinary design beside it, on the same machine in the same run; then the shapes of filters over HTTP. */

const TIP_BLOCKS = 60
const MERGE_BUDGET_MS = 2

const { values: options } = parseArgs({
  options: {
    logs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    peers: { type: 'string' },
    json: { type: 'string' },
  },
})
const count = Number(options.logs)
const seed = Number(options.seed)
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed) || options.json === undefined) {
  console.error('usage: npm run bench:logs -- --logs N [--seed S] --json FILE')
  process.exit(2)
}
if (options.peers !== undefined) console.error('--peers: not measured yet; the report has none')

const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
const chain = createLogChain(seed)
const ordinary = openOrdinary(join(directory, 'ordinary.db'))
try {
  const { head, hashes, figures } = await load(chain)
  const shapes = await ask(chain, head, hashes)
  printTable(shapes)
  for (const [name, value] of Object.entries(figures)) console.log(`${name}: ${round(value)}`)
  const report = { logs: count, seed, node: process.version, shapes, ...figures }
  writeFileSync(options.json, `${JSON.stringify(report, roundNumber, 2)}\n`)
} finally {
  ordinary.close()
  rmSync(directory, { recursive: true, force: true })
}

/** Fills both stores. */
async function load(source: LogChain) {
  const db = openForWriting(join(directory, 'cairn'))
  const { writer, indexer } = await openWritableChain(db, { network: 'mainnet' }, 'none')
  const hashes = new Map<number, string>()
  const bareDb = openForWriting(join(directory, 'bare'))
  const bare = createChainWriter(bareDb)
  const loading: Loading = { blocks: remember(makeBlocks(source, seed), hashes), writer, indexer, ordinary, bare }
  const bulk = loadBulk(loading, count, ({ logs, cairnMs, ordinaryMs }) => {
    const rates = `${rate(logs, cairnMs)} logs/s, ordinary ${rate(logs, ordinaryMs)}`
    process.stderr.write(`\r${logs.toLocaleString('en')} logs: ${rates}   `)
  })
  process.stderr.write('\n')
  const merging = loadTip(loading, TIP_BLOCKS, MERGE_BUDGET_MS)
  const mergesMs = finishMerges(loading)
  const quiet = loadTip(loading, TIP_BLOCKS)
  console.log(
    `tip blocks while a merge ${merging.merging ? 'was' : 'was not always'} under way: ${spread(merging.cairnMs)}`,
  )
  console.log(`tip blocks without: ${spread(quiet.cairnMs)}; ordinary: ${spread(quiet.ordinaryMs)}`)
  console.log(`of it for the block, its transactions and receipts: ${spread(quiet.bareMs)}`)
  const bytes = measureBytes(db)
  const ordinaryBytes = measureOrdinaryBytes(ordinary.db)
  const figures = {
    ...bytes,
    ordinaryBytesPerLog: ordinaryBytes,
    bulkLogsPerSecond: (bulk.logs / (bulk.cairnMs + mergesMs)) * 1000,
    bulkLogsPerSecondWithoutTransactions: (bulk.logs / (bulk.cairnMs - bulk.bareMs + mergesMs)) * 1000,
    ordinaryBulkLogsPerSecond: (bulk.logs / bulk.ordinaryMs) * 1000,
    tipBlockP50Ms: quantile(quiet.cairnMs, 0.5),
    tipBlockWithoutLogsP50Ms: quantile(quiet.bareMs, 0.5),
    tipBlockMergingP50Ms: quantile(merging.cairnMs, 0.5),
    tipBlockMergingMaxMs: quantile(merging.cairnMs, 1),
    ordinaryTipBlockP50Ms: quantile(quiet.ordinaryMs, 0.5),
  }
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  bareDb.close()
  prepareOrdinary(ordinary)
  return { head: bulk.blocks + 2 * TIP_BLOCKS - 1, hashes, figures }
}

/** Asks every shape of a server in a process of its own. */
async function ask(source: LogChain, head: number, hashes: Map<number, string>): Promise<ShapeResult[]> {
  const endings: (() => void | Promise<void>)[] = []
  try {
    const after = (end: () => void | Promise<void>) => void endings.push(end)
    const { url } = await startCairn({ after }, ['--open', '--datadir', join(directory, 'cairn')])
    const client = openClient(url)
    endings.push(client.close)
    const countTopic1 = ordinary.db.prepare<[string], number>('SELECT count(*) FROM logs WHERE topic1 = ?').pluck()
    const blockCounts = ordinary.db.prepare<[string], { block: number; count: number }>(
      'SELECT block_number AS block, count(*) AS count FROM logs WHERE address = ? GROUP BY block_number ORDER BY 1',
    )
    const shapes = makeShapes({
      chain: source,
      seed,
      head,
      countTopic1: (topic) => countTopic1.get(topic)!,
      blockCounts: (address) => blockCounts.all(address),
    })
    const results: ShapeResult[] = []
    for (const shape of shapes) {
      results.push(await measureShape(shape, { client, ordinary, hashOf: (number) => hashes.get(number)! }))
      process.stderr.write(`\r${results.length} of ${shapes.length} shapes `)
    }
    process.stderr.write('\n')
    return results
  } finally {
    for (const end of endings.reverse()) await end()
  }
}

function* remember(blocks: ReturnType<typeof makeBlocks>, hashes: Map<number, string>): typeof blocks {
  for (const made of blocks) {
    hashes.set(made.block.header.number, formatData(made.block.hash))
    yield made
  }
}

/** What a careful operator does after a bulk load. */
function prepareOrdinary({ db }: OrdinaryLogs): void {
  db.pragma('analysis_limit = 1000')
  db.exec('ANALYZE')
  db.pragma('wal_checkpoint(TRUNCATE)')
}

function spread(times: number[]): string {
  return [0.5, 0.99, 1]
    .map((share) => quantile(times, share).toFixed(2))
    .join(' / ')
    .concat(' ms (p50 / p99 / max)')
}

function rate(logs: number, ms: number): string {
  return Math.round((logs / ms) * 1000).toLocaleString('en')
}

function round(value: number): number {
  return value >= 1000 ? Math.round(value) : Math.round(value * 1000) / 1000
}

function roundNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? round(value) : value
}
