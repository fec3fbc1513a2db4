import { CairnError } from '../lib/errors.js'

/** A replication message is damaged or forged. */
export class InvalidMessage extends CairnError {
  /** The part of the message, as `transactions[3].to`. */
  readonly part: string
  readonly problem: string
  constructor(part: string, problem: string, options?: ErrorOptions) {
    super(`replication message: ${part}: ${problem}`, options)
    this.part = part
    this.problem = problem
  }

  /** Returns the same error with the place: `block 2, message 7 of the stream`. */
  at(place: string): InvalidMessage {
    return new InvalidMessage(this.part, `${this.problem} (${place})`, { cause: this })
  }
}

/** Adds the place to an InvalidMessage; returns any other error unchanged. */
export function atStreamPlace(error: unknown, place: () => string): unknown {
  return error instanceof InvalidMessage ? error.at(place()) : error
}

/** Change sets are missing between what a replica has and what its source still has. */
export class ReplicationGap extends CairnError {
  /** The sequence or block number that the replica needs next. */
  readonly expected: number
  /** The first sequence or block number that the source has. */
  readonly actual: number
  constructor(source: string, expected: number, actual: number) {
    super(`${source}: expected ${expected} next, got ${actual}: the blocks between are not available there any more`)
    this.expected = expected
    this.actual = actual
  }
}

/** No block of a replica is on the chain of its source, as far as the source still knows what it removed. */
export class NoCommonBlockInStream extends CairnError {
  constructor() {
    super('no block of the locator is on this chain: it is another chain, or the fork is below the locator')
  }
}

/** Additions to sparse state that a replica needs are not available any more. */
export class StateEntriesMissing extends CairnError {
  constructor(before: number, from: number) {
    super(
      `additions to sparse state after number ${before} are needed, and only those from number ${from} on are available: restore a ` +
        "newer snapshot of the writer ('cairn snapshot', --snapshots)",
    )
  }
}
