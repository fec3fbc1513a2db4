import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { logFilterParam } from '../../../src/rpc/eth/logFilter.js'
import { logFilterCacheKey } from '../../../src/rpc/eth/logFilterCacheKey.js'
import { resolveFilterBlocks } from '../../../src/rpc/eth/resolveFilter.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import type { ChainReader } from '../../../src/store/rows/types.js'
import {
  hashOfBlock,
  numberedBytes,
  seededFractions,
  temporaryDatabase,
  writeLogs,
} from '../../index/logs/randomLogs.js'

const FIRST = 10
const HEAD = 15

type Filter = { [name: string]: unknown; address?: unknown; topics?: (string | string[] | null)[] }

function openChain(t: Parameters<typeof temporaryDatabase>[0]) {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST, Array(HEAD - FIRST + 1).fill([]))
  const chain = createChainReader(db)
  return { db, keyOf: (filter: Filter) => fullKey(chain, filter) }
}

/** What the cache knows a call by: its blocks, and the key. */
function fullKey(chain: ChainReader, filter: Filter): string | undefined {
  const object = logFilterParam.decode(filter, '')
  const blocks = resolveFilterBlocks({ chain, limits: DEFAULT_LIMITS }, object)
  return blocks && `${blocks.fromBlock} ${formatData(blocks.hash)} ${logFilterCacheKey(object)}`
}

const address = (number: number) => formatData(numberedBytes(0xa0 + number, 20))
const topic = (number: number) => formatData(numberedBytes(0xb0 + number, 32))
const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`

/** What a filter means, in the plainest form. */
function meaningOf({ from, to, addresses, topics }: Meaning): string {
  const set = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b)
  return JSON.stringify([from, to, set(addresses), topics.map((values) => set(values))])
}

interface Meaning {
  from: number
  to: number
  addresses: number[]
  topics: number[][] // empty: any
}

/** One of the ways to write a filter. */
function writeFilter(random: () => number, { from, to, addresses, topics }: Meaning): Filter {
  const pick = <T>(...ways: T[]) => ways[Math.floor(random() * ways.length)]
  const bound = (number: number) => {
    const hex = `0x${number.toString(16)}`
    return number === HEAD ? pick<unknown>(hex, upper(hex), 'latest', 'pending', 'safe', 'finalized', null) : hex
  }
  const list = (values: number[], textOf: (number: number) => string) => {
    const shuffled = values
      .flatMap((value) => (random() < 0.2 ? [value, value] : [value]))
      .map((value) => ({ value, at: random() }))
      .sort((a, b) => a.at - b.at)
    return shuffled.map(({ value }) => (random() < 0.5 ? textOf(value) : upper(textOf(value))))
  }
  const oneOrList = (texts: string[]) => (texts.length === 1 && random() < 0.5 ? texts[0] : texts)
  const filter: Filter = {
    topics: topics.map((values) => (values.length === 0 ? pick(null, []) : oneOrList(list(values, topic)))),
  }
  if (addresses.length > 0) filter.address = oneOrList(list(addresses, address))
  else if (random() < 0.5) filter.address = pick(null, [])
  const hash = formatData(hashOfBlock(to))
  if (from === to && random() < 0.3) return { ...filter, [pick('blockHash', 'blockhash')]: pick(hash, upper(hash)) }
  return { ...filter, fromBlock: bound(from), toBlock: bound(to) }
}

test('keys are equal exactly where filters mean the same, however they are written', (t) => {
  const { keyOf } = openChain(t)
  const random = seededFractions(51)
  const below = (limit: number) => Math.floor(random() * limit)
  const numbers = () => Array.from({ length: random() < 0.4 ? 0 : 1 + below(2) }, () => below(2))
  const keys = new Map<string, string>() // by meaning
  let met = 0
  for (let i = 0; i < 6_000; i++) {
    const from = FIRST + below(HEAD - FIRST + 1)
    const meaning: Meaning = {
      from,
      to: from + below(HEAD - from + 1),
      addresses: numbers(),
      topics: Array.from({ length: below(3) }, numbers),
    }
    const key = keyOf(writeFilter(random, meaning))
    assert.ok(key)
    const name = meaningOf(meaning)
    if (keys.has(name)) met++
    assert.equal(key, keys.get(name) ?? key, name)
    keys.set(name, key)
  }
  assert.equal(new Set(keys.values()).size, keys.size)
  assert.ok(met > 2_000 && keys.size > 500, `${met} ${keys.size}`)
})

test('a value belongs to its place', (t) => {
  const { keyOf } = openChain(t)
  const filters: Filter[] = [
    { topics: [] },
    { topics: [null] },
    { topics: [null, null] },
    { topics: [topic(1)] },
    { topics: [topic(1), null] },
    { topics: [null, topic(1)] },
    { topics: [topic(1), topic(2)] },
    { topics: [topic(2), topic(1)] },
    { topics: [[topic(1), topic(2)]] },
    { topics: [[topic(1), topic(2)], null] },
  ]
  assert.equal(new Set(filters.map(keyOf)).size, filters.length)
})

test('a block on top changes only the keys of filters that reach it, another last block every key', (t) => {
  const { db, keyOf } = openChain(t)
  const written = [{ fromBlock: '0xa', toBlock: '0xf' }, { fromBlock: '0xb', toBlock: '0xc' }, { fromBlock: '0xa' }]
  const before = written.map(keyOf)
  assert.equal(before[0], before[2])
  db.exec('CREATE TEMP TABLE next AS SELECT * FROM blocks WHERE number = 15')
  db.prepare('UPDATE next SET number = 16, hash = ?').run(hashOfBlock(16))
  db.exec('INSERT INTO blocks SELECT * FROM next')
  const after = written.map(keyOf)
  assert.deepEqual(after.slice(0, 2), before.slice(0, 2))
  assert.notEqual(after[2], before[2])
  db.prepare('UPDATE blocks SET hash = ? WHERE number = 12').run(numberedBytes(5, 32))
  assert.notEqual(keyOf(written[1]), before[1])
})

test('there is no key without blocks, and a filter that is refused is refused here too', (t) => {
  const { keyOf } = openChain(t)
  assert.throws(() => keyOf({ fromBlock: '0x10', toBlock: '0x10' }), /beyond current head/)
  assert.throws(() => keyOf({ blockHash: topic(1) }), /unknown block/)
  assert.throws(() => keyOf({ topics: [Array(5_001).fill(topic(1))] }), /5001 parameters/)
  const empty = createChainReader(temporaryDatabase(t))
  assert.equal(fullKey(empty, {}), undefined)
})
