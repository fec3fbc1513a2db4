import { countEvents, countStateChanges } from '../../chain/starknet/commitments.js'
import { InvalidL2Block } from '../../chain/starknet/errors.js'
import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import { getL2Network, type L2NetworkName } from '../../chain/starknet/networks.js'
import { isPendingStatus, isRejectedStatus, type L2Block } from '../../chain/starknet/types.js'
import type { L2Verdict } from '../../chain/starknet/verify.js'
import { CairnError } from '../../lib/errors.js'
import type { Database } from '../database.js'
import { createMetaTable, META_L2_CHAIN_ID, META_L2_NETWORK } from '../meta.js'
import { encodePendingBody, type L2Header } from './l2Rows.js'
import { createL2Statements, type L2Statements } from './l2Statements.js'

/** What became of a block:
 *  - `stored`: it is canonical now
 *  - `skipped`: it was held, or, unconfirmed, is behind the head
 *  - `replaced`: it was held; a recording that tells more took the place of the one that was
 *  - `promoted`: it was held; that layer 1 accepted it is new
 *  - `pending`: it is the unconfirmed block now
 *  - `rejected-upstream`: kept beside the chain, found by its hash only */
export type L2Outcome = 'stored' | 'skipped' | 'replaced' | 'promoted' | 'pending' | 'rejected-upstream'

/** The database holds another layer-2 network. */
export class L2NetworkMismatch extends CairnError {
  constructor(held: string, named: string) {
    super(`the database holds layer-2 blocks of ${held}, not of ${named}; use another --datadir for them`)
  }
}

/** The writer of the layer-2 column. */
export interface L2Writer {
  /** The network that was named for this database. */
  network(): L2NetworkName | undefined
  /** Names the network. @throws L2NetworkMismatch when the database holds another. */
  setNetwork(name: L2NetworkName): void
  /** Takes a block in one transaction of its own, or as a part of one that is open. `raw` is the recording, deflated.
   *  @throws InvalidL2Block when the verdict or the blocks that are held speak against it; nothing has changed then. */
  importBlock(block: L2Block, verdict: L2Verdict, raw?: Uint8Array): L2Outcome
  /** The recording of a block that is held under its hash, canonical; deflated, undefined where none was kept. */
  heldRecording(block: L2Block): { raw: Uint8Array | undefined } | undefined
  /** Puts a recording in the place of the one that is held of its block, in one transaction of its own, or as a part of one
   *  that is open: `skipped` when that was verified and this is not.
   *  @throws InvalidL2Block as `importBlock`, and when an unverified recording names other transactions. */
  replaceBlock(block: L2Block, verdict: L2Verdict, raw: Uint8Array): L2Outcome
  /** Runs `work` in one transaction. */
  transaction<T>(work: () => T): T
}

/** A writer over a database opened for writing. */
export function createL2Writer(db: Database): L2Writer {
  const meta = createMetaTable(db)
  const rows = createL2Statements(db)
  const network = () => meta.get<L2NetworkName>(META_L2_NETWORK)

  const setChainId = (chainId: string) => {
    if (meta.get<string>(META_L2_CHAIN_ID) !== chainId) meta.set(META_L2_CHAIN_ID, chainId)
  }

  /** Of a verified hash only: others may be of any network. */
  const learnChainId = (verdict: L2Verdict) => {
    if (verdict.kind === 'match' && verdict.chainId !== undefined) setChainId(verdict.chainId)
  }

  const storeCanonical = (block: L2Block, verdict: L2Verdict, raw: Uint8Array | undefined): L2Outcome => {
    const { number, hash, status } = block as L2Block & L2Header
    const held = rows.hashAt(number)
    if (held !== undefined && held !== hash) throw refuse(block, 'canonical block', formatFelt(held), formatFelt(hash))
    if (held === hash) return status === 'ACCEPTED_ON_L1' && rows.raiseL1Head(number, hash) ? 'promoted' : 'skipped'
    if (rows.isRejected(hash)) throw refuse(block, 'status', 'REJECTED, as it is held', status)
    checkVerdict(block, verdict, meta.get<string>(META_L2_CHAIN_ID))
    checkNeighbours(block, rows)
    rows.insert(headerOf(block, verdict), block, { canonical: 1, verified: verifiedColumn(verdict), raw })
    if (status === 'ACCEPTED_ON_L1') rows.raiseL1Head(number, hash)
    learnChainId(verdict)
    rows.settlePending({ number, hash, parentHash: block.parentHash! })
    return 'stored'
  }

  const storeRejected = (block: L2Block, verdict: L2Verdict, raw: Uint8Array | undefined): L2Outcome => {
    const hash = block.hash!
    if (rows.hashAt(block.number!) === hash) {
      throw refuse(block, 'status', 'ACCEPTED_ON_L2 or ACCEPTED_ON_L1, since it is held as canonical', block.status)
    }
    if (rows.isRejected(hash)) return 'skipped'
    checkVerdict(block, verdict, meta.get<string>(META_L2_CHAIN_ID))
    rows.insert(headerOf(block, verdict), block, { canonical: 0, verified: verifiedColumn(verdict), raw })
    return 'rejected-upstream'
  }

  const storePending = (block: L2Block): L2Outcome => {
    const place = locatePending(block, rows)
    if (place.number !== undefined && place.number <= (rows.head()?.number ?? -1)) return 'skipped'
    rows.putPending(place, encodePendingBody(block))
    return 'pending'
  }

  const importBlock = db.transaction((block: L2Block, verdict: L2Verdict, raw: Uint8Array | undefined): L2Outcome => {
    if (isPendingStatus(block.status)) return storePending(block)
    return isRejectedStatus(block.status) ? storeRejected(block, verdict, raw) : storeCanonical(block, verdict, raw)
  })

  const replaceBlock = db.transaction((block: L2Block, verdict: L2Verdict, raw: Uint8Array): L2Outcome => {
    const { number, hash, status } = block as L2Block & L2Header
    const isVerified = verdict.kind === 'match'
    if (rows.recordingOf(hash)?.isVerified && !isVerified) return importBlock(block, verdict, raw)
    checkVerdict(block, verdict, meta.get<string>(META_L2_CHAIN_ID))
    checkNeighbours(block, rows)
    if (!isVerified) requireSameTransactions(block, rows.transactionHashes(hash))
    rows.replace(headerOf(block, verdict), block, { verified: verifiedColumn(verdict), raw })
    if (status === 'ACCEPTED_ON_L1') rows.raiseL1Head(number, hash)
    learnChainId(verdict)
    return 'replaced'
  })

  return {
    network,
    setNetwork: (name) => {
      const held = network()
      const { chainId } = getL2Network(name)
      const heldChainId = meta.get<string>(META_L2_CHAIN_ID)
      if (held !== undefined && held !== name) throw new L2NetworkMismatch(held, name)
      if (heldChainId !== undefined && heldChainId !== chainId) throw new L2NetworkMismatch(heldChainId, name)
      if (held === undefined) meta.set(META_L2_NETWORK, name)
      setChainId(chainId)
    },
    heldRecording: ({ hash, status }) =>
      hash === undefined || isRejectedStatus(status) ? undefined : rows.recordingOf(hash),
    importBlock: (block, verdict, raw) => importBlock(block, verdict, raw),
    replaceBlock: (block, verdict, raw) => replaceBlock(block, verdict, raw),
    transaction: (work) => db.transaction(work).immediate(),
  }
}

