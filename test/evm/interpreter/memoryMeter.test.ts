import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallMemoryExceeded } from '../../../src/evm/errors.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { createEnvironment } from '../../../src/evm/interpreter/environment.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { runMessage } from '../../../src/evm/interpreter/run.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { parseHex } from '../../../src/lib/hex.js'
import { asCode, LOG_BOMB, MEMORY_BOMBS } from '../../support/chains/bombs.js'
import { rulesOf } from '../../support/chains/forks.js'
import { createTestJournal } from '../../support/chains/memoryState.js'

/* What one message may take of memory, on both paths of the interpreter. */

const CALLER = new Uint8Array(20).fill(0xaa)
const CONTRACT = new Uint8Array(20).fill(0xcc)
const MIB = 2 ** 20
const BUDGET = 8 * MIB
const KEPT = { accounts: 4096, slots: 65_536, codeBytes: 2 ** 25 }
const NOTHING = new Uint8Array(0)

function setUp(code: string, { withWasm, keepsLogs = false }: { withWasm: boolean; keepsLogs?: boolean }) {
  const { journal } = createTestJournal([
    [CONTRACT, { nonce: 1n, balance: 0n, code: parseHex(asCode(code)), storage: [] }],
  ])
  const rules = rulesOf('osaka')
  const environment = createEnvironment(
    {
      ...{ number: 1000, timestamp: 1n, coinbase: CALLER, gasLimit: 30_000_000n, difficulty: 0n, chainId: 1n },
      ...{ prevRandao: new Uint8Array(32), baseFeePerGas: 0n, blobBaseFee: 1n, blockHash: () => new Uint8Array(32) },
    },
    rules.isProofOfStake,
  )
  const tables = createForkTables(() => false)(rules)
  const machine = new Machine({ ...tables, environment, state: journal, deadline: noDeadline, withWasm, keepsLogs })
  const call = (gas: bigint) => runMessage(machine, { caller: CALLER, to: CONTRACT, value: 0n, input: NOTHING, gas })
  return { journal, machine, call }
}

for (const withWasm of [true, false]) {
  const path = withWasm ? 'with the loop in WebAssembly' : 'in JavaScript alone'
  for (const [name, code] of Object.entries(MEMORY_BOMBS)) {
    test(`a budget of memory ends ${name} ${path}, and the next message has it whole`, () => {
      const { journal, machine, call } = setUp(code, { withWasm })
      for (let i = 0; i < 2; i++) {
        journal.meter.begin(BUDGET)
        assert.throws(() => call(2_000_000_000n), { message: new CallMemoryExceeded(BUDGET).message })
        assert.ok(journal.meter.peak() > MIB)
        journal.clear()
        machine.trim()
        journal.rewind(KEPT)
        journal.meter.begin(BUDGET)
        const expected = name === 'MEMORY' || name === 'RETURN_DATA' ? /^none$/ : /^out of gas/
        assert.match(call(3_000_000n).failure ?? 'none', expected)
        journal.rewind(KEPT)
      }
    })
  }

  test(`logs that are not collected take no memory ${path}`, () => {
    const { journal, call } = setUp(LOG_BOMB, { withWasm })
    journal.meter.begin(BUDGET)
    assert.equal(call(1_000_000_000n).failure, 'out of gas')
    assert.ok(journal.meter.peak() < MIB)
    assert.equal(setUpLogs(withWasm), 1)
  })
}

/** How many logs a message of one log leaves where they are wanted. */
function setUpLogs(withWasm: boolean): number {
  const { journal, call } = setUp('60205fa000', { withWasm, keepsLogs: true })
  assert.equal(call(100_000n).status, 'success')
  return journal.logs.length
}

test('memory may be as large as the budget, and not a word larger', () => {
  const ofFrame = (size: number, budget: number) => {
    const offset = (size - 32).toString(16).padStart(8, '0')
    const { journal, call } = setUp(`5f63${offset}5200`, { withWasm: false })
    journal.meter.begin(budget)
    return call(2_000_000_000n).status
  }
  // Beside 1 MiB that a machine has; the rest is for the two accounts.
  const budget = 7 * MIB + 8192
  assert.equal(ofFrame(8 * MIB, budget), 'success')
  assert.throws(() => ofFrame(8 * MIB + 8192 + 32, budget), CallMemoryExceeded)
})
