import { familyOf } from '../../chain/eth/families/families.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import type { ChainReader } from '../../store/rows/types.js'
import { requireCallTerms, requireSigned, ZERO_ADDRESS } from '../calls/callChecks.js'
import type { RunTerms } from '../calls/callContext.js'
import type { CallRequest } from '../calls/callRequest.js'
import { type CallPlace, environmentsOf, runContractCall } from '../calls/callRunner.js'
import { type CallOverrides, overrideAccounts, overrideBlock } from '../calls/overrides.js'
import type { ForkTables } from '../interpreter/forkTables.js'
import type { TransactionContext } from '../transition/transactionContext.js'
import type { Applied, Execution } from './execution.js'

const NO_HASH = new Uint8Array(32)

/** Where a traced call runs. */
export type TracedCallPlace = CallPlace & Pick<Execution, 'tracedAccounts'>

/** Applies the overrides to the context. @throws CallFailed for invalid overrides */
export function overridePlace(
  { machine, journal, chainId, ...stored }: TransactionContext,
  { chain, tables }: { chain: ChainReader; tables: (rules: Rules) => ForkTables },
  overrides: CallOverrides,
): TracedCallPlace {
  const { blobBaseFee } = overrides.block ?? {}
  const { header, rules } = overrideBlock(stored, overrides.block ?? {}, chain.spec())
  // Only blocks before the stored one have hashes, even if the number is overridden.
  const blockHash = (at: number) => (at < stored.header.number && chain.blockHash(at)) || NO_HASH
  const environments = environmentsOf(header, rules, { chainId, blobBaseFee, blockHash })
  const own = tables(rules)
  machine.rules = own.rules
  machine.precompiles = own.precompiles
  overrideAccounts(machine, journal, overrides.accounts)
  const { tracedAccounts } = familyOf(chain.spec()).execution ?? {}
  return { machine, journal, rules, header, chainId, blobBaseFee, tracedAccounts, ...environments }
}

/** A call as an execution. Its changes stay visible to later ones. */
export function callExecution(place: TracedCallPlace, request: CallRequest, terms: RunTerms): Execution {
  const { machine, journal, header, rules, chainId, blobBaseFee, tracedAccounts } = place
  const { from = ZERO_ADDRESS, to, value = 0n, data: input = EMPTY_BYTES, authorizationList } = request
  const { gasLimit } = terms
  const run = (): Applied => {
    const sender = journal.account(from)
    const planned = { request, gasLimit, header, rules, chainId, blobBaseFee, isValidated: terms.isTransaction }
    if (terms.isTransaction) requireSigned(planned, journal.code(sender))
    const { gasPrice } = requireCallTerms(planned, () => sender.balance)
    const outcome = runContractCall(place, request, terms)
    // Transactions get unused gas back and pay for the rest; calls that only show their output need not.
    if (gasPrice > 0n) {
      const coinbase = journal.account(header.miner)
      const tip = gasPrice - (rules.eip1559 ? header.baseFeePerGas! : 0n)
      journal.setBalance(sender, sender.balance + (gasLimit - outcome.gasUsed) * gasPrice)
      journal.setBalance(coinbase, coinbase.balance + outcome.gasUsed * (tip > 0n ? tip : 0n))
    }
    return outcome
  }
  return {
    machine,
    journal,
    header,
    rules,
    chainId,
    transaction: { from, to, value, input, gasLimit, authorizationList },
    tracedAccounts,
    logsBefore: 0,
    run(hooks) {
      machine.hooks = hooks
      try {
        const applied = run()
        journal.endTransaction(machine.rules.eip161, machine.rules.eip8246)
        return applied
      } finally {
        machine.hooks = undefined
      }
    },
    tryOut() {
      const before = journal.snapshot()
      const applied = run()
      journal.revert(before)
      return applied
    },
  }
}
