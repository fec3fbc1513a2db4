import type { EarlierHeader } from '../../chain/eth/families/family.js'
import { type ChainSpec, rulesAt } from '../../chain/eth/forks/rules.js'
import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import type { Block } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import { withoutHiding } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import type { Database } from '../../store/database.js'
import type { MetaTable } from '../../store/meta.js'
import { createMetaTable } from '../../store/meta.js'
import { type ReplicaPosition, readPosition, writePosition } from '../../store/replication/position.js'
import { packChanges } from '../../store/rows/packedChanges.js'
import type { ChainReader, Finality } from '../../store/rows/types.js'
import type { WritableChain } from '../../sync/chainState.js'
import type { ChainHead, Head } from '../../sync/head/chainHead.js'
import type { BlockRef } from '../../sync/head/events.js'
import type { LazyTrie } from '../../sync/head/lazyTrie.js'
import { nextTrieBlock } from '../../sync/head/lazyTrie.js'
import { verifyHeader } from '../../sync/validate/header.js'
import { decodeStateMessage } from '../codec/stateMessage.js'
import type { PositionedUnit } from '../codec/types.js'
import type { CatchUpTrie } from './catchUpTrie.js'
import { createCatchUpTrie, type RemoteTrieHasher } from './catchUpTrie.js'
import { StaleEpoch, StateChangesMissing, StateModeDiffers, UnknownAncestor } from './errors.js'
import { SparseReplica } from './sparseReplica.js'
import type { VerifiedBlock } from './verifyReplicated.js'

/** A block whose verification is in progress. */
export interface BlockToApply {
  /** @throws as `verifyReplicated` */
  verified(): VerifiedBlock | Promise<VerifiedBlock>
  /** Present when another thread verifies the block: decodes it, to be written before it is verified.
   *  @throws InvalidMessage */
  decoded?(): VerifiedBlock
  /** Present when another thread verifies the block: resolves when it is valid. Rejects as `verified` */
  approved?(): Promise<void>
}

/** A change set whose blocks are being verified. */
export interface UnitToApply extends PositionedUnit {
  /** The blocks of the change set, in order. */
  readonly blocks: readonly BlockToApply[]
}

/** Max blocks that the state trie may be behind the head while few are queued. */
const TIP_INTERVAL = 64

/** What an applier needs in addition to the chain. */
export interface ApplierOptions {
  readonly log: Logger
  /** Max blocks that the state trie may be behind the head while many are queued. */
  readonly trieInterval: number
  /** Hashes the state trie while blocks are queued. Default: the trie follows the rows. */
  readonly hasher?: RemoteTrieHasher
}

/** Writes the chain of a replica. */
export class Applier {
  private readonly chain: WritableChain
  private readonly log: Logger
  private readonly trieInterval: number
  private readonly head: ChainHead
  private readonly reader: ChainReader
  private readonly spec: ChainSpec
  private readonly trie: LazyTrie | undefined
  private readonly ahead: CatchUpTrie | undefined
  private readonly meta: MetaTable
  private appliedPosition: ReplicaPosition | undefined
  private committedPosition: ReplicaPosition | undefined
  private committedNewest: Head | undefined
  private keepsAppearances: boolean
  private readonly keepsState: boolean
  /** Present with sparse state. */
  private readonly sparse: SparseReplica | undefined
  private isStateNoted = false

  /** Creates an applier over a chain that was opened with `lazyTrie`. */
  constructor(db: Database, chain: WritableChain, { log, trieInterval, hasher }: ApplierOptions) {
    this.chain = chain
    this.log = log
    this.trieInterval = trieInterval
    this.head = chain.head
    this.reader = chain.reader
    this.spec = chain.spec
    this.trie = chain.trie
    this.ahead = this.trie && hasher && createCatchUpTrie(this.trie, hasher, { interval: trieInterval, log })
    this.meta = createMetaTable(db)
    this.appliedPosition = readPosition(this.meta, this.head.newest?.hash)
    this.committedPosition = this.appliedPosition
    this.committedNewest = this.head.newest
    this.keepsAppearances = chain.keepsAppearances
    this.keepsState = chain.stateMode === 'execute'
    this.sparse = chain.sparse && new SparseReplica(db, chain, chain.sparse)
  }

