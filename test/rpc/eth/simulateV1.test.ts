import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ALL_FORKS } from '../../../src/chain/eth/forks/all.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { simulateV1 } from '../../../src/rpc/eth/simulateV1.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { REQUEST_RUNTIME } from '../../../tools/fixture/contracts.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { createGenesis } from '../../support/chains/genesisChain.js'
import { temporaryDirectory } from '../../support/temporary.js'

// biome-ignore lint/suspicious/noExplicitAny: JSON of the method
type Json = any

const ALICE = formatData(createSender('alice').address)
const BOB = '0x00000000000000000000000000000000000000b0'
const FRESH = '0x00000000000000000000000000000000000000f0'
const AMSTERDAM_TIME = 1000
const TRANSFERS = `0x${'ee'.repeat(20)}`
const returning = (ops: string) => `0x${ops}5f5260205ff3`
const word = (value: number | bigint) => `0x${value.toString(16).padStart(64, '0')}`

const datadir = temporaryDirectory({ after })
const db = openForWriting(datadir)
const requests = { balance: '0x0', code: formatData(REQUEST_RUNTIME) }
const contracts = ALL_FORKS.requestContracts
const builder = await createChainBuilder(
  db,
  createGenesis(
    {
      [ALICE]: { balance: '0x3635c9adc5dea00000' },
      ...Object.fromEntries(contracts.map((address) => [formatData(address), requests])),
    },
    { amsterdamTime: AMSTERDAM_TIME },
  ),
)
await builder.add()
await builder.add()
const base = builder.blocks.at(-1)!
db.close()

function open(directory: string, limits = {}) {
  const all = { ...DEFAULT_LIMITS, ...limits }
  const { context, close } = openContext({ datadir: directory, limits: all, log: silentLogger })
  after(close)
  return async (payload: object, block = 'latest'): Promise<Json> => {
    const outcome = await runMethod(simulateV1, [payload, block], context)
    if ('error' in outcome) throw Object.assign(new Error(outcome.error.message), { code: outcome.error.code })
    return JSON.parse(Buffer.from(outcome.result).toString())
  }
}
const simulate = open(datadir)
const refused = (payload: object, code: number, message: string | RegExp, from = simulate) =>
  assert.rejects(from(payload), { code, message })

test('fills gaps between block numbers with empty blocks, twelve seconds apart, and links all of them', async () => {
  const first = base.header.number
  const number = formatQuantity(first + 3)
  const code = returning('60ff4360020340505f50') // so that the block runs something
  const blocks = await simulate({
    blockStateCalls: [
      { blockOverrides: { number }, stateOverrides: { [FRESH]: { code } }, calls: [{ to: FRESH }] },
      {},
    ],
  })
  assert.deepEqual(
    blocks.map((block: Json) => Number(block.number) - first),
    [1, 2, 3, 4],
  )
  let [parent, time] = [formatData(base.hash), Number(base.header.timestamp)]
  for (const block of blocks) {
    assert.equal(block.parentHash, parent)
    assert.equal(Number(block.timestamp), time + 12)
    parent = block.hash
    time += 12
  }
  assert.deepEqual(
    blocks.map((block: Json) => block.calls.length),
    [0, 0, 1, 0],
  )
})

test('BLOCKHASH knows the simulated blocks, and later blocks see the changes of earlier ones', async () => {
  const number = base.header.number + 1
  const code = returning(`60${number.toString(16).padStart(2, '0')}40`)
  const [first, second] = await simulate({
    blockStateCalls: [
      { stateOverrides: { [BOB]: { balance: '0x9' } }, calls: [{ from: BOB, to: ALICE, value: '0x4' }] },
      {
        stateOverrides: { [FRESH]: { code } },
        calls: [{ to: FRESH }, { from: BOB, to: ALICE, value: '0x5' }],
      },
    ],
  })
  assert.equal(second.calls[0].returnData, first.hash)
  assert.equal(second.calls[1].status, '0x1')
})

