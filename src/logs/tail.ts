import { noDeadline } from '../lib/deadline.js'
import type { Database } from '../store/database.js'
import type { SearchOptions } from './candidateIndex.js'
import type { Clause, IdRange } from './rowFilter.js'
import type { TailFacts } from './trace.js'

/** The logs behind the last segment, as far as filters look at them: columns in memory, read as they come and scanned one
 *  after another. At most 65,535 logs once the index is up to date: 2 MB. */
export interface LogTail {
  /** Reads what is new, so that [start, end) is held, and counts it in `facts`. To be called inside the snapshot of the
   *  query.
   *  @throws DeadlineExceeded; what was read until then is kept. */
  refresh(start: number, end: number, options: Pick<SearchOptions, 'deadline'> & { facts?: TailFacts }): void
  /** Ids in the range, which lies in what is held, whose columns meet all clauses by their hashes. */
  scan(clauses: readonly Clause[], minTopics: number, range: IdRange): number[]
  /** Reads about 10 ms' worth of what is new, as `refresh` does; true when there is more. */
  warm(start: number, end: number): boolean
}

type Row = [
  id: number,
  addressId: number,
  topic0Id: number | null,
  t1: Buffer | null,
  t2: Buffer | null,
  t3: Buffer | null,
]

// Rows read between two looks at the deadline: about 10 ms.
const SLICE = 4_096

const LOW_MASK = 0xffff

const COLUMN_OF = { address_id: 0, topic0_id: 1, topic1: 2, topic2: 3, topic3: 4 } as const

/** The tail of one connection. */
export function createLogTail(db: Database): LogTail {
  const selectRows = db
    .prepare<[number, number], Row>(
      'SELECT id, address_id, topic0_id, topic1, topic2, topic3 FROM logs WHERE id >= ? AND id < ? ORDER BY id',
    )
    .raw()
  // The hash of the block of the last row held: a reorg gives its place to another.
  const selectBlockHash = db
    .prepare<[number], Buffer>(
      'SELECT hash FROM blocks WHERE n_logs > 0 AND first_log <= ? ORDER BY first_log DESC LIMIT 1',
    )
    .pluck()
  let columns = allocate(4096)
  let start = 0
  let end = 0
  let lastHash: Buffer | undefined

  const reset = (from: number) => {
    start = from
    end = from
    lastHash = undefined
  }
  /** What was sealed meanwhile goes; what came after it stays. */
  const dropBefore = (from: number) => {
    for (const column of [...columns.cells, columns.topicCount]) column.copyWithin(0, from - start, end - start)
    start = from
  }
  const append = (row: Row) => {
    const at = end - start
    if (at === columns.topicCount.length) columns = grow(columns)
    const [, addressId, topic0Id, topic1, topic2, topic3] = row
    columns.cells[0][at] = addressId
    columns.cells[1][at] = topic0Id ?? 0xffffffff
    columns.cells[2][at] = topic1 === null ? 0 : hashOf(topic1)
    columns.cells[3][at] = topic2 === null ? 0 : hashOf(topic2)
    columns.cells[4][at] = topic3 === null ? 0 : hashOf(topic3)
    columns.topicCount[at] = topic3 !== null ? 4 : topic2 !== null ? 3 : topic1 !== null ? 2 : topic0Id !== null ? 1 : 0
    end++
  }
  const refresh: LogTail['refresh'] = (from, to, { deadline, facts }) => {
    const reorganised = lastHash !== undefined && !selectBlockHash.get(end - 1)?.equals(lastHash)
    if (reorganised || from < start || from > end) reset(from)
    else if (from > start) dropBefore(from)
    while (end < to) {
      deadline.check()
      const rows = selectRows.all(end, Math.min(end + SLICE, to)) as unknown as Row[]
      for (const row of rows) append(row)
      if (facts) facts.loaded += rows.length
      lastHash = selectBlockHash.get(end - 1)
    }
  }
  return {
    refresh,
    warm: (from, to) => {
      const slice = Math.min(to, Math.max(from, end) + SLICE)
      refresh(from, slice, { deadline: noDeadline })
      return slice < to
    },
    scan: (clauses, minTopics, { from, to }) => {
      const tests = clauses.map(({ column, keys }) => ({
        cells: columns.cells[COLUMN_OF[column]].subarray(from - start, to - start),
        wanted: keys.map((key) => (typeof key === 'number' ? key : hashOf(key))),
        common: column === 'topic0_id',
      }))
      // Few values before many; and first topics last, since of most others there are fewer logs.
      tests.sort((a, b) => a.wanted.length - b.wanted.length || Number(a.common) - Number(b.common))
      const topicCount = columns.topicCount.subarray(from - start, to - start)
      const [first, second, ...others] = tests
      let found: number[]
      if (!first) found = findAll(topicCount.length)
      else if (second?.wanted.length === 1) found = findPairs(first, second)
      else {
        found = findCells(first)
        if (second) others.push(second)
      }
      for (const { cells, wanted } of others) {
        const values = new Set(wanted)
        found = found.filter((at) => values.has(cells[at]))
      }
      return found.filter((at) => topicCount[at] >= minTopics).map((at) => from + at)
    },
  }
}

/** What the cells of a column are compared with. */
interface CellTest {
  cells: Uint32Array
  wanted: readonly number[]
}

function findAll(length: number): number[] {
  return Array.from({ length }, (_, at) => at)
}

/** Places where both of two columns hold their only wanted value. */
function findPairs(first: CellTest, second: CellTest): number[] {
  const found: number[] = []
  const { cells } = first
  const { cells: others } = second
  const [value] = first.wanted
  const [other] = second.wanted
  for (let at = 0; at < cells.length; at++) if (cells[at] === value && others[at] === other) found.push(at)
  return found
}

/** Places of the cells that hold one of the values. One value is compared with, at a nanosecond a cell; of more, a bitmap by
 *  their lower bits says of most cells that they hold none. */
function findCells({ cells, wanted }: CellTest): number[] {
  const found: number[] = []
  if (wanted.length === 1) {
    const [value] = wanted
    for (let at = 0; at < cells.length; at++) if (cells[at] === value) found.push(at)
    return found
  }
  const values = new Set(wanted)
  const lowBits = new Uint8Array(LOW_MASK + 1)
  for (const value of wanted) lowBits[value & LOW_MASK] = 1
  for (let at = 0; at < cells.length; at++) {
    if (lowBits[cells[at] & LOW_MASK] === 1 && values.has(cells[at])) found.push(at)
  }
  return found
}

interface Columns {
  cells: Uint32Array[]
  topicCount: Uint8Array
}

function allocate(length: number): Columns {
  return { cells: Array.from({ length: 5 }, () => new Uint32Array(length)), topicCount: new Uint8Array(length) }
}

function grow({ cells, topicCount }: Columns): Columns {
  const larger = allocate(topicCount.length * 2)
  for (const [i, column] of cells.entries()) larger.cells[i].set(column)
  larger.topicCount.set(topicCount)
  return larger
}

/** 32 bits of the value (FNV-1a): rows that only share it are told apart when they are read. */
function hashOf(value: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < value.length; i++) hash = Math.imul(hash ^ value[i], 0x01000193)
  return hash >>> 0
}
