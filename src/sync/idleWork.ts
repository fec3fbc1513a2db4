import { yieldToEventLoop } from '../lib/pause.js'
import type { Checkpoints } from '../store/checkpoints.js'
import type { WritableChain } from './chainState.js'

// Longest delay of the next block by index work.
const INDEX_SLICE_MS = 3

/** What a writer at the head does while no block waits: index work, moving state rows, making tries readable. */
export class IdleWork {
  private readonly chain: WritableChain
  private readonly checkpoints: Checkpoints | undefined
  private indexesDue = true
  private moveDue = false
  private triesDue = true

  constructor(chain: WritableChain, checkpoints: Checkpoints | undefined) {
    this.chain = chain
    this.checkpoints = checkpoints
  }

  /** Notes that blocks were stored. */
  blocksStored(): void {
    this.indexesDue = true
    this.moveDue ||= this.chain.head.isMoveDue()
    this.triesDue = true
  }

  /** True while there is something to do. */
  get isDue(): boolean {
    return this.indexesDue || this.moveDue || this.triesDue
  }

  /** Does a slice of the work, in a transaction of its own. */
  async step(): Promise<void> {
    if (this.indexesDue) this.indexesDue = this.chain.head.workOnIndexes(INDEX_SLICE_MS)
    else if (this.moveDue) this.moveDue = this.chain.head.moveRecentState()
    else this.triesDue = this.chain.workOnTries()
    await this.checkpoints?.afterCommit()
    await yieldToEventLoop()
  }
}
