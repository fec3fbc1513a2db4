import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBlock } from '../../src/chain/eth/block.js'
import type { Block } from '../../src/chain/eth/types.js'
import type { EvmKind } from '../../src/evm/kinds.js'
import { noProgress } from '../../src/lib/progress.js'
import { openChainRlp } from '../../src/sources/files/chainRlp.js'
import { ERA1, openEra1 } from '../../src/sources/files/era1.js'
import { SenderRecovery } from '../../src/sources/senders/senderRecovery.js'
import type { BlockSource } from '../../src/sources/source.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { type ChainSource, genesisOfSource } from '../../src/store/rows/chainSource.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { recogniseKind } from '../../src/sync/import/importFiles.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { createDefaultCommon, createDefaultVm, decodePackageBlock, runDefaultBlock } from './packageDefaults.js'
import type { ChainFile, ImportPlan } from './plans.js'

/** What one import did. */
export interface Imported {
  blocks: number
  gas: bigint
  /** Of the blocks alone, until they are on disk: neither the making of the database nor the genesis is in it. */
  seconds: number
  /** Of the database without its genesis, and of the access lists in it. Only where it is stored. */
  databaseBytes?: number
  accessListBytes?: number
}

/** Imports a chain from its beginning. Once database and genesis are made, `begin` gives the signal that ends it
 *  early. */
export type RunImport = (begin: () => AbortSignal) => Promise<Imported>

/** The source of a file's blocks. */
export function openChainFile({ path }: ChainFile): BlockSource {
  return recogniseKind(path) === ERA1 ? openEra1(path) : openChainRlp(path)
}

/** Where the chain of the file begins. */
export function sourceOfChain({ genesis, network }: ChainFile): ChainSource {
  return network === undefined ? { genesis: JSON.parse(readFileSync(genesis!, 'utf8')) } : { network }
}

type StoredImportPlan = Omit<ImportPlan, 'engine'> & { engine: EvmKind }

/** An import as `cairn import` does it, into a new database each time: blocks are read, decoded, verified, executed,
 *  compared with their roots, indexed and stored. */
export function createStoredImport({ engine: evm, chain, directory, blockAccessLists }: StoredImportPlan): RunImport {
  const source = sourceOfChain(chain)
  return async (begin) => {
    const datadir = mkdtempSync(join(directory, 'import-'))
    const db = openForWriting(datadir)
    const senderRecovery = new SenderRecovery()
    try {
      const writable = await openWritableChain(db, source, 'execute', { evm, blockAccessLists })
      // What the making of database and genesis wrote is not to be brought to disk within the time of the blocks.
      db.pragma('wal_checkpoint(TRUNCATE)')
      const sizeOf = () =>
        Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))
      const genesisBytes = sizeOf()
      const signal = begin()
      const started = performance.now()
      const { imported, interrupted } = await importBlocks(writable, openChainFile(chain), {
        progress: noProgress,
        signal,
        rootInterval: 1,
        senderRecovery,
      })
      db.pragma('wal_checkpoint(TRUNCATE)')
      const seconds = (performance.now() - started) / 1000
      // In SQL: to read the blocks would leave garbage to the next import.
      const gas = db.prepare<[], bigint>('SELECT sum(gas_used) FROM blocks').pluck().safeIntegers().get()!
      if (!interrupted && imported === 0) throw new Error(`${chain.path}: nothing was imported`)
      const lists = db.prepare<[], number>('SELECT coalesce(sum(length(list)), 0) FROM block_access_lists').pluck()
      return { blocks: imported, gas, seconds, databaseBytes: sizeOf() - genesisBytes, accessListBytes: lists.get()! }
    } finally {
      await senderRecovery.close()
      db.close()
      rmSync(datadir, { recursive: true, force: true })
    }
  }
}

/** An import by the packages as they come: blocks are decoded from bytes in memory, executed and compared with their
 *  roots. Nothing is stored, headers and uncles are not verified: less work than the other. */
export async function createDefaultsImport(chain: ChainFile): Promise<RunImport> {
  const source = sourceOfChain(chain)
  const { accounts, header } = genesisOfSource(source)
  const blocks: Uint8Array[] = []
  const hashes: Uint8Array[] = []
  let mergeBlock: number | undefined
  const keep = (block: Block) => {
    hashes[block.header.number] = block.hash
    if (block.header.number === 0) return
    if (block.header.difficulty === 0n) mergeBlock ??= block.header.number
    blocks.push(encodeBlock(block))
    hashes[block.header.number - 1] = block.header.parentHash
  }
  for await (const { block } of openChainFile(chain).blocks()) keep(block)
  if (header.difficulty === 0n) mergeBlock = 0
  return async (begin) => {
    const common = await createDefaultCommon(source as { genesis: { config: object } }, mergeBlock)
    const vm = await createDefaultVm(common, accounts, (number) => hashes[number])
    const signal = begin()
    const started = performance.now()
    let done = 0
    let gas = 0n
    for (const bytes of blocks) {
      if (signal.aborted) break
      const block = decodePackageBlock(bytes, common)
      await runDefaultBlock(vm, block)
      done++
      gas += block.header.gasUsed
      // Promises alone never let the timer of the signal in.
      await new Promise(setImmediate)
    }
    return { blocks: done, gas, seconds: (performance.now() - started) / 1000 }
  }
}
