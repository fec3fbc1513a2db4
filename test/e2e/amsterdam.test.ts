import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { asList, decodeRlp } from '../../src/chain/eth/rlp.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { AMSTERDAM_PROBE as PROBE_CODE } from '../../tools/fixture/amsterdam.js'
import { BUILDER_DEPOSITS, BUILDER_EXITS, DETERMINISTIC_DEPLOYER } from '../../tools/fixture/genesis.js'
import { serveFixture } from '../support/cairn.js'
import * as fixture from '../support/chains/fixtureChain.js'
import { resultOf } from '../support/rpcClient.js'

/* What a served chain shows of each EIP of Amsterdam: the bundled fixture has them in blocks 61 to 74. */

const { url } = await serveFixture({ after })
const { ALICE, AMSTERDAM, BOB, CAROL, HEAD, NEWCOMER } = fixture

interface RpcBlock {
  hash: string
  gasUsed: string
  requestsHash: string
  blockAccessListHash?: string
  slotNumber?: string
}

interface RpcReceipt {
  status: string
  gasUsed: string
  cumulativeGasUsed: string
  logs: { address: string; topics: string[]; data: string; logIndex: string; blockNumber: string }[]
}

const at = (number: number) => `0x${number.toString(16)}`
const word = (value: bigint | number | string) => BigInt(value).toString(16).padStart(64, '0')
const ask = <T>(method: string, ...params: unknown[]) => resultOf<T>(url, method, params)
const blockAt = (number: number) => ask<RpcBlock>('eth_getBlockByNumber', at(number), false)
const receiptsAt = (number: number) => ask<RpcReceipt[]>('eth_getBlockReceipts', at(number))
const gasAt = async (number: number) => (await receiptsAt(number)).map(({ gasUsed }) => Number(gasUsed))
const call = (request: object, number: number) => ask<string>('eth_call', request, at(number))
const estimate = async (request: object, number: number) =>
  Number(await ask('eth_estimateGas', { from: ALICE, ...request }, at(number)))
const LAST_OSAKA = AMSTERDAM - 1
/** Init code for `size` bytes of code: PUSH3 size, PUSH1 0, RETURN. */
const codeOf = (size: number) => `0x62${size.toString(16).padStart(6, '0')}6000f3`

test('headers have 23 fields from Amsterdam on, and blocks their two new members', async () => {
  for (const [number, fields] of [
    [LAST_OSAKA, 21],
    [AMSTERDAM, 23],
    [HEAD, 23],
  ]) {
    const header = parseHex(await ask<string>('debug_getRawHeader', at(number)))
    assert.equal(asList(decodeRlp(header, 'header'), 'header').length, fields, `block ${number}`)
    const block = await blockAt(number)
    assert.equal(formatData(keccak256(header)), block.hash)
    assert.equal('slotNumber' in block && 'blockAccessListHash' in block, fields === 23)
  }
})

test('EIP-2780: a transaction pays for what it touches', async () => {
  const fresh = 12_000 + 3_000 + 6_000 + 183_600
  assert.deepEqual(await gasAt(AMSTERDAM), [21_000, 12_000, fresh])
  assert.equal(await estimate({ to: BOB }, AMSTERDAM), 15_000)
  assert.equal(await estimate({ to: BOB }, LAST_OSAKA), 21_000)
  await assert.rejects(call({ to: BOB, gas: at(14_999) }, AMSTERDAM), /intrinsic gas too low: have 14999, want 15000/)
})

test('EIP-7708: every transfer of ether between accounts is a log, none is lost in queries', async () => {
  const filter = { address: fixture.ETHER_TRANSFERS, fromBlock: '0x0', toBlock: 'latest' }
  const logs = await ask<RpcReceipt['logs']>('eth_getLogs', filter)
  const shown = logs.map(({ blockNumber, topics, data }) => {
    assert.equal(topics[0], fixture.TRANSFER_TOPIC)
    return [Number(blockNumber), ...topics.slice(1).map((topic) => `0x${topic.slice(26)}`), BigInt(data)]
  })
  const ether = fixture.ETHER
  assert.deepEqual(shown, [
    [61, ALICE, BOB, 1n],
    [61, BOB, NEWCOMER, ether],
    [64, ALICE, fixture.FORWARDER, 9n],
    [64, fixture.FORWARDER, CAROL, 9n],
    [69, BOB, fixture.DESTROYED, 7n],
    [70, ALICE, BUILDER_DEPOSITS, ether + 1n],
    [70, BOB, BUILDER_EXITS, 1n],
    [73, ALICE, BOB, 1n],
  ])
  const topics = [fixture.TRANSFER_TOPIC, null, `0x${word(CAROL)}`]
  const toCarol = await ask<RpcReceipt['logs']>('eth_getLogs', { ...filter, topics })
  assert.deepEqual(
    toCarol.map(({ data }) => BigInt(data)),
    [9n],
  )
  const [forwarded, reverted] = await receiptsAt(64)
  assert.deepEqual([forwarded.logs.length, reverted.status, reverted.logs], [2, '0x0', []])
  const [deposit] = await receiptsAt(70)
  assert.deepEqual(
    deposit.logs.map(({ address, logIndex }) => [address, logIndex]),
    [
      [fixture.ETHER_TRANSFERS, '0x0'],
      [BUILDER_DEPOSITS, '0x1'],
    ],
    'before the logs of the code that the transfer calls',
  )
})

