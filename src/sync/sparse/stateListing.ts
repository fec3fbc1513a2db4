import type { Header } from '../../chain/eth/types.js'
import type { RawBlock } from '../../sources/source.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { decodeListed, requireAccessList } from './accessLists.js'
import { listedChanges } from './listedChanges.js'
import type { StateIntervals } from './stateIntervals.js'
import type { StateSource } from './stateSource.js'

export interface StateListingParts {
  readonly intervals: StateIntervals
  readonly reader: StateReader
  /** Where access lists are fetched from; undefined before an upstream is connected. */
  source(): StateSource | undefined
  /** Replaces the trie by the root of the newest block, within the open transaction. */
  dropTrie(block: { hash: Uint8Array; header: Header }): void
}

/** Lets the states of blocks come from their access lists (EIP-7928), without execution, while those before them cannot
 *  be had. The interval of states continues: values after such a block are known where the block changed them, or where
 *  they were known before. */
export class StateListing {
  private readonly parts: StateListingParts
  /** The last block that is listed. */
  private to: number | undefined

  constructor(parts: StateListingParts) {
    this.parts = parts
  }

  /** True while blocks are not executed. */
  get isActive(): boolean {
    return this.to !== undefined
  }

  /** The newest block whose state comes from its access list; undefined if the newest interval of states has none. */
  get last(): number | undefined {
    return this.parts.intervals.lastListed
  }

  /** Lists the next blocks up to `blockNumber`. */
  begin(blockNumber: number): void {
    this.to = blockNumber
  }

  /** Lets the next block be executed. */
  end(): void {
    this.to = undefined
  }

  /** Returns the state changes of a block on top of the newest one, by its access list, and the RLP of that, which is
   *  fetched if the block comes without. Its hash is that of the header.
   *  @throws StateNotAtUpstream when no upstream has the list; InvalidBlock for one that cannot be read */
  async changesOf(raw: RawBlock): Promise<{ changes: StateChanges; blockAccessList: Uint8Array }> {
    const { reader, intervals, source } = this.parts
    const blockAccessList = await requireAccessList(raw, source())
    const list = decodeListed(raw.block, blockAccessList)
    return { changes: listedChanges(list, reader, intervals.closed), blockAccessList }
  }

  /** Notes that a block was appended with the changes of its access list, within the open transaction. */
  appended(block: { hash: Uint8Array; header: Header }): void {
    const { number } = block.header
    this.parts.intervals.list(number)
    this.parts.dropTrie(block)
    if (this.to !== undefined && number >= this.to) this.to = undefined
  }
}
