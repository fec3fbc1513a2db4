import { nextBaseFee } from '../../chain/eth/fees.js'
import { rulesAt } from '../../chain/eth/forks.js'
import { formatQuantity } from '../../lib/hex.js'
import { findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'
import { orNull } from './schemas.js'

export const baseFee = defineMethod({
  name: 'eth_baseFee',
  summary: 'Base fee per gas of the block after the head in wei (EIP-1559); null before London.',
  cost: 'point',
  params: [],
  result: { name: 'base fee', schema: orNull(quantity.schema) },
  errors: [],
  handler: ({ chain }) => {
    const head = findBlock(chain, 'latest')
    if (head === undefined) return null
    const { header, totalDifficulty } = head
    const rules = rulesAt(chain.spec(), header.number + 1, header.timestamp, totalDifficulty)
    return rules.has('london') ? formatQuantity(nextBaseFee(header)) : null
  },
})
