import { inflateSync } from 'node:zlib'
import { countEvents, countStateChanges } from '../../chain/starknet/commitments.js'
import { InvalidL2Block } from '../../chain/starknet/errors.js'
import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import { getL2Network, type L2NetworkName } from '../../chain/starknet/networks.js'
import { readL2Recording } from '../../chain/starknet/recording/recording.js'
import { isPendingStatus, isRejectedStatus, type L2Block } from '../../chain/starknet/types.js'
import type { L2Verdict } from '../../chain/starknet/verify.js'
import { CairnError } from '../../lib/errors.js'
import { parseJsonExact } from '../../lib/json.js'
import type { Database } from '../database.js'
import { createMetaTable, META_L2_CHAIN_ID, META_L2_NETWORK, type MetaTable } from '../meta.js'
import { createL2EventWriter } from './l2EventRows.js'
import { createL2Finality, type L2Mismatch } from './l2Finality.js'
import { encodePendingBody, type L2Header } from './l2Rows.js'
import { L2Statements } from './l2Statements.js'

/** Result of importing a block:
 *  - `stored`: now canonical
 *  - `skipped`: already stored, or pending and behind the head
 *  - `replaced`: already stored; the fuller recording replaced the stored one
 *  - `promoted`: already stored; newly accepted on layer 1
 *  - `pending`: now the pending block
 *  - `rejected-upstream`: stored outside of the chain, found by hash only */
export type L2Outcome = 'stored' | 'skipped' | 'replaced' | 'promoted' | 'pending' | 'rejected-upstream'

/** The database belongs to another layer-2 network. */
export class L2NetworkMismatch extends CairnError {
  constructor(stored: string, named: string) {
    super(`the database holds layer-2 blocks of ${stored}, not of ${named}; use another --datadir for them`)
  }
}

/** A reorg would remove a block that layer 1 has accepted. */
export class L2ReorgBelowAccepted extends CairnError {
  readonly ancestor: number
  readonly acceptedOnL1: number
  constructor(ancestor: number, acceptedOnL1: number) {
    super(`a reorg of layer 2 down to block ${ancestor} would remove block ${acceptedOnL1}, which layer 1 has accepted`)
    this.ancestor = ancestor
    this.acceptedOnL1 = acceptedOnL1
  }
}

/** A block to be stored. `raw` is the deflated recording. */
interface L2NewBlock {
  readonly block: L2Block
  readonly verdict: L2Verdict
  readonly raw?: Uint8Array
}

/** Source of the blocks, and the callback for a block that layer 1 accepted with another hash (`L2Finality`). */
interface L2WriterOptions {
  /** Default: `file`. */
  readonly source?: 'file' | 'upstream'
  readonly onMismatch?: (mismatch: L2Mismatch) => void
}

/** Writes layer-2 blocks. */
export class L2Writer {
  readonly #db: Database
  readonly #source: 'file' | 'upstream'
  readonly #meta: MetaTable
  readonly #rows: L2Statements
  readonly #events: ReturnType<typeof createL2EventWriter>
  readonly #finality: ReturnType<typeof createL2Finality>
  readonly #store: (block: L2Block, verdict: L2Verdict, raw: Uint8Array | undefined) => L2Outcome

