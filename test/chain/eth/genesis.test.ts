import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_ACCESS_LIST_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { builtInSpec, InvalidGenesis, type Network, parseGenesis } from '../../../src/chain/eth/genesis.js'
import { formatData } from '../../../src/lib/hex.js'

const ADDRESS = '0x00000000000000000000000000000000000000aa'

/** A genesis of all forks, changed at a path of member names. */
function genesisWith(path: readonly string[] = [], value?: unknown): unknown {
  const genesis = {
    config: {
      chainId: 1,
      londonBlock: 0,
      terminalTotalDifficulty: 0,
      shanghaiTime: 0,
      cancunTime: 0,
      pragueTime: 0,
      ethash: { fixeddifficulty: 1 },
      blobSchedule: { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3338477 } },
    },
    gasLimit: '0x1c9c380',
    alloc: { [ADDRESS]: { balance: '0x1', nonce: 1, storage: { '0x1': '0x2' } } },
  }
  let place = genesis as unknown as Record<string, unknown>
  for (const name of path.slice(0, -1)) place = place[name] as Record<string, unknown>
  if (path.length > 0) place[path[path.length - 1]] = value
  return genesis
}

const text = (value: bigint) => value.toString()

/** Members with the most that each may be. */
const BOUNDS: [path: string[], bits: number][] = [
  [['gasLimit'], 64],
  [['gasUsed'], 64],
  [['timestamp'], 64],
  [['nonce'], 64],
  [['difficulty'], 256],
  [['baseFeePerGas'], 256],
  [['blobGasUsed'], 64],
  [['excessBlobGas'], 64],
  [['config', 'chainId'], 64],
  [['config', 'terminalTotalDifficulty'], 256],
  [['config', 'londonBlock'], 64],
  [['config', 'shanghaiTime'], 64],
  [['config', 'ethash', 'fixeddifficulty'], 256],
  [['config', 'blobSchedule', 'cancun', 'target'], 16],
  [['config', 'blobSchedule', 'cancun', 'max'], 16],
  [['config', 'blobSchedule', 'cancun', 'baseFeeUpdateFraction'], 64],
  [['alloc', ADDRESS, 'nonce'], 64],
  [['alloc', ADDRESS, 'balance'], 256],
  [['alloc', ADDRESS, 'storage', '0x1'], 256],
]

for (const [path, bits] of BOUNDS) {
  const name = path.join('.')
  test(`${name} has at most ${bits} bits`, () => {
    const most = 2n ** BigInt(bits) - 1n
    // A target is bounded by its max as well.
    if (!name.endsWith('target')) parseGenesis(genesisWith(path, `0x${most.toString(16)}`))
    const isWord = name === 'nonce' || name.includes('storage') // hex without a prefix, too
    const shown = path.at(-1) === '0x1' ? `0x${'1'.padStart(64, '0')}` : path.at(-1)!
    for (const value of [most + 1n, 2n ** 300n, 2n ** 40_000n]) {
      assert.throws(
        () => parseGenesis(genesisWith(path, isWord ? `0x${value.toString(16)}` : text(value))),
        (error: unknown) => {
          assert.ok(error instanceof InvalidGenesis, String(error))
          const place = [...path.slice(0, -1), shown].join('.')
          assert.ok(error.message.startsWith(`${place}: expected `), error.message)
          assert.match(error.message, value < 2n ** 257n ? /at most .*, got/ : /at most 256 bits, got|at most .*, got/)
          assert.ok(error.message.length < 300, `${error.message.length} characters`)
          return true
        },
      )
    }
    for (const value of [-1, 1.5, '-1', '0xg', '1.5', [], {}, true]) {
      assert.throws(() => parseGenesis(genesisWith(path, value)), InvalidGenesis)
    }
  })
}

test('values that no rule can work with are refused by name', () => {
  const schedule = ['config', 'blobSchedule', 'cancun']
  const cases: [string[], unknown, RegExp][] = [
    [[...schedule, 'baseFeeUpdateFraction'], 0, /cancun\.baseFeeUpdateFraction: expected at least 1, got 0/],
    [[...schedule, 'target'], 7, /cancun\.target: expected at most its max, got 7/],
    [['number'], 5, /^InvalidGenesis: number: expected 0, since a chain begins with block 0, got 5/],
  ]
  for (const [path, value, message] of cases) {
    assert.throws(() => parseGenesis(genesisWith(path, value)), message)
  }
})

test('an account or slot that is named twice in different letters is refused', () => {
  const account = { balance: '0x1' }
  const twice = { [ADDRESS]: account, [ADDRESS.slice(2).toUpperCase()]: account }
  assert.throws(
    () => parseGenesis(genesisWith(['alloc'], twice)),
    /alloc\.0x0+aa: expected each account once, got it twice/,
  )
  const storage = { '0x1': '0x2', '0x01': '0x3' }
  assert.throws(
    () => parseGenesis(genesisWith(['alloc', ADDRESS, 'storage'], storage)),
    /alloc\.0x0+aa\.storage\.0x0+1: expected each slot once, got it twice/,
  )
})

test('forks that never come may be said by the greatest number that fits', () => {
  const { spec } = parseGenesis(genesisWith(['config', 'osakaTime'], '18446744073709551615'))
  assert.deepEqual(spec.activations.at(-1), { fork: 'osaka', timestamp: 2n ** 64n - 1n })
})

test('each network has its own deposit contract', () => {
  const addressOf = (network: Network) => formatData(builtInSpec(network).depositContract!)
  assert.equal(addressOf('mainnet'), '0x00000000219ab540356cbb839cbe05303d7705fa')
  assert.equal(addressOf('hoodi'), addressOf('mainnet'))
  assert.equal(addressOf('sepolia'), '0x7f02c3e3c98b133055b8b348b2ac625669ed295d')
})

test('a genesis in Amsterdam has the hash of an empty access list, and a slot', () => {
  const at = { ...(genesisWith(['config', 'osakaTime'], 0) as object), slotNumber: '0x7' }
  const { config } = at as unknown as { config: object }
  const { header } = parseGenesis({ ...at, config: { ...config, amsterdamTime: 0 } })
  assert.deepEqual(header.blockAccessListHash, EMPTY_ACCESS_LIST_HASH)
  assert.equal(header.slotNumber, 7n)
  assert.equal(parseGenesis(at).header.slotNumber, undefined)
})
