import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import { createSemaphore } from '../../lib/semaphore.js'
import type { RawBlock } from '../../sources/source.js'
import { StateNotAtUpstream, UpstreamError } from '../../sources/upstreams/errors.js'
import { createBlockAppender } from '../blockAppender.js'
import type { WritableChain } from '../chainState.js'
import type { Head } from '../head/chainHead.js'
import { replaceBranch } from '../head/reorg.js'
import { EngineRefusal, InvalidPayload } from './errors.js'
import { type DecodedPayload, decodePayload, type PayloadParams } from './payload.js'
import { type InvalidVerdict, PayloadTree } from './payloadTree.js'
import { removedBlocks } from './removedBlocks.js'
import { accepted, invalid, type PayloadStatus, syncing, valid } from './statuses.js'

/** The hashes of a fork choice, 32 bytes each; undefined for zero. */
export interface ForkChoice {
  readonly head: Uint8Array
  readonly safe: Uint8Array | undefined
  readonly finalized: Uint8Array | undefined
}

interface EngineChainOptions {
  readonly log: Logger
  /** Called with a fork choice whose head cannot be reached without blocks that are not known. `missing`: hash of the
   *  newest of them. */
  onGap(choice: ForkChoice, missing: Uint8Array): void
  /** Returns a block with its receipts, for a chain that does not execute. Default: none is asked. */
  fetchReceipts?(raw: RawBlock): Promise<RawBlock | undefined>
  readonly tree?: PayloadTree
}

// A provisional block keeps the database locked for other writers, such as `cairn keys`. Consensus clients send the
// fork choice within milliseconds of the answer.
const PROVISIONAL_MS = 2000

/** Applies payloads and fork choices of a consensus client to a chain, one at a time. A payload that extends the newest
 *  block is executed and stays provisional: the fork choice commits it. */
export class EngineChain {
  readonly tree: PayloadTree
  private readonly chain: WritableChain
  private readonly log: Logger
  private readonly options: EngineChainOptions
  private readonly turn = createSemaphore(1)
  private running = 0
  private provisionalTimer: NodeJS.Timeout | undefined
  private released = () => {}
  private readonly waitingForRelease: (() => void)[] = []

  constructor(chain: WritableChain, options: EngineChainOptions) {
    this.chain = chain
    this.log = options.log
    this.options = options
    this.tree = options.tree ?? new PayloadTree()
  }

  /** True while a request is processed or a block is provisional: nothing else may write. */
  get isBusy(): boolean {
    return this.running > 0 || this.chain.head.isProvisional
  }

  /** Runs work that writes the chain, after the requests before it. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.running++
    return this.turn.run(work).finally(() => {
      this.running--
      if (!this.isBusy) this.notifyRelease()
    })
  }

  /** Resolves when nothing is processed and no block is provisional. */
  async untilIdle(): Promise<void> {
    while (this.isBusy) await new Promise<void>((resolve) => this.waitingForRelease.push(resolve))
  }

  /** Calls `onRelease` whenever other work may write. */
  onRelease(onRelease: () => void): void {
    this.released = onRelease
  }

  /** Discards provisional blocks. */
  release(): void {
    clearTimeout(this.provisionalTimer)
    if (this.chain.head.isProvisional) this.chain.head.rollback()
    if (!this.isBusy) this.notifyRelease()
  }

  /** Decodes a payload, and executes it where it extends the newest block (Engine API, payload validation). @throws
   *  DecodeError for malformed parameters; what reading and writing the database throws */
  newPayload(params: PayloadParams): Promise<PayloadStatus> {
    return this.exclusively(async () => {
      let decoded: DecodedPayload
      try {
        decoded = decodePayload(params)
      } catch (error) {
        if (error instanceof InvalidPayload) return invalid({ latestValidHash: undefined, problem: error.message })
        throw error
      }
      return this.place(decoded)
    })
  }

  /** Makes a block the newest one, with a reorg if need be, and stores the safe and finalized blocks, in one
   *  transaction. @throws EngineRefusal when it cannot be applied; what reading and writing the database throws */
  forkchoiceUpdated(choice: ForkChoice): Promise<PayloadStatus> {
    return this.exclusively(() => this.choose(choice))
  }

  private notifyRelease(): void {
    for (const resolve of this.waitingForRelease.splice(0)) resolve()
    this.released()
  }

  private isCanonical = (hash: Uint8Array): boolean => this.chain.reader.blockNumberByHash(hash) !== undefined

