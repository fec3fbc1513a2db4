import { defineMethod } from '../core/method.js'
import { filterIdParam } from './filterId.js'

export const uninstallFilter = defineMethod({
  name: 'eth_uninstallFilter',
  summary: 'Removes a filter; false if there is no such filter.',
  cost: 'point',
  chainless: true,
  usesSession: true,
  params: [filterIdParam],
  result: { name: 'removed', schema: { type: 'boolean' } },
  errors: [],
  handler: ({ session }, id) => session!.filters.remove(id),
})
