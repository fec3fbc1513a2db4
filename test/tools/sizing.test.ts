import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import type { PartSize } from '../../src/store/partSizes.js'
import { createOwnChain, extrapolate, replaceFigures } from '../../tools/sizing/chains.js'
import { COSTS, type CostName, type Costs } from '../../tools/sizing/costs.js'
import { BEGINS_AT_HEAD, CANNOT_EXECUTE, type Forecast, forecast, STATES } from '../../tools/sizing/forecast.js'
import { type Count, type Counts, NETWORKS, type Network, requireNetwork } from '../../tools/sizing/networks.js'
import { replaceBytes } from '../../tools/sizing/ownCosts.js'
import { between, product, quotient, sum } from '../../tools/sizing/range.js'
import { formatBytes, formatCosts, formatCounts, formatForecasts, formatNotes } from '../../tools/sizing/tables.js'
import { runCairnOk } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

const count = (low: number, high = low): Count => ({ ...between(low, high), source: 'test', isEstimate: false })

const COUNTS: Counts = {
  blocks: count(1_000),
  blockSeconds: count(8_640), // 10 blocks a day
  transactions: count(20_000),
  transactionsPerDay: count(100, 200),
  logs: count(30_000, 40_000),
  logsPerTransaction: count(2, 3),
  accounts: count(4_000),
  slots: count(6_000),
  codeBytes: count(50_000),
  changedAccounts: count(2),
  changedSlots: count(3),
}
const NETWORK: Network = {
  ...{ name: 'test', isVerified: true, isExecutable: false, date: '2026-01-01', counts: COUNTS },
  growth: { accounts: 0.2, slots: 0.3, codeBytes: 2.5 },
}

/** Costs that are small numbers. */
const UNIT_COSTS: { readonly [name in CostName]: number } = {
  ...{ blockBytes: 500, transactionBytes: 300, transactionIndexBytes: 8, addressIndexBytes: 12 },
  ...{ logBytes: 90, logIndexBytes: 10, addressBytes: 60 },
  ...{ accountChangeBytes: 40, slotChangeBytes: 60, changedKeyBytes: 20, trieBytes: 80, trieLayerBytes: 1_000 },
  ...{ dumpBytes: 140, sparseKeyBytes: 30 },
  ...{ noneWrittenPerBlock: 7, noneWrittenPerTransaction: 11 },
  ...{ executeWrittenPerBlock: 13, executeWrittenPerChange: 17 },
  sparseWrittenPerChange: 23,
  ...{ noneMemory: 1_000, stateMemory: 2_000 },
  ...{ noneTransactionsPerSecond: 2, executeTransactionsPerSecond: 4, dumpItemsPerSecond: 5 },
}
const costs = Object.fromEntries(
  Object.entries(UNIT_COSTS).map(([name, value]) => [
    name,
    { ...between(value), what: name, unit: '', source: 'test' },
  ]),
) as Costs

/** The figures of a forecast without the disk in a year, which follows from two others. */
function figuresOf({ diskBytes, diskBytesPerDay, diskBytesInYear, ...rest }: Forecast) {
  assert.equal(diskBytesInYear.high, diskBytes.high + 365 * diskBytesPerDay.high)
  const { writtenBytesPerDay, memoryBytes, daysToHead } = rest
  return { diskBytes, diskBytesPerDay, writtenBytesPerDay, memoryBytes, daysToHead }
}

test('ranges are calculated by their ends', () => {
  assert.deepEqual(sum(between(1, 2), between(10)), { low: 11, high: 12 })
  assert.deepEqual(product(between(1, 2), between(10, 20)), { low: 10, high: 40 })
  assert.deepEqual(quotient(between(10, 20), between(2, 5)), { low: 2, high: 10 })
  assert.throws(() => between(2, 1), /got 2 to 1/)
})

