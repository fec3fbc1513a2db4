import { formatFelt } from '../../chain/starknet/felt.js'
import { defineMethod } from '../method.js'
import { FELT_SCHEMA } from './schemas.js'

export const chainId = defineMethod({
  name: 'starknet_chainId',
  summary: 'Id of the layer-2 network.',
  description:
    'The network that `--l2-network` named on import, or the one whose chain id a verified hash covers (blocks ' +
    'before 0.7). `0x0` where neither is known: block hashes since 0.7 do not tell.',
  cost: 'point',
  params: [],
  result: { name: 'chain id', schema: FELT_SCHEMA },
  errors: [],
  handler: ({ l2 }) => formatFelt(l2.chainId() ?? 0n),
})
