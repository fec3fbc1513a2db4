import type { Rules } from '../../src/chain/eth/forks/rules.js'
import type { ForkTables } from '../../src/evm/interpreter/forkTables.js'
import { Machine } from '../../src/evm/interpreter/machine.js'
import { TransactionRefused } from '../../src/evm/transition/checkTransaction.js'
import { applyTransaction, blockEnvironment } from '../../src/evm/transition/transaction.js'
import { noDeadline } from '../../src/lib/deadline.js'
import { rulesOf } from '../../test/support/chains/forks.js'
import { createTestJournal } from '../../test/support/chains/memoryState.js'
import { blockHashOf, type Result, type Run, type World } from './world.js'

const NO_GAS = { execution: 0n, state: 0n }

/** Runs a world on our interpreter. `programs` are those that it came to. */
export function runOurs(world: World, tables: (rules: Rules) => ForkTables): Run & { programs: number } {
  const { header } = world
  const rules = rulesOf(world.fork)
  const { state, journal } = createTestJournal(world.accounts)
  const environment = blockEnvironment(header, rules, { chainId: 1n, blockHash: blockHashOf })
  const machine = new Machine({ ...tables(rules), environment, state: journal, deadline: noDeadline })
  const site = { machine, journal, rules, header, chainId: 1n, environment }
  const results: Result[] = []
  const begun = state.codeReads()
  let programs = 0
  for (const transaction of world.transactions) {
    try {
      const { succeeded, gasUsed, output, logs, contractAddress } = applyTransaction(site, transaction, NO_GAS)
      if (transaction.to === undefined) programs++
      // An address where a creation failed is named in receipts too, but the package names it only sometimes.
      results.push({
        refused: false,
        succeeded,
        gasUsed,
        output,
        logs,
        contractAddress: succeeded ? contractAddress : undefined,
      })
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error
      results.push({ refused: true })
    }
  }
  programs += state.codeReads() - begun
  state.apply(journal.takeChanges())
  return { programs, results, root: state.root(), dump: state.dump() }
}