test('without state: blocks, transactions, logs, indexes and addresses', () => {
  assert.deepEqual(figuresOf(forecast(NETWORK, 'none', costs)), {
    // 1,000 × 500 + 20,000 × 320 + logs × 100 + 4,000 × 60
    diskBytes: between(500_000 + 6_400_000 + 3_000_000 + 240_000, 500_000 + 6_400_000 + 4_000_000 + 240_000),
    // 10 × 500 + 100 × 320 + 200 × 100 + 20 × 60; with 200 transactions, 600 logs and 40 accounts
    diskBytesPerDay: between(5_000 + 32_000 + 20_000 + 1_200, 5_000 + 64_000 + 60_000 + 2_400),
    writtenBytesPerDay: between(70 + 1_100, 70 + 2_200),
    memoryBytes: between(1_000),
    daysToHead: between(20_000 / 2 / 86_400),
  })
})

test('with a complete state: rows of each change, earlier ones at least by half, and the trie', () => {
  const none = forecast(NETWORK, 'none', costs)
  // 20,000 transactions with 2 accounts of 40 + 20 bytes and 3 slots of 60 + 20 bytes.
  const changes = 20_000 * (2 * 60 + 3 * 80)
  const rest = 10_000 * 80 + 50_000 + 1_000
  const day = 100 * (2 * 60 + 3 * 80) + 100 * (0.5 * 80 + 2.5)
  assert.deepEqual(figuresOf(forecast(NETWORK, 'execute', costs)), {
    diskBytes: sum(none.diskBytes, between(changes / 2 + rest, changes + rest)),
    diskBytesPerDay: sum(none.diskBytesPerDay, between(day, 2 * day)),
    writtenBytesPerDay: between(130 + 500 * 17, 130 + 1_000 * 17),
    memoryBytes: between(2_000),
    daysToHead: CANNOT_EXECUTE,
  })
  assert.deepEqual(
    forecast({ ...NETWORK, isExecutable: true }, 'execute', costs).daysToHead,
    between(20_000 / 4 / 86_400),
  )
})

test('sparse state begins at the head, or with a dump of the whole state', () => {
  const none = forecast(NETWORK, 'none', costs)
  const rows = 100 * (2 * 60 + 3 * 80 + 2.5)
  const written = between(500 * 23, 1_000 * 23)
  assert.deepEqual(figuresOf(forecast(NETWORK, 'sparse', costs)), {
    diskBytes: between(1_000),
    diskBytesPerDay: sum(none.diskBytesPerDay, between(rows + 500 * 30, 2 * (rows + 500 * 30))),
    writtenBytesPerDay: written,
    memoryBytes: between(2_000),
    daysToHead: BEGINS_AT_HEAD,
  })
  assert.deepEqual(figuresOf(forecast(NETWORK, 'dump', costs)), {
    diskBytes: between(10_000 * 140 + 50_000 + 1_000),
    diskBytesPerDay: sum(none.diskBytesPerDay, between(rows + 50 * 80, 2 * (rows + 50 * 80))),
    writtenBytesPerDay: written,
    memoryBytes: between(2_000),
    daysToHead: between(10_000 / 5 / 86_400),
  })
})

test('the costs give what was measured of both sizes of a block', () => {
  // `written` of the first and last blocks of the two runs that the costs name, in bytes.
  for (const [changes, transactions, measured] of [
    [1_400, 187, { execute: [3_254_369, 5_057_906], none: [283_249, 283_605], sparse: [4_414_000, 4_600_000] }],
    [176, 47, { execute: [515_312, 790_163], none: [111_145, 83_727], sparse: [614_514, 693_538] }],
  ] as const) {
    const day = {
      blockSeconds: count(86_400),
      transactionsPerDay: count(transactions),
      changedSlots: count(changes / transactions),
    }
    const network = { ...NETWORK, counts: { ...COUNTS, ...day, changedAccounts: count(0) } }
    for (const state of ['execute', 'none', 'sparse'] as const) {
      const { low, high } = forecast(network, state, COSTS).writtenBytesPerDay
      const [least, most] = measured[state].toSorted((a, b) => a - b)
      assert.ok(low <= least * 1.01 && high >= most * 0.99, `${state}: ${low} to ${high}`)
      assert.ok(low > least / 2.5 && high < most * 2.5, `${state}: ${low} to ${high}`)
    }
  }
})

