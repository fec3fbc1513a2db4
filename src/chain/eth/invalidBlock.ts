import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'

/** An invalid block. `check` is the short name of the violated rule; `expected` and `actual` are the compared values,
 *  if any. */
export class InvalidBlock extends CairnError {
  readonly blockNumber: number
  readonly blockHash: Uint8Array
  readonly check: string
  readonly expected?: string
  readonly actual?: string
  constructor(fields: {
    blockNumber: number
    blockHash: Uint8Array
    check: string
    expected?: string
    actual?: string
    /** Text after the values, or instead of them. */
    detail?: string
    cause?: unknown
  }) {
    const { blockNumber, blockHash, check, expected, actual, detail, cause } = fields
    const compared = expected === undefined ? actual : `expected ${expected}, the block has ${actual}`
    const values = [compared, detail].filter((part) => part !== undefined).join('; ')
    super(`block ${blockNumber} (${formatData(blockHash)}): ${check}: ${values}`, { cause })
    this.blockNumber = blockNumber
    this.blockHash = blockHash
    this.check = check
    this.expected = expected
    this.actual = actual
  }
}

/** Throws `InvalidBlock` for its block. */
export type Refuse = (check: string, expected: unknown, actual: unknown, detail?: string) => never

/** Returns a function that throws `InvalidBlock` for the block. */
export function refuserOf(blockNumber: number, blockHash: Uint8Array): Refuse {
  return (check, expected, actual, detail) => {
    throw new InvalidBlock({ blockNumber, blockHash, check, expected: show(expected), actual: show(actual), detail })
  }
}

function show(value: unknown): string {
  return value instanceof Uint8Array ? formatData(value) : value === undefined ? 'none' : String(value)
}
