import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { equalBytes } from '../../lib/bytes.js'
import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { RawBlock } from '../../sources/source.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import { TRIE_HISTORY_BLOCKS } from '../../store/state/trieHistory.js'
import type { WritableChain } from '../chainState.js'
import { completeAncestors, completeFirst } from '../follow/firstBlock.js'
import { importBlocks } from '../pipeline.js'
import { type EngineChain, executesBlocks, type ForkChoice } from './engineChain.js'

interface GapFillerParts {
  readonly chain: WritableChain
  readonly engine: EngineChain
  readonly rpc: EthRpc
  readonly checkpoints: Checkpoints
  readonly rootInterval?: number
  readonly log: Logger
  readonly signal: AbortSignal
}

// Requests of the consensus client wait for a batch.
const BATCH_BLOCKS = 32
// Blocks of a batch that are fetched at once.
const AT_ONCE = 8
// Of a branch that leaves the chain below its head, all blocks are in memory before it replaces anything.
const MAX_SIDE_BLOCKS = 512
const REPORT_HEADERS = 10_000

/** Fetches the blocks between the chain and a fork choice from upstreams: first the headers, backwards by hash from the
 *  head that the consensus client named, then the blocks of these hashes. The upstreams need not be believed. */
export class GapFiller {
  private readonly parts: GapFillerParts
  private wanted: { choice: ForkChoice; missing: Uint8Array } | undefined
  private running: Promise<void> | undefined
  private isApplying = false

  constructor(parts: GapFillerParts) {
    this.parts = parts
  }

  /** Fills the gap below block `missing` in the background, and applies the fork choice. The newest one replaces one
   *  that waits. A gap that is found while the fork choice is applied is left to the next one. */
  fill(choice: ForkChoice, missing: Uint8Array): void {
    if (this.isApplying) return
    this.wanted = { choice, missing }
    this.running ??= this.run().finally(() => {
      this.running = undefined
    })
  }

  /** Resolves when nothing is fetched any more. */
  async ended(): Promise<void> {
    await this.running
  }

  private async run(): Promise<void> {
    const { log, signal, engine } = this.parts
    while (this.wanted && !signal.aborted) {
      const { choice, missing } = this.wanted
      this.wanted = undefined
      try {
        if (!(await this.reach(choice, missing))) continue
        this.isApplying = true
        await engine.forkchoiceUpdated(choice)
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof InvalidBlock) engine.refuse(error)
        log.warn({ error: messageOf(error) }, 'the gap to the fork choice is not filled; the next one tries again')
      } finally {
        this.isApplying = false
      }
    }
  }

  /** @returns false when no upstream has the blocks */
  private async reach(choice: ForkChoice, missing: Uint8Array): Promise<boolean> {
    const { chain, engine, rpc, log, signal } = this.parts
    if (chain.head.newest === undefined && !(await this.begin(choice))) return false
    await completeAncestors(chain, rpc, signal)
    const hashes = await this.hashesDownFrom(missing)
    if (hashes === undefined) {
      log.warn({}, 'no upstream has the blocks before the fork choice')
      return false
    }
    const { ancestor, list } = hashes
    const head = chain.head.newest!.header.number
    log.info({ from: ancestor + 1, blocks: list.length }, 'filling the gap to the fork choice')
    if (ancestor < head && list.length > MAX_SIDE_BLOCKS) {
      log.warn({ ancestor, blocks: list.length }, 'the branch of the fork choice is too long to replace the chain')
      return false
    }
    const last = ancestor + list.length
    if (ancestor === head && list.length > BATCH_BLOCKS) await engine.exclusively(async () => chain.head.expect(last))
    for (let at = 0; at < list.length; at += BATCH_BLOCKS) {
      const raws = await this.fetchBlocks(list.slice(at, at + BATCH_BLOCKS))
      if (raws === undefined) return false
      if (ancestor === head) await engine.exclusively(() => this.append(raws, last))
      else for (const raw of raws) engine.tree.add(raw, raw.block.sizeBytes)
    }
    if (ancestor === head) await engine.exclusively(async () => chain.head.expect(undefined))
    return true
  }

  /** Stores the first block of an empty database: the finalized block, else the head. @returns false when no upstream
   *  has it */
  private async begin({ head, finalized }: ForkChoice): Promise<boolean> {
    const { chain, engine, rpc, signal } = this.parts
    const raw = await rpc.getBlock(finalized ?? head, signal, true)
    if (raw === undefined) return false
    const first = await completeFirst(chain, rpc, raw, signal)
    await engine.exclusively(() => this.append([first], first.block.header.number))
    return true
  }

  /** Returns the hashes from block `missing` down to the first one whose parent is stored, in ascending order, and the
   *  number of that parent; undefined when no upstream has a header, or one of the blocks is invalid. */
  private async hashesDownFrom(missing: Uint8Array): Promise<{ list: Uint8Array[]; ancestor: number } | undefined> {
    const { chain, engine, rpc, log, signal } = this.parts
    const list: Uint8Array[] = []
    let at = missing
    for (let stored = chain.reader.blockNumberByHash(at); ; stored = chain.reader.blockNumberByHash(at)) {
      if (stored !== undefined) return { list: list.reverse(), ancestor: stored }
      const refusal = engine.tree.refusalOf(at)
      if (refusal) {
        for (const hash of list) engine.tree.invalidate(hash, refusal)
        return undefined
      }
      const known = engine.tree.get(at)?.block.header
      const header = known ?? (await rpc.headerByHash(at, signal))?.header
      if (header === undefined || header.number === 0) return undefined
      list.push(at)
      if (list.length % REPORT_HEADERS === 0)
        log.info({ headers: list.length, number: header.number }, 'fetching headers')
      at = header.parentHash
    }
  }

  private async fetchBlocks(hashes: readonly Uint8Array[]): Promise<RawBlock[] | undefined> {
    const { chain, engine, rpc, signal } = this.parts
    const isExecuted = executesBlocks(chain)
    const raws: RawBlock[] = []
    for (let at = 0; at < hashes.length; at += AT_ONCE) {
      const wanted = hashes.slice(at, at + AT_ONCE)
      const found = await Promise.all(
        wanted.map((hash) => (isExecuted && engine.tree.get(hash)) || rpc.getBlock(hash, signal, !isExecuted)),
      )
      for (const [i, raw] of found.entries()) {
        if (raw === undefined || !equalBytes(raw.block.hash, wanted[i])) return undefined
        raws.push(raw)
      }
    }
    return raws
  }

  private async append(raws: readonly RawBlock[], last: number): Promise<void> {
    const { chain, engine, checkpoints, rootInterval, signal } = this.parts
    engine.release()
    chain.sparse?.resumeAt(last)
    const source = { kind: 'upstream', path: 'upstream', blocks: () => raws }
    await importBlocks(chain, source, {
      ...{ progress: { update() {} }, signal, checkpoints, rootInterval },
      tipFrom: last - TRIE_HISTORY_BLOCKS,
      finishIndexes: false,
    })
  }
}
