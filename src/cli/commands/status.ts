import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '../../export/manifest.js'
import { ADDRESS_INDEX } from '../../index/addresses/appearanceIndex.js'
import { LOG_SEARCH_INDEX } from '../../index/logs/logSearchIndex.js'
import type { IndexKind } from '../../index/segments/indexKind.js'
import { describeIndex, type IndexSummary } from '../../index/segments/indexSummary.js'
import { TRANSACTION_INDEX } from '../../index/transactions/transactionIndex.js'
import { UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { PUBLISHER_FILE, readPublisherCursor } from '../../replication/nats/publisherCursor.js'
import { formatProblem } from '../../server/admin/problem.js'
import { LAKE_FOLDER } from '../../sql/lake/lakeFiles.js'
import type { Database } from '../../store/database.js'
import { createSchemaVersion, measureTables, sqliteVersion, type TableSize } from '../../store/databaseFacts.js'
import { createGrowthForecast, type GrowthForecast } from '../../store/growthForecast.js'
import { createL2Reader } from '../../store/l2/l2Reader.js'
import { createMetaTable, META_CHAIN, META_STATE_MODE } from '../../store/meta.js'
import { DATABASE_FILE, openForReading } from '../../store/open.js'
import { packageVersion } from '../../store/packageVersion.js'
import { type PartSize, sumParts } from '../../store/partSizes.js'
import { readPosition } from '../../store/replication/position.js'
import { createAppearanceReader } from '../../store/rows/appearances.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { readVerification } from '../../store/rows/chainSource.js'
import { createTraceReader } from '../../store/rows/traceRows.js'
import { readStateDump } from '../../store/state/stateDump.js'
import { problemOf, readFollowReport } from '../followReport.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult } from '../standardStreams.js'

/** `cairn status`: prints what is stored in the database. */
export async function runStatus({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help status'`)
  const db = openForReading(config.datadir)
  try {
    const { cryptoImplementations } = await import('../../chain/crypto.js')
    const tables = measureTables(db)
    const report = {
      ...describeChain(db),
      ...describeFollowing(config.datadir),
      logIndex: measureIndex(db, LOG_SEARCH_INDEX, tables),
      transactionIndex: measureIndex(db, TRANSACTION_INDEX, tables),
      addressIndex: measureAddressIndex(db, tables),
      traceIndex: measureTraceIndex(db, tables),
      database: describeFile(db, config.datadir),
      lake: describeLake(config.datadir),
      replication: describeReplication(db, config.datadir),
      growth: createGrowthForecast(db, createChainReader(db))() ?? null,
      tables,
      sizes: sumParts(db, tables),
      versions: {
        cairn: packageVersion(),
        node: process.versions.node,
        sqlite: sqliteVersion(db),
      },
      crypto: cryptoImplementations(),
    }
    await printResult(config.json ? JSON.stringify(report) : formatReport(report, config.sizes))
    return config.check && report.problem !== null ? 1 : 0
  } finally {
    db.close()
  }
}

/** Describes the process that follows into the database; null without one. */
function describeFollowing(datadir: string) {
  const found = readFollowReport(datadir)
  return { following: found ?? null, problem: (found && problemOf(found)) ?? null }
}

function describeChain(db: Database) {
  const chain = createChainReader(db)
  const meta = createMetaTable(db)
  const coverage = chain.coverage()
  const head = coverage && chain.blockByNumber(coverage.head)
  const source = meta.get<{ network?: string }>(META_CHAIN)
  const l2Reader = createL2Reader(db)
  const [l2First, l2] = [l2Reader.first(), l2Reader.head()]
  return {
    network: source === undefined ? null : (source.network ?? 'own genesis'),
    chainId: source === undefined ? null : String(chain.chainId()),
    ...readVerification(db, chain),
    head: head
      ? { number: head.header.number, hash: formatData(head.hash), timestamp: exactInteger(head.header.timestamp) }
      : null,
    coverage: coverage ? { first: coverage.first, head: coverage.head, gap: chain.gap() ?? null } : null,
    state: {
      mode: meta.get<string>(META_STATE_MODE) ?? null,
      first: coverage?.stateFirst ?? null,
      closed: coverage?.closedStates ?? [],
      listed: coverage?.listedStates ?? [],
      known: coverage?.known ?? null,
      dump: readStateDump(db) ?? null,
    },
    l2Head: l2 ? { number: l2.number, hash: `0x${l2.hash.toString(16)}` } : null,
    l2Coverage:
      l2 && l2First
        ? { first: l2First.number, head: l2.number, acceptedOnL1: l2Reader.blockAcceptedOnL1()?.number ?? null }
        : null,
  }
}

/** Describes the applied position of a replica and the position published from here; null for neither. */
function describeReplication(db: Database, datadir: string) {
  const applied = readPosition(createMetaTable(db), createChainReader(db).headHash())
  const cursor = readPublisherCursor(join(datadir, PUBLISHER_FILE))
  const published = cursor && {
    ...{ stream: cursor.stream, sequence: cursor.sequence, epoch: cursor.epoch, block: cursor.number },
  }
  return applied === undefined && published === undefined
    ? null
    : { applied: applied ?? null, published: published ?? null }
}

function describeFile(db: Database, datadir: string) {
  const path = join(datadir, DATABASE_FILE)
  return { path, bytes: statSync(path).size, schemaVersion: createSchemaVersion(db)() }
}

/** Returns the size of the lake beside the database; null without one. */
function describeLake(datadir: string): { path: string; files: number; bytes: number } | null {
  const path = join(datadir, LAKE_FOLDER)
  const files = Object.values(readManifest(path).datasets).flatMap((dataset) => dataset.files)
  return files.length === 0
    ? null
    : { path, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }
}

type MeasuredIndex = IndexSummary & Pick<TableSize, 'bytes'>

/** Returns an index with its size in bytes. */
function measureIndex(db: Database, kind: IndexKind<unknown>, tables: readonly TableSize[]): MeasuredIndex {
  const { segments, buckets, bigPostings } = kind.tables
  const own = tables.filter(({ table }) => [segments, buckets, bigPostings].includes(table))
  const bytes = own.some((table) => table.bytes === null) ? null : own.reduce((sum, table) => sum + table.bytes!, 0)
  return { ...describeIndex(db, kind), bytes }
}

/** Returns the address index with its last block, null if empty. Its bytes include the appearances of the blocks. */
function measureAddressIndex(db: Database, tables: readonly TableSize[]): MeasuredIndex & { head: number | null } {
  const index = measureIndex(db, ADDRESS_INDEX, tables)
  const rows = tables.find(({ table }) => table === 'address_appearances')!
  const bytes = index.bytes === null || rows.bytes === null ? null : index.bytes + rows.bytes
  return { ...index, bytes, head: createAppearanceReader(db).lastBlock() ?? null }
}

/** Returns the last block of the trace index, null if it has none, and its size in bytes. */
function measureTraceIndex(db: Database, tables: readonly TableSize[]): { head: number | null; bytes: number | null } {
  const rows = tables.find(({ table }) => table === 'traces')!
  return { head: createTraceReader(db).lastBlock() ?? null, bytes: rows.bytes }
}

type Report = ReturnType<typeof describeChain> &
  ReturnType<typeof describeFollowing> & {
    logIndex: MeasuredIndex
    transactionIndex: MeasuredIndex
    addressIndex: ReturnType<typeof measureAddressIndex>
    traceIndex: ReturnType<typeof measureTraceIndex>
    database: ReturnType<typeof describeFile>
    lake: ReturnType<typeof describeLake>
    replication: ReturnType<typeof describeReplication>
    growth: GrowthForecast | null
    tables: TableSize[]
    sizes: PartSize[]
    versions: { [name: string]: string }
    crypto: { [name: string]: string }
  }

/** Returns a number if exact, otherwise a decimal string, for JSON. */
function exactInteger(value: bigint): number | string {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value.toString()
}

/** Formats Unix seconds as a date; as seconds if beyond the calendar. */
function formatTime(seconds: number | string): string {
  const date = new Date(Number(seconds) * 1000)
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString()
}

function formatState({ mode, first, closed, listed, known, dump }: Report['state']): string {
  if (dump !== null && first === null && closed.length === 0)
    return `a dump of block ${dump.number}, which is not stored yet`
  const newest = first === null ? `not available (--state ${mode ?? 'not chosen'})` : `from block ${first}`
  const isComplete = dump !== null && dump.number === first
  const counted = known ? `: ${known.accounts} accounts and ${known.slots} slots known` : ''
  const figures = isComplete ? ', complete from a dump' : counted
  const sparse = mode === 'sparse' && first !== null ? `, sparse${figures}` : ''
  const join = (intervals: Report['state']['closed'], about = (_: { first: number }) => '') =>
    intervals.map((each) => `${each.first} to ${each.last}${about(each)}`).join(', ')
  const ofDump = (each: { first: number }) => (each.first === dump?.number ? ' (complete from a dump)' : '')
  const earlier = closed.length === 0 ? '' : `; before it of blocks ${join(closed, ofDump)}`
  const lists = listed.length === 0 ? '' : `; states of blocks ${join(listed)} come from access lists`
  return `${newest}${sparse}${earlier}${lists}`
}

function formatReport(report: Report, showsSizes: boolean): string {
  const { head, coverage, state, l2Head, database, lake } = report
  const facts: [string, string][] = [
    ['chain', report.network === null ? 'none yet' : `${report.network}, chain id ${report.chainId}`],
    ['head', head === null ? 'none' : `${head.number} ${head.hash} ${formatTime(head.timestamp)}`],
    ['blocks', coverage === null ? 'none' : formatCoverage(coverage)],
    ...(report.verified === false ? [['verified', formatUnverified(report)] as [string, string]] : []),
    ['state', formatState(state)],
    ['layer-2 head', l2Head === null ? 'none' : `${l2Head.number} ${l2Head.hash}`],
    ['layer-2', formatL2Coverage(report.l2Coverage)],
    ['log index', formatIndex(LOG_SEARCH_INDEX, report.logIndex)],
    ['transactions', formatIndex(TRANSACTION_INDEX, report.transactionIndex)],
    ['addresses', formatAddressIndex(report)],
    ...(report.traceIndex.head === null ? [] : [['traces', formatTraceIndex(report)] as [string, string]]),
    ['following', formatFollowing(report)],
    ['replication', formatReplication(report.replication)],
    ['database', `${database.path}, ${formatSize(database.bytes)}, schema ${database.schemaVersion}`],
    ...(lake === null
      ? []
      : [['lake', `${lake.path}, ${formatSize(lake.bytes)} in ${lake.files} files`] as [string, string]]),
    ['growth', report.growth === null ? 'not known' : formatGrowth(report.growth)],
    ['versions', formatPairs(report.versions)],
    ['crypto', formatPairs(report.crypto)],
  ]
  const tables = report.tables.map(
    ({ table, rows, bytes }) =>
      `  ${table.padEnd(22)}${rows.toLocaleString('en').padStart(14)} rows${bytes === null ? '' : formatSize(bytes).padStart(12)}`,
  )
  return [
    ...facts.map(([name, value]) => `${name.padEnd(14)}${value}`),
    'tables',
    ...tables,
    ...(showsSizes ? formatSizes(report.sizes) : []),
  ].join('\n')
}

function formatUnverified({ unverifiedFrom }: Report): string {
  return unverifiedFrom === null
    ? 'no: a recording with partial state; state roots were not compared'
    : `no: from block ${unverifiedFrom} on, whose state root the development node has wrong; state roots are not compared`
}

function formatFollowing({ following, problem }: Report): string {
  if (problem) return formatProblem(problem)
  if (following === null) return 'no process'
  const { state, upstreamBlock, pid } = following
  return `${state}${upstreamBlock === null ? '' : `, the upstream is at block ${upstreamBlock}`} (process ${pid})`
}

function formatReplication(replication: Report['replication']): string {
  if (replication === null) return 'none'
  const { applied, published } = replication
  const parts: string[] = []
  if (applied?.stream === 'http') parts.push('a replica over HTTP')
  else if (applied) parts.push(`applied up to ${applied.sequence} of ${applied.stream}, epoch ${applied.epoch}`)
  if (published) {
    const { block, sequence, stream, epoch } = published
    parts.push(`published up to block ${block}, ${sequence} of ${stream}, epoch ${epoch}`)
  }
  return parts.join('; ')
}

function formatGrowth({ bytesPerBlock, blocksPerDay, bytesPerDay, freeBytes, daysLeft }: GrowthForecast): string {
  const left =
    daysLeft === null ? 'the chain is not followed' : `full in ${Math.floor(daysLeft).toLocaleString('en')} days`
  const pace = `${(bytesPerBlock / 1024).toFixed(1)} kiB a block, ${blocksPerDay.toLocaleString('en')} blocks a day`
  return `${pace}: ${formatSize(bytesPerDay)} a day; ${formatSize(freeBytes)} free, ${left}`
}

function formatSizes(sizes: readonly PartSize[]): string[] {
  const rows = sizes.map(({ part, unit, items, bytes, bytesPerItem }) => {
    const each = bytesPerItem === null ? '' : `  ${bytesPerItem.toLocaleString('en')} bytes each`
    return `  ${part.padEnd(36)}${formatSize(bytes).padStart(12)}${items.toLocaleString('en').padStart(14)} x ${unit.padEnd(22)}${each}`.trimEnd()
  })
  return ['sizes', ...rows]
}

function formatCoverage({ first, head, gap }: NonNullable<Report['coverage']>): string {
  return `${first} to ${head}${gap ? `; ${gap.from} to ${gap.to} are still to be fetched from the upstream` : ''}`
}

function formatL2Coverage(coverage: Report['l2Coverage']): string {
  if (coverage === null) return 'no blocks'
  const { first, head, acceptedOnL1 } = coverage
  return `blocks ${first} to ${head}, ${acceptedOnL1 === null ? 'none accepted on layer 1' : `accepted on layer 1 up to ${acceptedOnL1}`}`
}

function formatPairs(pairs: { [name: string]: string }): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

function formatIndex({ items }: IndexKind<unknown>, index: MeasuredIndex): string {
  const { levels, sealed, tail, building, dropped, bytes } = index
  const counts = levels.map(({ level, segments }) => `${segments} of level ${level}`).join(', ')
  const parts = [
    levels.length === 0 ? 'no segments' : `segments: ${counts}, with ${sealed.toLocaleString('en')} ${items}`,
    `${tail.toLocaleString('en')} ${items} in the tail`,
  ]
  if (building > 0) parts.push(`${building} being made`)
  if (dropped > 0) parts.push(`${dropped} to be deleted`)
  if (bytes !== null) parts.push(formatSize(bytes))
  return parts.join('; ')
}

function formatAddressIndex({ addressIndex, coverage }: Report): string {
  const text = formatIndex(ADDRESS_INDEX, addressIndex)
  if (coverage === null || addressIndex.head === coverage.head) return text
  const { head } = addressIndex
  return `${head === null ? 'none' : `${text}; ends at block ${head}`}: 'cairn reindex' makes it`
}

function formatTraceIndex({ traceIndex: { head, bytes }, coverage }: Report): string {
  const size = bytes === null ? '' : `; ${formatSize(bytes)}`
  if (coverage === null || head === coverage.head) return `all blocks${size}`
  return `up to block ${head}${size}: 'cairn reindex --traces' completes it`
}

function formatSize(bytes: number): string {
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(0)} kiB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