test('every network has figures that forecast every state', () => {
  for (const network of NETWORKS) {
    for (const state of STATES) {
      const { diskBytes, diskBytesPerDay, writtenBytesPerDay, memoryBytes } = forecast(network, state, COSTS)
      for (const { low, high } of [diskBytes, diskBytesPerDay, writtenBytesPerDay, memoryBytes]) {
        assert.ok(low > 0 && low <= high && high < 1e15, `${network.name} ${state}: ${low} to ${high}`)
      }
    }
  }
  // The figures of mainnet are known well: those of the lower and of the higher end are of one size.
  const { low, high } = forecast(requireNetwork('mainnet'), 'none', COSTS).diskBytes
  assert.ok(high / low < 2.5, `${low} to ${high}`)
  assert.throws(() => requireNetwork('mainet'), /expected one of mainnet, sepolia, gnosis, base, got mainet/)
})

test('figures of the command line replace those of a network, and make a chain', () => {
  const given = { transactionsPerDay: 50, logsPerDay: 400, changedSlotsPerDay: 25, slots: 9 }
  const { counts } = replaceFigures(NETWORK, given)
  const { transactionsPerDay, logsPerTransaction, changedAccounts, changedSlots, slots } = counts
  assert.deepEqual(
    [transactionsPerDay, logsPerTransaction, changedAccounts, changedSlots, slots].map(({ low, high }) => [low, high]),
    [[50, 50], [8, 8], [2, 2], [0.5, 0.5], [9, 9]], // biome-ignore format: pairs read better on one line
  )
  const own = createOwnChain({ blockSeconds: 2, transactionsPerDay: 1_000 })
  assert.deepEqual(forecast(own, 'none', costs).diskBytes, between(0))
  // 20 days of blocks of 2 s, with 3 logs a transaction.
  const old = createOwnChain({
    blockSeconds: 2,
    transactionsPerDay: 1_000,
    transactions: 20_000,
    logsPerDay: 3_000,
    slots: 7,
  })
  assert.deepEqual(
    [old.counts.blocks, old.counts.logs, old.counts.slots].map(({ low, high }) => [low, high]),
    [[864_000, 864_000], [60_000, 60_000], [7, 7]], // biome-ignore format: pairs read better on one line
  )
  assert.equal(old.counts.accounts.low, 20_000 * requireNetwork('mainnet').growth.accounts)
  assert.deepEqual(own.counts.changedSlots, requireNetwork('mainnet').counts.changedSlots)
  assert.ok(forecast(own, 'execute', costs).diskBytesPerDay.low > forecast(own, 'none', costs).diskBytesPerDay.low)
  assert.throws(() => createOwnChain({ blockSeconds: 2 }), /--transactions-per-day: missing/)
})

test('totals of a later day have what comes until then', () => {
  const { date, counts } = extrapolate(NETWORK, '2026-01-11')
  assert.equal(date, '2026-01-11')
  const ends = ({ low, high }: Count) => [low, high]
  assert.deepEqual(ends(counts.blocks), [1_100, 1_100])
  assert.deepEqual(ends(counts.transactions), [21_000, 22_000])
  assert.deepEqual(ends(counts.logs), [32_000, 46_000])
  assert.deepEqual(ends(counts.slots), [6_300, 6_600])
  for (const day of ['2025-12-31', '2026-1-11', 'soon']) {
    assert.throws(() => extrapolate(NETWORK, day), new RegExp(`--date: .* got ${day}`))
  }
})

test('parts of a database replace the bytes of an item, where they are large', () => {
  const part = (name: string, items: number, bytes: number): PartSize => ({
    ...{ part: name, unit: '', items, bytes, bytesPerItem: bytes / items },
  })
  const sizes = [
    part('logs', 10_000, 1_234_560),
    part('blocks', 1_000, 249_999),
    part('account history', 20_000, 1_000_000),
    part('storage history', 30_000, 3_000_000),
    part('changed accounts and slots by block', 5, 2_000_000),
    part('layer 2', 10, 5_000_000),
  ]
  const replaced = replaceBytes(costs, sizes, 'a database')
  const changed = Object.entries(replaced).filter(([name, { low }]) => low !== UNIT_COSTS[name as CostName])
  assert.deepEqual(
    changed.map(([name, { low, high, source }]) => [name, low, high, source]),
    [
      ['logBytes', 123.456, 123.456, 'a database'],
      ['accountChangeBytes', 50, 50, 'a database'],
      ['slotChangeBytes', 100, 100, 'a database'],
      ['changedKeyBytes', 40, 40, 'a database'],
    ].toSorted((a, b) => Object.keys(costs).indexOf(a[0] as string) - Object.keys(costs).indexOf(b[0] as string)),
  )
})

