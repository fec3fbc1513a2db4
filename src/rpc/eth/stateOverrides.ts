import type { AccountOverride, SlotOverride } from '../../evm/calls/overrides.js'
import { compareBytes } from '../../lib/bytes.js'
import {
  address,
  dataOrEmpty,
  decodeMembers,
  hash32,
  isAbsent,
  maybe,
  optional,
  quantity,
  quantity64,
  type ValueType,
} from '../core/params.js'
import { strictObject } from '../core/strictObject.js'

/** True for values without overrides: nothing, null, or an empty object. */
export function overridesNothing(value: unknown): boolean {
  return isAbsent(value) || (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0)
}

const slots: ValueType<SlotOverride[]> = {
  schema: { title: 'values by slot', type: 'object', additionalProperties: hash32.schema },
  decode: (value, path) =>
    Object.entries(decodeMembers(value, path)).map(([slot, each]) => ({
      slot: hash32.decode(slot, path),
      value: hash32.decode(each, `${path}.${slot}`),
    })),
}

const account = strictObject({
  balance: maybe(quantity),
  nonce: maybe(quantity64),
  code: maybe(dataOrEmpty),
  state: maybe(slots),
  stateDiff: maybe(slots),
  movePrecompileToAddress: maybe(address),
})

/** State overrides by address (execution-apis, schemas/execute: StateOverrides), ordered by address. */
export const stateOverrides: ValueType<AccountOverride[]> = {
  schema: { title: 'state overrides', type: 'object', additionalProperties: account.schema },
  decode: (value, path) =>
    Object.entries(decodeMembers(value, path))
      .map(([name, each]) => {
        const { movePrecompileToAddress: movePrecompileTo, ...rest } = account.decode(each, `${path}.${name}`)
        return { ...rest, address: address.decode(name, path), movePrecompileTo }
      })
      .sort((a, b) => compareBytes(a.address, b.address)),
}

/** The third parameter of `eth_call`, `eth_estimateGas` and `eth_createAccessList`. */
export const stateOverridesParam = optional(
  'stateOverrides',
  stateOverrides,
  'by address: `balance`, `nonce`, `code`, `state` (the whole storage) or `stateDiff` (single slots), `movePrecompileToAddress`',
)
