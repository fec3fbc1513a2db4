import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fork } from '../../../src/chain/eth/forks/rules.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { createEnvironment } from '../../../src/evm/interpreter/environment.js'
import type { NewAccount } from '../../../src/evm/interpreter/journal/journalAccount.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { BLS12_381, BN254 } from '../../../src/evm/interpreter/precompiles/pointFailures.js'
import { createContract, runMessage } from '../../../src/evm/interpreter/run.js'
import { DeadlineExceeded, deadlineAfter, noDeadline } from '../../../src/lib/deadline.js'
import { rulesOf } from '../../support/chains/forks.js'
import { createTestJournal } from '../../support/chains/memoryState.js'

const CALLER = new Uint8Array(20).fill(0xaa)
const CONTRACT = new Uint8Array(20).fill(0xcc)
const code = (hex: string) => new Uint8Array(Buffer.from(hex.replace(/\s/g, ''), 'hex'))

function setUp(contractCode: Uint8Array, fork: Fork = 'osaka', deadline = noDeadline) {
  const account = (bytes: Uint8Array, balance = 0n): NewAccount => ({ nonce: 1n, balance, code: bytes, storage: [] })
  const { journal } = createTestJournal([
    [CALLER, account(new Uint8Array(0), 10n ** 18n)],
    [CONTRACT, account(contractCode)],
  ])
  const rules = rulesOf(fork)
  const tables = createForkTables(() => false)(rules)
  const environment = createEnvironment(
    {
      number: 1000,
      timestamp: 1n,
      coinbase: new Uint8Array(20),
      gasLimit: 30_000_000n,
      difficulty: 0n,
      prevRandao: new Uint8Array(32),
      baseFeePerGas: 0n,
      blobBaseFee: 1n,
      chainId: 1n,
      blockHash: () => new Uint8Array(32),
    },
    rules.isProofOfStake,
  )
  const machine = new Machine({ ...tables, environment, state: journal, deadline })
  const call = (gas = 1_000_000n, input = new Uint8Array(0), value = 0n) =>
    runMessage(machine, { caller: CALLER, to: CONTRACT, value, input, gas })
  return { machine, journal, call }
}

test('returns what a contract returns, and the gas that is left', () => {
  // MSTORE 0, 3 + 4; RETURN 0, 32
  const { call } = setUp(code('6004 6003 01 6000 52 6020 6000 f3'))
  const { status, output, gasLeft } = call(100n)
  assert.equal(status, 'success')
  assert.equal(Buffer.from(output).toString('hex'), '07'.padStart(64, '0'))
  assert.equal(gasLeft, 100n - 7n * 3n - 3n)
})

test('names failures in the words of geth', () => {
  const failureOf = (hex: string, gas = 100_000n, fork: Fork = 'osaka') => setUp(code(hex), fork).call(gas).failure
  assert.equal(failureOf('01'), 'stack underflow (0 <=> 2)')
  assert.equal(failureOf('5b 6000 56'), 'out of gas')
  assert.equal(failureOf('6001 56'), 'invalid jump destination')
  assert.equal(failureOf('fe'), 'invalid opcode: INVALID')
  assert.equal(failureOf('0c'), 'invalid opcode: opcode 0xc not defined')
  assert.equal(failureOf('5f', 100_000n, 'london'), 'invalid opcode: PUSH0')
  assert.equal(failureOf('d0'), 'invalid opcode: DATALOAD')
  assert.equal(failureOf('5f e65b', 100_000n, 'amsterdam'), 'invalid opcode: DUPN (operand: 0x5b)')
  assert.equal(failureOf('e65b', 100_000n, 'amsterdam'), 'stack underflow (0 <=> 1)')
  assert.equal(failureOf('5f e760', 100_000n, 'amsterdam'), 'stack underflow (1 <=> 2)')
  assert.equal(failureOf('5f e860', 100_000n, 'amsterdam'), 'stack underflow (1 <=> 2)')
  assert.equal(failureOf('5f 5f e780', 100_000n, 'amsterdam'), 'stack underflow (2 <=> 18)')
  assert.equal(failureOf('6001 6000 6000 3e'), 'return data out of bounds')
  assert.equal(failureOf('6000 6000 fd'), 'execution reverted')
  assert.equal(failureOf('5b 80 6000 56', 1_000_000n), 'stack underflow (0 <=> 1)')
  assert.equal(failureOf('6000 5b 80 6002 56', 1_000_000n), 'stack limit reached 1024 (1023)')
})

