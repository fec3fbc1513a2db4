import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { CONSOLIDATION_REQUESTS, WITHDRAWAL_REQUESTS } from '../../../src/chain/eth/forks/prague.js'
import { createAddress } from '../../../src/chain/eth/transaction.js'
import type { EvmKind } from '../../../src/evm/kinds.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { call } from '../../../src/rpc/eth/call.js'
import { CALL_CACHING, callCostKey } from '../../../src/rpc/eth/callCacheKey.js'
import { estimateGas } from '../../../src/rpc/eth/estimateGas.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { REQUEST_RUNTIME } from '../../../tools/fixture/contracts.js'
import { createGenesis } from '../../support/chains/genesisChain.js'
import { temporaryDirectory } from '../../support/temporary.js'

const ALICE = formatData(createSender('alice').address)
const POOR = '0x00000000000000000000000000000000000000b0'
const KEEPER = '0x000000000000000000000000000000000000c0de'
const FRESH = '0x00000000000000000000000000000000000000f0'
const word = (value: number | bigint) => `0x${value.toString(16).padStart(64, '0')}`

/** Code that returns the word that `ops` leave on the stack. */
const returning = (ops: string) => `0x${ops}5f5260205ff3`
const SLOAD = (slot: number) => `60${slot.toString(16).padStart(2, '0')}54`
/** Calls the address with 32 bytes of 0x01.. and returns the first word of what it gives. */
const relay = (address: string) => `0x7f${'01'.repeat(32)}5f5260205f60205f73${address.slice(2)}5afa5060205ff3`

const datadir = temporaryDirectory({ after })
const db = openForWriting(datadir)
const AMSTERDAM_TIME = 1000
const requestContract = { balance: '0x0', code: formatData(REQUEST_RUNTIME) }
const chain = await createChainBuilder(
  db,
  createGenesis(
    {
      [formatData(WITHDRAWAL_REQUESTS)]: requestContract,
      [formatData(CONSOLIDATION_REQUESTS)]: requestContract,
      [ALICE]: { balance: '0x3635c9adc5dea00000' },
      [KEEPER]: { balance: '0x0', code: returning(SLOAD(1)), storage: { '0x1': '0x11', '0x2': '0x22' } } as never,
    },
    { amsterdamTime: AMSTERDAM_TIME },
  ),
)
for (let i = 0; i < 3; i++) await chain.add()
db.close()

function open(evm: EvmKind) {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger, evm })
  after(close)
  return async (method: typeof call, ...params: unknown[]) => {
    const outcome = await runMethod(method, params, context)
    if ('error' in outcome) throw Object.assign(new Error(outcome.error.message), { code: outcome.error.code })
    return JSON.parse(Buffer.from(outcome.result).toString())
  }
}
const ask = open('cairn')
const read = (to: string, accounts: object | null, block?: object) => ask(call, { to }, 'latest', accounts, block)

test('a call sees overridden balance, code and nonce, and the next one does not', async () => {
  const balance = returning(`73${POOR.slice(2)}31`)
  assert.equal(await read(FRESH, { [FRESH]: { code: balance }, [POOR]: { balance: '0x7b' } }), word(123))
  assert.equal(await read(FRESH, { [FRESH]: { code: balance } }), word(0))
  assert.equal(await read(FRESH, null), '0x')
  const create = returning('5f5f5ff0')
  const created = createAddress(parseHex(FRESH), 9n)
  assert.equal(await read(FRESH, { [FRESH]: { code: create, nonce: '0x9' } }), word(BigInt(formatData(created))))
  assert.equal(await read(KEEPER, null), word(0x11))
})

test('state replaces all slots, stateDiff single ones', async () => {
  const sum = returning(`${SLOAD(1)}${SLOAD(2)}01`)
  const slots = { [word(1)]: word(5) }
  assert.equal(await read(KEEPER, { [KEEPER]: { code: sum } }), word(0x33))
  assert.equal(await read(KEEPER, { [KEEPER]: { code: sum, stateDiff: slots } }), word(0x27))
  assert.equal(await read(KEEPER, { [KEEPER]: { code: sum, state: slots } }), word(5))
  assert.equal(await read(KEEPER, { [KEEPER]: { code: sum, state: {} } }), word(0))
})

