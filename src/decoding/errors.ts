import { CairnError } from '../lib/errors.js'

/** An ABI that cannot be read: `field` is a path such as `abi[3].inputs[0].type`. */
export class InvalidAbi extends CairnError {
  readonly field: string
  readonly value: string
  readonly expected: string
  constructor({ field, value, expected }: { field: string; value: string; expected: string }) {
    super(`${field}: expected ${expected}, got ${value}`)
    this.field = field
    this.value = value
    this.expected = expected
  }

  /** Returns the same failure with a longer path. */
  within(path: string): InvalidAbi {
    return new InvalidAbi({ ...this, field: `${path}.${this.field}` })
  }
}