test('Bogota without Amsterdam has its instructions and prices, but no state gas for creations and code, and no logs of transfers', () => {
  const runAt = (hex: string, fork: Fork) => {
    const { call, journal } = setUp(code(hex), fork)
    const { status, gasLeft } = call(1_000_000n, new Uint8Array(0), 1n)
    return [status, Number(1_000_000n - gasLeft), journal.logs.length]
  }
  const pushes = (count: number) => count * 2
  // SLOTNUM
  assert.deepEqual(runAt('4b', 'osaka'), ['halt', 1_000_000, 0])
  assert.deepEqual(runAt('4b', 'bogota'), ['success', 2, 0])
  // SSTORE(0, 1): a new slot
  const stored = 6 + 12_100 + 97_920
  assert.deepEqual(runAt('6001 6000 55', 'bogota'), ['success', stored, 0])
  assert.deepEqual(runAt('6001 6000 55', 'amsterdam'), ['success', stored, 1])
  // SSTORE(0, 1), SSTORE(0, 0): the state gas is taken back
  assert.deepEqual(runAt('6001 5f 55 5f 5f 55', 'bogota'), ['success', 3 + pushes(3) + 12_100 + 100, 0])
  // CALL of a new account with value
  const called = pushes(4) + 9 + 3000 + 11_300 + 183_600 - 2300
  assert.deepEqual(runAt('5f 5f 5f 5f 6001 60fe 6000 f1', 'bogota'), ['success', called, 0])
  // CREATE without code, and of 32 bytes of code
  assert.deepEqual(runAt('5f 5f 5f f0', 'bogota'), ['success', pushes(3) + 12_000, 0])
  assert.deepEqual(runAt('5f 5f 5f f0', 'amsterdam'), ['success', pushes(3) + 12_000 + 183_600, 1])
  const initCode = 3 + 2 + 3 // PUSH1, PUSH0, RETURN of a word
  const deployed = 3 + 2 + 6 + 3 + 3 + 2 + 12_000 + 2 + initCode + 32 * 200
  assert.deepEqual(runAt('6360205ff3 5f 52 6004 601c 5f f0', 'bogota'), ['success', deployed, 0])
})

test('says in the words of geth what was wrong with the price of an instruction', () => {
  const failureOf = (hex: string, gas = 100_000n, fork: Fork = 'osaka') => setUp(code(hex), fork).call(gas).failure
  const push = (value: bigint) => `7f${value.toString(16).padStart(64, '0')}`
  assert.equal(failureOf('6001 6000 55', 2306n), 'out of gas: not enough gas for reentrancy sentry')
  // MLOAD far away, LOG0 of too much, both with and without gas for the constant part
  assert.equal(failureOf(`${push(2n ** 33n)} 51`), 'out of gas')
  assert.equal(failureOf(`${push(2n ** 37n)} 51`), 'out of gas: gas uint64 overflow')
  assert.equal(failureOf(`${push(2n ** 64n - 64n)} 51`), 'out of gas: gas uint64 overflow')
  assert.equal(failureOf(`${push(2n ** 64n - 32n)} 51`), 'gas uint64 overflow')
  for (const gas of [100n, 100_000n]) assert.equal(failureOf(`${push(2n ** 64n)} 6000 a0`, gas), 'gas uint64 overflow')
  // CALL of a new account, and of another account, with value and without the gas for that
  const callOf = '6000 6000 6000 6000 6001 60fe 611000 f1'
  assert.equal(failureOf(callOf, 5000n), 'out of gas: out of gas')
  assert.equal(failureOf(callOf, 20_000n), 'out of gas: out of gas')
  for (const fork of ['homestead', 'istanbul', 'cancun'] as const) {
    assert.equal(failureOf(callOf, 5000n, fork), 'out of gas: out of gas', fork)
    assert.equal(failureOf(callOf, 20_000n, fork), 'out of gas', fork)
  }
  assert.equal(
    failureOf(`${push(49_153n)} 6000 6000 f0`, 10_000_000n),
    'out of gas: max initcode size exceeded: code size 49153 limit 49152',
  )
})

test('says why a new contract cannot get its code', () => {
  const failureOf = (hex: string, gas: bigint, fork: Fork = 'osaka') => {
    const { machine } = setUp(new Uint8Array(0), fork)
    return createContract(machine, { caller: CALLER, value: 0n, initCode: code(hex), gas }).failure
  }
  assert.equal(failureOf('616001 6000 f3', 10_000_000n), 'max code size exceeded: code size 24577 limit 24576')
  assert.equal(failureOf('616001 6000 f3', 10_000n), 'contract creation code storage out of gas')
  assert.equal(failureOf('6010 6000 f3', 1000n), 'contract creation code storage out of gas')
  assert.equal(failureOf('60ef 6000 53 6001 6000 f3', 30n), 'invalid code: must not begin with 0xef')
})

