import type { Database } from '../database.js'
import { createMetaTable, META_STATE_OLDER_FROM, META_STATE_RECENT_FROM, META_STATE_TIP_FROM } from '../meta.js'
import { type HistoryKind, KEY_COLUMNS } from './historySql.js'

/** Tracks the rows of the `_tip`, `_recent` and `_older` tables of the state history over a writing connection, and
 *  moves them on. All of it runs within the caller's transactions. */
interface RecentRows {
  /** Number of blocks with rows there, at most. */
  readonly blocks: number
  /** True when enough blocks have rows in a table that moving them pays. */
  isMoveDue(): boolean
  /** True at twice as many blocks, which only a process that is never idle reaches. */
  isMoveUrgent(): boolean
  /** Call it before writing rows of a block to the `_tip` tables. */
  add(blockNumber: number): void
  /** Call it before writing rows of an earlier block there, of keys without rows. They move with those of the newest
   *  block. */
  addEarlier(): void
  /** Moves some hundred rows: those of the next keys, with all their blocks. Rows added during a pass over the keys may
   *  be left for the next one. Returns false once a pass ends and no other is due: another one for the few blocks that
   *  were added meanwhile would write as many pages. */
  moveSome(): boolean
  /** Moves rows to the `_history` tables without a long transaction: all if they are of few blocks, else what `moves`
   *  calls of `moveSome` move. @returns true when none is left */
  moveMany(moves?: number): boolean
  /** Moves all rows to the `_history` tables. */
  moveAll(): void
  /** Call it after a rollback. */
  clear(): void
}

// About 1.2 ms.
const ROWS_AT_ONCE = 256
// Of `moveMany`: some 75 ms.
const MANY_MOVES = 64
// Blocks whose rows a table gets before they are moved on. With more, a move writes fewer pages for each row, but rows
// are added on more pages. In a state of 10 million accounts and 20 million slots, whose history has 1.7 GB, blocks of
// 400 changed accounts and 1,000 slots would write 10.9 MB of history without the `_older` tables, by its size.
const FULL_BLOCKS = { tip: 8, recent: 128, older: 1_536 } as const

/** Numbers of blocks with which the tables of a level are full. */
type FullBlocks = Readonly<Record<keyof typeof FULL_BLOCKS, number>>

const trackers = new WeakMap<Database, RecentRows>()

/** The tracker of a database opened for writing: one for each connection, with the `fullBlocks` of the first call. */
export function recentRowsOf(db: Database, fullBlocks: FullBlocks = FULL_BLOCKS): RecentRows {
  let tracker = trackers.get(db)
  if (tracker === undefined) {
    tracker = createRecentRows(db, fullBlocks)
    trackers.set(db, tracker)
  }
  return tracker
}

function createRecentRows(db: Database, fullBlocks: FullBlocks): RecentRows {
  const older = new Level(db, {
    from: 'older',
    to: 'history',
    metaKey: META_STATE_OLDER_FROM,
    fullBlocks: fullBlocks.older,
  })
  const recent = new Level(db, {
    from: 'recent',
    to: 'older',
    metaKey: META_STATE_RECENT_FROM,
    fullBlocks: fullBlocks.recent,
    next: older,
  })
  const tip = new Level(db, {
    from: 'tip',
    to: 'recent',
    metaKey: META_STATE_TIP_FROM,
    fullBlocks: fullBlocks.tip,
    next: recent,
  })
  const levels = [tip, recent, older]
  const isFull = (times: number) => levels.some((level) => level.isFull(times))
  const countBlocks = () => levels.reduce((sum, { blocks }) => sum + blocks, 0)
  const isMany = () => countBlocks() > 2 * (fullBlocks.tip + fullBlocks.recent)
  const moveAll = () => {
    for (const level of levels) level.moveAll()
  }
  const moveSome = () => {
    const begun = levels.find((level) => level.isMoving || level.isFull(2))
    const due = levels.findLast((level) => level.isFull(1))
    const any = levels.find(({ blocks }) => blocks > 0)
    const level = begun ?? due ?? any
    level?.moveSome()
    return levels.some(({ isMoving }) => isMoving) || isFull(1)
  }
  return {
    get blocks() {
      return countBlocks()
    },
    isMoveDue: () => isFull(1),
    isMoveUrgent: () => isFull(2),
    add: (blockNumber) => tip.add({ from: blockNumber, to: blockNumber }),
    addEarlier: () => tip.addEarlier(),
    moveSome,
    moveMany: (moves = MANY_MOVES) => {
      for (let i = 0; i < moves && isMany(); i++) moveSome()
      if (isMany()) return false
      moveAll()
      return true
    },
    moveAll,
    clear: () => {
      for (const level of levels) level.clear()
    },
  }
}

/** Blocks that may have rows in a table, inclusive. */
interface BlockRange {
  readonly from: number
  readonly to: number
}

interface LevelPlan {
  readonly from: 'tip' | 'recent' | 'older'
  readonly to: 'recent' | 'older' | 'history'
  /** Of the lowest block number whose rows may be in the tables of `from`. */
  readonly metaKey: string
  /** The number of blocks whose rows pay a move. */
  readonly fullBlocks: number
  /** The level of the tables of `to`. */
  readonly next?: Level
}

