import { formatData } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { INVALID_PARAMS, invalidParams, RpcError } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { address, arrayOf, decodeMembers, hash32, required, slot, type ValueType } from '../core/params.js'
import { stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'

// geth's limit and code.
const MAX_SLOTS = 1024
const TOO_MANY_SLOTS = { code: -38026, message: `too many slots (max ${MAX_SLOTS})` } as const
const EMPTY_REQUEST = 'empty request'

interface SlotsOfAccount {
  readonly address: Uint8Array // 20
  readonly slots: readonly Uint8Array[] // 32 each
}

const slots = arrayOf(slot)

const slotsByAddress: ValueType<SlotsOfAccount[]> = {
  schema: { title: 'slots by address', type: 'object', additionalProperties: slots.schema },
  decode: (value, path) => {
    const entries = Object.entries(decodeMembers(value, path))
    const count = entries.reduce((sum, [, list]) => sum + (Array.isArray(list) ? list.length : 1), 0)
    if (count === 0) throw invalidParams(EMPTY_REQUEST)
    if (count > MAX_SLOTS) throw new RpcError(TOO_MANY_SLOTS.code, TOO_MANY_SLOTS.message)
    return entries.map(([name, list]) => ({
      address: address.decode(name, path),
      slots: slots.decode(list, `${path}.${name}`),
    }))
  },
}

// `scan`: 1,024 slots that are not in memory take longer than a `point` method may.
export const getStorageValues = defineMethod({
  name: 'eth_getStorageValues',
  summary: 'Values of up to 1,024 storage slots of several accounts after a block, 32 bytes each.',
  cost: 'scan',
  classes: ['state'],
  params: [required('slots', slotsByAddress, 'lists of slots by address: `{"0x…": ["0x0", …]}`'), stateBlockParam],
  result: {
    name: 'values by address, in the order of the slots',
    schema: { type: 'object', additionalProperties: { type: 'array', items: hash32.schema } },
  },
  errors: [...STATE_ERRORS, { code: INVALID_PARAMS, message: EMPTY_REQUEST }, TOO_MANY_SLOTS],
  handler: ({ chain, state, deadline }, accounts, id) => {
    const blockNumber = requireStateBlock(chain, id)
    const valuesOf = (account: SlotsOfAccount) =>
      account.slots.map((each) => {
        deadline.check()
        return formatData(state.storage(account.address, each, blockNumber))
      })
    return Object.fromEntries(accounts.map((account) => [formatData(account.address), valuesOf(account)]))
  },
})