test('says why a precompile refused its input', () => {
  const failureOf = (address: number, input: string) => {
    const { machine } = setUp(new Uint8Array(0))
    const to = new Uint8Array(20).fill(address, 19)
    return runMessage(machine, { caller: CALLER, to, value: 0n, input: code(input), gas: 10_000_000n }).failure
  }
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const [modulus, blsModulus] = [BN254.modulus, BLS12_381.modulus].map((each) => each.toString(16))
  assert.equal(
    failureOf(5, word(2000n) + word(1n) + word(1n)),
    'one or more of base/exponent/modulus length exceeded 1024 bytes',
  )
  assert.equal(failureOf(6, word(1n) + word(1n)), 'point is not on curve')
  assert.equal(failureOf(7, modulus.padStart(64, '0')), 'invalid fp.Element encoding')
  assert.equal(failureOf(8, '00'), 'bad elliptic curve pairing size')
  assert.equal(failureOf(8, '00'.repeat(64) + word(1n) + word(2n) + word(3n) + word(4n)), 'point is not on curve')
  assert.equal(failureOf(9, '00'), 'invalid input length')
  assert.equal(failureOf(9, `${'00'.repeat(212)}02`), 'invalid final flag')
  assert.equal(failureOf(10, '00'), 'invalid input length')
  assert.equal(failureOf(10, '00'.repeat(192)), 'mismatched versioned hash')
  assert.equal(failureOf(11, `01${'00'.repeat(255)}`), 'invalid field element top bytes')
  assert.equal(failureOf(11, blsModulus.padStart(128, '0') + '00'.repeat(192)), 'invalid fp.Element encoding')
  assert.equal(failureOf(12, `${'00'.repeat(127)}01${'00'.repeat(32)}`), 'invalid point: not on curve')
  assert.equal(failureOf(15, '00'), 'invalid input length')
  assert.equal(failureOf(16, `01${'00'.repeat(63)}`), 'invalid field element top bytes')
  // x = 4 is on the curve, but outside of the subgroup.
  const y = '0a989badd40d6212b33cffc3f3763e9bc760f988c9926b26da9dd85e928483446346b8ed00e1de5d5ea93e354abe706c'
  const outside = `${word(0n)}${word(4n)}${y.padStart(128, '0')}`
  assert.equal(failureOf(12, outside + word(1n)), 'g1 point is not on correct subgroup')
})

test('does not jump into the data of a PUSH', () => {
  // PUSH1 JUMPDEST; the same byte as an instruction is a target.
  assert.equal(setUp(code('605b 6001 56')).call().failure, 'invalid jump destination')
  assert.equal(setUp(code('605b 6005 56 5b')).call().status, 'success')
})

test('keeps a frame from writing in a static call', () => {
  const { machine } = setUp(code('6001 6000 55'))
  const message = { caller: CALLER, to: CONTRACT, value: 0n, input: new Uint8Array(0), gas: 100_000n }
  assert.equal(runMessage(machine, { ...message, isStatic: true }).failure, 'out of gas: write protection')
  assert.equal(runMessage(machine, message).status, 'success')
})

test('undoes storage, logs, balances and warmth of a frame that fails', () => {
  const { machine, journal, call } = setUp(code('6007 6003 55 6000 6000 a0 60fe 31 50 6000 6000 fd'))
  assert.equal(call(200_000n, new Uint8Array(0), 5n).status, 'revert')
  assert.equal(journal.account(CONTRACT).balance, 0n)
  assert.deepEqual(journal.logs, [])
  const word = new Int32Array(16)
  word[0] = 3
  const slot = journal.slot(journal.account(CONTRACT), word, 0)
  journal.readSlot(slot, word, 8)
  assert.deepEqual(word.slice(8), new Int32Array(8))
  assert.equal(journal.warmSlot(slot), true)
  assert.equal(machine.state.refund, 0)
})

test('calls itself 1,024 frames deep and no deeper, without using the stack of the thread', () => {
  // Counts its depth in storage slot 0, then calls itself with all gas. Before EIP-150 all of it reaches the last
  // frame.
  const { call, journal } = setUp(
    code('6001 600054 01 600055 6000 6000 6000 6000 6000 30 611000 5a 03 f1'),
    'homestead',
  )
  assert.equal(call(100_000_000n).status, 'success')
  const word = new Int32Array(16)
  journal.readSlot(journal.slot(journal.account(CONTRACT), word, 0), word, 8)
  assert.equal(word[8], 1025)
})