/** A table of each kind, whose rows move to the next one. */
class Level {
  readonly #metaKey: string
  readonly #fullBlocks: number
  readonly #next: Level | undefined
  readonly #meta: ReturnType<typeof createMetaTable>
  readonly #selectHead: { get(): number | null | undefined }
  readonly #moves: readonly ReturnType<typeof createMove>[]
  /** Undefined: no block has rows. */
  #range: BlockRange | undefined
  #isKnown = false
  /** The running pass: its current table, and the last block whose rows it is sure to move. */
  #pass: { at: number; upTo: number } | undefined

  constructor(db: Database, { from, to, metaKey, fullBlocks, next }: LevelPlan) {
    this.#metaKey = metaKey
    this.#fullBlocks = fullBlocks
    this.#next = next
    this.#meta = createMetaTable(db)
    this.#selectHead = db.prepare<[], number | null>('SELECT max(number) FROM blocks').pluck()
    this.#moves = (['account', 'storage'] as const).map((kind) => createMove(db, kind, { from, to }))
  }

  get blocks(): number {
    const range = this.#known()
    return range === undefined ? 0 : range.to - range.from + 1
  }

  get isMoving(): boolean {
    return this.#pass !== undefined
  }

  /** True with `times` the blocks that make a move pay, or more. */
  isFull(times: number): boolean {
    return this.blocks >= times * this.#fullBlocks
  }

  add({ from, to }: BlockRange): void {
    this.#set({ from: Math.min(this.#known()?.from ?? from, from), to })
    // By the level before, or after a reorg.
    if (this.#pass) this.#pass.upTo = Math.min(this.#pass.upTo, from - 1)
  }

  addEarlier(): void {
    const newest = this.#known()?.to ?? this.#selectHead.get() ?? 0
    this.add({ from: newest, to: newest })
  }

  moveSome(): void {
    const range = this.#known()
    if (range === undefined) {
      this.#endPass()
      return
    }
    this.#next?.add(range)
    this.#pass ??= { at: 0, upTo: range.to }
    if (this.#moves[this.#pass.at].some() || ++this.#pass.at < this.#moves.length) return
    const from = this.#pass.upTo + 1
    this.#set(from > range.to ? undefined : { from, to: range.to })
    this.#endPass()
  }

  moveAll(): void {
    const range = this.#known()
    if (range === undefined) return
    this.#next?.add(range)
    for (const move of this.#moves) move.all()
    this.#set(undefined)
    this.#endPass()
  }

  clear(): void {
    this.#isKnown = false
    this.#endPass()
  }

  #known(): BlockRange | undefined {
    if (this.#isKnown) return this.#range
    const from = this.#meta.get<number | null>(this.#metaKey) ?? undefined
    this.#range = from === undefined ? undefined : { from, to: Math.max(from, this.#selectHead.get() ?? 0) }
    this.#isKnown = true
    return this.#range
  }

  #set(range: BlockRange | undefined): void {
    if (range?.from !== this.#known()?.from) this.#meta.set(this.#metaKey, range?.from ?? null)
    this.#range = range
  }

  #endPass(): void {
    this.#pass = undefined
    for (const move of this.#moves) move.restart()
  }
}

const OTHER_COLUMNS = {
  account: 'block_number, nonce, balance, code_id, incarnation',
  storage: 'block_number, value',
} as const

/** Moves the rows of one table to another, in the order of their keys. */
function createMove(db: Database, kind: HistoryKind, levels: Pick<LevelPlan, 'from' | 'to'>) {
  const key = KEY_COLUMNS[kind].join(', ')
  const columns = `${key}, ${OTHER_COLUMNS[kind]}`
  const from = `${kind}_${levels.from}`
  const values = `(${KEY_COLUMNS[kind].map(() => '?').join(', ')})`
  const insert = `INSERT INTO ${kind}_${levels.to} (${columns}) SELECT ${columns} FROM ${from}`
  const remove = `DELETE FROM ${from}`
  const beyond = `WHERE (${key}) > ${values}`
  const upTo = `WHERE (${key}) <= ${values}`
  const between = `${beyond} AND (${key}) <= ${values}`
  const selectLast = (where: string) =>
    db
      .prepare<unknown[], unknown[]>(
        `SELECT ${key} FROM ${from} ${where} ORDER BY ${key} LIMIT 1 OFFSET ${ROWS_AT_ONCE - 1}`,
      )
      .raw()
  const [lastOfFirst, lastBeyond] = [selectLast(''), selectLast(beyond)]
  const prepare = (where: string) => [insert, remove].map((sql) => db.prepare<unknown[]>(`${sql} ${where}`))
  const all = prepare('')
  const [moveUpTo, moveBetween, moveBeyond] = [upTo, between, beyond].map(prepare)
  /** The last key that was moved. */
  let after: unknown[] | undefined
  const run = (statements: typeof all, ...parameters: unknown[]) => {
    for (const statement of statements) statement.run(...parameters)
  }
  return {
    all: () => run(all),
    /** @returns true when rows of later keys are left */
    some: (): boolean => {
      const last = after ? lastBeyond.get(...after) : lastOfFirst.get()
      if (last) run(after ? moveBetween : moveUpTo, ...(after ?? []), ...last)
      else run(after ? moveBeyond : all, ...(after ?? []))
      after = last
      return last !== undefined
    },
    restart: () => {
      after = undefined
    },
  }
}
