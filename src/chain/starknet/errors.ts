import { CairnError } from '../../lib/errors.js'
import { type Felt, formatFelt } from './felt.js'

interface Refusal {
  blockNumber?: number
  blockHash?: Felt
  /** What was compared: `parent hash`, `block hash`, `event commitment`. */
  check: string
  /** What it should have been, and what it was, as text. */
  expected: string
  actual: string
}

/** A layer-2 block that is refused: nothing of it is stored. */
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