test("EIP-7778: refunds are the sender's, the block's gas is before them", async () => {
  assert.deepEqual(await gasAt(65), [21_904, 21_904])
  assert.equal(Number((await blockAt(65)).gasUsed), 2 * 27_380)
  const [, second] = await receiptsAt(65)
  assert.equal(Number(second.cumulativeGasUsed), 2 * 21_904)
  const { gasUsedRatio } = await ask<{ gasUsedRatio: number[] }>('eth_feeHistory', '0x1', at(65), [])
  assert.deepEqual(gasUsedRatio, [54_760 / 60_000_000])
})

test('EIP-7843: SLOTNUM is the slot of the header', async () => {
  const code = '0x4b60005260206000f3'
  for (const number of [AMSTERDAM, HEAD]) {
    const { slotNumber } = await blockAt(number)
    assert.equal(BigInt(await call({ data: code }, number)), BigInt(slotNumber!))
    assert.equal(Number(slotNumber), 2 * number)
  }
  await assert.rejects(call({ data: code }, LAST_OSAKA), /invalid opcode: SLOTNUM/)
})

test('EIP-7928: access lists hash to the headers', async () => {
  for (let number = AMSTERDAM; number <= HEAD; number++) {
    const raw = await ask<string>('debug_getRawBlockAccessList', at(number))
    assert.equal(formatData(keccak256(parseHex(raw))), (await blockAt(number)).blockAccessListHash, `block ${number}`)
  }
  type Entry = { address: string; storageChanges: { key: string; changes: { index: string; value: string }[] }[] }
  const list = await ask<Entry[]>('eth_getBlockAccessList', at(65))
  assert.deepEqual(list.find(({ address }) => address === fixture.STORE)?.storageChanges, [
    { key: `0x${word(1)}`, changes: [{ index: '0x1', value: `0x${word(0)}` }] },
    { key: `0x${word(2)}`, changes: [{ index: '0x2', value: `0x${word(0)}` }] },
  ])
  assert.equal(await ask('eth_getBlockAccessList', at(LAST_OSAKA)), null)
})

test('EIP-7954: contracts have up to 65,536 bytes, init code up to 131,072', async () => {
  const code = await ask<string>('eth_getCode', fixture.LARGE_CONTRACT, at(66))
  assert.equal(code, `0x${'00'.repeat(25_000)}`)
  assert.equal(await call({ data: codeOf(65_536), gas: at(150_000_000) }, HEAD), `0x${'00'.repeat(65_536)}`)
  await assert.rejects(call({ data: codeOf(65_537), gas: at(150_000_000) }, HEAD), /max code size exceeded/)
  await assert.rejects(call({ data: codeOf(25_000) }, LAST_OSAKA), /max code size exceeded/)
  const initCode = (size: number) => `0x${'00'.repeat(size)}`
  assert.equal(await call({ data: initCode(131_072) }, HEAD), '0x')
  await assert.rejects(call({ data: initCode(131_073) }, HEAD), /max initcode size exceeded/)
  await assert.rejects(call({ data: initCode(131_072) }, LAST_OSAKA), /max initcode size exceeded/)
})

test('EIP-7976 and EIP-7981: data and access lists have a floor', async () => {
  const accessList = 2_900 + 1_280 + 2 * (2_000 + 2_048)
  assert.deepEqual(await gasAt(67), [15_000 + 64 * 2_000, 15_000 + accessList])
  const data = `0x${'00'.repeat(1_000)}`
  const floor = (gas: number) => new RegExp(`insufficient gas for floor data gas cost: have ${gas - 1}, want ${gas}`)
  for (const [number, gas] of [
    [LAST_OSAKA, 21_000 + 10 * 1_000],
    [HEAD, 15_000 + 64 * 1_000],
  ]) {
    await assert.rejects(call({ to: BOB, data, gas: at(gas - 1) }, number), floor(gas))
    assert.equal(await call({ to: BOB, data, gas: at(gas) }, number), '0x')
  }
})

