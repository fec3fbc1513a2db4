import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  parseAbi,
  toEventHash,
  type AbiEvent as ViemEvent,
} from 'viem'
import { formatChecksumAddress } from '../../src/chain/eth/checksumAddress.js'
import { createDecoder } from '../../src/decoding/decoder.js'
import type { LogParts } from '../../src/decoding/eventDecoder.js'
import { formatDecodedLog } from '../../src/decoding/formatDecoded.js'
import { wellKnownInterfaces } from '../../src/decoding/wellKnown.js'
import { equalBytes } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import type { AddedAbi } from '../../src/store/addedAbis.js'
import { openForReading } from '../../src/store/open.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { seededRandom } from '../support/random.js'
import { asText, randomParameter, randomValue } from '../support/randomAbi.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
before(() => importFixture(datadir))

/** An added ABI of declarations as viem parses them. */
function added(
  declarations: readonly string[],
  { name = 'Test', address }: { name?: string; address?: Uint8Array } = {},
): AddedAbi {
  return { id: 1, name, address, json: JSON.stringify(parseAbi(declarations as never)), addedAt: 0 }
}

const FIXTURE_EVENTS = [
  'event Numbered(uint256 indexed number, address indexed caller, uint256 indexed seed)',
  'event Numbered(uint256 indexed number, address indexed caller, uint256 seed)',
  'event Numbered(uint256 indexed number, address caller, uint256 seed)',
  'event Numbered(uint256 number, address caller, uint256 seed)',
  'event Counted(uint256 count)',
  'event Amsterdam(uint256[7] values)',
  'event Probed(uint256 a, uint256 b, bytes32 c, uint256 d)',
  'event DepositEvent(bytes pubkey, bytes withdrawal_credentials, bytes amount, bytes signature, bytes index)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]

/** Every log of the fixture chain. */
function fixtureLogs(): LogParts[] {
  const db = openForReading(datadir)
  after(() => void db.close())
  const rows = db.prepare<[], { [column: string]: string | null }>('SELECT * FROM v_logs').all()
  return rows.map(({ address, data, topic0, topic1, topic2, topic3 }) => {
    const topics = [topic0, topic1, topic2, topic3].filter((topic) => topic !== null).map(parseHex)
    return { address: parseHex(address!), topics, data: parseHex(data!) }
  })
}

/** Returns the event and arguments that viem decodes with the first fitting event, or null if no event fits. */
function decodeByViem(abi: readonly ViemEvent[], log: LogParts): object | null {
  for (const event of abi) {
    try {
      const topics = log.topics.map(formatData) as [`0x${string}`]
      const found = decodeEventLog({ abi: [event], topics, data: formatData(log.data) as `0x${string}`, strict: true })
      const args = found.args as unknown as { [name: string]: unknown }
      return { name: event.name, values: event.inputs.map((input) => asText(args[input.name!], input)) }
    } catch {
      // the next one
    }
  }
  return null
}

test('decodes every event of the fixture chain as viem does', () => {
  const abi = parseAbi(FIXTURE_EVENTS as never) as readonly ViemEvent[]
  const decoder = createDecoder([added(FIXTURE_EVENTS)])
  const decodedNames = new Map<string, number>()
  for (const log of fixtureLogs()) {
    const decoded = decoder.decodeLog(log)
    const expected = decodeByViem(abi, log)
    assert.deepEqual(decoded && { name: decoded.event.event.name, values: decoded.values }, expected)
    const name = decoded?.event.event.name ?? 'none'
    decodedNames.set(name, (decodedNames.get(name) ?? 0) + 1)
  }
  for (const name of ['Numbered', 'Transfer', 'Counted', 'Amsterdam', 'none']) {
    assert.ok(decodedNames.get(name)! > 0, `no log is ${name}: ${[...decodedNames]}`)
  }
  assert.ok(decodedNames.get('Numbered')! > 10_000)
})

test('decodes logs of random events as viem does', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seededRandom(seed)
    let indexedLeft = 3
    const inputs = Array.from({ length: random.below(6) }, (_, i) => {
      const indexed = indexedLeft > 0 && random.below(3) === 0
      if (indexed) indexedLeft--
      return { ...randomParameter(random, `a${i}`), indexed }
    })
    const values = inputs.map((input) => {
      const isHashed = input.indexed && /[\])]$|^(string|bytes|tuple)$/.test(input.type)
      return isHashed ? undefined : randomValue(random, input)
    })
    const event = { type: 'event', name: 'Random', inputs } as unknown as ViemEvent
    const plain = inputs.map((input, i) => ({ input, value: values[i] })).filter(({ input }) => !input.indexed)
    const data = encodeAbiParameters(
      plain.map(({ input }) => input),
      plain.map(({ value }) => value),
    )
    // Topics of dynamic values are hashes: any 32 bytes.
    const [topic0] = encodeEventTopics({ abi: [event] })
    const indexedTopics = inputs.flatMap((input, i) => {
      if (!input.indexed) return []
      return [values[i] === undefined ? random.bytes(32) : parseHex(encodeAbiParameters([input], [values[i]]))]
    })
    const log = {
      address: new Uint8Array(20),
      topics: [parseHex(topic0 as string), ...indexedTopics],
      data: parseHex(data),
    }
    const decoder = createDecoder([{ id: 1, name: 'x', address: undefined, json: JSON.stringify([event]), addedAt: 0 }])
    const decoded = decoder.decodeLog(log)
    const viem = decodeEventLog({ abi: [event], topics: log.topics.map(formatData) as [`0x${string}`], data })
    const args = (viem.args ?? {}) as unknown as { [name: string]: unknown }
    const expected = inputs.map((input) => {
      const isHashed = input.indexed && /[\])]$|^(string|bytes|tuple)$/.test(input.type)
      return isHashed ? args[input.name!] : asText(args[input.name!], input)
    })
    assert.deepEqual(decoded?.values, expected, `seed ${seed}`)
  }
})

