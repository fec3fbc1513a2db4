import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'

// eth/69, as of geth 1.16 (EIP-7642).
const VERSION = '0x45'

export const protocolVersion = defineMethod({
  name: 'eth_protocolVersion',
  summary: 'Version of the eth wire protocol that nodes speak: 69. Cairn itself has no peers.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'version', schema: index.schema },
  errors: [],
  handler: () => VERSION,
})
