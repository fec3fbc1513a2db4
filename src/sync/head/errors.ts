import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'

/** Blocks above a number cannot be removed, since the chain does not have the block to go back to. */
export class RewindOutOfRange extends CairnError {
  readonly blockNumber: number
  constructor(blockNumber: number, held: { first: number; head: number } | undefined) {
    const range = held ? `blocks ${held.first} to ${held.head} are available` : 'no block is available'
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

/** The state root after a block differs from its header: one of the blocks came with wrong state changes, or the
 *  database is damaged. */
export class StateRootDiffers extends CairnError {
  /** Blocks whose changes were applied since the last matching root, both inclusive. */
  readonly from: number
  readonly to: number
  constructor({
    from,
    to,
    computed,
    inHeader,
  }: { from: number; to: number; computed: Uint8Array; inHeader: Uint8Array }) {
    const blocks = from === to ? `block ${to}` : `blocks ${from} to ${to}`
    super(
      `the state changes of ${blocks} make the state root ${formatData(computed)}, the header of block ${to} says ` +
        `${formatData(inHeader)}; 'cairn rewind --to ${from - 1}' removes ${from === to ? 'it' : 'them'}`,
    )
    this.from = from
    this.to = to
  }
}