test('bytes have two digits and a unit', () => {
  const shown = [between(999), between(1_000), between(4_149_000), between(999_900_000), between(1e12, 2.34e12)]
  assert.deepEqual(shown.map(formatBytes), ['999 bytes', '1 kB', '4.1 MB', '1 GB', '1 to 2.3 TB'])
  assert.equal(formatBytes(between(120e6, 1.2e9)), '120 MB to 1.2 GB')
  assert.equal(formatBytes(between(0, 345_678)), '0 to 346 kB')
})

const run = (...args: string[]) =>
  execFileSync(process.execPath, [packagePath('build/tools/sizing/main.js'), ...args], { encoding: 'utf8' })

test('npm run sizing prints the forecasts, as a table and as JSON', () => {
  const args = ['--network', 'mainnet', '--state', 'none,sparse']
  const { forecasts } = JSON.parse(run(...args, '--json')) as { forecasts: Forecast[] }
  assert.deepEqual(forecasts, [
    forecast(requireNetwork('mainnet'), 'none', COSTS),
    forecast(requireNetwork('mainnet'), 'sparse', COSTS),
  ])
  assert.equal(run(...args), `${formatForecasts(forecasts).join('\n')}\n`)
  const own = JSON.parse(run('--block-seconds', '12', '--transactions-per-day', '7200', '--json')) as {
    forecasts: Forecast[]
  }
  assert.deepEqual(
    own.forecasts.map(({ network, state }) => `${network} ${state}`),
    STATES.map((state) => `own chain ${state}`),
  )
  assert.match(run('--help'), /--transactions-per-day X/)
  const base = [requireNetwork('base')]
  const sources = [formatNotes(base), formatCounts(base), formatCosts(COSTS)].map((lines) => `\n\n${lines.join('\n')}`)
  assert.ok(run('--network', 'base', '--sources').endsWith(`${sources.join('')}\n`))
  assert.match(sources[0], /cannot verify blocks of base yet/)
  assert.deepEqual(formatNotes([requireNetwork('sepolia')]), [])
})

test('npm run sizing says what is wrong with its arguments', () => {
  for (const [args, message] of [
    [['--network', 'mainet'], /--network: expected one of mainnet/],
    [['--state', 'full'], /--state: expected some of none, sparse, dump, execute, got full/],
    [['--transactions-per-day', 'many'], /--transactions-per-day: expected a number above 0, got many/],
    [['--transactions-per-day', '5'], /--block-seconds: missing/],
    [['--date', '2020-01-01'], /--date: expected a day from 2026-02-03/],
    [['--datadir', '/nowhere'], /\/nowhere/],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [packagePath('build/tools/sizing/main.js'), ...args], {
      encoding: 'utf8',
    })
    assert.equal(status, 2, args.join(' '))
    assert.match(stderr, message)
  }
})

test('npm run sizing --datadir reads the sizes that cairn status prints', async (t) => {
  const datadir = temporaryDirectory(t)
  const chain = packagePath('fixtures/chain')
  await runCairnOk(['import', '--datadir', datadir, '--genesis', `${chain}/genesis.json`, `${chain}/chain.rlp`])
  const stdout = await runCairnOk(['status', '--datadir', datadir, '--json'])
  const { sizes } = JSON.parse(stdout) as { sizes: PartSize[] }
  const report = JSON.parse(run('--datadir', datadir, '--json')) as { costs: Costs }
  const logs = sizes.find(({ part }) => part === 'logs')!
  assert.equal(report.costs.logBytes.low, logs.bytes / logs.items)
  assert.deepEqual(
    report.costs,
    JSON.parse(JSON.stringify(replaceBytes(COSTS, sizes, `cairn status --sizes --json, ${datadir}`))),
  )
})
