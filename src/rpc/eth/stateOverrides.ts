import { InvalidValue } from '../core/errors.js'
import { decodeMembers, isAbsent, optional, type ValueType } from '../core/params.js'

/** True for values without overrides: nothing, null, or an empty object. */
export function overridesNothing(value: unknown): boolean {
  return isAbsent(value) || (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0)
}

// Clients send {} where they have no overrides.
const noOverrides: ValueType<undefined> = {
  schema: { title: 'state overrides', type: 'object', maxProperties: 0 },
  decode: (value, path) => {
    if (overridesNothing(value)) return undefined
    const accounts = Object.keys(decodeMembers(value, path)).length
    throw new InvalidValue(`${path}: state overrides are not supported yet, got ${accounts}; leave them out or send {}`)
  },
}

/** The third parameter of `eth_call` and `eth_estimateGas`. */
export const stateOverridesParam = optional(
  'stateOverrides',
  noOverrides,
  'state overrides: not supported yet; only null and `{}` are accepted',
)
