import { defineMethod, JsonBytes } from '../core/method.js'
import { hash32 } from '../core/params.js'
import { FILTER_NOT_FOUND } from '../subscriptions/filters.js'
import { filterIdParam } from './filterId.js'
import { LOG_SCHEMA } from './schemas.js'

export const getFilterChanges = defineMethod({
  name: 'eth_getFilterChanges',
  summary: 'What a filter has collected since the last poll.',
  description:
    'Logs of an `eth_newFilter` in the order of an `eth_subscribe` to logs: those of blocks that a reorg removed have ' +
    '`removed: true`. Block hashes of an `eth_newBlockFilter`. Each is returned once.',
  cost: 'point',
  chainless: true,
  usesSession: true,
  params: [filterIdParam],
  result: { name: 'changes', schema: { type: 'array', items: { oneOf: [LOG_SCHEMA, hash32.schema] } } },
  errors: [FILTER_NOT_FOUND],
  handler: ({ session }, id) => new JsonBytes(session!.filters.poll(id)),
})
