import { CairnError } from '../../lib/errors.js'
import { type Felt, formatFelt } from './felt.js'

interface Refusal {
  blockNumber?: number
  blockHash?: Felt
  /** Name of the compared value, such as `parent hash`, `block hash` or `event commitment`. */
  check: string
  /** Expected and actual value, as text. */
  expected: string
  actual: string
}

/** An invalid layer-2 block, which is not imported: nothing of it is stored. */
export class InvalidL2Block extends CairnError {
  readonly blockNumber: number | undefined
  readonly blockHash: Felt | undefined
  readonly check: string
  readonly expected: string
  readonly actual: string
  constructor({ blockNumber, blockHash, check, expected, actual }: Refusal) {
    const number = blockNumber === undefined ? 'without a number' : blockNumber
    const hash = blockHash === undefined ? 'without a hash' : formatFelt(blockHash)
    super(`layer-2 block ${number} (${hash}) is refused: ${check}: expected ${expected}, got ${actual}`)
    this.blockNumber = blockNumber
    this.blockHash = blockHash
    this.check = check
    this.expected = expected
    this.actual = actual
  }
}
