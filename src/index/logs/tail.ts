import { noDeadline } from '../../lib/deadline.js'
import { type CommitWatch, createCommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createBlockOfLog } from '../../store/rows/blockOfLog.js'
import { createLogTailRows, type LogTailRow } from '../../store/rows/logRows.js'
import type { Clause, IdRange } from '../../store/rows/rowFilter.js'
import type { SearchOptions } from './candidateIndex.js'
import type { TailFacts } from './trace.js'

/** The logs behind the last sealed segment, in memory as columns. A topic is stored as a 32-bit hash, so a match is
 *  only a candidate. 21 bytes per log, with room for up to twice as many. While the index keeps up there are fewer than
 *  131,072: a filling chunk and one being sealed. */
interface LogTail {
  /** Moves the start of the tail to `start`, the end of the last segment, and reads rows up to `end`. `facts` counts
   *  the rows read. After a reorg the rows of the new branch are read. Must run inside the query's snapshot.
   *  @throws DeadlineExceeded; rows read until then are kept */
  refresh(start: number, end: number, options: Pick<SearchOptions, 'deadline'> & { facts?: TailFacts }): void
  /** Ids in the range, ascending, of rows that may match all clauses and have at least `minTopics` topics. The range
   *  must be loaded. */
  scan(clauses: readonly Clause[], minTopics: number, range: IdRange): number[]
  /** Reads one slice of about 10 ms as `refresh` does. True if rows are left. */
  warm(start: number, end: number): boolean
}

// Rows read between two deadline checks: about 10 ms.
const SLICE = 4_096

// Beyond it, every other one of the older half is dropped: the newest blocks are those that a reorg replaces.
const MAX_MARKS = 512

const LOW_MASK = 0xffff

const COLUMN_OF = { address_id: 0, topic0_id: 1, topic1: 2, topic2: 3, topic3: 4 } as const

/** Creates an empty tail with statements prepared once per connection. */
export function createLogTail(db: Database, watch: CommitWatch = createCommitWatch(db)): LogTail {
  const readRows = createLogTailRows(db)
  const { hashOf: blockHashOf } = createBlockOfLog(db)
  let columns = allocate(4096)
  let start = 0
  let end = 0
  /** Ends of what was read, ascending, each with the hash of the last row's block: after a reorg its id belongs to
   *  another log. */
  let marks: { end: number; hash: Buffer }[] = []
  /** Version of the database whose blocks the marks are of. */
  let seen: number | undefined

  const reset = (from: number) => {
    start = from
    end = from
    marks = []
  }
  const mark = (hash: Buffer | undefined) => {
    if (!hash) return
    marks.push({ end, hash })
    if (marks.length > MAX_MARKS) marks = marks.filter((_, i) => i % 2 === 1 || i >= MAX_MARKS / 2)
  }
  /** Drops rows of blocks that are no longer on the chain, and a few more. */
  const dropRemoved = () => {
    const isStored = ({ end: to, hash }: (typeof marks)[number]) => blockHashOf(to - 1)?.equals(hash)
    if (marks.length === 0 || isStored(marks[marks.length - 1])) return
    while (marks.length > 0 && !isStored(marks[marks.length - 1])) marks.pop()
    end = marks.at(-1)?.end ?? start
  }
  /** Drops rows that have been sealed. */
  const dropBefore = (from: number) => {
    for (const column of [...columns.cells, columns.topicCount]) column.copyWithin(0, from - start, end - start)
    start = from
  }
  const append = (row: LogTailRow) => {
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
    const version = watch.version()
    if (version === undefined || version !== seen) dropRemoved()
    seen = version
    if (from < start || from > end) reset(from)
    else if (from > start) dropBefore(from)
    while (end < to) {
      deadline.check()
      const rows = readRows(end, Math.min(end + SLICE, to))
      for (const row of rows) append(row)
      if (facts) facts.loaded += rows.length
      mark(blockHashOf(end - 1))
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
      // Few values before many; topic 0 last, because most other values have fewer logs.
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

/** The wanted values of a column. */
interface CellTest {
  cells: Uint32Array
  wanted: readonly number[]
}

function findAll(length: number): number[] {
  return Array.from({ length }, (_, at) => at)
}

/** Indexes at which two columns both have their only wanted value. */
function findPairs(first: CellTest, second: CellTest): number[] {
  const found: number[] = []
  const { cells } = first
  const { cells: others } = second
  const [value] = first.wanted
  const [other] = second.wanted
  for (let at = 0; at < cells.length; at++) if (cells[at] === value && others[at] === other) found.push(at)
  return found
}

/** Indexes of cells with one of the values. A single value is compared directly, at a nanosecond per cell; for several,
 *  a bitmap over their lower bits rejects most cells. */
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

/** FNV-1a, 32 bits. Collisions are resolved when candidate rows are read. */
function hashOf(value: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < value.length; i++) hash = Math.imul(hash ^ value[i], 0x01000193)
  return hash >>> 0
}
