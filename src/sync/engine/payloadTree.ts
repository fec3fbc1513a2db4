import { keyOfBytes } from '../../lib/bytes.js'
import type { RawBlock } from '../../sources/source.js'

/** Why a block is invalid. */
export interface InvalidVerdict {
  /** Hash of the last valid block before it, 32 bytes; zero for a block with work, undefined where it is not known. */
  readonly latestValidHash: Uint8Array | undefined
  readonly problem: string
}

/** The blocks from one that is stored to another. */
export type PayloadBranch =
  | { readonly kind: 'linked'; readonly blocks: readonly RawBlock[] }
  /** `missing`: hash of the first block that is not known. */
  | { readonly kind: 'broken'; readonly missing: Uint8Array; readonly blocks: readonly RawBlock[] }

interface Entry {
  readonly raw: RawBlock
  readonly sizeBytes: number
  isValid: boolean
}

/** Blocks that are not final, mainnet's for seven times as long as finality takes. */
const MAX_PAYLOADS = 1024
// Encoded size. Decoded blocks take about three times as much.
const MAX_BYTES = 96 * 2 ** 20
// Hash and reason of each.
const MAX_INVALID = 1024

/** Payloads that are not final, by hash. At the bounds the oldest are dropped: the consensus client sends them again,
 *  or the gap is filled. */
export class PayloadTree {
  private readonly entries = new Map<string, Entry>()
  private readonly refusals = new Map<string, InvalidVerdict>()
  private readonly maxPayloads: number
  private readonly maxBytes: number
  private bytes = 0

  constructor({ maxPayloads = MAX_PAYLOADS, maxBytes = MAX_BYTES }: { maxPayloads?: number; maxBytes?: number } = {}) {
    this.maxPayloads = maxPayloads
    this.maxBytes = maxBytes
  }

  get size(): number {
    return this.entries.size
  }

  /** Encoded size of the blocks. */
  get sizeBytes(): number {
    return this.bytes
  }

  add(raw: RawBlock, sizeBytes: number): void {
    const key = keyOfBytes(raw.block.hash)
    if (this.entries.has(key) || sizeBytes > this.maxBytes) return
    this.entries.set(key, { raw, sizeBytes, isValid: false })
    this.bytes += sizeBytes
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.maxPayloads && this.bytes <= this.maxBytes) return
      this.remove(oldest)
    }
  }

  get(hash: Uint8Array): RawBlock | undefined {
    return this.entries.get(keyOfBytes(hash))?.raw
  }

  /** Marks a block as executed. */
  validate(hash: Uint8Array): void {
    const entry = this.entries.get(keyOfBytes(hash))
    if (entry) entry.isValid = true
  }

  /** True for a block that was executed. */
  isValid(hash: Uint8Array): boolean {
    return this.entries.get(keyOfBytes(hash))?.isValid ?? false
  }

  /** Marks a block as invalid, and drops it. */
  invalidate(hash: Uint8Array, refusal: InvalidVerdict): void {
    const key = keyOfBytes(hash)
    this.remove(key)
    this.refusals.delete(key)
    this.refusals.set(key, refusal)
    const [oldest] = this.refusals.keys()
    if (this.refusals.size > MAX_INVALID) this.refusals.delete(oldest)
  }

  /** Returns why a block, or its parent, is invalid: a child of an invalid block is marked as invalid too. */
  refusalOf(hash: Uint8Array, parentHash?: Uint8Array): InvalidVerdict | undefined {
    const own = this.refusals.get(keyOfBytes(hash))
    if (own !== undefined || parentHash === undefined) return own
    const inherited = this.refusals.get(keyOfBytes(parentHash))
    if (inherited !== undefined) this.invalidate(hash, inherited)
    return inherited
  }

  /** Returns the blocks up to `hash`, in ascending order, from the first one whose parent is stored. */
  branchTo(hash: Uint8Array, isStored: (hash: Uint8Array) => boolean): PayloadBranch {
    const blocks: RawBlock[] = []
    for (let at = hash; !isStored(at); ) {
      const raw = this.get(at)
      if (raw === undefined) return { kind: 'broken', missing: at, blocks: blocks.reverse() }
      blocks.push(raw)
      at = raw.block.header.parentHash
    }
    return { kind: 'linked', blocks: blocks.reverse() }
  }

  /** Drops the blocks up to a final one. */
  finalize(blockNumber: number): void {
    for (const [key, { raw }] of this.entries) if (raw.block.header.number <= blockNumber) this.remove(key)
  }

  private remove(key: string): void {
    const entry = this.entries.get(key)
    if (entry === undefined) return
    this.entries.delete(key)
    this.bytes -= entry.sizeBytes
  }
}
