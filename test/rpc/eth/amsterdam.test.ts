import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { ALL_FORKS } from '../../../src/chain/eth/forks/all.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { DEBUG_METHODS } from '../../../src/rpc/debug/methods.js'
import { ETH_METHODS } from '../../../src/rpc/eth/methods.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { REQUEST_RUNTIME } from '../../../tools/fixture/contracts.js'
import { createGenesis } from '../../support/chains/genesisChain.js'
import { temporaryDirectory } from '../../support/temporary.js'

const ALICE = createSender('alice')
const BOB = '0x00000000000000000000000000000000000000b0'
const FRESH = '0x00000000000000000000000000000000000000f0'
const FRESH_LATER = '0x00000000000000000000000000000000000000f1'
// SLOTNUM, MSTORE at 0, RETURN 32 bytes
const SLOT = '0x0000000000000000000000000000000000005107'
// Sets as many new slots as the first word of the input says.
const SETTER = '0x0000000000000000000000000000000000005e77'
const SETTER_CODE = '0x5f355b808055600190038060025700'
// Clears the slot that it has.
const CLEARER = '0x000000000000000000000000000000000000c1ea'
const TRANSFERS = '0xfffffffffffffffffffffffffffffffffffffffe'

const contract = (code: string) => ({ balance: '0x0', code })
const system = ALL_FORKS.requestContracts
const genesis = createGenesis(
  {
    [formatData(ALICE.address)]: { balance: '0x3635c9adc5dea00000' },
    [BOB]: { balance: '0x1' },
    [SLOT]: contract('0x4b5f5260205ff3'),
    [SETTER]: contract(SETTER_CODE),
    [CLEARER]: { ...contract('0x5f5f55'), storage: { '0x0': '0x1' } } as { balance: string },
    ...Object.fromEntries(system.map((address) => [formatData(address), contract(formatData(REQUEST_RUNTIME))])),
  },
  { amsterdamTime: 25 },
)

/** Two blocks of Osaka, and from block 3 on Amsterdam. */
async function writeChain(): Promise<string> {
  const datadir = temporaryDirectory({ after })
  const db = openForWriting(datadir)
  const chain = await createChainBuilder(db, genesis)
  await chain.add({ transactions: [{ sender: ALICE, type: 2, to: parseHex(BOB), value: 5n }] })
  await chain.add()
  await chain.add({
    transactions: [
      {
        sender: ALICE,
        type: 2,
        to: parseHex(FRESH),
        value: 7n,
        gasLimit: 300_000n,
        maxPriorityFeePerGas: 500_000_000n,
      },
      { sender: ALICE, type: 2, to: parseHex(CLEARER) },
    ],
  })
  db.close()
  return datadir
}

const { context, close } = openContext({ datadir: await writeChain(), limits: DEFAULT_LIMITS, log: silentLogger })
after(close)

async function ask(name: string, ...params: unknown[]) {
  const method = [...ETH_METHODS, ...DEBUG_METHODS].find((each) => each.name === name)!
  const outcome = await runMethod(method, params, context)
  if ('error' in outcome) throw new Error(outcome.error.message)
  return JSON.parse(Buffer.from(outcome.result).toString())
}

test('blocks of Amsterdam have a slot and an access list, those before do not', async () => {
  const block = await ask('eth_getBlockByNumber', '0x3', false)
  assert.equal(block.slotNumber, '0x6')
  const raw = await ask('debug_getRawBlockAccessList', '0x3')
  assert.equal(formatData(keccak256(parseHex(raw))), block.blockAccessListHash)
  const before = await ask('eth_getBlockByNumber', '0x2', false)
  assert.deepEqual([before.slotNumber, before.blockAccessListHash], [undefined, undefined])
  for (const method of ['debug_getRawBlockAccessList', 'eth_getBlockAccessList']) {
    assert.equal(await ask(method, '0x2'), null)
    assert.equal(await ask(method, '0x9'), null)
  }
})

