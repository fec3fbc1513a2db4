import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Database } from './database.js'

/** A source file of a contract. */
export interface SourceFile {
  /** As the compiler knew it; at most 256 characters. */
  readonly path: string
  readonly content: string
}

/** What a bundle has of a contract beside its ABI. */
export interface ContractSources {
  readonly files: readonly SourceFile[]
  /** As solc writes it: `{"storage": […], "types": {…}}`; undefined if absent. */
  readonly storageLayout: object | undefined
}

/** Reads sources by the id of their ABI. */
export interface ContractSourceReader {
  /** No files for an ABI without sources. */
  files(abiId: number): SourceFile[]
  /** Undefined for an ABI without layout. */
  storageLayout(abiId: number): unknown
}

// Far above what is stored.
const INFLATE = { maxOutputLength: 2 ** 26 }

/** Creates a reader of an open connection. */
export function readContractSources(db: Database): ContractSourceReader {
  const select = (column: string) =>
    db.prepare<[number], Uint8Array | null>(`SELECT ${column} FROM contract_sources WHERE abi_id = ?`).pluck()
  const [selectSources, selectLayout] = [select('sources'), select('storage_layout')]
  return {
    files: (abiId) => {
      const files = inflate(selectSources.get(abiId)) as [string, string][] | undefined
      return (files ?? []).map(([path, content]) => ({ path, content }))
    },
    storageLayout: (abiId) => inflate(selectLayout.get(abiId)),
  }
}

function inflate(stored: Uint8Array | null | undefined): unknown {
  return stored ? JSON.parse(inflateRawSync(stored, INFLATE).toString()) : undefined
}

/** Creates functions that change sources in the caller's transaction. */
export function createContractSourceWriter(db: Database) {
  const insert = db.prepare('INSERT INTO contract_sources (abi_id, files, sources, storage_layout) VALUES (?, ?, ?, ?)')
  const remove = db.prepare('DELETE FROM contract_sources WHERE abi_id NOT IN (SELECT id FROM abis)')
  return {
    /** Stores the sources of an ABI that has none yet. */
    add(abiId: number, { files, storageLayout }: ContractSources): void {
      if (files.length === 0 && storageLayout === undefined) return
      const sources = files.length === 0 ? null : deflate(files.map(({ path, content }) => [path, content]))
      insert.run(abiId, files.length, sources, storageLayout === undefined ? null : deflate(storageLayout))
    },
    /** Removes the sources of ABIs that are no longer there. */
    removeUnused(): void {
      remove.run()
    },
  }
}

function deflate(value: unknown): Uint8Array {
  return deflateRawSync(Buffer.from(JSON.stringify(value)))
}
