import type { Database } from './database.js'
import { writeSeal } from './seals.js'

/** An ABI that the operator added. */
export interface AddedAbi {
  readonly id: number
  readonly name: string
  /** The contract it is bound to, 20 bytes; undefined: any contract. */
  readonly address: Uint8Array | undefined
  /** A JSON ABI of events, functions and errors. */
  readonly json: string
  readonly addedAt: number // Unix seconds
}

/** Reads added ABIs. */
interface AddedAbiReader {
  /** Oldest first. */
  list(): AddedAbi[]
  /** Changes when an ABI is added or removed. */
  version(): string
}

/** Reads and changes added ABIs. */
export interface AddedAbiTable extends AddedAbiReader {
  /** Adds an ABI, replacing one with the same name and address. Returns its id. */
  add(abi: Pick<AddedAbi, 'name' | 'address' | 'json'>): number
  /** False when no ABI has that id. */
  remove(id: number): boolean
}

interface Row {
  id: number
  name: string
  address: Uint8Array | null
  json: string
  added_at: number
}

/** A reader of an open connection. */
export function readAddedAbis(db: Database): AddedAbiReader {
  const select = db.prepare<[], Row>('SELECT id, name, address, json, added_at FROM abis ORDER BY id')
  // Ids are never used twice.
  const selectVersion = db.prepare<[], string>("SELECT ifnull(max(id), 0) || ' ' || count(*) FROM abis").pluck()
  return {
    list: () =>
      select.all().map(({ id, name, address, json, added_at: addedAt }) => {
        return { id, name, address: address ?? undefined, json, addedAt }
      }),
    version: () => selectVersion.get()!,
  }
}

/** Accesses the ABIs of a database opened for writing. */
export function createAddedAbiTable(db: Database): AddedAbiTable {
  const change = <T>(work: () => T): T =>
    db
      .transaction(() => {
        const result = work()
        writeSeal(db, 'abis')
        return result
      })
      .immediate()
  return {
    ...readAddedAbis(db),
    add: ({ name, address, json }) =>
      change(() => {
        const bound = address ?? null
        db.prepare('DELETE FROM abis WHERE name = ? AND address IS ?').run(name, bound)
        const insert = 'INSERT INTO abis (name, address, json, added_at) VALUES (?, ?, ?, ?)'
        const { lastInsertRowid } = db.prepare(insert).run(name, bound, json, Math.floor(Date.now() / 1000))
        return Number(lastInsertRowid)
      }),
    remove: (id) => change(() => db.prepare('DELETE FROM abis WHERE id = ?').run(id).changes > 0),
  }
}