test('an overridden slot is what the transaction began with', async () => {
  // SSTORE 1 to slot 1: a change of 2,900 gas and more where it had another value, 100 where it has this one.
  const to = KEEPER
  const code = '0x600160015500'
  const estimate = async (value: number) =>
    Number(
      await ask(estimateGas, { from: ALICE, to }, 'latest', { [to]: { code, stateDiff: { [word(1)]: word(value) } } }),
    )
  assert.ok((await estimate(0)) > 42_000)
  assert.ok((await estimate(7)) < 27_000)
  assert.ok((await estimate(1)) < 24_000)
})

test('a precompile that was moved answers at its new address alone', async () => {
  const IDENTITY = '0x0000000000000000000000000000000000000004'
  const SHA256 = '0x0000000000000000000000000000000000000002'
  const moved = { [IDENTITY]: { movePrecompileToAddress: POOR } }
  const ones = `0x${'01'.repeat(32)}`
  const through = async (target: string, accounts: object) =>
    read(FRESH, { ...accounts, [FRESH]: { code: relay(target) } })
  assert.equal(await through(POOR, moved), ones)
  assert.equal(await through(SHA256, {}), '0x72cd6e8422c407fb6d098690f1130b7ded7ec2f7f5e1d30bd9d521f015363793')
  // Memory stays as it was where nothing answers.
  assert.equal(await through(SHA256, { [SHA256]: { code: returning('6007') } }), word(7))
  assert.equal(await ask(call, { to: IDENTITY, data: '0x0102' }, 'latest', moved), '0x')
  assert.equal(await ask(call, { to: POOR, data: '0x0102' }, 'latest', moved), '0x0102')
  assert.equal(await ask(call, { to: IDENTITY, data: '0x0102' }), '0x0102')
})

test('overrides that contradict each other are refused in the words of geth', async () => {
  const IDENTITY = '0x0000000000000000000000000000000000000004'
  const refused = (accounts: object, message: string) =>
    assert.rejects(read(KEEPER, accounts), { code: -32000, message })
  await refused(
    { [POOR]: { movePrecompileToAddress: FRESH } },
    'account 0x00000000000000000000000000000000000000B0 is not a precompile',
  )
  await refused(
    { [IDENTITY]: { movePrecompileToAddress: FRESH }, [FRESH]: { balance: '0x1' } },
    'account 0x00000000000000000000000000000000000000F0 is already overridden',
  )
  await refused(
    { [KEEPER]: { state: {}, stateDiff: {} } },
    "account 0x000000000000000000000000000000000000c0DE has both 'state' and 'stateDiff'",
  )
  for (const name of ['beaconRoot', 'withdrawals']) {
    const message = `block override "${name}" is not supported for this RPC method`
    const value = name === 'beaconRoot' ? word(1) : []
    await assert.rejects(read(KEEPER, {}, { [name]: value }), { code: -32000, message })
  }
  await assert.rejects(read(KEEPER, { [KEEPER]: { balance: 5 } }), {
    code: -32602,
    message: `invalid argument 2: stateOverrides.${KEEPER}.balance: expected a quantity such as "0x1b4", got 5`,
  })
})

