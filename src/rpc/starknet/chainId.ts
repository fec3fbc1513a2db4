import { formatFelt } from '../../chain/starknet/felt.js'
import { defineMethod } from '../core/method.js'
import { FELT_SCHEMA } from './schemas.js'

export const chainId = defineMethod({
  name: 'starknet_chainId',
  summary: 'Id of the layer-2 network.',
  description:
    'The network that `--l2-network` named on import, or the one whose chain id a verified block covers, by its hash ' +
    '(before 0.7) or by that of a transaction of it. `0x0` where neither is known, as when all recordings have ' +
    'transactions by their hashes only.',
  cost: 'point',
  params: [],
  result: { name: 'chain id', schema: FELT_SCHEMA },
  errors: [],
  handler: ({ l2 }) => formatFelt(l2.chainId() ?? 0n),
})
