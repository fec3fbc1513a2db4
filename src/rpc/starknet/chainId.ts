import { formatFelt } from '../../chain/starknet/felt.js'
import { defineMethod } from '../core/method.js'
import { FELT_SCHEMA } from './schemas.js'

export const chainId = defineMethod({
  name: 'starknet_chainId',
  summary: 'Chain id of the layer-2 network.',
  description:
    'The network given by `--l2-network` on import, or the one that a verified block hash (before 0.7) or transaction ' +
    'hash commits to. `0x0` if unknown, for example if all recordings have transaction hashes only.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'chain id', schema: FELT_SCHEMA },
  errors: [],
  handler: ({ l2 }) => formatFelt(l2.chainId() ?? 0n),
})