test('EIP-7997: the deterministic factory creates', async () => {
  const [{ status }] = await receiptsAt(68)
  assert.equal(status, '0x1')
  const made = await call({ to: DETERMINISTIC_DEPLOYER, data: `0x${word(8)}60016000f3` }, HEAD)
  const salt = Buffer.from(word(8), 'hex')
  const initHash = keccak256(parseHex('0x60016000f3'))
  const factory = parseHex(DETERMINISTIC_DEPLOYER)
  const address = keccak256(Buffer.concat([Buffer.of(0xff), factory, salt, initHash])).slice(12)
  assert.equal(made, formatData(address))
})

test('EIP-8024 and EIP-8038: the deep stack, and what cold accounts and slots cost', async () => {
  const overhead = 7 // of PUSH, POP and GAS
  const expected = [2 * HEAD, 3, 2, 17, 3_000 + overhead, 3_100 + overhead, 2_100 + overhead]
  const output = `0x${expected.map(word).join('')}`
  assert.equal(await call({ to: fixture.AMSTERDAM_PROBE }, HEAD), output)
  assert.equal(await call({ data: formatData(PROBE_CODE) }, HEAD), output)
  await assert.rejects(call({ data: formatData(PROBE_CODE) }, LAST_OSAKA), /invalid opcode/)
  const balanceGas = '0x5a61c01d31505a900360005260206000f3'
  assert.equal(Number(await call({ data: balanceGas }, LAST_OSAKA)), 2_600 + overhead)
  assert.equal(Number(await call({ data: balanceGas }, AMSTERDAM)), 3_000 + overhead)
  const [probed] = await receiptsAt(63)
  assert.equal(probed.logs[0].data, `0x${[2 * 63, ...expected.slice(1)].map(word).join('')}`)
})

test('EIP-8037: new state has gas of its own, beyond the limit of execution', async () => {
  const state = 25_000 * 1_530 + 183_600
  const [paid] = await gasAt(66)
  assert.ok(paid > state && paid - state < 40_000, `${paid}`)
  assert.equal(Number((await blockAt(66)).gasUsed), state, 'the larger of the two dimensions')
  // A delegation of an account that is new with it.
  assert.equal(Number((await blockAt(71)).gasUsed), 183_600 + 35_190)
  const gas = await estimate({ data: codeOf(25_000) }, HEAD)
  assert.ok(gas > 2 ** 24 && gas >= paid - 1_000 && gas < paid * 1.02, `${gas}`)
  const slot = { to: fixture.STORE, data: `0x${word(3)}${word(1)}` }
  assert.ok((await estimate(slot, HEAD)) >= 97_920 + 15_000)
  // A call has it too: with gas for its execution alone it fails.
  await assert.rejects(call({ ...slot, gas: at(97_920) }, HEAD), /out of gas/)
  assert.equal(await call({ ...slot, gas: at(130_000) }, HEAD), '0x')
})

test('EIP-8246: what destroys itself to itself keeps its balance', async () => {
  const state = (method: string, number: number) => ask<string>(method, fixture.DESTROYED, at(number))
  assert.equal(await state('eth_getBalance', 68), '0x0')
  assert.equal(await state('eth_getBalance', 69), '0x7')
  assert.equal(await state('eth_getTransactionCount', 69), '0x0')
  assert.equal(await state('eth_getCode', 69), '0x')
})

test('EIP-8282: deposits and exits of builders are requests of the block', async () => {
  const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  const [deposit, exit] = await receiptsAt(70)
  const requests = [deposit.logs[1], exit.logs[1]].map(({ data }) => parseHex(data))
  assert.deepEqual(
    requests.map(({ length }) => length),
    [184, 68],
  )
  // The contract returns the amount in little-endian order, the log has it as it came.
  requests[0].subarray(80, 88).reverse()
  const hashes = requests.map((data, index) => sha256(Uint8Array.of(3 + index), data))
  assert.equal((await blockAt(70)).requestsHash, formatData(sha256(...hashes)))
  const config = await ask<{ current: { systemContracts: object } }>('eth_config')
  const contracts = Object.entries(config.current.systemContracts)
  assert.deepEqual(
    contracts.filter(([name]) => name.startsWith('BUILDER')),
    [
      ['BUILDER_DEPOSIT_CONTRACT_ADDRESS', BUILDER_DEPOSITS],
      ['BUILDER_EXIT_CONTRACT_ADDRESS', BUILDER_EXITS],
    ],
  )
})
