import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeErrorResult, encodeFunctionData, type Hex, keccak256, parseAbi, stringToBytes, toEventHash } from 'viem'
import { createDecoder } from '../../src/decoding/decoder.js'
import { createImplementationReader } from '../../src/decoding/proxies.js'
import { concatBytes, equalBytes } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import type { AddedAbi } from '../../src/store/addedAbis.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { MissingState } from '../../src/store/state/missingState.js'
import { createStateReads } from '../../src/store/state/stateReader.js'
import { createGenesis, writeGenesisChain } from '../support/chains/genesisChain.js'

const hex = (digits: string) => `0x${digits.repeat(20)}` as Hex
const [LOGIC, MINIMAL, DIRECT, BEACON, BEHIND, PLAIN, WALLET, LONG] = [
  'a0',
  'a1',
  'a2',
  'a3',
  'a4',
  'a5',
  'a6',
  'a7',
].map(hex)

/** A slot by EIP-1967: the hash of its name minus 1. */
const slotOf = (name: string) => `0x${(BigInt(keccak256(stringToBytes(name))) - 1n).toString(16).padStart(64, '0')}`
const wordOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

const CODE = '0x6001600255'
const minimal = (address: string) => `0x363d3d373d3d3d363d73${address.slice(2)}5af43d82803e903d91602b57fd5bf3`
const account = (code: string, storage: { readonly [slot: string]: string } = {}) => ({ balance: '0x0', code, storage })

const ALLOC = {
  [LOGIC]: account(CODE),
  [MINIMAL]: account(minimal(LOGIC)),
  [DIRECT]: account(CODE, { [slotOf('eip1967.proxy.implementation')]: wordOf(LOGIC) }),
  [BEACON]: account(CODE, { [wordOf('0x01')]: wordOf(LOGIC) }),
  [BEHIND]: account(CODE, { [slotOf('eip1967.proxy.beacon')]: wordOf(BEACON) }),
  [PLAIN]: account(CODE, { [wordOf('0x01')]: wordOf(LOGIC) }),
  [WALLET]: account(`0xef0100${LOGIC.slice(2)}`),
  // A number in the slot, not an address.
  [LONG]: account(CODE, { [slotOf('eip1967.proxy.implementation')]: `0x01${wordOf(LOGIC).slice(4)}` }),
}

test('finds the implementation of each kind of proxy in a database', async (t) => {
  const db = openForReading(await writeGenesisChain(t, createGenesis(ALLOC)))
  t.after(() => db.close())
  const read = createImplementationReader(createChainReader(db), createStateReads(db))
  const found = (address: string, block = 0) => read(parseHex(address), block).map(formatData)
  for (const proxy of [MINIMAL, DIRECT, BEHIND, WALLET]) assert.deepEqual(found(proxy), [LOGIC], proxy)
  for (const other of [LOGIC, BEACON, PLAIN, LONG, hex('ff')]) assert.deepEqual(found(other), [], other)
})

test('a proxy has no implementation where the state is not available or not known', () => {
  const state = { code: () => parseHex(minimal(LOGIC)), storage: () => new Uint8Array(32) }
  const coverage = (stateFirst?: number) => ({ coverage: () => ({ first: 0, head: 20, stateFirst }) })
  const address = parseHex(MINIMAL)
  assert.deepEqual(createImplementationReader(coverage(10), state)(address, 10).map(formatData), [LOGIC])
  assert.deepEqual(createImplementationReader(coverage(10), state)(address, 9), [])
  assert.deepEqual(createImplementationReader(coverage(), state)(address, 10), [])
  const unknown = () => {
    throw new MissingState(address, undefined, 10)
  }
  assert.deepEqual(createImplementationReader(coverage(10), { ...state, code: unknown })(address, 10), [])
  const broken = () => {
    throw new Error('disk')
  }
  assert.throws(() => createImplementationReader(coverage(10), { ...state, code: broken })(address, 10), /disk/)
})

const ABI = ['event Moved(uint256 how)', 'function move(uint256 how)', 'error Stuck(uint256 how)'] as const

function abiOf(address: string, name: string): AddedAbi {
  const json = JSON.stringify(parseAbi(ABI.map((line) => line.replace('how', name)) as never))
  return { id: 1, name, address: parseHex(address), json, addedAt: 0 }
}

test('calls, logs and errors of a proxy are decoded by the ABI of its implementation at the block', () => {
  const [first, second] = [parseHex(LOGIC), parseHex(PLAIN)]
  const proxy = parseHex(DIRECT)
  const implementations = (address: Uint8Array, blockNumber: number) =>
    equalBytes(address, proxy) ? [blockNumber < 10 ? first : second] : []
  const decoder = createDecoder([abiOf(LOGIC, 'before'), abiOf(PLAIN, 'later')], { implementations })
  const word = new Uint8Array(32)
  const log = { address: proxy, topics: [parseHex(toEventHash('Moved(uint256)'))], data: word }
  const abi = parseAbi(ABI as never) as never
  const input = parseHex(encodeFunctionData({ abi, functionName: 'move', args: [0n] } as never))
  const data = parseHex(encodeErrorResult({ abi, errorName: 'Stuck', args: [0n] } as never))
  const namesAt = (block?: number) => [
    decoder.decodeLog(log, block)?.event.columns[0].name,
    decoder.decodeInput(proxy, input, block)?.decoder.function.inputs[0].name,
    decoder.decodeError(data, [proxy], block)?.decoder.error.inputs[0].name,
  ]
  assert.deepEqual(namesAt(9), ['before', 'before', 'before'])
  assert.deepEqual(namesAt(10), ['later', 'later', 'later'])
  // Without a block, errors of any ABI are tried last.
  assert.deepEqual(namesAt(), [undefined, undefined, 'before'])
  const own = createDecoder([abiOf(LOGIC, 'before'), abiOf(DIRECT, 'own')], { implementations })
  assert.equal(own.decodeLog(log, 5)?.event.columns[0].name, 'own')
  const elsewhere = { ...log, address: parseHex(MINIMAL) }
  assert.equal(decoder.decodeLog(elsewhere, 9), null)
})

test('anonymous events of the implementation are tried last', () => {
  const inputs = [{ name: 'kind', type: 'uint8', indexed: false }]
  const json = JSON.stringify([{ type: 'event', name: 'Note', anonymous: true, inputs }])
  const abi: AddedAbi = { id: 1, name: 'x', address: parseHex(LOGIC), json, addedAt: 0 }
  const decoder = createDecoder([abi], { implementations: () => [parseHex(LOGIC)] })
  const log = { address: parseHex(DIRECT), topics: [], data: concatBytes(new Uint8Array(31), Uint8Array.of(7)) }
  assert.deepEqual(decoder.decodeLog(log, 0)?.values, ['7'])
  assert.equal(decoder.decodeLog(log), null)
})