  /** Creates a writer over a database opened for writing. */
  constructor(db: Database, { source = 'file', onMismatch }: L2WriterOptions = {}) {
    this.#db = db
    this.#source = source
    this.#meta = createMetaTable(db)
    this.#rows = new L2Statements(db)
    this.#events = createL2EventWriter(db)
    this.#finality = createL2Finality(db, { onMismatch })
    this.#store = db.transaction((block, verdict, raw) => {
      if (isPendingStatus(block.status)) return this.#storePending(block, raw)
      if (isRejectedStatus(block.status)) return this.#storeRejected(block, verdict, raw)
      return this.#storeCanonical(block, verdict, raw)
    })
  }

  /** The network of this database, if one was named. */
  network(): L2NetworkName | undefined {
    return this.#meta.get(META_L2_NETWORK)
  }

  /** Sets the network. @throws L2NetworkMismatch when the database belongs to another one. */
  setNetwork(name: L2NetworkName): void {
    const stored = this.network()
    const { chainId } = getL2Network(name)
    const storedChainId = this.#chainId()
    if (stored !== undefined && stored !== name) throw new L2NetworkMismatch(stored, name)
    if (storedChainId !== undefined && storedChainId !== chainId) throw new L2NetworkMismatch(storedChainId, name)
    if (stored === undefined) this.#meta.set(META_L2_NETWORK, name)
    this.#setChainId(chainId)
  }

  /** Stores a block, in its own transaction or as part of an open one. `raw` is the deflated recording.
   *  @throws InvalidL2Block when the verdict is a mismatch or the block conflicts with stored blocks; nothing has
   *  changed then. */
  importBlock(block: L2Block, verdict: L2Verdict, raw?: Uint8Array): L2Outcome {
    return this.#store(block, verdict, raw)
  }

  /** The deflated recording of the canonical block with this hash; `raw` is undefined when none was stored. */
  storedRecording({ hash, status }: L2Block): { raw: Uint8Array | undefined } | undefined {
    return hash === undefined || isRejectedStatus(status) ? undefined : this.#rows.recordingOf(hash)
  }

  /** Replaces the recording of a stored block, in its own transaction or as part of an open one. Returns `skipped` when
   *  the stored one was verified and the new one is not. @throws InvalidL2Block as `importBlock`, and when an
   *  unverified recording has different transactions. */
  replaceBlock(block: L2Block, verdict: L2Verdict, raw: Uint8Array): L2Outcome {
    return this.#db.transaction(() => {
      const { hash } = block as L2Block & L2Header
      const isVerified = verdict.kind === 'match'
      if (this.#rows.recordingOf(hash)?.isVerified && !isVerified) return this.importBlock(block, verdict, raw)
      checkVerdict(block, verdict, this.#chainId())
      checkParentLinks(block, this.#rows)
      if (!isVerified) requireSameTransactions(block, this.#rows.transactionHashes(hash))
      this.#rows.replace(toStoredHeader(block, verdict), block, { verified: verifiedColumn(verdict), raw })
      this.#events.put(block)
      this.#acceptIfAnnounced(block)
      this.#learnChainId(verdict)
      return 'replaced'
    })()
  }

  /** Replaces the canonical blocks above `ancestor` by `blocks`, which link to it in order, and drops the pending
   *  block, in one transaction. Removed blocks are found by hash only, as REJECTED; one that comes back is canonical
   *  again.
   *  @throws L2ReorgBelowAccepted, InvalidL2Block; nothing has changed then */
  replaceBranch(ancestor: number, blocks: readonly L2NewBlock[]): void {
    this.transaction(() => {
      const acceptedOnL1 = this.#rows.l1Head() ?? -1
      if (ancestor < acceptedOnL1) throw new L2ReorgBelowAccepted(ancestor, acceptedOnL1)
      const newest = this.#rows.head()?.number ?? ancestor
      this.#rows.orphanAbove(ancestor)
      this.#events.removeAbove(ancestor)
      this.#finality.blocksChanged(ancestor + 1, newest)
      this.#rows.deletePending()
      for (const { block, verdict, raw } of blocks) this.importBlock(block, verdict, raw)
    })
  }

  /** Records that layer 1 accepted this canonical block, according to the source of the blocks. @returns true if that
   *  raised the head accepted on layer 1, which no claim of a file or an upstream lowers */
  acceptOnL1(number: number): boolean {
    return this.#finality.claim(number, this.#source)
  }

  /** Number of the highest block accepted on layer 1. */
  acceptedOnL1(): number | undefined {
    return this.#rows.l1Head()
  }

  /** Deletes the pending block. */
  dropPending(): void {
    this.#db.transaction(() => this.#rows.deletePending())()
  }

  /** Runs `work` in one transaction. */
  transaction<T>(work: () => T): T {
    return this.#db.transaction(work).immediate()
  }

  #chainId(): string | undefined {
    return this.#meta.get(META_L2_CHAIN_ID)
  }

  #setChainId(chainId: string): void {
    if (this.#chainId() !== chainId) this.#meta.set(META_L2_CHAIN_ID, chainId)
  }

  /** Only a verified hash proves the chain id. */
  #learnChainId(verdict: L2Verdict): void {
    if (verdict.kind === 'match' && verdict.chainId !== undefined) this.#setChainId(verdict.chainId)
  }

  /** Reads a stored block from its recording, which stays when the block comes back; returns `block` if no recording
   *  is stored. */
  #recordedBlock(block: L2Block): L2Block {
    const raw = this.#rows.recordingOf(block.hash!)?.raw
    return raw === undefined ? block : readL2Recording(parseJsonExact(inflateSync(raw).toString()))
  }

  #storeCanonical(block: L2Block, verdict: L2Verdict, raw: Uint8Array | undefined): L2Outcome {
    const { number, hash, status } = block as L2Block & L2Header
    const rows = this.#rows
    const storedHash = rows.hashAt(number)
    if (storedHash !== undefined && storedHash !== hash)
      throw refuse(block, 'canonical block', formatFelt(storedHash), formatFelt(hash))
    if (storedHash === hash) return this.#acceptIfAnnounced(block) ? 'promoted' : 'skipped'
    const isOrphaned = rows.isOrphaned(hash)
    if (rows.isRejected(hash) && !isOrphaned) throw refuse(block, 'status', 'REJECTED, as stored', status)
    checkVerdict(block, verdict, this.#chainId())
    checkParentLinks(block, rows)
    if (isOrphaned) rows.restore(hash)
    else rows.insert(toStoredHeader(block, verdict), block, { canonical: 1, verified: verifiedColumn(verdict), raw })
    this.#events.put(isOrphaned ? this.#recordedBlock(block) : block)
    this.#finality.blocksChanged(number, number)
    this.#acceptIfAnnounced(block)
    this.#learnChainId(verdict)
    rows.settlePending({ number, hash, parentHash: block.parentHash! })
    return 'stored'
  }

  #acceptIfAnnounced({ number, status }: L2Block): boolean {
    return status === 'ACCEPTED_ON_L1' && this.#finality.claim(number!, this.#source)
  }

  #storeRejected(block: L2Block, verdict: L2Verdict, raw: Uint8Array | undefined): L2Outcome {
    const hash = block.hash!
    if (this.#rows.hashAt(block.number!) === hash) {
      throw refuse(block, 'status', 'ACCEPTED_ON_L2 or ACCEPTED_ON_L1, since it is stored as canonical', block.status)
    }
    if (this.#rows.isRejected(hash)) return 'skipped'
    checkVerdict(block, verdict, this.#chainId())
    this.#rows.insert(toStoredHeader(block, verdict), block, { canonical: 0, verified: verifiedColumn(verdict), raw })
    return 'rejected-upstream'
  }

  #storePending(block: L2Block, raw: Uint8Array | undefined): L2Outcome {
    const position = pendingPosition(block, this.#rows)
    if (position.number !== undefined && position.number <= (this.#rows.head()?.number ?? -1)) return 'skipped'
    this.#rows.putPending(position, encodePendingBody(block), raw)
    return 'pending'
  }
}

function refuse({ number, hash }: L2Block, check: string, expected: string, actual: string): InvalidL2Block {
  return new InvalidL2Block({ blockNumber: number, blockHash: hash, check, expected, actual })
}

/** @throws InvalidL2Block for a mismatch, and for a hash that covers another network's chain id. */
function checkVerdict(block: L2Block, verdict: L2Verdict, storedChainId: string | undefined): void {
  if (verdict.kind === 'mismatch') throw refuse(block, verdict.check, verdict.expected, verdict.actual)
  const chainId = verdict.kind === 'unchecked' ? undefined : verdict.chainId
  if (chainId !== undefined && storedChainId !== undefined && chainId !== storedChainId) {
    throw refuse(block, 'network', storedChainId, chainId)
  }
}

function requireSameTransactions(block: L2Block, stored: readonly Felt[]): void {
  const own = block.transactionHashes
  const differing = own.length === stored.length ? own.findIndex((hash, i) => hash !== stored[i]) : -1
  if (own.length !== stored.length) throw refuse(block, 'transaction count', String(stored.length), String(own.length))
  if (differing < 0) return
  throw refuse(block, `hash of transaction ${differing}`, formatFelt(stored[differing]), formatFelt(own[differing]))
}

/** Checks the parent hash against the stored parent, and the child's parent hash against this block. */
function checkParentLinks(block: L2Block, rows: L2Statements): void {
  const { number, hash, parentHash } = block as L2Block & L2Header
  const below = rows.hashAt(number - 1)
  if (below !== undefined && below !== parentHash) {
    throw refuse(block, `parent hash (block ${number - 1} is stored)`, formatFelt(below), formatFelt(parentHash))
  }
  const above = rows.parentAt(number + 1)
  if (above !== undefined && above !== hash) {
    throw refuse(
      block,
      `block hash (block ${number + 1} is stored and names its parent)`,
      formatFelt(above),
      formatFelt(hash),
    )
  }
}

/** Number of a pending block: its own, its parent's plus one, or the one after the head. */
function pendingPosition({ number, parentHash }: L2Block, rows: L2Statements): { number?: number; parentHash?: Felt } {
  if (parentHash !== undefined) {
    const parentNumber = rows.numberOf(parentHash)
    return { parentHash, number: number ?? (parentNumber === undefined ? undefined : parentNumber + 1) }
  }
  if (number !== undefined) return { number }
  const head = rows.head()
  return head === undefined ? {} : { number: head.number + 1, parentHash: head.hash }
}

/** The stored header of a block with a hash, with the commitments and counts that a matching hash covers. */
export function toStoredHeader(block: L2Block, verdict: L2Verdict): L2Header {
  const inputs = verdict.kind === 'match' ? verdict.inputs : {}
  return {
    ...block.commitments,
    ...definedOf(inputs),
    transactionCount: block.transactionHashes.length,
    eventCount: (block.receipts && countEvents(block.receipts)) ?? block.counts.eventCount,
    stateDiffLength: block.stateDiff ? countStateChanges(block.stateDiff) : block.counts.stateDiffLength,
    number: block.number!,
    hash: block.hash!,
    parentHash: block.parentHash ?? 0n, // rejected blocks may lack it, and the state root
    newRoot: block.newRoot ?? 0n,
    timestamp: block.timestamp,
    sequencer: block.sequencer,
    version: block.version,
    prices: block.prices,
    daMode: block.daMode,
  }
}

function definedOf<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>
}

function verifiedColumn({ kind }: L2Verdict): 0 | 1 | null {
  if (kind === 'match') return 1
  return kind === 'unverifiable' ? 0 : null
}
