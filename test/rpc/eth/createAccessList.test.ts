import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { createAccessList } from '../../../src/rpc/eth/createAccessList.js'
import { createSender } from '../../../tools/fixture/chainBuilder.js'
import { createGenesis, writeGenesisChain } from '../../support/chains/genesisChain.js'

const ALICE = formatData(createSender('alice').address)
const CODE = '0x000000000000000000000000000000000000c0de'
const OTHER = '0x00000000000000000000000000000000000000f0'
const ZERO = `0x${'00'.repeat(20)}`
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const genesis = (options: object) => createGenesis({ [ALICE]: { balance: '0x3635c9adc5dea00000' } }, options)

async function open(options: object) {
  const datadir = await writeGenesisChain({ after }, genesis(options))
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  after(close)
  return async (code: string, call: object = {}, overrides: object = { [CODE]: { code } }) => {
    const params = [{ from: ALICE, to: CODE, ...call }, 'latest', overrides]
    const outcome = await runMethod(createAccessList, params, context)
    if ('error' in outcome) throw new Error(outcome.error.message)
    return JSON.parse(Buffer.from(outcome.result).toString())
  }
}
const create = await open({ forks: 'cancun' })

test('lists slots and other accounts, not the accounts that are warm anyway', async () => {
  // SLOAD 5, SSTORE 1 to 3, BALANCE of other, of the caller and of the identity precompile
  const { accessList } = await create(`0x600554600160035573${OTHER.slice(2)}313331600431`)
  assert.deepEqual(accessList, [
    { address: OTHER, storageKeys: [] },
    { address: CODE, storageKeys: [word(3), word(5)] },
  ])
  const { accessList: none, gasUsed } = await create('0x')
  assert.deepEqual([none, gasUsed], [[], '0x5208'])
})

test('does not list the fee recipient, which is warm since Shanghai, nor keeps it in a list', async () => {
  const { accessList } = await create('0x4131', { accessList: [{ address: ZERO, storageKeys: [] }] })
  assert.deepEqual(accessList, [])
})

test('does not list what the recipient delegates to, but its slots that run there', async () => {
  const prague = await open({ forks: 'osaka' })
  const delegating = { [CODE]: { code: `0xef0100${OTHER.slice(2)}` }, [OTHER]: { code: '0x60055450' } }
  const { accessList } = await prague('', {}, delegating)
  assert.deepEqual(accessList, [{ address: CODE, storageKeys: [word(5)] }])
})

test('lists addresses and keys in ascending order', async () => {
  const { accessList } = await create(`0x60ff5460015460105473${OTHER.slice(2)}3173${'00'.repeat(19)}e031`)
  assert.deepEqual(accessList, [
    { address: `0x${'00'.repeat(19)}e0`, storageKeys: [] },
    { address: OTHER, storageKeys: [] },
    { address: CODE, storageKeys: [word(1), word(0x10), word(0xff)] },
  ])
})

test('lists what a failed call accessed, with its error', async () => {
  const reverted = await create('0x6005545f5ffd')
  assert.deepEqual(reverted.accessList, [{ address: CODE, storageKeys: [word(5)] }])
  assert.equal(reverted.error, 'execution reverted')
  const halted = await create('0x600554fe', { gas: '0x10000' })
  assert.deepEqual([halted.error, halted.gasUsed], ['invalid opcode: INVALID', '0x10000'])
})

test('lists an account that the gas was not enough for, because with the list it is', async () => {
  // PUSH20 and BALANCE: 2,600 gas without the list, 2,400 for the list and 100 with it
  const { accessList, error, gasUsed } = await create(`0x73${OTHER.slice(2)}31`, { gas: '0x5c01' })
  assert.deepEqual(accessList, [{ address: OTHER, storageKeys: [] }])
  assert.deepEqual([error, Number(gasUsed)], [undefined, 21_000 + 2400 + 3 + 100])
})

test('drops given slots of accounts that are warm anyway unless the call accesses them', async () => {
  const precompile = `0x${'00'.repeat(19)}04`
  const given = [CODE, precompile].map((address) => ({ address, storageKeys: [word(9)] }))
  assert.deepEqual((await create('0x', { accessList: given })).accessList, [])
  const { accessList } = await create('0x600954', { accessList: given })
  assert.deepEqual(accessList, [{ address: CODE, storageKeys: [word(9)] }])
})

test('keeps the given list, and finds what a call does only with the gas of a list', async () => {
  const given = [{ address: OTHER, storageKeys: [word(9)] }]
  const { accessList } = await create('0x600554', { accessList: given })
  assert.deepEqual(accessList, [...given, { address: CODE, storageKeys: [word(5)] }])
  // Reads slot 1, and slot 2 only where that cost less than 200 gas.
  const picky = `0x5a600154505a900360c811600f57005b600254`
  const found = await create(picky)
  assert.deepEqual(found.accessList, [{ address: CODE, storageKeys: [word(1), word(2)] }])
})

test('counts the gas that the call uses with its list', async () => {
  const { gasUsed } = await create('0x60055450')
  // 21,000, an address and a key of the list, PUSH1, a warm SLOAD, POP
  assert.equal(Number(gasUsed), 21_000 + 2400 + 1900 + 3 + 100 + 2)
})