  /** With sparse state: the newest entry that it has. */
  get state(): number | undefined {
    return this.sparse?.position
  }

  /** True when each change set is committed by itself: the trie of each block is kept, as by the writer. */
  get commitsEach(): boolean {
    return this.sparse !== undefined
  }

  /** The committed position in the source. Undefined in a new replica, and after a rewind, an import or a leader
   *  session changed the chain. */
  get position(): ReplicaPosition | undefined {
    return this.committedPosition
  }

  /** The newest committed block. */
  get newest(): Head | undefined {
    return this.committedNewest
  }

  /** Applies a change set atomically. Blocks on top of the head join the open transaction. A change set that removes
   *  blocks is committed, as is what was applied before it. A change set whose blocks are all stored changes only the
   *  position.
   *  @param isBehind many more are queued: another thread, if any, collects the state trie's changes over many blocks,
   *    and the trie is at no block in between
   *  @throws InvalidBlock, UnknownAncestor, ReorgBelowFinalized, StateChangesMissing, StaleEpoch when the change set
   *    is refused: what was applied before it is committed. StateRootDiffers: the open transaction is rolled back */
  async apply(next: UnitToApply, { isBehind = false }: { isBehind?: boolean } = {}): Promise<void> {
    if (isBehind) await this.beginNoting()
    const isReplacing = next.unit.kind === 'blocks' && next.unit.ancestor !== undefined
    if (isReplacing) this.commit()
    let write: () => unknown
    try {
      write = await this.verifyUnit(next, { isBehind, isAlone: !isBehind && !this.head.inTransaction })
    } catch (error) {
      withoutHiding(error, () => this.commit())
    }
    if (isReplacing) this.ahead?.clear()
    try {
      await write()
      this.appliedPosition = next.position
      const isDue = this.isTrieDue(isBehind)
      if (isDue) {
        this.head.flush()
        this.trie!.advance(this.head.newest!.header.number)
      }
      if (isDue || isReplacing) this.commit()
      this.adoptHashed()
    } catch (error) {
      this.giveUp(error)
    }
    await this.ahead?.keepPace()
  }

  /** Commits what was applied, with the position. */
  commit(): void {
    if (this.appliedPosition !== this.committedPosition) {
      this.head.begin()
      writePosition(this.meta, this.appliedPosition, this.head.newest?.hash)
    }
    this.head.commit()
    this.committedPosition = this.appliedPosition
    this.committedNewest = this.head.newest
  }

  /** Advances the state trie towards the head, in a transaction of its own. @returns true when more is left; while
   *  another thread hashes it, a promise that resolves when there is more to do here
   *  @throws StateRootDiffers */
  workOnTrie(): boolean | Promise<void> {
    this.commit()
    const number = this.committedNewest?.header.number
    if (!this.trie || number === undefined) return false
    try {
      if (this.adoptHashed()) return this.trie.block.number < number
      this.ahead?.finish()
      if (this.ahead?.isActive) return this.ahead.caughtUp()
      if (this.trie.block.number >= number) return false
      this.head.begin()
      this.trie.advance(nextTrieBlock(this.trie, number))
      this.head.commit()
    } catch (error) {
      this.giveUp(error)
    }
    return this.trie.block.number < number
  }

  private isStored({ number, hash }: BlockRef): boolean {
    const held = this.reader.blockHash(number)
    return held !== undefined && equalBytes(held, hash)
  }

