import { noDeadline } from '../../lib/deadline.js'
import { type CommitWatch, createCommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createBlockOfLog } from '../../store/rows/blockOfLog.js'
import { createLogTailRows, type LogTailRow } from '../../store/rows/logRows.js'
import type { Clause, IdRange } from '../../store/rows/rowFilter.js'
import type { SearchOptions } from './candidateIndex.js'
import type { TailFacts } from './trace.js'

// Rows read between two deadline checks: about 10 ms.
const SLICE = 4_096

// Beyond it, every other one of the older half is dropped: the newest blocks are those that a reorg replaces.
const MAX_MARKS = 512

const LOW_MASK = 0xffff

const COLUMN_OF = { address_id: 0, topic0_id: 1, topic1: 2, topic2: 3, topic3: 4 } as const

/** The logs behind the last sealed segment, in memory as columns. A topic is stored as a 32-bit hash, so a match is
 *  only a candidate. 21 bytes per log, with room for up to twice as many. While the index keeps up there are fewer than
 *  131,072: a filling chunk and one being sealed. */
export class LogTail {
  readonly #watch: CommitWatch
  readonly #readRows: ReturnType<typeof createLogTailRows>
  readonly #blockHashOf: ReturnType<typeof createBlockOfLog>['hashOf']
  #columns = allocate(4096)
  #start = 0
  #end = 0
  #marks: Mark[] = []
  /** Version of the database whose blocks the marks are of. */
  #seen: number | undefined

  /** Creates an empty tail with statements prepared once per connection. */
  constructor(db: Database, watch: CommitWatch = createCommitWatch(db)) {
    this.#watch = watch
    this.#readRows = createLogTailRows(db)
    this.#blockHashOf = createBlockOfLog(db).hashOf
  }

  /** Moves the start of the tail to `from`, the end of the last segment, and reads rows up to `to`. `facts` counts the
   *  rows read. After a reorg the rows of the new branch are read. Must run inside the query's snapshot.
   *  @throws DeadlineExceeded; rows read until then are kept */
  refresh(
    from: number,
    to: number,
    { deadline, facts }: Pick<SearchOptions, 'deadline'> & { facts?: TailFacts },
  ): void {
    const version = this.#watch.version()
    if (version === undefined || version !== this.#seen) this.#dropRemoved()
    this.#seen = version
    if (from < this.#start || from > this.#end) this.#reset(from)
    else if (from > this.#start) this.#dropBefore(from)
    while (this.#end < to) {
      deadline.check()
      const rows = this.#readRows(this.#end, Math.min(this.#end + SLICE, to))
      for (const row of rows) this.#append(row)
      if (facts) facts.loaded += rows.length
      this.#mark(this.#blockHashOf(this.#end - 1))
    }
  }

  /** Reads one slice of about 10 ms as `refresh` does. True if rows are left. */
  warm(from: number, to: number): boolean {
    const slice = Math.min(to, Math.max(from, this.#end) + SLICE)
    this.refresh(from, slice, { deadline: noDeadline })
    return slice < to
  }

  /** Ids in the range, ascending, of rows that may match all clauses and have at least `minTopics` topics. The range
   *  must be loaded. */
  scan(clauses: readonly Clause[], minTopics: number, { from, to }: IdRange): number[] {
    const [begin, end] = [from - this.#start, to - this.#start]
    const { cells, topicCount } = this.#columns
    const tests = clauses.map(({ column, keys }) => ({
      cells: cells[COLUMN_OF[column]].subarray(begin, end),
      wanted: keys.map((key) => (typeof key === 'number' ? key : hashOf(key))),
      common: column === 'topic0_id',
    }))
    // Few values before many; topic 0 last, because most other values have fewer logs.
    tests.sort((a, b) => a.wanted.length - b.wanted.length || Number(a.common) - Number(b.common))
    const topicCounts = topicCount.subarray(begin, end)
    return findMatching(tests, topicCounts.length)
      .filter((at) => topicCounts[at] >= minTopics)
      .map((at) => from + at)
  }

  #reset(from: number): void {
    this.#start = from
    this.#end = from
    this.#marks = []
  }

  #mark(hash: Buffer | undefined): void {
    if (!hash) return
    this.#marks.push({ end: this.#end, hash })
    if (this.#marks.length <= MAX_MARKS) return
    this.#marks = this.#marks.filter((_, i) => i % 2 === 1 || i >= MAX_MARKS / 2)
  }

  /** Drops rows of blocks that are no longer on the chain, and a few more. */
  #dropRemoved(): void {
    const marks = this.#marks
    const isStored = ({ end, hash }: Mark) => this.#blockHashOf(end - 1)?.equals(hash)
    if (marks.length === 0 || isStored(marks[marks.length - 1])) return
    while (marks.length > 0 && !isStored(marks[marks.length - 1])) marks.pop()
    this.#end = marks.at(-1)?.end ?? this.#start
  }

  /** Drops rows that have been sealed. */
  #dropBefore(from: number): void {
    const { cells, topicCount } = this.#columns
    for (const column of [...cells, topicCount]) column.copyWithin(0, from - this.#start, this.#end - this.#start)
    this.#start = from
  }

  #append(row: LogTailRow): void {
    const at = this.#end - this.#start
    if (at === this.#columns.topicCount.length) this.#columns = grow(this.#columns)
    const { cells, topicCount } = this.#columns
    const [, addressId, topic0Id, topic1, topic2, topic3] = row
    cells[0][at] = addressId
    cells[1][at] = topic0Id ?? 0xffffffff
    cells[2][at] = topic1 === null ? 0 : hashOf(topic1)
    cells[3][at] = topic2 === null ? 0 : hashOf(topic2)
    cells[4][at] = topic3 === null ? 0 : hashOf(topic3)
    topicCount[at] = topic3 !== null ? 4 : topic2 !== null ? 3 : topic1 !== null ? 2 : topic0Id !== null ? 1 : 0
    this.#end++
  }
}

/** End of what was read, with the hash of the last row's block: after a reorg its id belongs to another log. */
interface Mark {
  readonly end: number
  readonly hash: Buffer
}

/** The wanted values of a column. */
interface CellTest {
  cells: Uint32Array
  wanted: readonly number[]
}

/** Indexes below `length` at which all columns have a wanted value. */
function findMatching([first, second, ...others]: CellTest[], length: number): number[] {
  let found: number[]
  if (!first) found = findAll(length)
  else if (second?.wanted.length === 1) found = findPairs(first, second)
  else {
    found = findCells(first)
    if (second) others.push(second)
  }
  for (const { cells, wanted } of others) {
    const values = new Set(wanted)
    found = found.filter((at) => values.has(cells[at]))
  }
  return found
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
