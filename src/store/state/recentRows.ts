import type { Database } from '../database.js'
import { createMetaTable, META_STATE_RECENT_FROM } from '../meta.js'
import { type HistoryKind, KEY_COLUMNS } from './historySql.js'

/** Tracks the rows of `account_recent` and `storage_recent` over a writing connection, and moves them to the tables of
 *  the history. All of it runs within the caller's transactions. */
interface RecentRows {
  /** Maximum number of blocks with rows there. */
  readonly blocks: number
  /** Call it before writing rows of a block there. */
  add(blockNumber: number): void
  /** Moves some hundred rows: those of the next keys, with all their blocks. Rows added during a pass over the keys may
   *  be left for the next one. Returns false once the pass ends: another pass for the few blocks that were added
   *  meanwhile would write as many pages. */
  moveSome(): boolean
  /** Moves all rows. */
  moveAll(): void
  /** Call it after a rollback. */
  clear(): void
}

// About 1.2 ms.
const ROWS_AT_ONCE = 256

const trackers = new WeakMap<Database, RecentRows>()

/** The tracker of a database opened for writing: one for each connection. */
export function recentRowsOf(db: Database): RecentRows {
  let tracker = trackers.get(db)
  if (tracker === undefined) {
    tracker = createRecentRows(db)
    trackers.set(db, tracker)
  }
  return tracker
}

function createRecentRows(db: Database): RecentRows {
  const meta = createMetaTable(db)
  const selectHead = db.prepare<[], number | null>('SELECT max(number) FROM blocks').pluck()
  const moves = [createMove(db, 'account'), createMove(db, 'storage')]
  /** The blocks [from, to] may have rows; undefined: no block has. */
  let held: { from: number; to: number } | undefined
  let isKnown = false
  /** The running pass: its current table, and the last block whose rows it is sure to move. */
  let pass: { at: number; upTo: number } | undefined

  const known = () => {
    if (isKnown) return held
    const from = meta.get<number | null>(META_STATE_RECENT_FROM) ?? undefined
    held = from === undefined ? undefined : { from, to: Math.max(from, selectHead.get() ?? 0) }
    isKnown = true
    return held
  }
  const set = (range: { from: number; to: number } | undefined) => {
    if (range?.from !== held?.from) meta.set(META_STATE_RECENT_FROM, range?.from ?? null)
    held = range
  }
  const endPass = () => {
    pass = undefined
    for (const move of moves) move.restart()
  }
  return {
    get blocks() {
      const range = known()
      return range === undefined ? 0 : range.to - range.from + 1
    },
    add: (blockNumber) => {
      const { from = blockNumber } = known() ?? {}
      set({ from: Math.min(from, blockNumber), to: blockNumber })
      if (pass) pass.upTo = Math.min(pass.upTo, blockNumber - 1) // after a reorg
    },
    moveSome: () => {
      const range = known()
      if (range === undefined) return false
      pass ??= { at: 0, upTo: range.to }
      if (moves[pass.at].some() || ++pass.at < moves.length) return true
      const from = pass.upTo + 1
      set(from > range.to ? undefined : { from, to: range.to })
      endPass()
      return false
    },
    moveAll: () => {
      if (known() === undefined) return
      for (const move of moves) move.all()
      set(undefined)
      endPass()
    },
    clear: () => {
      isKnown = false
      endPass()
    },
  }
}

const OTHER_COLUMNS = {
  account: 'block_number, nonce, balance, code_id, incarnation',
  storage: 'block_number, value',
} as const

/** Moves the rows of one table, in the order of their keys. */
function createMove(db: Database, kind: HistoryKind) {
  const key = KEY_COLUMNS[kind].join(', ')
  const columns = `${key}, ${OTHER_COLUMNS[kind]}`
  const from = `${kind}_recent`
  const values = `(${KEY_COLUMNS[kind].map(() => '?').join(', ')})`
  const insert = `INSERT INTO ${kind}_history (${columns}) SELECT ${columns} FROM ${from}`
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
