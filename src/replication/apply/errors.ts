import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { BlockRef } from '../../sync/head/events.js'
import { InvalidMessage } from '../errors.js'

/** A reorg or rewind of the writer starts after a block that this replica does not have. */
export class UnknownAncestor extends CairnError {
  readonly ancestor: BlockRef
  constructor(ancestor: BlockRef, held: Uint8Array | undefined) {
    const own = held === undefined ? 'does not hold that number' : `holds ${formatData(held)} there`
    super(`the writer continues after block ${ancestor.number} (${formatData(ancestor.hash)}), and this replica ${own}`)
    this.ancestor = ancestor
  }
}

/** A block arrived without state changes, and this replica keeps state. */
export class StateChangesMissing extends CairnError {
  readonly blockNumber: number
  constructor(blockNumber: number) {
    super(
      `block ${blockNumber} came without state changes: its writer keeps no state, and a replica of it is begun with --state none`,
    )
    this.blockNumber = blockNumber
  }
}

/** A message of a writer that lost its lease arrived after one of its successor. */
export class StaleEpoch extends CairnError {
  readonly epoch: number
  readonly newest: number
  constructor(epoch: number, newest: number) {
    super(`a message of epoch ${epoch} came after one of epoch ${newest}: another writer has taken over`)
    this.epoch = epoch
    this.newest = newest
  }
}

/** The sparse state of a replica lacks trie nodes that a message does not have, either. */
export class StateNodesMissing extends InvalidMessage {
  constructor(part: string, problem: string, options?: ErrorOptions) {
    const advice =
      'the message is damaged, or this replica is not a copy of its writer: restore a snapshot of the writer'
    super(part, `${problem}: ${advice}`, options)
  }
}

/** The state of a writer and that of a replica are not of the same kind. */
export class StateModeDiffers extends CairnError {}