test('a nonce is checked with validation only', async () => {
  const calls = (nonce: string) => [{ from: ALICE, to: BOB, nonce, maxFeePerGas: '0x77359400', gas: '0x5208' }]
  const [block] = await simulate({ blockStateCalls: [{ calls: calls('0x5') }] })
  assert.equal(block.calls[0].status, '0x1')
  const validated = (nonce: string) => ({ validation: true, blockStateCalls: [{ calls: calls(nonce) }] })
  await refused(
    validated('0x5'),
    -38011,
    /^err: nonce too high: address 0x.{40}, tx: 5 state: 0 \(supplied gas 21000\)$/,
  )
  const sent = { validation: true, blockStateCalls: [{ calls: [...calls('0x0'), ...calls('0x0')] }] }
  await refused(sent, -38010, /^err: nonce too low: address 0x.{40}, tx: 0 state: 1 \(supplied gas 21000\)$/)
  const [paid] = await simulate(validated('0x0'))
  assert.notEqual(paid.baseFeePerGas, '0x0')
})

test('transfers are traced as logs, which no receipt has', async () => {
  // Sends 1 wei on to BOB, logs, and calls itself with a value that it lacks.
  const forward = `0x5f5f5f5f600173${BOB.slice(2)}5af1505f5fa0`
  const call = { from: ALICE, to: FRESH, value: '0x3' }
  const payload = { blockStateCalls: [{ stateOverrides: { [FRESH]: { code: forward } }, calls: [call, call] }] }
  const [block] = await simulate({ ...payload, traceTransfers: true })
  const seen = block.calls.flatMap((each: Json) => each.logs).map((log: Json) => [log.address, Number(log.logIndex)])
  assert.deepEqual(seen, [
    [TRANSFERS, 0],
    [TRANSFERS, 1],
    [FRESH, 2],
    [TRANSFERS, 3],
    [TRANSFERS, 4],
    [FRESH, 5],
  ])
  const [sent, passed] = block.calls[0].logs
  assert.deepEqual([sent.data, passed.data], [word(3), word(1)])
  assert.equal(passed.topics[2], word(0xb0))
  const [untraced] = await simulate(payload)
  assert.equal(untraced.hash, block.hash)
  assert.deepEqual(
    untraced.calls[1].logs.map((log: Json) => Number(log.logIndex)),
    [1],
  )
})

test('logs of failed frames and calls take an index', async () => {
  // A log, a call of FRESH with 1 wei that logs and fails, and another log.
  const caller = `0x5f5fa05f5f5f5f600173${FRESH.slice(2)}5af1505f5fa0`
  const stateOverrides = { [FRESH]: { code: '0x5f5fa0fe' }, [BOB]: { code: caller, balance: '0x9' } }
  const calls = [FRESH, BOB, FRESH, BOB].map((to) => ({ from: ALICE, to, value: '0x1', gas: '0x186a0' }))
  for (const [traceTransfers, wanted] of [
    [false, [1, 3, 5, 7]],
    [true, [2, 3, 6, 9, 10, 13]],
  ] as const) {
    const [block] = await simulate({ traceTransfers, blockStateCalls: [{ stateOverrides, calls }] })
    const indexes = block.calls.map((each: Json) => each.logs.map((log: Json) => Number(log.logIndex)))
    assert.deepEqual([indexes.flat(), indexes[0], indexes[2]], [wanted, [], []])
  }
})

test('a failed call has its error in the words of geth, and no logs', async () => {
  const cases = { [FRESH]: { code: '0x5f5fa0600160025f5ffd' }, [BOB]: { code: '0x5f5fa0fe' } }
  const [block] = await simulate({
    traceTransfers: true,
    blockStateCalls: [
      {
        stateOverrides: cases,
        calls: [
          { to: FRESH, gas: '0x10000' },
          { to: BOB, gas: '0x10000' },
        ],
      },
    ],
  })
  const [reverted, halted] = block.calls
  assert.deepEqual(reverted.error, { message: 'execution reverted', code: 3, data: '0x' })
  assert.deepEqual(halted.error, { message: 'invalid opcode: INVALID', code: -32015 })
  assert.deepEqual([reverted.logs, halted.logs, halted.gasUsed], [[], [], '0x10000'])
})