test('a call sees overridden block fields', async () => {
  const seen = (op: string, block: object, fees = {}) =>
    ask(call, { to: FRESH, ...fees }, 'latest', { [FRESH]: { code: returning(op) } }, block)
  assert.equal(await seen('43', { number: '0x1234' }), word(0x1234))
  assert.equal(await seen('42', { time: '0x99' }), word(0x99))
  assert.equal(await seen('45', { gasLimit: '0x100000' }), word(0x100000))
  assert.equal(await seen('41', { feeRecipient: POOR }), word(0xb0))
  assert.equal(await seen('44', { prevRandao: word(77) }), word(77))
  assert.equal(await seen('44', { difficulty: '0x5' }), await seen('44', {})) // proof of stake has none
  assert.equal(await seen('4a', { blobBaseFee: '0x6' }), word(6))
  // As without overrides, a call without fees sees no base fee.
  assert.equal(await seen('48', { baseFeePerGas: '0x3' }), word(0))
  assert.equal(await seen('48', { baseFeePerGas: '0x3' }, { from: ALICE, maxFeePerGas: '0x9' }), word(3))
})

test('under an overridden number the blocks before the real one have hashes, and no others', async () => {
  const [before, { header }] = chain.blocks.slice(-2)
  const hashOf = (number: number, id: string) => {
    const code = returning(`60${number.toString(16).padStart(2, '0')}40`)
    return ask(call, { to: FRESH }, id, { [FRESH]: { code } }, { number: '0x20' })
  }
  assert.equal(await hashOf(before.header.number, 'latest'), formatData(before.hash))
  assert.equal(await hashOf(header.number, 'latest'), word(0))
  assert.equal(await hashOf(0x1f, 'latest'), word(0))
  // A later block is stored, but is none that the call could see.
  assert.equal(await hashOf(header.number, formatQuantity(before.header.number)), word(0))
})

test('an overridden time selects the fork', async () => {
  const slotNumber = { [FRESH]: { code: returning('4b') } }
  await assert.rejects(read(FRESH, slotNumber), /invalid opcode: SLOTNUM/)
  assert.equal(await read(FRESH, slotNumber, { time: `0x${AMSTERDAM_TIME.toString(16)}` }), word(0))
  const self = (block?: object) => ask(estimateGas, { from: ALICE, to: ALICE }, 'latest', {}, block)
  assert.equal(Number(await self()), 21_000)
  assert.equal(Number(await self({ time: `0x${AMSTERDAM_TIME.toString(16)}` })), 12_000)
})

test('an estimate uses overridden funds and gas limits', async () => {
  const transfer = { from: POOR, to: FRESH, value: '0x10' }
  await assert.rejects(ask(estimateGas, transfer, 'latest'), /insufficient funds/)
  assert.equal(Number(await ask(estimateGas, transfer, 'latest', { [POOR]: { balance: '0x10' } })), 21_000)
  // An endless loop takes all there is.
  const loop = { [FRESH]: { code: '0x5b5f56' } }
  await assert.rejects(
    ask(estimateGas, { from: ALICE, to: FRESH }, 'latest', loop, { gasLimit: '0x186a0' }),
    /gas required exceeds allowance \(100000\)/,
  )
})

test('overridden calls are not cached, and with long overrides not run on the main thread', () => {
  const values = [{ to: KEEPER, data: '0x' }, 'latest']
  const keys = (...overrides: unknown[]) => [
    CALL_CACHING.key({ values: [...values, ...overrides] } as never),
    callCostKey([...values, ...overrides]),
  ]
  assert.ok(keys().every((key) => key !== undefined))
  assert.ok(keys({}, null).every((key) => key !== undefined))
  const plain = callCostKey(values)
  for (const overrides of [[{ [KEEPER]: { balance: '0x1' } }], [null, { number: '0x1' }]]) {
    const [cached, cost] = keys(...overrides)
    assert.equal(cached, undefined)
    assert.ok(cost !== undefined && cost !== plain, cost)
  }
  const code = `0x${'5b'.repeat(1_000)}`
  assert.deepEqual(keys({ [KEEPER]: { code } }), [undefined, undefined])
})

test('with the reference interpreter too', async () => {
  const reference = open('reference')
  assert.equal(
    await reference(call, { to: KEEPER }, 'latest', { [KEEPER]: { stateDiff: { [word(1)]: word(9) } } }),
    word(9),
  )
  assert.equal(await reference(call, { to: KEEPER }, 'latest'), word(0x11))
})
