import type { BlockRange } from '../../chain/eth/types.js'
import { createLogSlices, type LogSlices } from '../../index/logs/logSlices.js'
import { type ArrowBatch, type ArrowField, encodeRecordBatch, encodeSchema } from '../../lib/arrow/arrowStream.js'
import { buildBatch } from '../../lib/arrow/columnBuilder.js'
import { type Deadline, deadlineAfter } from '../../lib/deadline.js'
import type { CommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createExportRows, type ExportRows, type StoredBlockLink } from '../../store/rows/exportRows.js'
import type { LogRecordSource } from '../../store/rows/logRecords.js'
import { createBlocksWithMatches } from '../../store/rows/transactionMatches.js'
import type { ChainReader } from '../../store/rows/types.js'
import { blockRows, blocks } from '../datasets/blocks.js'
import { logs } from '../datasets/logs.js'
import { transactionRows, transactions } from '../datasets/transactions.js'
import { StreamUnavailable } from './errors.js'
import { findFork, listRecent } from './recentBlocks.js'
import { formatBatch } from './streamNdjson.js'
import type { StreamHead, StreamKind, StreamPosition, StreamQuery, StreamSlice } from './streamQuery.js'
import { createTransactionTest } from './transactionTest.js'

/** The columns of each kind: those of `cairn export`. */
export const STREAM_FIELDS: { readonly [K in StreamKind]: readonly ArrowField[] } = {
  blocks: blocks.columns,
  transactions: transactions.columns,
  logs: logs.columns,
}

/** Reads streams slice by slice. */
export interface StreamSource {
  /** The next rows of a stream: of at least one block, unless the stream ends before it. One snapshot.
   *  @throws StreamUnavailable; DeadlineExceeded */
  read(query: StreamQuery, position: StreamPosition, deadline: Deadline): StreamSlice
}

/* A slice takes some 20 ms, for which queries of other clients wait, and 4 MB, which a client that does not read keeps
   in use. */
const MAX_SLICE_BYTES = 4_000_000
const MAX_LOGS = 16_384
const LOG_BUDGET_MS = 40
const MAX_BLOCKS = 1_000
/** Bytes of a row of blocks. */
const BLOCK_ROW_BYTES = 1_024
/** Bytes of the rows of transactions for each byte of the RLP of their block, about. */
const ROW_SHARE = 2
/** RLP of blocks, and number of transactions, where conditions select from them. */
const MAX_SEARCHED = { sizeBytes: 16_000_000, transactions: 50_000 }

/** Creates a source over a connection, with statements prepared once. `watch` and `pages` are of that connection. */
export function createStreamSource(
  db: Database,
  reads: { chain: ChainReader; watch: CommitWatch; pages?: LogRecordSource },
): StreamSource {
  return new Source(db, reads)
}

/** Limits of a slice. */
interface SliceLimits {
  readonly maxBytes: number
  readonly deadline: Deadline
}

/** Rows of a slice by kind. */
interface KindBatch {
  readonly kind: StreamKind
  readonly fields: readonly ArrowField[]
  readonly batch: ArrowBatch
}

class Source implements StreamSource {
  readonly #chain: ChainReader
  readonly #watch: CommitWatch
  readonly #rows: ExportRows
  readonly #logSlices: LogSlices
  readonly #blocksWithMatches: ReturnType<typeof createBlocksWithMatches>

  constructor(db: Database, { chain, watch, pages }: Parameters<typeof createStreamSource>[1]) {
    this.#chain = chain
    this.#watch = watch
    this.#rows = createExportRows(db)
    this.#logSlices = createLogSlices(db, watch, pages)
    this.#blocksWithMatches = createBlocksWithMatches(db)
  }