test('blocks, calls, gas and returned bytes are limited', async () => {
  const blockStateCalls = (count: number) => Array.from({ length: count }, () => ({}))
  const many = (count: number) => ({ calls: Array.from({ length: count }, () => ({})) })
  await refused({ blockStateCalls: [] }, -32602, 'empty input')
  await refused({ blockStateCalls: blockStateCalls(257) }, -38026, 'too many blocks')
  const number = formatQuantity(base.header.number + 257)
  await refused({ blockStateCalls: [{ blockOverrides: { number } }] }, -38026, 'too many blocks')
  await refused({ blockStateCalls: [many(5001)] }, -38026, 'too many calls in block: 5001 > 5000')
  await refused({ blockStateCalls: [many(5000), many(5000), many(1)] }, -38026, 'too many calls: 10001 > 10000')
  const time = formatQuantity(2n ** 64n - 1n)
  await refused(
    { blockStateCalls: [{ blockOverrides: { time } }, {}] },
    -38021,
    /^block timestamps must be below 2\^64/,
  )
  const gas = { blockStateCalls: [{ calls: [{ gas: formatQuantity(60_000_001) }] }] }
  await refused(gas, -38015, 'block gas limit reached: remaining: 60000000, required: 60000001')
  // An endless loop takes what the simulation may use; the next call has nothing left.
  const loop = { stateOverrides: { [FRESH]: { code: '0x5b5f56' } }, calls: [{ to: FRESH }] }
  const [burnt] = await simulate({ blockStateCalls: [loop] })
  assert.equal(Number(burnt.calls[0].gasUsed), DEFAULT_LIMITS.maxSimulationGas)
  const small = open(datadir, { maxSimulationGas: 100_000, maxReturnBytes: 100, callMemoryBytes: 2 ** 20 })
  await refused(
    { blockStateCalls: [loop, { calls: [{}] }] },
    -38013,
    /intrinsic gas too low: have 0, want 53000/,
    small,
  )
  const long = { stateOverrides: { [FRESH]: { code: '0x60335ff3' } }, calls: [{ to: FRESH }, { to: FRESH }] }
  await refused({ blockStateCalls: [long] }, -32000, 'return data of 102 bytes exceeds the limit of 100', small)
  const logs = { [FRESH]: { code: '0x5b620fffff5fa05f56' } }
  const wide = open(datadir, { callMemoryBytes: 2 ** 20 })
  await refused(
    { blockStateCalls: [{ stateOverrides: logs, calls: [{ to: FRESH }] }] },
    -32000,
    'out of memory budget: the call needs more than 1048576 bytes',
    wide,
  )
})

