import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import type { Fork } from '../../../src/chain/eth/forks/rules.js'
import type { Transaction } from '../../../src/chain/eth/types.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { FUZZED_FORKS, generateWorld } from '../../../tools/fuzz-evm/generate.js'
import { createReference } from '../../../tools/fuzz-evm/reference.js'
import { runOurs } from '../../../tools/fuzz-evm/subject.js'
import { difference, type Result, type World } from '../../../tools/fuzz-evm/world.js'

// Each program here is the least of one that the fuzzer found the two interpreters to differ on. What is right is said
// by EIP-3541, which speaks of the code that a creation leaves, and by EIP-3540 being part of no fork.

const CALLER = new Uint8Array(20).fill(0xaa)
const CONTRACT = new Uint8Array(20).fill(0xcc)
const WITH_MAGIC = new Uint8Array(20).fill(0xdd)
const GAS = 2_000_000n

const bytes = (hex: string) => parseHex(`0x${hex.replace(/\s/g, '')}`)
const tables = createForkTables(() => false)
const runTheirs = createReference()

/** A transaction to a contract with that code. */
function worldOf(fork: Fork, code: string, overrides: Partial<Transaction> = {}): World {
  const { header } = generateWorld(1, fork)
  const account = (code: Uint8Array, balance: bigint) => ({ nonce: 1n, balance, code, storage: [] })
  const world: World = {
    fork,
    header,
    accounts: [
      [CALLER, account(new Uint8Array(0), 10n ** 24n)],
      [CONTRACT, account(bytes(code), 0n)],
      [WITH_MAGIC, account(bytes('ef00112233'), 0n)],
    ],
    transactions: [
      {
        type: 0,
        hash: new Uint8Array(32),
        from: CALLER,
        to: CONTRACT,
        nonce: 1n,
        gasLimit: GAS,
        gasPrice: 10n ** 12n,
        value: 0n,
        input: new Uint8Array(0),
        v: 0n,
        r: 0n,
        s: 0n,
        ...overrides,
      },
    ],
  }
  return world
}

/** Runs a contract once by both interpreters, which must agree, and gives what became of it. */
async function runBoth(fork: Fork, code: string): Promise<Result> {
  const world = worldOf(fork, code)
  const ours = runOurs(world, tables)
  assert.equal(difference(ours, await runTheirs(world)), undefined, fork)
  assert.equal(ours.results[0].refused, false, fork)
  return ours.results[0]
}

const since = (first: Fork) => FUZZED_FORKS.slice(FUZZED_FORKS.indexOf(first))

test('the RIPEMD-160 precompile stays touched only by a failing call without value', async () => {
  const ripemd = new Uint8Array(20).fill(3, 19)
  // An account without anything, which only a genesis can have since EIP-161; calls with gas to begin with; in
  // Amsterdam that much is enough.
  const rest = { nonce: 0n, balance: 0n, code: new Uint8Array(0), storage: [] }
  for (const fork of since('spuriousDragon').filter((each) => each !== 'amsterdam')) {
    const isThere = async (value: bigint) => {
      const world = worldOf(fork, '', { to: ripemd, value, gasLimit: 21_100n })
      const accounts: World['accounts'] = [...world.accounts, [ripemd, rest]]
      const [ours, theirs] = [runOurs({ ...world, accounts }, tables), await runTheirs({ ...world, accounts })]
      assert.equal(difference(ours, theirs), undefined, fork)
      assert.equal(ours.results[0].succeeded, false, fork)
      return ours.dump.includes(formatData(ripemd).slice(2))
    }
    assert.equal(await isThere(1n), true, fork)
    assert.equal(await isThere(0n), false, fork)
  }
})

/** All but 1/64; the state gas of the account that was not made is given back (EIP-8037). */
const mostGas = (fork: Fork) => GAS - GAS / 50n - (fork === 'amsterdam' ? 183_600n : 0n)

test('init code that begins with 0xef00 fails at its first instruction, with all its gas', async () => {
  // MSTORE 0, 0xef00; CREATE(0, 30, 2); it returns the result
  const create = '61ef00 6000 52 6002 601e 6000 f0 6000 52 6020 6000 f3'
  for (const fork of since('homestead')) {
    const { succeeded, gasUsed, output } = await runBoth(fork, create)
    const kept = FUZZED_FORKS.indexOf(fork) >= FUZZED_FORKS.indexOf('tangerineWhistle')
    assert.equal(succeeded, kept, fork) // EIP-150 leaves the creator 1/64 of the gas
    assert.ok(gasUsed! > mostGas(fork), `${fork}: ${gasUsed}`)
    if (kept) assert.equal(formatData(output!), `0x${'00'.repeat(32)}`, fork)
  }
  // The same by CREATE2 with salt 1
  for (const fork of since('constantinople')) {
    const { gasUsed } = await runBoth(fork, '61ef00 6000 52 6001 6002 601e 6000 f5 6000 52 6020 6000 f3')
    assert.ok(gasUsed! > mostGas(fork), `${fork}: ${gasUsed}`)
  }
})

test('a creation that reverts with data that begins with 0xef keeps its gas, and its creator sees the data', async () => {
  // MSTORE8 0, 0xef; REVERT(0, 3)
  const initCode = '60ef 6000 53 6003 6000 fd'
  // CREATE of that; RETURNDATACOPY of all; it returns that
  const creator = `69${initCode} 6000 52 600a 6016 6000 f0 50 3d 6000 6000 3e 3d 6000 f3`
  for (const fork of since('byzantium')) {
    const { succeeded, gasUsed, output } = await runBoth(fork, creator)
    assert.equal(succeeded, true, fork)
    assert.equal(formatData(output!), '0xef0000', fork)
    assert.ok(gasUsed! < 60_000n, `${fork}: ${gasUsed}`)
  }
})

test('code that begins with 0xef00 is read as it is', async () => {
  const address = `73${'dd'.repeat(20)}`
  for (const fork of since('frontier')) {
    const size = await runBoth(fork, `${address} 3b 6000 52 6020 6000 f3`)
    assert.equal(BigInt(formatData(size.output!)), 5n, fork)
    const copied = await runBoth(fork, `6008 6001 6000 ${address} 3c 6008 6000 f3`)
    assert.equal(formatData(copied.output!), '0x0011223300000000', fork)
  }
  for (const fork of since('constantinople')) {
    const hash = await runBoth(fork, `${address} 3f 6000 52 6020 6000 f3`)
    assert.deepEqual(hash.output, keccak256(bytes('ef00112233')), fork)
  }
})
