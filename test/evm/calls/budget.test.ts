import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { FORKS } from '../../../src/chain/eth/forks/rules.js'
import { createBudget, OutOfBudget } from '../../../src/evm/calls/budget.js'
import { createBudgetedService } from '../../../src/evm/calls/loadEvmService.js'
import { createPrecompiles } from '../../../src/evm/interpreter/precompiles/curves.js'
import { createPrecompileTable, NO_CURVES } from '../../../src/evm/interpreter/precompiles/precompileTable.js'
import { parseHex } from '../../../src/lib/hex.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { createCommitWatch } from '../../../src/store/commitWatch.js'
import { openForReading, packagePath } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { runCairnOk } from '../../support/cairn.js'
import { ALICE, HEAD, REVERTER, TOKEN } from '../../support/chains/fixtureChain.js'
import { rulesOf } from '../../support/chains/forks.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* What a call may take of the main thread. The clock stands still: only looks and reads are counted. */

const datadir = temporaryDirectory({ after })
const folder = packagePath('fixtures/chain')
await runCairnOk(['import', '--datadir', datadir, '--genesis', `${folder}/genesis.json`, `${folder}/chain.rlp`])
const db = openForReading(datadir)
after(() => void db.close())
const watch = createCommitWatch(db)
const chain = createChainReader(db, watch)

const LIMITS = { ...DEFAULT_LIMITS, gasCapPercent: 1_000_000, maxCallGas: Number.MAX_SAFE_INTEGER }
const MOST_GAS = 2n ** 40n

function createService(now: () => number = () => 0) {
  const budget = createBudget(now)
  const service = createBudgetedService(db, { watch, chain }, budget)
  const call = (to: string | undefined, data: string, timeMs = 1) => {
    budget.begin(timeMs)
    const request = { to: to === undefined ? undefined : parseHex(to), data: parseHex(data), gas: MOST_GAS }
    return service.call(request, HEAD, LIMITS, budget.deadline) as Uint8Array
  }
  return { budget, call }
}

const supply = '0x18160ddd'
const spin = '0xf0acd7d5'

test('a small call is answered at once, after calls that were broken off too', () => {
  const { budget, call } = createService()
  const first = Buffer.from(call(TOKEN, supply))
  assert.equal(BigInt(`0x${first.toString('hex')}`), 1000n * 10n ** 18n)
  assert.ok(budget.checks() < 5, `${budget.checks()} looks`)
  assert.throws(() => call(REVERTER, spin), OutOfBudget)
  assert.deepEqual(Buffer.from(call(TOKEN, supply)), first)
})

test('an endless loop ends after a limited number of clock checks, even if the clock stands still', () => {
  const { budget, call } = createService()
  for (const timeMs of [0.5, 2.5]) {
    assert.throws(() => call(REVERTER, spin, timeMs), OutOfBudget)
    assert.ok(budget.checks() <= timeMs * 500 + 1, `${budget.checks()} looks`)
  }
})

test('an endless loop ends at its time', () => {
  let clock = 0
  const { budget, call } = createService(() => clock++)
  assert.throws(() => call(REVERTER, spin, 20), OutOfBudget)
  assert.ok(budget.checks() <= 21, `${budget.checks()} looks`)
})

test('reads of the database are counted', () => {
  const { call } = createService()
  // BALANCE of addresses from 1 on, without end.
  const balances = '0x60015b8031506001016002565b'
  assert.throws(() => call(undefined, balances), OutOfBudget)
  assert.throws(() => call(TOKEN, `0x70a08231${'00'.repeat(12)}${ALICE.slice(2)}`, 0.001), OutOfBudget)
})

/** Returns init code with a STATICCALL of the address with `length` zero bytes. */
function callCode(address: number, length: number): string {
  const push2 = (value: number) => `61${value.toString(16).padStart(4, '0')}`
  return `0x60006000${push2(length)}6000${push2(address)}620ffffffa00`
}

test('what takes long is not begun', () => {
  const { budget, call } = createService()
  const codes = {
    pairing: callCode(8, 192),
    'point evaluation': callCode(10, 192),
    'sha-256 of 60 KB': callCode(2, 60_000),
    // 4 MB of memory, and a hash of 100 KB of memory.
    memory: '0x600062400000535f00',
    hash: '0x620186a05f2000',
  }
  for (const [name, code] of Object.entries(codes)) {
    assert.throws(() => call(undefined, code), OutOfBudget, name)
    assert.ok(budget.checks() < 3, `${name}: ${budget.checks()} looks`)
  }
  call(undefined, callCode(2, 1000))
})

test('exponentiations are looked at without a jump between them', () => {
  const { budget, call } = createService()
  const push = `7f${'ff'.repeat(32)}`
  call(undefined, `0x${`${push}${push}0a50`.repeat(300)}00`)
  // 1,600 gas each.
  assert.ok(budget.checks() >= 20, `${budget.checks()} looks`)
})

test('precompiles on curves are at the same addresses where they are never run', () => {
  const addresses = (table: readonly unknown[]) => [...table.keys()].filter((address) => table[address] !== undefined)
  let curves = 0
  for (const fork of FORKS) {
    const rules = rulesOf(fork)
    const all = createPrecompiles(rules, () => false)
    const own = createPrecompileTable(rules, NO_CURVES)
    assert.deepEqual(addresses(own), addresses(all), fork)
    for (const address of addresses(own)) {
      if (own[address]!.isLong) curves++
      else
        assert.equal(own[address]!.gas(new Uint8Array(96)), all[address]!.gas(new Uint8Array(96)), `${fork} ${address}`)
    }
  }
  assert.ok(curves > 20)
})
