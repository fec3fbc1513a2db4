import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, required } from '../core/params.js'
import { blockHashParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'
import { BLOCK_DETAILS_SCHEMA, formatBlockDetails } from './blockDetails.js'

export const getBlockDetails = defineMethod({
  name: 'ots_getBlockDetails',
  summary: 'A block with its reward and its fees, or null.',
  description:
    'The block has `transactionCount` in place of `transactions`, and no `logsBloom`. `issuance` is zero under proof of stake; ' +
    '`totalFees` includes what the base fee burns. On chains of the OP stack it has neither the fee of layer 1 nor that of the ' +
    'operator, which are in the receipts, and `gasUsedDepositTx` is the gas of deposits, which pay nothing.',
  cost: 'point',
  classes: ['blocks'],
  params: [required('block', blockIdOrDecimal, 'block number in hex or decimal, or tag')],
  result: { name: 'block details', schema: orNull(BLOCK_DETAILS_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? formatBlockDetails(chain, block) : null
  },
})

export const getBlockDetailsByHash = defineMethod({
  name: 'ots_getBlockDetailsByHash',
  summary: 'A block with its reward and its fees by its hash, or null.',
  description: 'As `ots_getBlockDetails`.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam],
  result: { name: 'block details', schema: orNull(BLOCK_DETAILS_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatBlockDetails(chain, block) : null
  },
})
