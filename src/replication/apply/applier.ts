import { type ChainSpec, rulesAt } from '../../chain/eth/forks.js'
import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import type { Block } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import { withoutHiding } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import type { Database } from '../../store/database.js'
import { createMetaTable } from '../../store/meta.js'
import { type ReplicaPosition, readPosition, writePosition } from '../../store/replication/position.js'
import type { Finality } from '../../store/rows/types.js'
import type { WritableChain } from '../../sync/chainState.js'
import type { Head } from '../../sync/head/chainHead.js'
import type { BlockRef } from '../../sync/head/events.js'
import { nextTrieBlock } from '../../sync/head/lazyTrie.js'
import { verifyHeader } from '../../sync/validate/header.js'
import type { PositionedUnit } from '../codec/types.js'
import { createCatchUpTrie, type RemoteTrieHasher } from './catchUpTrie.js'
import { StaleEpoch, StateChangesMissing, UnknownAncestor } from './errors.js'
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

/** Writes the chain of a replica. */
export interface Applier {
  /** The committed position in the source. Undefined in a new replica, and after a rewind, an import or a leader
   *  session changed the chain. */
  readonly position: ReplicaPosition | undefined
  /** The newest committed block. */
  readonly newest: Head | undefined
  /** Applies a change set atomically. Blocks on top of the head join the open transaction. A change set that removes
   *  blocks is committed, as is what was applied before it. A change set whose blocks are all stored changes only the
   *  position.
   *  @param isBehind many more are queued: another thread, if any, collects the state trie's changes over many blocks,
   *    and the trie is at no block in between
   *  @throws InvalidBlock, UnknownAncestor, ReorgBelowFinalized, StateChangesMissing, StaleEpoch when the change set
   *    is refused: what was applied before it is committed. StateRootDiffers: the open transaction is rolled back */
  apply(unit: UnitToApply, options?: { isBehind?: boolean }): Promise<void>
  /** Commits what was applied, with the position. */
  commit(): void
  /** Advances the state trie towards the head, in a transaction of its own. @returns true when more is left; while
   *  another thread hashes it, a promise that resolves when there is more to do here
   *  @throws StateRootDiffers */
  workOnTrie(): boolean | Promise<void>
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

/** Creates an applier over a chain that was opened with `lazyTrie`. */
export function createApplier(
  db: Database,
  chain: WritableChain,
  { log, trieInterval, hasher }: ApplierOptions,
): Applier {
  const { head, reader, spec, trie } = chain
  const ahead = trie && hasher && createCatchUpTrie(trie, hasher, { interval: trieInterval, log })
  const meta = createMetaTable(db)
  let position = readPosition(meta, head.newest?.hash)
  let stored = position
  let { newest } = head
  let { keepsAppearances } = chain
  const keepsState = chain.stateMode === 'execute'

  const commit = () => {
    if (position !== stored) {
      head.begin()
      writePosition(meta, position, head.newest?.hash)
    }
    head.commit()
    stored = position
    newest = head.newest
  }
  const isStored = ({ number, hash }: BlockRef) => {
    const held = reader.blockHash(number)
    return held !== undefined && equalBytes(held, hash)
  }
  const append = ({ block, parts, encodedState }: VerifiedBlock, isBehind: boolean) => {
    const { changes, appearances, blockAccessList } = parts
    const { number } = block.header
    if (keepsAppearances && !appearances) {
      log.warn(
        { block: number },
        "the writer keeps no address index, so this replica ends its own; 'cairn reindex' makes it",
      )
      keepsAppearances = false
    }
    const stored = {
      ...parts,
      changes: keepsState ? changes : undefined,
      appearances: keepsAppearances ? appearances : undefined,
      blockAccessList: chain.keepsAccessLists ? blockAccessList : undefined,
    }
    head.append(block, stored, { isAtTip: !isBehind })
    if (isBehind && ahead?.isActive && ahead.noted === number - 1) ahead.note(number, encodedState)
  }
  const isTrieDue = (isBehind: boolean) => {
    const most = isBehind ? trieInterval : Math.min(TIP_INTERVAL, trieInterval)
    return trie && !ahead?.isActive && head.newest!.header.number - trie.block.number >= most
  }
  /** Checks that the blocks link to `parent` and to each other. */
  const verifyLinks = async (blocks: readonly VerifiedBlock[], first: Head | undefined) => {
    let parent = first
    for (const { block, parts } of blocks) {
      const { number } = block.header
      if (parent) verifyLink(block, parts.totalDifficulty, parent, spec)
      else await verifyFirst(block, chain)
      if (keepsState && !parts.changes) throw new StateChangesMissing(number)
      parent = { hash: block.hash, header: block.header, totalDifficulty: parts.totalDifficulty }
    }
  }
  /** Checks a change set. @returns a function that writes it and waits until its blocks are verified. `isAlone`:
   *  nothing else is in its transaction, so its blocks are written while another thread still verifies them. */
  const prepare = async (
    { unit, position: { stream, epoch }, blocks: checks }: UnitToApply,
    { isBehind, isAlone }: { isBehind: boolean; isAlone: boolean },
  ): Promise<() => unknown> => {
    if (position?.stream === stream && epoch < position.epoch) throw new StaleEpoch(epoch, position.epoch)
    if (unit.kind === 'epoch') return () => {}
    if (unit.kind === 'finality') return () => head.raiseFinality(unit.finality)
    const { ancestor, blocks, finality } = unit
    let held = 0
    while (held < blocks.length && isStored(blocks[held])) held++
    if (held > 0 && held === blocks.length) return () => raise(finality)
    const waiting = checks.slice(held)
    const isEarly = isAlone && waiting.every(({ approved }) => approved)
    const added = await Promise.all(waiting.map((each) => (isEarly ? each.decoded!() : each.verified())))
    const last: BlockRef | undefined = held > 0 ? blocks[held - 1] : ancestor
    const isReplacing = ancestor !== undefined && last !== undefined
    await verifyLinks(added, isReplacing ? requireAncestor(last) : head.newest)
    return () => {
      if (isReplacing) {
        if (!head.isFinalityStored()) raise(finality, last.number)
        head.rewind(last.number)
      }
      for (const each of added) append(each, isBehind)
      raise(finality)
      return isEarly ? Promise.all(waiting.map((each) => each.approved!())) : undefined
    }
  }
  const raise = (reported: Finality | undefined, most = Number.POSITIVE_INFINITY) => {
    if (!reported) return
    head.raiseFinality({ safe: Math.min(reported.safe, most), finalized: Math.min(reported.finalized, most) })
  }
  const requireAncestor = (ancestor: BlockRef): Head => {
    if (!isStored(ancestor)) throw new UnknownAncestor(ancestor, reader.blockHash(ancestor.number))
    const { hash, header, totalDifficulty } = reader.blockByNumber(ancestor.number)!
    return { hash, header, totalDifficulty }
  }
  /** Stores a trie that was hashed in another thread, with everything that is applied. @returns false when no result
   *  is available */
  const adoptHashed = (): boolean => {
    const hashed = ahead?.take()
    if (hashed === undefined) return false
    head.begin()
    trie!.adopt(hashed)
    commit()
    ahead!.stored()
    return true
  }
  const giveUp = (error: unknown): never => {
    position = stored
    withoutHiding(error, () => {
      ahead?.forget()
      head.rollback()
    })
  }
  const workOnTrie = (): boolean | Promise<void> => {
    commit()
    const number = newest?.header.number
    if (!trie || number === undefined) return false
    try {
      if (adoptHashed()) return trie.block.number < number
      ahead?.finish()
      if (ahead?.isActive) return ahead.settled()
      if (trie.block.number >= number) return false
      head.begin()
      trie.advance(nextTrieBlock(trie, number))
      head.commit()
    } catch (error) {
      giveUp(error)
    }
    return trie.block.number < number
  }
  /** Starts the collection of changes in the other thread, unless it is at the head already. */
  const beginNoting = async () => {
    if (!ahead || head.inTransaction || (ahead.isActive && ahead.noted === newest?.header.number)) return
    for (let more = workOnTrie(); more; more = workOnTrie()) await more
    ahead.begin()
  }
  const apply = async (next: UnitToApply, { isBehind = false } = {}) => {
    if (isBehind) await beginNoting()
    const isReplacing = next.unit.kind === 'blocks' && next.unit.ancestor !== undefined
    if (isReplacing) commit()
    let write: () => unknown
    try {
      write = await prepare(next, { isBehind, isAlone: !isBehind && !head.inTransaction })
    } catch (error) {
      withoutHiding(error, commit)
    }
    if (isReplacing) ahead?.forget()
    try {
      await write()
      position = next.position
      const isDue = isTrieDue(isBehind)
      if (isDue) {
        head.flush()
        trie!.advance(head.newest!.header.number)
      }
      if (isDue || isReplacing) commit()
      adoptHashed()
    } catch (error) {
      giveUp(error)
    }
    await ahead?.keepPace()
  }
  return {
    get position() {
      return stored
    },
    get newest() {
      return newest
    },
    commit,
    apply,
    workOnTrie,
  }
}

/** @throws InvalidBlock unless the block links to `parent` */
function verifyLink({ hash, header }: Block, totalDifficulty: bigint, parent: Head, spec: ChainSpec): void {
  const { number, timestamp, difficulty } = header
  verifyHeader(header, hash, parent, rulesAt(spec, number, timestamp, parent.totalDifficulty), spec)
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
