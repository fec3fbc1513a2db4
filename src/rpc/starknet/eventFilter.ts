import type { Felt } from '../../chain/starknet/felt.js'
import { arrayOf, integerBetween, maybe, required, text, type ValueType } from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { feltParam, starknetBlockId } from './blockId.js'

/** One address, or a list since specification 0.10.1. */
const addresses: ValueType<Felt[]> = {
  schema: { oneOf: [feltParam.schema, { type: 'array', items: feltParam.schema }] },
  decode: (value, path) =>
    Array.isArray(value) ? arrayOf(feltParam).decode(value, path) : [feltParam.decode(value, path)],
}

const eventFilter = strictObject({
  from_block: maybe(starknetBlockId),
  to_block: maybe(starknetBlockId),
  address: maybe(addresses),
  keys: maybe(arrayOf(arrayOf(feltParam))),
  continuation_token: maybe(text),
  chunk_size: integerBetween(1, Number.MAX_SAFE_INTEGER),
})

/** EVENT_FILTER and RESULT_PAGE_REQUEST of the specification. */
export type EventFilter = ReturnType<typeof eventFilter.decode>

/** The parameter of `starknet_getEvents`. */
export const eventFilterParam = required('filter', eventFilter, 'What to look for, and which page of it.')