const word = (value: number) => parseHex(value.toString(16).padStart(64, '0'))
const topicOf = (declaration: string) =>
  parseHex(encodeEventTopics({ abi: parseAbi([declaration] as never) as readonly ViemEvent[] } as never)[0] as string)
const TOKEN = parseHex('0x5fbdb2315678afecb367f032d93f642f64180aa3')
const OTHER = parseHex('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512')

test('distinguishes ERC-20 and ERC-721 transfers by the number of topics', () => {
  const decoder = createDecoder([])
  const topic0 = topicOf('event Transfer(address indexed from, address indexed to, uint256 value)')
  const erc20 = decoder.decodeLog({ address: TOKEN, topics: [topic0, word(1), word(2)], data: word(7) })
  const erc721 = decoder.decodeLog({
    address: TOKEN,
    topics: [topic0, word(1), word(2), word(7)],
    data: new Uint8Array(0),
  })
  assert.deepEqual([erc20?.event.id, erc721?.event.id], ['erc20_transfer', 'erc721_transfer'])
  assert.deepEqual(formatDecodedLog(erc721)?.args.at(-1), {
    name: 'tokenId',
    type: 'uint256',
    indexed: true,
    value: '7',
  })
  assert.equal(decoder.decodeLog({ address: TOKEN, topics: [topic0, word(1)], data: word(7) }), null)
})

test('an ABI of the address wins over one of any contract, and that over the built-in ones', () => {
  const declare = (name: string) => [`event Transfer(address indexed a, address indexed b, uint256 ${name})`]
  const topics = [topicOf(declare('x')[0]), word(1), word(2)]
  const nameIn = (abis: AddedAbi[], address: Uint8Array) =>
    createDecoder(abis).decodeLog({ address, topics, data: word(7) })?.event.columns[2].name
  const own = added(declare('own'), { address: TOKEN })
  const any = added(declare('any'))
  assert.equal(nameIn([], TOKEN), 'value')
  assert.equal(nameIn([any], TOKEN), 'any')
  assert.equal(nameIn([any, own], TOKEN), 'own')
  assert.equal(nameIn([own, any], OTHER), 'any')
  assert.equal(nameIn([own], OTHER), 'value')
})

test('falls back to a less special ABI where the special one does not decode', () => {
  const narrow = added(['event Transfer(address indexed a, address indexed b, uint256 indexed c)'], { address: TOKEN })
  const topics = [topicOf('event Transfer(address,address,uint256)'), word(1), word(2)]
  assert.equal(createDecoder([narrow]).decodeLog({ address: TOKEN, topics, data: word(7) })?.event.id, 'erc20_transfer')
})