  read(query: StreamQuery, position: StreamPosition, deadline: Deadline): StreamSlice {
    return this.#watch.withSnapshot(() => {
      this.#watch.beforeRead()
      return this.#read(query, position, deadline)
    })
  }

  #read(query: StreamQuery, position: StreamPosition, deadline: Deadline): StreamSlice {
    const { from, to: wanted, recent, isFirst } = position
    const maxBytes = Math.min(position.maxBytes ?? MAX_SLICE_BYTES, MAX_SLICE_BYTES)
    const coverage = this.#chain.coverage()
    const head = this.#head()
    if (coverage === undefined || head === undefined) {
      return { isForked: false, nextBlock: from, to: from - 1, recent: [], rows: 0, parts: emptyOf(query, isFirst) }
    }
    const { first } = coverage
    const newest = query.finalizedOnly ? (head.finalized ?? -1) : head.number
    const to = Math.min(wanted ?? newest, newest)
    const [before] = this.#rows.hashes([from - 1])
    const end = (nextBlock: number) => ({
      ...{ nextBlock, to, head, before },
      recent: listRecent(this.#rows, first, nextBlock - 1),
    })
    const fork = findFork(this.#rows, recent, first)
    if (fork !== undefined) return { ...end(fork), isForked: true, rows: 0, parts: [] }
    if (from < first) throw new StreamUnavailable({ from, firstAvailable: first })
    if (from > to) return { ...end(from), isForked: false, rows: 0, parts: emptyOf(query, isFirst) }
    const { last, batches } = this.#readBlocks(query, { from, to }, { maxBytes, deadline })
    const rows = batches.reduce((sum, { batch }) => sum + batch.rows, 0)
    const encoded = batches.flatMap((each) => encodeRows(query, each))
    const parts = rows === 0 ? emptyOf(query, isFirst) : [...schemaOf(query, isFirst), ...encoded]
    return { ...end(last + 1), isForked: false, rows, parts }
  }

  #head(): StreamHead | undefined {
    const [number, hash, finality] = [this.#chain.head(), this.#chain.headHash(), this.#chain.finality()]
    if (number === undefined || hash === undefined) return undefined
    const finalized = finality?.finalized ?? -1
    return finalized === -1 ? { number, hash } : { number, hash, finalized }
  }

  /** Reads the rows of blocks [from, last]; `last` is at most `to`. */
  #readBlocks(
    query: StreamQuery,
    { from, to }: BlockRange,
    limits: SliceLimits,
  ): { last: number; batches: KindBatch[] } {
    const links = query.blocks || query.transactions ? this.#boundedLinks(query, { from, to }, limits) : undefined
    const planned = links?.at(-1)?.number ?? to
    const batches: KindBatch[] = []
    const add = (kind: StreamKind, batch: ArrowBatch) => batches.push({ kind, ...select(query, kind, batch) })
    const found = query.logs && this.#readLogs(query.logs, { from, to: planned }, limits)
    const last = found?.to ?? planned
    const own = links?.filter(({ number }) => number <= last) ?? []
    if (query.blocks) add('blocks', buildBatch(blocks.columns, [...blockRows({ chain: this.#chain }, own)]))
    if (query.transactions) add('transactions', this.#readTransactions(query.transactions, own))
    if (found) add('logs', found.batch)
    return { last, batches }
  }

  /** The first blocks of a range whose headers and transactions are read at once. */
  #boundedLinks(
    { transactions: conditions }: StreamQuery,
    { from, to }: BlockRange,
    { maxBytes: sliceBytes }: SliceLimits,
  ): StoredBlockLink[] {
    const most = Math.min(MAX_BLOCKS, Math.ceil(sliceBytes / BLOCK_ROW_BYTES))
    const links = this.#rows.links(from, Math.min(to, from + most - 1))
    if (conditions === undefined) return links
    const searches = conditions.every((condition) => Object.values(condition).some((values) => values !== undefined))
    const maxBytes = searches ? MAX_SEARCHED.sizeBytes : sliceBytes / ROW_SHARE
    let [sizeBytes, count] = [0, 0]
    const end = links.findIndex((link, i) => {
      sizeBytes += link.sizeBytes
      count += link.txCount
      return i > 0 && (sizeBytes > maxBytes || count > MAX_SEARCHED.transactions)
    })
    return end === -1 ? links : links.slice(0, end)
  }

  #readLogs(
    conditions: NonNullable<StreamQuery['logs']>,
    range: BlockRange,
    { maxBytes, deadline }: SliceLimits,
  ): { batch: ArrowBatch; to: number } {
    const budget = { rows: MAX_LOGS, sizeBytes: maxBytes, ends: deadlineAfter(LOG_BUDGET_MS), deadline }
    const { logs: found, to } = this.#logSlices.read(conditions, range, budget)
    const chainIds = { nullCount: 0, values: repeatU64(this.#chain.chainId(), found.rows) }
    const columns = logs.columns.map(({ name }) => (name === 'chain_id' ? chainIds : found.columns[name]))
    return { batch: { rows: found.rows, columns }, to }
  }

  #readTransactions(
    conditions: NonNullable<StreamQuery['transactions']>,
    links: readonly StoredBlockLink[],
  ): ArrowBatch {
    const [first, last] = [links.at(0), links.at(-1)]
    if (first === undefined || last === undefined) return buildBatch(transactions.columns, [])
    const ids = { from: first.firstTx, to: last.firstTx + last.txCount }
    const numbers = new Set(conditions.flatMap((condition) => this.#blocksWithMatches(condition, ids)))
    const own = links.filter(({ number }) => numbers.has(number))
    const source = { chain: this.#chain, rows: this.#rows }
    return buildBatch(transactions.columns, [...transactionRows(source, own, createTransactionTest(conditions))])
  }
}

/** Returns a slice without rows. An Arrow stream has at least one batch: apache-arrow reads beyond the end of one
 *  without. */
function emptyOf(query: StreamQuery, isFirst: boolean): Uint8Array[] {
  if (query.format !== 'arrow' || !isFirst) return []
  const empty = buildBatch(fieldsOf(query, arrowKind(query)), [])
  return [...schemaOf(query, isFirst), ...encodeRecordBatch(empty)]
}

/** Returns the beginning of a stream. */
function schemaOf(query: StreamQuery, isFirst: boolean): Uint8Array[] {
  return query.format === 'arrow' && isFirst ? [encodeSchema(fieldsOf(query, arrowKind(query)))] : []
}

/** Returns the one kind of an Arrow stream. */
function arrowKind(query: StreamQuery): StreamKind {
  return query.blocks ? 'blocks' : query.transactions ? 'transactions' : 'logs'
}

/** Returns the wanted columns of a kind. */
function fieldsOf({ fields }: StreamQuery, kind: StreamKind): readonly ArrowField[] {
  const wanted = fields[kind]
  return wanted === undefined ? STREAM_FIELDS[kind] : STREAM_FIELDS[kind].filter(({ name }) => wanted.includes(name))
}

function select(query: StreamQuery, kind: StreamKind, { rows, columns }: ArrowBatch): Omit<KindBatch, 'kind'> {
  const fields = fieldsOf(query, kind)
  const all = STREAM_FIELDS[kind]
  return { fields, batch: { rows, columns: columns.filter((_, i) => fields.includes(all[i])) } }
}

function encodeRows({ format, compression }: StreamQuery, { kind, fields, batch }: KindBatch): Uint8Array[] {
  if (batch.rows === 0) return []
  return format === 'arrow' ? encodeRecordBatch(batch, compression) : [formatBatch(kind.slice(0, -1), fields, batch)]
}

function repeatU64(value: bigint, count: number): Uint8Array {
  return new Uint8Array(new BigUint64Array(count).fill(value).buffer)
}
