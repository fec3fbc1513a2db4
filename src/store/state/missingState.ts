import { Interruption } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'

/** A database with sparse state has no row of this account or slot: its value is not known, as opposed to empty. Who
 *  runs the work fetches the value from an upstream and repeats it, or answers that the state is not known. */
export class MissingState extends Interruption {
  readonly address: Uint8Array // 20
  /** 32 bytes; undefined: the account itself is not known. */
  readonly slot: Uint8Array | undefined
  /** The block after which the state was read. */
  readonly blockNumber: number
  /** The first block after it that may have changed the value: no later state proves it. Undefined: none may have. */
  readonly changedAt: number | undefined
  constructor(address: Uint8Array, slot: Uint8Array | undefined, blockNumber: number, changedAt?: number) {
    super(`${slot ? `slot ${formatData(slot)} of ` : ''}account ${formatData(address)} is not known`)
    this.address = address
    this.slot = slot
    this.blockNumber = blockNumber
    this.changedAt = changedAt
  }
}

/** Returns false when the read throws MissingState. @throws what else it throws */
export function isStateKnown(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof MissingState) return false
    throw error
  }
}
