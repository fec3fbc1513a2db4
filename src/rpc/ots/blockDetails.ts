import { addedType } from '../../chain/eth/families/addedTypes.js'
import { familyOf } from '../../chain/eth/families/families.js'
import { sealRewardsOfBlock } from '../../evm/tracing/blockRewards.js'
import { formatQuantity } from '../../lib/hex.js'
import type { ChainReader, StoredBlock, TransactionFee } from '../../store/rows/types.js'
import { formatBlock } from '../eth/format/block.js'
import { QUANTITY_SCHEMA } from './schemas.js'

/** A block object as Otterscan shows it: the number of transactions, and no bloom. */
export function formatOtsBlock(chain: ChainReader, block: StoredBlock): object {
  const { transactions: _, ...members } = formatBlock(chain, block, false)
  return { ...members, logsBloom: null, transactionCount: block.txCount }
}

/** A block with its reward and its fees, including the burnt part. Fees are those of gas: what a family adds is in the
 *  receipts. */
export function formatBlockDetails(chain: ChainReader, block: StoredBlock): object {
  const fees = chain.transactionFees(block)
  const totalFees = fees.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  const rewards = sealRewardsOfBlock(chain, block)
  const sumOf = (kind: 'block' | 'uncle') =>
    rewards.reduce((sum, reward) => (reward.kind === kind ? sum + reward.wei : sum), 0n)
  const [blockReward, uncleReward] = [sumOf('block'), sumOf('uncle')]
  return {
    block: formatOtsBlock(chain, block),
    issuance: {
      blockReward: formatQuantity(blockReward),
      uncleReward: formatQuantity(uncleReward),
      issuance: formatQuantity(blockReward + uncleReward),
    },
    totalFees: formatQuantity(totalFees),
    ...freeGasIn(chain, block, fees),
  }
}

/** The gas of transactions that pay nothing for it, under the name that op-erigon and Otterscan have for it: Otterscan
 *  subtracts it from the gas that pays the base fee. Absent in families without such transactions. */
function freeGasIn(chain: ChainReader, block: StoredBlock, fees: readonly TransactionFee[]): object {
  const isFree = (type: number) => addedType(type)?.isFree === true
  if (!familyOf(chain.spec()).transactionTypes.some(isFree)) return {}
  const gas = fees.reduce((sum, { gasUsed, effectiveGasPrice }, index) => {
    const counts = effectiveGasPrice === 0n && isFree(chain.transaction(block, index)!.type)
    return counts ? sum + gasUsed : sum
  }, 0n)
  return { gasUsedDepositTx: formatQuantity(gas) }
}

/** Schema of `formatBlockDetails`. */
export const BLOCK_DETAILS_SCHEMA = {
  type: 'object',
  properties: {
    block: { type: 'object', properties: { transactionCount: { type: 'integer' } }, required: ['transactionCount'] },
    issuance: {
      type: 'object',
      properties: { blockReward: QUANTITY_SCHEMA, uncleReward: QUANTITY_SCHEMA, issuance: QUANTITY_SCHEMA },
      required: ['blockReward', 'uncleReward', 'issuance'],
    },
    totalFees: QUANTITY_SCHEMA,
    gasUsedDepositTx: QUANTITY_SCHEMA,
  },
  required: ['block', 'issuance', 'totalFees'],
}