test('stops an endless loop at its deadline', () => {
  for (const endless of [
    '5b 6000 56', // nothing but jumps
    '5b 6000 6000 6000 6000 6000 6004 5a f1 50 6000 56', // calls of a precompile
    '5b 6000 6000 6000 6000 6000 30 5a f1 50 6000 56', // calls of itself
    '63ffffffff 60e0 1b 6000 52 6000 6000 60d5 6000 6000 6009 5a f1', // a precompile with 2^32 rounds
  ]) {
    const { call } = setUp(code(endless), 'osaka', deadlineAfter(20))
    const began = performance.now()
    assert.throws(() => call(2n ** 53n), DeadlineExceeded)
    assert.ok(performance.now() - began < 500, 'took far longer than the deadline')
  }
})

test('stops at its deadline without a jump', () => {
  for (const step of [
    '62100000 5f 20 50', // hashes of a megabyte
    '62100000 5f 6020 5e', // copies of a megabyte
    '5f 5f 62100000 5f 5f 6002 5a f1 50', // a precompile over a megabyte
  ]) {
    const { call } = setUp(code(step.repeat(10_000)), 'osaka', deadlineAfter(20))
    const began = performance.now()
    assert.throws(() => call(2n ** 53n), DeadlineExceeded)
    assert.ok(performance.now() - began < 500, 'took far longer than the deadline')
  }
})

test('stops within reads of slots without a jump', () => {
  // PUSH3 n SLOAD POP, for as many slots as the old forks sell for little.
  const reads = Buffer.alloc(6 * 400_000)
  for (let n = 0; n < 400_000; n++) {
    reads.writeUInt32BE(0x6200_0000 | n, 6 * n)
    reads.writeUInt16BE(0x5450, 6 * n + 4)
  }
  for (const fork of ['homestead', 'osaka'] as const) {
    const { call } = setUp(new Uint8Array(reads), fork, deadlineAfter(5))
    const began = performance.now()
    assert.throws(() => call(2n ** 53n), DeadlineExceeded)
    assert.ok(performance.now() - began < 300, 'took far longer than the deadline')
  }
})

test('refuses memory that no gas pays for without allocating it', () => {
  const offsets = {
    '63ffffffff': 'out of gas',
    '67ffffffffffffffff': 'gas uint64 overflow',
    [`7f${'ff'.repeat(32)}`]: 'gas uint64 overflow',
  }
  for (const [offset, failure] of Object.entries(offsets)) {
    const { call, machine } = setUp(code(`6001 ${offset} 52`))
    const { memory } = machine
    assert.equal(call(2n ** 40n).failure, failure)
    assert.equal(machine.memory, memory)
  }
})

test('keeps the memories of frames apart, with zeros where a callee wrote before', () => {
  // With call data it writes ones to its second word, which is where the caller's third one will be. Without, it calls
  // itself twice and returns its third word.
  const program = code(`
    36 6026 57
    6001 6000 6001 6000 6000 30 5a f1 50
    6001 6000 6001 6000 6000 30 5a f1 50
    6040 51 6000 52 6020 6000 f3
    5b 6000 51 19 6020 52 6000 51 15 602f 57 fe 5b 00`)
  const at = Buffer.from(program).indexOf(0x5b)
  program[2] = at
  const second = Buffer.from(program).lastIndexOf(0x5b)
  program[second - 3] = second
  const { status, output } = setUp(program, 'byzantium').call(1_000_000n)
  assert.equal(status, 'success')
  assert.equal(Buffer.from(output).toString('hex'), '0'.repeat(64))
})

test('creates contracts, and says why it does not', () => {
  const created = (initCode: string, gas = 1_000_000n, fork: Fork = 'osaka') =>
    createContract(setUp(new Uint8Array(0), fork).machine, { caller: CALLER, value: 0n, initCode: code(initCode), gas })
  // MSTORE8 0, 0x5b; RETURN 0, 1
  const good = created('605b 6000 53 6001 6000 f3')
  assert.equal(good.status, 'success')
  assert.deepEqual(good.output, Uint8Array.of(0x5b))
  assert.equal(good.createdAddress?.length, 20)
  assert.equal(created('60ef 6000 53 6001 6000 f3').failure, 'invalid code: must not begin with 0xef')
  assert.equal(created('60ef 6000 53 6001 6000 f3', 1_000_000n, 'berlin').status, 'success')
  assert.equal(created('616001 6000 f3', 10_000_000n).failure, 'max code size exceeded: code size 24577 limit 24576')
  assert.equal(created('605b 6000 53 6001 6000 f3', 30n).failure, 'contract creation code storage out of gas')
  assert.equal(created('605b 6000 53 6001 6000 f3', 30n, 'frontier').status, 'success')
})