test('a simulation stops at its deadline', async () => {
  const { loadEvm, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  after(close)
  const { DeadlineExceeded } = await import('../../../src/lib/deadline.js')
  let checks = 0
  const check = () => {
    if (++checks > 5) throw new DeadlineExceeded(1)
  }
  const deadline = { limitMs: 1, remainingMs: () => 1, check }
  const simulation = { blocks: Array(20).fill({ calls: [] }), isValidated: false, tracesTransfers: false }
  const evm = await loadEvm()
  assert.throws(() => evm.simulate(simulation, 1, DEFAULT_LIMITS, deadline), DeadlineExceeded)
})

test('follows the rules of Amsterdam from its time on', async () => {
  const time = formatQuantity(AMSTERDAM_TIME)
  const call = { from: ALICE, to: FRESH, value: '0x7' }
  const [before, block] = await simulate({
    blockStateCalls: [
      { calls: [call] },
      { blockOverrides: { time }, stateOverrides: { [FRESH]: { balance: '0x0' } }, calls: [call, call] },
    ],
  })
  assert.deepEqual([before.blockAccessListHash, before.slotNumber, before.calls[0].logs], [undefined, undefined, []])
  assert.match(block.blockAccessListHash, /^0x[0-9a-f]{64}$/)
  // It is unknown: the parent has none (geth).
  assert.equal(block.slotNumber, undefined)
  // The account costs state gas; transfers are logs of the protocol (EIP-8037, EIP-7708).
  assert.deepEqual(
    block.calls.map((each: Json) => Number(each.gasUsed)),
    [204_600, 21_000],
  )
  assert.equal(block.calls[0].logs[0].address, '0xfffffffffffffffffffffffffffffffffffffffe')
  assert.equal(Number(block.gasUsed), 183_600)
})

test('a call with a gas price and an access list, even an empty one, is of type 1, and its list is warm', async () => {
  const call = { from: ALICE, to: BOB, gasPrice: '0x9' }
  const accessList = [{ address: FRESH, storageKeys: [] }]
  const calls = [call, { ...call, accessList: [] }, { ...call, accessList }]
  const [block] = await simulate({ blockStateCalls: [{ calls }], returnFullTransactions: true })
  assert.deepEqual(
    block.transactions.map(({ type, accessList: list }: Json) => [type, list]),
    [
      ['0x0', undefined],
      ['0x1', []],
      ['0x1', accessList],
    ],
  )
})

test('blobs are paid for at the blob base fee, whatever the call offers for them', async () => {
  const blobVersionedHashes = [`0x01${'11'.repeat(31)}`]
  const spent = async (call: object, blobBaseFee: string) => {
    const before = { to: BOB, from: ALICE }
    const probe = { to: FRESH, data: '0x' }
    const stateOverrides = { [FRESH]: { code: returning(`73${ALICE.slice(2)}31`) } } // BALANCE of ALICE
    const calls = [probe, { ...before, ...call }, probe]
    const blockOverrides = { blobBaseFee }
    const [block] = await simulate({ blockStateCalls: [{ stateOverrides, blockOverrides, calls }] })
    return BigInt(block.calls[0].returnData) - BigInt(block.calls[2].returnData)
  }
  assert.equal(await spent({ blobVersionedHashes }, '0x7'), 7n * 131_072n)
  assert.equal(await spent({ blobVersionedHashes, maxFeePerBlobGas: '0x9' }, '0x7'), 7n * 131_072n)
  assert.equal(await spent({}, '0x7'), 0n)
  const poor = { from: FRESH, to: BOB, blobVersionedHashes }
  const [block] = await simulate({ blockStateCalls: [{ calls: [poor] }] })
  assert.equal(block.calls[0].status, '0x1', 'a sender that has nothing')
})

test('calls are checked in their order: an earlier fault is reported before a later chain id', async () => {
  const other = { from: ALICE, to: BOB, chainId: '0x1' }
  const poor = { from: FRESH, to: BOB, value: '0x1' }
  const chain = "chainId does not match node's (have=1, want=1337)"
  await refused({ blockStateCalls: [{ calls: [poor, other] }] }, -38014, /insufficient funds/)
  await refused({ blockStateCalls: [{ calls: [other, poor] }] }, -32000, chain)
  const second = { blockOverrides: { number: '0x1' }, calls: [other] }
  await refused({ blockStateCalls: [{ calls: [] }, second] }, -38020, /must be in order/)
})

test('creations with blobs or authorizations are refused with -32000, and other faults of a call with -32603 only where the official suite does', async () => {
  const creation = { from: ALICE, data: '0x00' }
  const to = { from: ALICE, to: BOB }
  const faults: [object, RegExp][] = [
    [{ ...creation, blobVersionedHashes: [] }, /^blob transaction of type create$/],
    [{ ...creation, authorizationList: [] }, /^EIP-7702 transaction cannot be used to create contract$/],
    [{ ...to, blobVersionedHashes: [] }, /blob transaction missing blob hashes/],
    [{ ...to, authorizationList: [] }, /EIP-7702 transaction with empty auth list/],
    [{ ...to, blobVersionedHashes: [word(2)] }, /blob 0 has invalid hash version/],
  ]
  for (const [call, words] of faults) await refused({ blockStateCalls: [{ calls: [call] }] }, -32000, words)
  const stateOverrides = { [ALICE]: { nonce: '0xffffffffffffffff' } }
  // As the official suite records both.
  const atEnd = { blockStateCalls: [{ stateOverrides, calls: [to] }] }
  await refused({ ...atEnd, validation: true }, -32603, /^err: nonce has max value: address/)
  assert.equal((await simulate(atEnd))[0].calls[0].status, '0x1')
})

test('the blocks of the fixture, simulated on their parents, have the roots of their headers', async (t) => {
  const directory = temporaryDirectory(t)
  await importFixture(directory)
  const reader = openForReading(directory)
  t.after(() => reader.close())
  const chain = createChainReader(reader)
  const resimulate = open(directory)
  let compared = 0
  for (let number = chain.head()!; number > 0; number--) {
    const stored = chain.blockByNumber(number)!
    const { header } = stored
    if (chain.uncleHashes(number).length > 0) continue // uncles cannot be simulated
    const calls = chain.transactions(stored).map((each) => {
      const { from, to, gasLimit, gasPrice, maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas, ...rest } = each
      const optional = {
        gasPrice,
        maxFeePerGas,
        maxPriorityFeePerGas,
        maxFeePerBlobGas,
        value: rest.value,
        nonce: rest.nonce,
      }
      const quantities = Object.entries(optional).filter(([, value]) => value !== undefined)
      return {
        ...{
          from: formatData(from),
          to: to && formatData(to),
          gas: formatQuantity(gasLimit),
          data: formatData(rest.input),
        },
        ...Object.fromEntries(quantities.map(([name, value]) => [name, formatQuantity(value!)])),
        blobVersionedHashes: rest.blobVersionedHashes?.map(formatData),
        accessList: rest.accessList?.map((entry) => ({
          address: formatData(entry.address),
          storageKeys: entry.storageKeys.map(formatData),
        })),
        authorizationList: rest.authorizationList?.map((entry) => ({
          address: formatData(entry.address),
          chainId: formatQuantity(entry.chainId),
          nonce: formatQuantity(entry.nonce),
          yParity: formatQuantity(entry.yParity),
          r: formatQuantity(entry.r),
          s: formatQuantity(entry.s),
        })),
      }
    })
    const blockOverrides = {
      number: formatQuantity(number),
      time: formatQuantity(header.timestamp),
      difficulty: header.difficulty === 0n ? undefined : formatQuantity(header.difficulty),
      gasLimit: formatQuantity(header.gasLimit),
      feeRecipient: formatData(header.miner),
      prevRandao: formatData(header.mixHash),
      beaconRoot: header.parentBeaconBlockRoot && formatData(header.parentBeaconBlockRoot),
      withdrawals: stored.withdrawals?.map((each) => ({
        ...{ index: formatQuantity(each.index), validatorIndex: formatQuantity(each.validatorIndex) },
        ...{ address: formatData(each.address), amount: formatQuantity(each.amountGwei) },
      })),
    }
    const payload = { validation: true, blockStateCalls: [{ blockOverrides, calls }] }
    const [block] = await resimulate(payload, formatQuantity(number - 1))
    const names = ['stateRoot', 'gasUsed', 'logsBloom', 'withdrawalsRoot', 'requestsHash', 'parentHash'] as const
    const later = ['baseFeePerGas', 'excessBlobGas', 'blobGasUsed', 'blockAccessListHash'] as const
    for (const name of [...names, ...later]) {
      const wanted = header[name]
      const text =
        wanted instanceof Uint8Array ? formatData(wanted) : wanted === undefined ? undefined : formatQuantity(wanted)
      assert.equal(block[name], text, `block ${number}: ${name}`)
    }
    compared++
  }
  assert.ok(compared > 40, `${compared} blocks`)
})
