import { CairnError } from '../../lib/errors.js'

/** Blocks above a number cannot be removed, since there is no such block to go back to. */
export class RewindOutOfRange extends CairnError {
  readonly blockNumber: number
  constructor(blockNumber: number, held: { first: number; head: number } | undefined) {
    const range = held ? `blocks ${held.first} to ${held.head} are held` : 'no block is held'
    super(`cannot rewind to block ${blockNumber}: ${range}`)
    this.blockNumber = blockNumber
  }
}

/** A reorg would remove blocks that count as final. */
export class ReorgBelowFinalized extends CairnError {
  readonly ancestor: number
  readonly finalized: number
  constructor(ancestor: number, finalized: number) {
    super(
      `a branch that begins after block ${ancestor} would replace finalized block ${finalized}; ` +
        `'cairn rewind --to ${ancestor}' gives up the blocks above, if that is wanted`,
    )
    this.ancestor = ancestor
    this.finalized = finalized
  }
}
