import { dirname } from 'node:path'
import type { Block } from '../../../src/chain/eth/types.js'
import { type Logger, silentLogger } from '../../../src/lib/logger.js'
import { Applier, type ApplierOptions } from '../../../src/replication/apply/applier.js'
import { verifyReplicated } from '../../../src/replication/apply/verifyReplicated.js'
import { encodeReplicatedBlock } from '../../../src/replication/codec/message.js'
import type {
  EncodedBlock,
  PositionedUnit,
  ReplicatedBlock,
  ReplicationSource,
  ReplicationUnit,
} from '../../../src/replication/codec/types.js'
import { TrieHasherHandle } from '../../../src/replication/threads/trieHasher.js'
import type { Database } from '../../../src/store/database.js'
import { decodeAppearances } from '../../../src/store/rows/appearances.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import type { ChainSource } from '../../../src/store/rows/chainSource.js'
import type { StateChanges } from '../../../src/store/rows/stateChanges.js'
import type { Finality } from '../../../src/store/rows/types.js'
import { createRawState } from '../../../src/store/state/rawState.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { type OpenChainOptions, openWritableChain } from '../../../src/sync/chainState.js'
import type { BlockRef } from '../../../src/sync/head/events.js'
import { ACCOUNT_ROWS } from '../chains/historyRows.js'

/** A stored block as a writer gives it to its replicas, read back from its rows. */
export function readReplicated(db: Database, number: number): ReplicatedBlock {
  const chain = createChainReader(db)
  const stored = chain.blockByNumber(number)!
  const { hash, header, sizeBytes, withdrawals, totalDifficulty } = stored
  const transactions = chain.transactions(stored)
  const block: Block = { hash, header, sizeBytes, withdrawals, transactions, uncles: chain.uncles(number) }
  const receipts = chain.receipts(stored).map(({ receipt }) => receipt)
  const appearances = db
    .prepare<[number], Uint8Array>('SELECT data FROM address_appearances WHERE block_number = ?')
    .pluck()
    .get(number)
  const addressOf = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  return {
    block,
    receipts,
    totalDifficulty,
    changes: readChanges(db, number),
    appearances: appearances && decodeAppearances(appearances).map((ids) => ids.map((id) => addressOf.get(id)!)),
    blockAccessList: chain.blockAccessList(number),
  }
}

/** The blocks `from` to `to` of a database, encoded. */
export function encodeStored(db: Database, from: number, to: number): EncodedBlock[] {
  return Array.from({ length: to - from + 1 }, (_, i) => encodeReplicatedBlock(readReplicated(db, from + i)))
}

function readChanges(db: Database, number: number): StateChanges {
  const raw = createRawState(db)
  const reader = createStateReader(db)
  const firstWithCode = db
    .prepare<[number], number>(`SELECT min(block_number) FROM ${ACCOUNT_ROWS} WHERE code_id = ?`)
    .pluck()
  const codes = new Map<number, { hash: Uint8Array; bytes: Uint8Array }>()
  const accounts = raw.accounts(number).map((row) => {
    const { address, incarnation, code_id: codeId } = row
    const account = row.balance === null ? undefined : reader.account(address!, number)!.account!
    if (codeId !== null && firstWithCode.get(codeId) === number) {
      codes.set(codeId, { hash: reader.codeHash(codeId), bytes: reader.code(codeId) })
    }
    const codeHash = codeId === null ? undefined : reader.codeHash(codeId)
    const fields = account && { nonce: account.nonce, balance: account.balance, codeHash }
    return { address: address!, incarnation, account: fields }
  })
  const storage = raw.slots(number).map(({ address, incarnation, slot, value }) => {
    const word = new Uint8Array(32)
    word.set(slot, 32 - slot.length)
    return { address: address!, incarnation, slot: word, value: value! }
  })
  return {
    accounts: accounts.sort((a, b) => Buffer.compare(a.address, b.address)),
    storage: storage.sort((a, b) => Buffer.compare(a.address, b.address) || Buffer.compare(a.slot, b.slot)),
    codes: [...codes.values()].sort((a, b) => Buffer.compare(a.hash, b.hash)),
  }
}

/** A unit of blocks on top of the head, or on top of `ancestor`. */
export function unitOf(
  blocks: readonly EncodedBlock[],
  ancestor?: BlockRef,
  finality = NOTHING_FINAL,
): ReplicationUnit {
  return { kind: 'blocks', ancestor, blocks, finality }
}

const NOTHING_FINAL: Finality = { safe: 0, finalized: 0 }

/** The units with sequences from `first` on, in one stream. */
export function positioned(units: readonly ReplicationUnit[], first = 1, epoch = 1): PositionedUnit[] {
  return units.map((unit, i) => ({ unit, position: { stream: 'test', sequence: first + i, epoch } }))
}

/** A source that gives the units and then waits. `onEnd` is called when the last one was taken. */
export function scriptedSource(units: readonly PositionedUnit[], onEnd: () => void = () => {}): ReplicationSource {
  return {
    units: async function* ({ position }, signal) {
      for (const each of units) if (each.position.sequence > (position?.sequence ?? 0)) yield each
      onEnd()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
  }
}

/** An applier that takes units as they are, over a database opened for writing. */
export async function openApplier(
  db: Database,
  source: ChainSource,
  { trieInterval = 64, hasher, log = silentLogger, ...options }: OpenChainOptions & Partial<ApplierOptions> = {},
) {
  const chain = await openWritableChain(db, source, undefined, { ...options, lazyTrie: true })
  const applier = new Applier(db, chain, { log, trieInterval, hasher })
  const apply = async (each: PositionedUnit, how?: { isBehind: boolean }) => {
    const blocks = each.unit.kind === 'blocks' ? each.unit.blocks : []
    const checks = blocks.map((block) => ({ verified: () => verifyReplicated(block, chain.spec) }))
    await applier.apply({ ...each, blocks: checks }, how)
  }
  return { chain, applier, apply }
}

/** A logger, and the warnings that it was given. */
export function collectWarnings(): { log: Logger; warnings: object[] } {
  const warnings: object[] = []
  return { log: { ...silentLogger, warn: (fields) => void warnings.push(fields) }, warnings }
}

/** A thread that hashes the trie of the database. */
export function openHasher(t: { after(ends: () => Promise<void>): void }, { name }: Database): TrieHasherHandle {
  const hasher = new TrieHasherHandle({ datadir: dirname(name), cacheBytes: 2 ** 12 }) // pages are read again
  t.after(() => hasher.close())
  return hasher
}

/** Brings the trie up to the head. */
export async function settleTrie(applier: Applier): Promise<void> {
  for (let more = applier.workOnTrie(); more; more = applier.workOnTrie()) await more
}
