import type { FamilyExecution } from '../execution.js'
import type { BftForm } from './extraData.js'
import { periodAt, validatorPeriodAfter } from './periods.js'
import { validatorCall } from './validatorContract.js'

/** Returns how blocks of QBFT and IBFT 2.0 are executed (Besu: BaseBftProtocolScheduleBuilder): `miningbeneficiary`
 *  gets the fees and the reward of a block, and is what COINBASE returns. With GoQuorum, COINBASE returns the proposer.
 *  A validator contract is asked for the validators. */
export function createBftExecution(form: BftForm): FamilyExecution {
  return {
    beneficiary: (spec, header) =>
      spec.bft!.isGoQuorum ? header.miner : (periodAt(spec, header).beneficiary ?? header.miner),
    feeRecipient: (spec, header) => (spec.bft!.isGoQuorum ? periodAt(spec, header).beneficiary : undefined),
    reward: (spec, header) => {
      const { blockReward, beneficiary } = periodAt(spec, header)
      return blockReward === 0n ? undefined : { address: beneficiary ?? header.miner, wei: blockReward }
    },
    parentCall: (spec, header, parent) => {
      const { validatorContract } = validatorPeriodAfter(spec, parent)
      return validatorContract && validatorCall(validatorContract, header, form)
    },
  }
}