test('a block access list has what each transaction left', async () => {
  const list: { [key: string]: unknown }[] = await ask('eth_getBlockAccessList', '0x3')
  const entryOf = (address: string) => list.find((each) => each.address === address)
  assert.deepEqual(entryOf(FRESH), {
    address: FRESH,
    storageChanges: [],
    storageReads: [],
    balanceChanges: [{ index: '0x1', value: '0x7' }],
    nonceChanges: [],
    codeChanges: [],
  })
  assert.deepEqual(entryOf(CLEARER)?.storageChanges, [
    { key: `0x${'00'.repeat(32)}`, changes: [{ index: '0x2', value: `0x${'00'.repeat(32)}` }] },
  ])
  assert.deepEqual(entryOf(formatData(ALICE.address))?.nonceChanges, [
    { index: '0x1', value: '0x2' },
    { index: '0x2', value: '0x3' },
  ])
  assert.equal(entryOf(BOB), undefined)
})

test('transfers of ether are logs from Amsterdam on', async () => {
  const logs: { topics: string[]; data: string; blockNumber: string }[] = await ask('eth_getLogs', {
    fromBlock: '0x0',
    toBlock: 'latest',
    address: TRANSFERS,
  })
  const found = logs.map(({ blockNumber, topics, data }) => [blockNumber, topics[2].slice(-40), Number(data)])
  assert.deepEqual(found, [['0x3', FRESH.slice(2), 7]])
})

test("a block's gas is before refunds and by what it is used for, that of receipts is what is paid", async () => {
  const { gasUsed } = await ask('eth_getBlockByNumber', '0x3', false)
  const receipts: { gasUsed: string; cumulativeGasUsed: string }[] = await ask('eth_getBlockReceipts', '0x3')
  // A transfer of 21,000 and 183,600 for the account; a clearing of 27,104, less a refund of at most a fifth.
  assert.deepEqual(
    receipts.map((each) => Number(each.gasUsed)),
    [204_600, 21_684],
  )
  assert.equal(Number(gasUsed), 183_600)
  const history = await ask('eth_feeHistory', '0x1', '0x3', [0, 50, 100])
  assert.deepEqual(history.gasUsedRatio, [183_600 / 60_000_000])
  // The transfer alone has more gas than the block, so the higher fee of the clearing is at no percentile.
  assert.deepEqual(history.reward[0].map(Number), [500_000_000, 500_000_000, 500_000_000])
})

test('traced transfers of simulations are those of EIP-7708 only', async () => {
  const from = formatData(ALICE.address)
  const logsAt = async (block: string) => {
    const payload = { traceTransfers: true, blockStateCalls: [{ calls: [{ from, to: BOB, value: '0x7' }] }] }
    const [{ calls }] = await ask('eth_simulateV1', payload, block)
    return calls[0].logs.map(({ address, logIndex }: { address: string; logIndex: string }) => [address, logIndex])
  }
  assert.deepEqual(await logsAt('0x3'), [[TRANSFERS, '0x0']])
  assert.deepEqual(await logsAt('0x1'), [['0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', '0x0']])
})

test('a call has the rules of its block', async () => {
  assert.equal(BigInt(await ask('eth_call', { to: SLOT }, '0x3')), 6n)
  await assert.rejects(ask('eth_call', { to: SLOT }, '0x2'), /invalid opcode: SLOTNUM/)
})

test('an estimate knows the price of a transfer and of an account', async () => {
  const from = formatData(ALICE.address)
  const estimate = async (fields: object, block = '0x3') =>
    Number(await ask('eth_estimateGas', { from, ...fields }, block))
  assert.equal(await estimate({ to: BOB, value: '0x1' }), 21_000)
  assert.equal(await estimate({ to: BOB }), 15_000)
  assert.equal(await estimate({ to: from, value: '0x1' }), 12_000)
  assert.equal(await estimate({ to: BOB }, '0x2'), 21_000)
  const account = await estimate({ to: FRESH_LATER, value: '0x1' })
  assert.ok(account >= 204_600 && account <= 204_600 * 1.015, `${account}`)
  assert.equal(await estimate({ to: FRESH_LATER, value: '0x1' }, '0x2'), 21_000)
})

test('an estimate may be above the limit of execution, since state is paid besides', async () => {
  const input = `0x${(180).toString(16).padStart(64, '0')}`
  const gas = Number(await ask('eth_estimateGas', { to: SETTER, data: input }, '0x3'))
  const state = 180 * 97_920
  assert.ok(gas > 2 ** 24 && gas >= state + 180 * 12_100 && gas < (state + 180 * 12_500) * 1.015, `${gas}`)
  await assert.rejects(
    ask('eth_estimateGas', { to: SETTER, data: input, gas: '0x1000000' }, '0x3'),
    /exceeds allowance/,
  )
})
