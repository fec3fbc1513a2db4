import { type ContractSources, createContractSourceWriter } from './contractSources.js'
import type { Database } from './database.js'
import { writeSeal } from './seals.js'

/** Sourcify's kinds of match: the metadata is that of the code, or only the code without its metadata hash is. */
export type SourcifyMatch = 'full' | 'partial'

/** What is known of an ABI from a Sourcify bundle. */
export interface BundleFacts {
  /** Such as `0.8.26+commit.8a97fa7a`. */
  readonly compiler: string | undefined
  /** Undefined if the bundle does not say it. */
  readonly match: SourcifyMatch | undefined
  /** True if the code at the address names the metadata of the bundle; false if they were not compared. */
  readonly metadataMatches: boolean
}

/** An ABI that the operator added. */
export interface AddedAbi {
  readonly id: number
  readonly name: string
  /** The contract it is bound to, 20 bytes; undefined: any contract. */
  readonly address: Uint8Array | undefined
  /** A JSON ABI of events, functions and errors. */
  readonly json: string
  readonly addedAt: number // Unix seconds
  /** Undefined for the ABI of a file. */
  readonly bundle?: BundleFacts
  /** Number of stored source files. */
  readonly sourceFiles?: number
  readonly hasStorageLayout?: boolean
}

/** Reads added ABIs. */
interface AddedAbiReader {
  /** Oldest first. */
  list(): AddedAbi[]
  count(): number
  /** Changes when an ABI is added or removed. */
  version(): string
}

/** An ABI to add. */
export type NewAbi = Pick<AddedAbi, 'name' | 'address' | 'json' | 'bundle'> & { readonly sources?: ContractSources }

/** Reads and changes added ABIs. */
export interface AddedAbiTable extends AddedAbiReader {
  /** Adds an ABI, replacing one with the same name and address. Returns its id. */
  add(abi: NewAbi): number
  /** Adds ABIs in one transaction. Returns their ids. */
  addAll(abis: readonly NewAbi[]): number[]
  /** False when no ABI has that id. */
  remove(id: number): boolean
}

interface Row {
  id: number
  name: string
  address: Uint8Array | null
  json: string
  added_at: number
  compiler: string | null
  sourcify_match: SourcifyMatch | null
  metadata_matches: number | null
  files: number | null
  has_layout: 0 | 1
}

const COLUMNS = `id, name, address, json, added_at, compiler, sourcify_match, metadata_matches, files,
  storage_layout IS NOT NULL AS has_layout`

/** A reader of an open connection. */
export function readAddedAbis(db: Database): AddedAbiReader {
  const select = db.prepare<[], Row>(
    `SELECT ${COLUMNS} FROM abis LEFT JOIN contract_sources ON abi_id = id ORDER BY id`,
  )
  const selectCount = db.prepare<[], number>('SELECT count(*) FROM abis').pluck()
  // Ids are never used twice.
  const selectVersion = db.prepare<[], string>("SELECT ifnull(max(id), 0) || ' ' || count(*) FROM abis").pluck()
  return {
    list: () =>
      select.all().map(({ id, name, address, json, added_at: addedAt, files, has_layout, ...row }) => ({
        ...{ id, name, address: address ?? undefined, json, addedAt, bundle: bundleOf(row) },
        sourceFiles: files ?? 0,
        hasStorageLayout: has_layout === 1,
      })),
    count: () => selectCount.get()!,
    version: () => selectVersion.get()!,
  }
}

function bundleOf(row: Pick<Row, 'compiler' | 'sourcify_match' | 'metadata_matches'>): BundleFacts | undefined {
  if (row.metadata_matches === null) return undefined
  return {
    compiler: row.compiler ?? undefined,
    match: row.sourcify_match ?? undefined,
    metadataMatches: row.metadata_matches === 1,
  }
}

/** Accesses the ABIs of a database opened for writing. */
export function createAddedAbiTable(db: Database): AddedAbiTable {
  const sources = createContractSourceWriter(db)
  const change = <T>(work: () => T): T =>
    db
      .transaction(() => {
        const result = work()
        sources.removeUnused()
        writeSeal(db, 'abis')
        writeSeal(db, 'contract_sources')
        return result
      })
      .immediate()
  const remove = db.prepare('DELETE FROM abis WHERE name = ? AND address IS ?')
  const insert = db.prepare(
    `INSERT INTO abis (name, address, json, added_at, compiler, sourcify_match, metadata_matches)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const addOne = ({ name, address, json, bundle, sources: own }: NewAbi) => {
    remove.run(name, address ?? null)
    const facts = bundle && [bundle.compiler ?? null, bundle.match ?? null, Number(bundle.metadataMatches)]
    const row = [name, address ?? null, json, Math.floor(Date.now() / 1000), ...(facts ?? [null, null, null])]
    const id = Number(insert.run(...row).lastInsertRowid)
    if (own !== undefined) sources.add(id, own)
    return id
  }
  return {
    ...readAddedAbis(db),
    add: (abi) => change(() => addOne(abi)),
    addAll: (abis) => change(() => abis.map(addOne)),
    remove: (id) => change(() => db.prepare('DELETE FROM abis WHERE id = ?').run(id).changes > 0),
  }
}