  private async place({ raw, sizeBytes }: DecodedPayload): Promise<PayloadStatus> {
    const { chain, tree } = this
    const { hash, header } = raw.block
    const { parentHash } = header
    const executes = executesBlocks(chain)
    if (this.isCanonical(hash) || tree.isValid(hash)) return executes ? valid(hash) : syncing()
    const refusal = tree.refusalOf(hash, parentHash)
    if (refusal) return invalid(refusal)
    const { newest } = chain.head
    const parentNumber = chain.reader.blockNumberByHash(parentHash)
    const isFinal = parentNumber !== undefined && parentNumber < chain.head.finality().finalized
    if (!isFinal) tree.add(raw, sizeBytes)
    if (!executes) return syncing()
    if (newest && equalBytes(newest.hash, parentHash)) return this.extend(raw)
    if (this.isBelowProvisional(parentHash)) {
      this.release()
      return this.extend(raw)
    }
    if (parentNumber !== undefined) return accepted()
    const branch = tree.branchTo(parentHash, this.isCanonical)
    if (branch.kind === 'linked') return accepted()
    const inherited = tree.refusalOf(branch.missing)
    return inherited ? this.refuseAll([...branch.blocks, raw], inherited) : syncing()
  }

  /** True for the newest committed block, while blocks on top of it are provisional. */
  private isBelowProvisional(hash: Uint8Array): boolean {
    const { head, reader } = this.chain
    const below = head.provisionalFrom === undefined ? undefined : reader.blockHash(head.provisionalFrom - 1)
    return below !== undefined && equalBytes(below, hash)
  }

  /** Executes a block on top of the newest one, and keeps it provisional. */
  private async extend(raw: RawBlock): Promise<PayloadStatus> {
    const { head } = this.chain
    const { hash, header } = raw.block
    const parent = head.newest!
    const wasProvisional = head.isProvisional
    const appender = createBlockAppender(this.chain, { tipFrom: header.number })
    try {
      await appender.take(raw, 1)
      await appender.flush()
    } catch (error) {
      if (!wasProvisional) head.rollback()
      if (isMissing(error)) return syncing()
      if (!(error instanceof InvalidBlock)) throw error
      return invalid(this.refuse(error, parent))
    }
    this.tree.validate(hash)
    head.keepProvisional()
    clearTimeout(this.provisionalTimer)
    this.provisionalTimer = setTimeout(() => this.releaseWhenIdle(), PROVISIONAL_MS)
    return valid(hash)
  }

  private releaseWhenIdle(): void {
    if (this.running === 0) this.release()
    else this.provisionalTimer = setTimeout(() => this.releaseWhenIdle(), PROVISIONAL_MS)
  }

  /** Marks a block as invalid: its parent is the newest valid one. */
  refuse(error: InvalidBlock, parent: Pick<Head, 'hash' | 'header'> = this.chain.head.newest!): InvalidVerdict {
    const isAccessList = error.check.startsWith('block access list')
    const latest = parent.header.difficulty > 0n ? new Uint8Array(32) : parent.hash
    const refusal = { latestValidHash: isAccessList ? undefined : latest, problem: error.message }
    this.tree.invalidate(error.blockHash, refusal)
    this.log.warn({ block: error.blockNumber, check: error.check, error: error.message }, 'invalid payload')
    return refusal
  }

  /** Marks blocks as invalid, since an ancestor is. */
  private refuseAll(blocks: readonly RawBlock[], refusal: InvalidVerdict): PayloadStatus {
    for (const { block } of blocks) this.tree.invalidate(block.hash, refusal)
    return invalid(refusal)
  }

  private async choose(choice: ForkChoice): Promise<PayloadStatus> {
    const { chain, tree } = this
    const { head } = chain
    const refusal = tree.refusalOf(choice.head)
    if (refusal) return invalid(refusal)
    if (head.newest && equalBytes(head.newest.hash, choice.head)) return this.confirm(choice)
    this.release()
    if (this.isCanonical(choice.head)) return this.answerValid(choice.head) // an ancestor of the newest block
    const branch = tree.branchTo(choice.head, this.isCanonical)
    if (branch.kind === 'broken') {
      const inherited = tree.refusalOf(branch.missing)
      if (inherited) return this.refuseAll(branch.blocks, inherited)
      this.requireFinalized(branch.blocks)
      this.options.onGap(choice, branch.missing)
      return syncing()
    }
    const blocks = await this.completed(branch.blocks)
    if (blocks === undefined) return syncing()
    const ancestor = chain.reader.blockNumberByHash(blocks[0].block.header.parentHash)!
    const { finalized } = head.finality()
    if (ancestor < finalized) {
      throw new EngineRefusal(
        'too deep reorg',
        `the branch begins after block ${ancestor}, block ${finalized} is finalized`,
      )
    }
    return this.adopt(blocks, ancestor, choice)
  }

