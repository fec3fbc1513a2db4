import type { Header } from '../../types.js'
import type { FamilyExecution } from '../execution.js'
import { periodAt } from './bftRules.js'

/** Execution of blocks of QBFT and IBFT 2.0 (Besu: BaseBftProtocolScheduleBuilder): `miningbeneficiary` gets the fees
 *  and the reward of a block, and is what COINBASE returns. With GoQuorum, COINBASE returns the proposer. */
export const bftExecution: FamilyExecution = {
  beneficiary: ({ bft }, header) =>
    bft!.isGoQuorum ? header.miner : (periodAt(bft!, header.number).beneficiary ?? header.miner),
  feeRecipient: ({ bft }, { number }) => (bft!.isGoQuorum ? periodAt(bft!, number).beneficiary : undefined),
  reward: ({ bft }, header: Header) => {
    const { blockReward, beneficiary } = periodAt(bft!, header.number)
    return blockReward === 0n ? undefined : { address: beneficiary ?? header.miner, wei: blockReward }
  },
}
