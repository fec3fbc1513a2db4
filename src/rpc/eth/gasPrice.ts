import { familyOf } from '../../chain/eth/families/families.js'
import { blobBaseFeeOf as feeOf } from '../../chain/eth/fees.js'
import { rulesAt } from '../../chain/eth/forks/rules.js'
import { formatQuantity } from '../../lib/hex.js'
import { findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'
import { orNull } from './schemas.js'
import { suggestTip } from './suggestTip.js'

export const gasPrice = defineMethod({
  name: 'eth_gasPrice',
  summary: 'Suggested gas price in wei: base fee of the head plus the suggested priority fee.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'gas price', schema: quantity.schema },
  errors: [],
  handler: ({ chain }) => {
    const baseFee = findBlock(chain, 'latest')?.header.baseFeePerGas ?? 0n
    return formatQuantity(suggestTip(chain) + baseFee)
  },
})

export const maxPriorityFeePerGas = defineMethod({
  name: 'eth_maxPriorityFeePerGas',
  summary: 'Suggested priority fee per gas in wei.',
  description: 'The 60th percentile of the three lowest tips of each of the last 20 blocks; 1 gwei if there are none.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'tip', schema: quantity.schema },
  errors: [],
  handler: ({ chain }) => formatQuantity(suggestTip(chain)),
})

export const baseFee = defineMethod({
  name: 'eth_baseFee',
  summary: 'Base fee per gas of the block after the head in wei (EIP-1559); null before London.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'base fee', schema: orNull(quantity.schema) },
  errors: [],
  handler: ({ chain }) => {
    const head = findBlock(chain, 'latest')
    if (head === undefined) return null
    const { header, totalDifficulty } = head
    const spec = chain.spec()
    const rules = rulesAt(spec, header.number + 1, header.timestamp, totalDifficulty)
    return rules.eip1559 ? formatQuantity(familyOf(spec).nextBaseFee(header, header.timestamp, spec)) : null
  },
})

export const blobBaseFee = defineMethod({
  name: 'eth_blobBaseFee',
  summary: 'Blob base fee of the head in wei (EIP-4844); null before Cancun.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'blob base fee', schema: orNull(quantity.schema) },
  errors: [],
  handler: ({ chain }) => {
    const block = findBlock(chain, 'latest')
    if (block?.header.excessBlobGas === undefined) return null
    return formatQuantity(feeOf(block.header.excessBlobGas, chain.rulesOf(block)))
  },
})
