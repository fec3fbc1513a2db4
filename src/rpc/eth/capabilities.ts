import { formatData, formatQuantity } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { hash32, quantity } from '../core/params.js'

const RESOURCES = ['state', 'tx', 'logs', 'receipts', 'blocks', 'stateproofs'] as const
const RESOURCE_SCHEMA = {
  type: 'object',
  required: ['disabled'],
  properties: { disabled: { type: 'boolean' }, oldestBlock: quantity.schema },
}

/** Ethereum execution API specification, `eth_capabilities`. */
export const capabilities = defineMethod({
  name: 'eth_capabilities',
  summary: 'Which blocks, transactions, receipts, logs and states are available: from which block on, up to the head.',
  description:
    'Everything from `oldestBlock` to `head` is available, and nothing is ever deleted, so that there is no `deleteStrategy`. ' +
    '`state` and `stateproofs` are available where blocks are executed; with sparse state these are those of the newest interval.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: {
    name: 'capabilities',
    schema: {
      type: 'object',
      required: ['head', ...RESOURCES],
      properties: {
        head: {
          type: 'object',
          required: ['number', 'hash'],
          properties: { number: quantity.schema, hash: hash32.schema },
        },
        ...Object.fromEntries(RESOURCES.map((name) => [name, RESOURCE_SCHEMA])),
      },
    },
  },
  errors: [],
  handler: ({ chain }) => {
    const { first, head, stateFirst, listedStates = [] } = chain.coverage()!
    const availableFrom = (oldest: number | undefined) =>
      oldest === undefined ? { disabled: true } : { disabled: false, oldestBlock: formatQuantity(oldest) }
    return {
      head: { number: formatQuantity(head), hash: formatData(chain.headHash()!) },
      state: availableFrom(stateFirst),
      tx: availableFrom(first),
      logs: availableFrom(first),
      receipts: availableFrom(first),
      blocks: availableFrom(first),
      stateproofs: availableFrom(stateFirst && Math.max(stateFirst, listedStates.at(-1)?.last ?? 0)),
    }
  },
})
