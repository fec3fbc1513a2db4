import { defineMethod, type JsonSchema } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { ABI_SOURCE_PROPERTIES, formatAbiSource } from './abiSchemas.js'

const count: JsonSchema = { type: 'integer', minimum: 0 }

const PROPERTIES = { ...ABI_SOURCE_PROPERTIES, functions: count, events: count, errors: count }

export const listAbis = defineMethod({
  name: 'cairn_listAbis',
  summary: 'The ABIs that were added, oldest first: their names, contracts and sizes.',
  description:
    'A Cairn extension. `cairn_getAbi` has the items of those that decode a contract. Built-in interfaces are left out.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: {
    name: 'abis',
    schema: {
      type: 'array',
      items: objectSchema('AddedAbi', PROPERTIES),
    },
  },
  errors: [],
  handler: ({ decoder }) =>
    decoder()
      .abis.filter(({ added }) => added !== undefined)
      .map((abi) => {
        const countOf = (type: string) => abi.items.filter((item) => item.type === type).length
        const counts = { functions: countOf('function'), events: countOf('event'), errors: countOf('error') }
        return { ...formatAbiSource(abi), ...counts }
      }),
})
