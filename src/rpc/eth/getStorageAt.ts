import { abbreviate, formatData, parseHex } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { INVALID_PARAMS, invalidParams } from '../core/errors.js'
import { defineMethod, type ErrorDoc } from '../core/method.js'
import { hash32, invalidValue, required, type ValueType } from '../core/params.js'
import { accountParam, stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'

/** A slot as in geth: up to 32 bytes of hex, with or without prefix, odd lengths and leading zeros included. */
export const storageKey: ValueType<Uint8Array> = {
  schema: { type: 'string', title: 'storage slot', pattern: '^(0x)?[0-9a-fA-F]{0,64}$' },
  decode: (value, path) => {
    if (typeof value !== 'string') throw invalidValue(path, 'a storage slot such as "0x0"', value)
    const digits = value.replace(/^0[xX]/, '')
    if (digits.length > 64) {
      throw invalidParams(`storage key too long (want at most 32 bytes): ${JSON.stringify(abbreviate(value))}`)
    }
    if (!/^[0-9a-fA-F]*$/.test(digits)) throw invalidParams(`invalid hex in storage key: ${JSON.stringify(value)}`)
    return parseHex(digits.padStart(64, '0'))
  },
}

/** Errors of a slot that is malformed. */
export const STORAGE_KEY_ERRORS: readonly ErrorDoc[] = [
  { code: INVALID_PARAMS, message: 'storage key too long (want at most 32 bytes): "…"' },
  { code: INVALID_PARAMS, message: 'invalid hex in storage key: "…"' },
]

export const getStorageAt = defineMethod({
  name: 'eth_getStorageAt',
  summary: "Value of an account's storage slot after a block, 32 bytes.",
  cost: 'point',
  classes: ['state'],
  params: [
    accountParam,
    required('slot', storageKey, 'the slot: at most 32 bytes of hex, leading zeros may be left out'),
    stateBlockParam,
  ],
  result: { name: 'value', schema: hash32.schema },
  errors: [...STATE_ERRORS, ...STORAGE_KEY_ERRORS],
  handler: ({ chain, state }, address, slot, id) =>
    formatData(state.storage(address, slot, requireStateBlock(chain, id))),
})