  private append({ block, parts, encodedState, entries = [] }: VerifiedBlock, isBehind: boolean): void {
    const { changes, appearances, blockAccessList } = parts
    const { number } = block.header
    if (this.keepsAppearances && !appearances) {
      this.log.warn(
        { block: number },
        "the writer keeps no address index, so this replica ends its own; 'cairn reindex' makes it",
      )
      this.keepsAppearances = false
    }
    if (this.sparse) for (const entry of entries) this.sparse.add(entry)
    const stored = {
      ...parts,
      changes: this.keepsState || this.sparse?.hasState ? requireChanges(number, changes) : undefined,
      appearances: this.keepsAppearances ? appearances : undefined,
      blockAccessList: this.chain.keepsAccessLists ? blockAccessList : undefined,
    }
    if (stored.changes) this.sparse?.requireBase(number, packChanges(stored.changes))
    this.head.append(block, stored, { isAtTip: !isBehind })
    if (stored.changes) this.sparse?.advance(block)
    if (isBehind && this.ahead?.isActive && this.ahead.noted === number - 1) this.ahead.note(number, encodedState)
  }

  private isTrieDue(isBehind: boolean) {
    const most = isBehind ? this.trieInterval : Math.min(TIP_INTERVAL, this.trieInterval)
    return this.trie && !this.ahead?.isActive && this.head.newest!.header.number - this.trie.block.number >= most
  }

  /** Checks that the blocks link to `parent` and to each other. */
  private async verifyLinks(blocks: readonly VerifiedBlock[], first: Head | undefined): Promise<void> {
    const headers = new Map(blocks.map(({ block: { header } }) => [header.number, header]))
    const earlier = (number: number) => headers.get(number) ?? this.reader.blockByNumber(number)?.header
    let parent = first
    for (const { block, parts } of blocks) {
      const { number } = block.header
      if (parent) verifyLink(block, parts.totalDifficulty, parent, { spec: this.spec, earlier })
      else await verifyFirst(block, this.chain)
      if (this.keepsState) requireChanges(number, parts.changes)
      parent = { hash: block.hash, header: block.header, totalDifficulty: parts.totalDifficulty }
    }
  }

  /** Checks a change set. @returns a function that writes it and waits until its blocks are verified. `isAlone`:
   *  nothing else is in its transaction, so its blocks are written while another thread still verifies them. */
  private async verifyUnit(
    { unit, position: { stream, epoch }, blocks: checks }: UnitToApply,
    { isBehind, isAlone }: { isBehind: boolean; isAlone: boolean },
  ): Promise<() => unknown> {
    if (this.appliedPosition?.stream === stream && epoch < this.appliedPosition.epoch)
      throw new StaleEpoch(epoch, this.appliedPosition.epoch)
    this.requireEntries(unit)
    if (unit.kind === 'epoch') return () => {}
    if (unit.kind === 'state') return () => this.addState(unit)
    if (unit.kind === 'finality') return () => this.head.raiseFinality(unit.finality)
    const { ancestor, blocks, finality } = unit
    let held = 0
    while (held < blocks.length && this.isStored(blocks[held])) held++
    if (held > 0 && held === blocks.length) return () => this.raise(finality)
    const waiting = checks.slice(held)
    const isEarly = isAlone && waiting.every(({ approved }) => approved)
    const added = await Promise.all(waiting.map((each) => (isEarly ? each.decoded!() : each.verified())))
    const last: BlockRef | undefined = held > 0 ? blocks[held - 1] : ancestor
    const isReplacing = ancestor !== undefined && last !== undefined
    await this.verifyLinks(added, isReplacing ? this.requireAncestor(last) : this.head.newest)
    return () => {
      if (isReplacing) {
        if (!this.head.isFinalityStored()) this.raise(finality, last.number)
        this.rewind(last.number)
      }
      for (const each of added) this.append(each, isBehind)
      this.raise(finality)
      return isEarly ? Promise.all(waiting.map((each) => each.approved!())) : undefined
    }
  }