test('decodes anonymous events of the ABI of an address only', () => {
  const inputs = [
    { name: 'id', type: 'uint256', indexed: true },
    { name: 'kind', type: 'uint8' },
  ]
  const json = JSON.stringify([{ type: 'event', name: 'Note', anonymous: true, inputs }])
  const of = (address?: Uint8Array) => createDecoder([{ id: 1, name: 'x', address, json, addedAt: 0 }])
  const log = { topics: [word(9)], data: word(3) }
  const bound = of(TOKEN)
  assert.deepEqual(bound.decodeLog({ address: TOKEN, ...log })?.values, ['9', '3'])
  assert.equal(bound.decodeLog({ address: OTHER, ...log }), null)
  assert.equal(bound.decodeLog({ address: TOKEN, topics: [word(9)], data: word(256) }), null)
  assert.equal(of().decodeLog({ address: TOKEN, ...log }), null)
})

test('gives overloads and repeated names ids of their own', () => {
  const declarations = ['event Set(uint256 value)', 'event Set(string value)', 'event set(bool)']
  const decoder = createDecoder([
    added(declarations, { address: TOKEN }),
    added(declarations.slice(0, 1), { address: OTHER }),
    added(declarations.slice(0, 1), { name: 'My Token!' }),
  ])
  const ids = decoder.events.slice(0, 5).map(({ id }) => id)
  assert.deepEqual(ids, ['test_set', 'test_set_2', 'test_set_3', 'test_e7f1725e_set', 'my_token__set'])
  assert.equal(new Set(decoder.events.map(({ id }) => id)).size, decoder.events.length)
})

test('names columns uniquely, also beside those of every table', () => {
  const [event] = createDecoder([
    added([
      'event E(uint256 address, uint256 Address, bytes, bool[] indexed flags)'.replace(
        'uint256 address',
        'uint256 block_number',
      ),
    ]),
  ]).events
  assert.deepEqual(
    event.columns.map(({ name, kind, type }) => [name, kind, type]),
    [
      ['block_number_', 'uint', 'uint256'],
      ['Address_', 'uint', 'uint256'],
      ['arg2', 'bytes', 'bytes'],
      ['flags', 'bytes', 'bool[]'],
    ],
  )
})

test('decodes inputs by selector', () => {
  const decoder = createDecoder([])
  const input = parseHex(`0xa9059cbb${'0'.repeat(24)}${formatData(OTHER).slice(2)}${formatData(word(5)).slice(2)}`)
  const call = decoder.decodeInput(TOKEN, input)
  assert.deepEqual(call?.values, [formatChecksumAddress(OTHER), '5'])
  assert.equal(call?.decoder.function.signature, 'transfer(address,uint256)')
  assert.equal(decoder.decodeInput(TOKEN, input.subarray(0, 67)), null)
  assert.equal(decoder.decodeInput(TOKEN, input.subarray(0, 3)), null)
})

test('knows the standard events and selectors', () => {
  const { events } = createDecoder([])
  // From the deployed contracts.
  const topics = {
    uniswap_v2_pair_swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
    uniswap_v3_pool_swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
    uniswap_v2_factory_paircreated: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
    uniswap_v3_factory_poolcreated: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
    erc1155_transfersingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
    erc1155_transferbatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
    weth_deposit: '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
    weth_withdrawal: '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
    erc4626_deposit: '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7',
    ens_registry_newresolver: '0x335721b01866dc23fbee8b6b2c7b1e14d6f05c28cd35a2c934239f94095602a0',
    safe_executionsuccess: '0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e',
  }
  for (const [id, topic] of Object.entries(topics)) {
    const event = events.find((known) => known.id === id)
    assert.ok(event?.topic0 && equalBytes(event.topic0, parseHex(topic)), `${id}: ${event?.event.signature}`)
  }
  assert.ok(wellKnownInterfaces().length >= 14)
})

test('hashes the type function as viem does', () => {
  const json = JSON.stringify([
    { type: 'event', name: 'Set', inputs: [{ name: 'callback', type: 'function', indexed: false }] },
  ])
  const [event] = createDecoder([{ id: 1, name: 'x', address: undefined, json, addedAt: 0 }]).events
  assert.equal(formatData(event.topic0!), toEventHash('Set(function)'))
  assert.deepEqual([event.columns[0].type, event.columns[0].kind], ['function', 'bytes'])
})