function refuse({ number, hash }: L2Block, check: string, expected: string, actual: string): InvalidL2Block {
  return new InvalidL2Block({ blockNumber: number, blockHash: hash, check, expected, actual })
}

/** @throws InvalidL2Block for a mismatch, and for a hash that another network's chain id went into. */
function checkVerdict(block: L2Block, verdict: L2Verdict, heldChainId: string | undefined): void {
  if (verdict.kind === 'mismatch') throw refuse(block, verdict.check, verdict.expected, verdict.actual)
  const chainId = verdict.kind === 'unchecked' ? undefined : verdict.chainId
  if (chainId !== undefined && heldChainId !== undefined && chainId !== heldChainId) {
    throw refuse(block, 'network', heldChainId, chainId)
  }
}

function requireSameTransactions(block: L2Block, held: readonly Felt[]): void {
  const own = block.transactionHashes
  const differing = own.length === held.length ? own.findIndex((hash, i) => hash !== held[i]) : -1
  if (own.length !== held.length) throw refuse(block, 'transaction count', String(held.length), String(own.length))
  if (differing < 0) return
  throw refuse(block, `hash of transaction ${differing}`, formatFelt(held[differing]), formatFelt(own[differing]))
}

/** The block's parent, and its child's parent, where those are held. */
function checkNeighbours(block: L2Block, rows: L2Statements): void {
  const { number, hash, parentHash } = block as L2Block & L2Header
  const below = rows.hashAt(number - 1)
  if (below !== undefined && below !== parentHash) {
    throw refuse(block, `parent hash (block ${number - 1} is held)`, formatFelt(below), formatFelt(parentHash))
  }
  const above = rows.parentAt(number + 1)
  if (above !== undefined && above !== hash) {
    throw refuse(
      block,
      `block hash (block ${number + 1} is held and names its parent)`,
      formatFelt(above),
      formatFelt(hash),
    )
  }
}

/** Where an unconfirmed block stands: as it says itself, as its parent's place tells, or on top of the head. */
function locatePending({ number, parentHash }: L2Block, rows: L2Statements): { number?: number; parentHash?: Felt } {
  if (parentHash !== undefined) {
    const parentNumber = rows.numberOf(parentHash)
    return { parentHash, number: number ?? (parentNumber === undefined ? undefined : parentNumber + 1) }
  }
  if (number !== undefined) return { number }
  const head = rows.head()
  return head === undefined ? {} : { number: head.number + 1, parentHash: head.hash }
}

/** What is stored of a block with a hash: its header, with the commitments and counts that a matching hash covers. */
export function headerOf(block: L2Block, verdict: L2Verdict): L2Header {
  const inputs = verdict.kind === 'match' ? verdict.inputs : {}
  return {
    ...block.commitments,
    ...definedOf(inputs),
    transactionCount: block.transactionHashes.length,
    eventCount: (block.receipts && countEvents(block.receipts)) ?? block.counts.eventCount,
    stateDiffLength: block.stateDiff ? countStateChanges(block.stateDiff) : block.counts.stateDiffLength,
    number: block.number!,
    hash: block.hash!,
    parentHash: block.parentHash ?? 0n, // rejected blocks may lack it, and their root
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