  /** @throws StateEntriesMissing, StateModeDiffers */
  private requireEntries({ state }: UnitToApply['unit']): void {
    if (state !== undefined) {
      if (this.keepsState)
        throw new StateModeDiffers('the writer has sparse state: begin the replica with --state sparse')
      this.sparse?.requireBefore(state.before)
      if (!this.sparse && !this.isStateNoted) {
        this.log.warn({}, 'the writer has sparse state and this replica none: a snapshot of the writer has both')
        this.isStateNoted = true
      }
    } else if (this.sparse) {
      throw new StateModeDiffers('the writer has no sparse state: begin the replica without --state sparse')
    }
  }

  /** Adds what was added to sparse state between two blocks. */
  private addState({ head, payload }: Extract<UnitToApply['unit'], { kind: 'state' }>): void {
    if (!this.sparse) return
    const entry = decodeStateMessage(payload)
    if (this.sparse.has(entry)) return
    // Blocks of this replica that were not published.
    if (this.head.newest && head.number < this.head.newest.header.number)
      this.rewind(this.requireAncestor(head).header.number)
    this.sparse.add(entry)
  }

  private rewind(number: number): void {
    const learned = this.sparse?.beforeRemoval(number) ?? []
    this.head.rewind(number)
    this.sparse?.afterRemoval(learned)
  }

  private raise(reported: Finality | undefined, most: number = Number.POSITIVE_INFINITY): void {
    if (!reported) return
    this.head.raiseFinality({ safe: Math.min(reported.safe, most), finalized: Math.min(reported.finalized, most) })
  }

  private requireAncestor(ancestor: BlockRef): Head {
    if (!this.isStored(ancestor)) throw new UnknownAncestor(ancestor, this.reader.blockHash(ancestor.number))
    const { hash, header, totalDifficulty } = this.reader.blockByNumber(ancestor.number)!
    return { hash, header, totalDifficulty }
  }

  /** Stores a trie that was hashed in another thread, with everything that is applied. @returns false when no result
   *  is available */
  private adoptHashed(): boolean {
    const hashed = this.ahead?.take()
    if (hashed === undefined) return false
    this.head.begin()
    this.trie!.adopt(hashed)
    this.commit()
    this.ahead!.stored()
    return true
  }

  private giveUp(error: unknown): never {
    this.appliedPosition = this.committedPosition
    withoutHiding(error, () => {
      this.ahead?.clear()
      this.head.rollback()
    })
  }

  /** Starts the collection of changes in the other thread, unless it is at the head already. */
  private async beginNoting(): Promise<void> {
    if (
      !this.ahead ||
      this.head.inTransaction ||
      (this.ahead.isActive && this.ahead.noted === this.committedNewest?.header.number)
    )
      return
    for (let more = this.workOnTrie(); more; more = this.workOnTrie()) await more
    this.ahead.begin()
  }
}

/** @throws StateChangesMissing */
function requireChanges<T>(blockNumber: number, changes: T | undefined): T {
  if (changes === undefined) throw new StateChangesMissing(blockNumber)
  return changes
}

/** @throws InvalidBlock unless the block links to `parent` */
function verifyLink(
  { hash, header }: Block,
  totalDifficulty: bigint,
  parent: Head,
  { spec, earlier }: { spec: ChainSpec; earlier: EarlierHeader },
): void {
  const { number, timestamp, difficulty } = header
  verifyHeader(header, hash, parent, rulesAt(spec, number, timestamp, parent.totalDifficulty), spec, earlier)
  const expected = parent.totalDifficulty + difficulty
  if (totalDifficulty === expected) return
  const [check, actual] = ['total difficulty', String(totalDifficulty)]
  throw new InvalidBlock({ blockNumber: number, blockHash: hash, check, expected: String(expected), actual })
}

/** Checks the first block of a chain without state: block 0 must be the genesis; the parent of any other block is
 *  not known. */
async function verifyFirst({ hash, header }: Block, chain: WritableChain): Promise<void> {
  if (header.number !== 0) return
  const genesis = await chain.genesisBlock()
  if (equalBytes(genesis.hash, hash)) return
  const [expected, actual] = [genesis.hash, hash].map(formatData)
  throw new InvalidBlock({ blockNumber: 0, blockHash: hash, check: 'genesis hash', expected, actual })
}
