import type { Header } from '../../types.js'
import type { FamilyExecution } from '../execution.js'
import { periodAt, validatorPeriodAt } from './bftRules.js'
import type { BftForm } from './extraData.js'
import { validatorCall } from './validatorContract.js'

/** Returns how blocks of QBFT and IBFT 2.0 are executed (Besu: BaseBftProtocolScheduleBuilder): `miningbeneficiary`
 *  gets the fees and the reward of a block, and is what COINBASE returns. With GoQuorum, COINBASE returns the proposer.
 *  A validator contract is asked for the validators. */
export function createBftExecution(form: BftForm): FamilyExecution {
  return {
    beneficiary: ({ bft }, header) =>
      bft!.isGoQuorum ? header.miner : (periodAt(bft!, header.number).beneficiary ?? header.miner),
    feeRecipient: ({ bft }, { number }) => (bft!.isGoQuorum ? periodAt(bft!, number).beneficiary : undefined),
    reward: ({ bft }, header: Header) => {
      const { blockReward, beneficiary } = periodAt(bft!, header.number)
      return blockReward === 0n ? undefined : { address: beneficiary ?? header.miner, wei: blockReward }
    },
    parentCall: ({ bft }, header) => {
      const { validatorContract } = validatorPeriodAt(bft!, header.number)
      return validatorContract && validatorCall(validatorContract, header, form)
    },
  }
}
