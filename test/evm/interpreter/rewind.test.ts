import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '../../../src/chain/eth/types.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { executeMessage, warmUp } from '../../../src/evm/transition/message.js'
import { blockEnvironment } from '../../../src/evm/transition/transaction.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { FUZZED_FORKS, generateWorld } from '../../../tools/fuzz-evm/generate.js'
import { blockHashOf } from '../../../tools/fuzz-evm/world.js'
import { rulesOf } from '../../support/chains/forks.js'
import { createTestJournal } from '../../support/chains/memoryState.js'

const WORLDS_PER_FORK = 30
const GAS = 400_000n
const tables = createForkTables(() => false)

/** Runs messages of a world of random programs, each on the state that the world begins with. */
function createRunner(seed: number, fork: (typeof FUZZED_FORKS)[number]) {
  const world = generateWorld(seed, fork)
  const { header } = world
  const rules = rulesOf(fork)
  const { journal } = createTestJournal(world.accounts)
  const environment = blockEnvironment(header, rules, { chainId: 1n, blockHash: blockHashOf })
  const machine = new Machine({ ...tables(rules), environment, state: journal, deadline: noDeadline })
  const site = { machine, journal, rules, header, chainId: 1n, environment }
  const run = (transaction: Transaction) => {
    warmUp(site, transaction)
    const outcome = executeMessage(site, transaction, { gasLimit: GAS, intrinsic: 0n })
    return { ...outcome, refund: journal.refund, logs: [...journal.logs] }
  }
  return { transactions: world.transactions, run, journal }
}

test('a call after others that were undone does what it does at first', () => {
  const limits = { accounts: 1000, slots: 1000, codeBytes: 1000 }
  let halts = 0
  for (const fork of FUZZED_FORKS) {
    for (let seed = 1; seed <= WORLDS_PER_FORK; seed++) {
      const { transactions, run, journal } = createRunner(seed, fork)
      const alone = transactions.map((transaction) => createRunner(seed, fork).run(transaction))
      for (const index of [...transactions.keys(), ...[...transactions.keys()].reverse()]) {
        const outcome = run(transactions[index])
        journal.rewind(limits)
        assert.deepEqual(outcome, alone[index], `seed ${seed}, fork ${fork}, transaction ${index}`)
        if (outcome.status !== 'success') halts++
      }
    }
  }
  assert.ok(halts > 100, `only ${halts} of them failed`)
})

test('what was read is given up when there is too much of it', () => {
  const { transactions, run, journal } = createRunner(1, 'osaka')
  const account = journal.account(transactions[0].from)
  run(transactions[0])
  journal.rewind({ accounts: 1000, slots: 1000, codeBytes: 1000 })
  assert.equal(journal.account(transactions[0].from), account)
  run(transactions[0])
  journal.rewind({ accounts: 1, slots: 1000, codeBytes: 1000 })
  assert.notEqual(journal.account(transactions[0].from), account)
})