  /** Requires that blocks whose first parent is unknown may descend from the finalized block. @throws EngineRefusal */
  private requireFinalized([oldest]: readonly RawBlock[]): void {
    const { finalized } = this.chain.head.finality()
    if (oldest === undefined || oldest.block.header.number > finalized + 1) return
    throw new EngineRefusal(
      'invalid fork choice',
      `the branch of the head does not have the finalized block ${finalized}`,
    )
  }

  private answerValid(hash: Uint8Array): PayloadStatus {
    return this.chain.executor ? valid(hash) : syncing()
  }

  /** Returns the blocks as the chain needs them: with receipts where they are not executed. */
  private async completed(blocks: readonly RawBlock[]): Promise<RawBlock[] | undefined> {
    if (executesBlocks(this.chain)) return [...blocks]
    const whole: RawBlock[] = []
    for (const raw of blocks) {
      const found = await this.options.fetchReceipts?.(raw)
      if (found === undefined) return undefined
      whole.push(found)
    }
    return whole
  }

  /** Makes `blocks`, which begin after a stored block, the end of the chain. */
  private async adopt(blocks: readonly RawBlock[], ancestor: number, choice: ForkChoice): Promise<PayloadStatus> {
    const { chain, tree } = this
    const { head } = chain
    const own = head.newest!.header.number
    const startedMs = performance.now()
    chain.sparse?.resumeAt(blocks[blocks.length - 1].block.header.number)
    for (const { raw, sizeBytes } of removedBlocks(chain.reader, ancestor + 1)) {
      tree.add(raw, sizeBytes)
      if (chain.executor) tree.validate(raw.block.hash)
    }
    let problem: EngineRefusal | undefined
    const accepts = () => {
      problem = this.raiseFinality(choice)
      return problem === undefined
    }
    try {
      await replaceBranch(chain, ancestor, inTurns(blocks), { length: blocks.length, accepts })
    } catch (error) {
      if (isMissing(error)) return syncing()
      if (!(error instanceof InvalidBlock)) throw error
      const at = blocks.findIndex(({ block }) => equalBytes(block.hash, error.blockHash))
      const parent = at > 0 ? blocks[at - 1].block : chain.reader.blockByNumber(ancestor)!
      return this.refuseAll(blocks.slice(at + 1), this.refuse(error, parent))
    }
    if (problem) throw problem
    for (const { block } of blocks) tree.validate(block.hash)
    this.dropFinal()
    if (own > ancestor) {
      const ms = Math.round(performance.now() - startedMs)
      const number = head.newest!.header.number
      this.log.info({ ancestor, removed: own - ancestor, added: number - ancestor, head: number, ms }, 'reorg')
    }
    return this.answerValid(choice.head)
  }

  /** Commits the provisional blocks, if there are any, with the safe and finalized blocks. */
  private confirm(choice: ForkChoice): PayloadStatus {
    const { head } = this.chain
    const problem = this.raiseFinality(choice)
    if (problem) {
      this.release()
      throw problem
    }
    clearTimeout(this.provisionalTimer)
    head.confirm()
    this.dropFinal()
    return this.answerValid(choice.head)
  }

  /** Sets the safe and finalized blocks in the transaction. @returns why they cannot be set */
  private raiseFinality({ safe, finalized }: ForkChoice): EngineRefusal | undefined {
    const { head } = this.chain
    const numbers = { safe: -1, finalized: -1 }
    for (const [name, hash] of [['finalized', finalized] as const, ['safe', safe] as const]) {
      if (hash === undefined) continue
      const number = this.chain.reader.blockNumberByHash(hash)
      const problem = `the ${name} block ${formatData(hash)} is not in the chain of the head`
      if (number === undefined) return new EngineRefusal('invalid fork choice', problem)
      numbers[name] = number
    }
    if (head.isFinalityStored() || numbers.safe >= 0 || numbers.finalized >= 0) head.raiseFinality(numbers)
    return undefined
  }

  private dropFinal(): void {
    this.tree.finalize(this.chain.head.finality().finalized)
  }
}

/** True for a chain that executes its next block: with sparse state, only while the newest state is known. */
export function executesBlocks({ executor, sparse }: WritableChain): boolean {
  return executor !== undefined && sparse?.hasState !== false
}

/** Yields blocks with a turn of the event loop between them, so that messages are received. */
async function* inTurns(blocks: readonly RawBlock[]): AsyncGenerator<RawBlock> {
  for (const raw of blocks) {
    yield raw
    await yieldToEventLoop()
  }
}

/** True for an error after which the same block may be executed later: state that no upstream returned. */
function isMissing(error: unknown): boolean {
  return error instanceof UpstreamError || error instanceof StateNotAtUpstream
}
