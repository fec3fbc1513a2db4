import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { keccak256 } from '../../../src/chain/crypto.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Header } from '../../../src/chain/eth/types.js'
import { padLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { Database } from '../../../src/store/database.js'
import { createMetaTable, META_STATE_DUMP, META_STATE_DUMP_IMPORT, META_STATE_TRIE } from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { genesisOfSource } from '../../../src/store/rows/chainSource.js'
import { isStateKnown, MissingState } from '../../../src/store/state/missingState.js'
import { readStateDump } from '../../../src/store/state/stateDump.js'
import { createStateReader, LATEST } from '../../../src/store/state/stateReader.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { importStateDump } from '../../../src/sync/sparse/importStateDump.js'
import { StateIntervals } from '../../../src/sync/sparse/stateIntervals.js'
import { createGenesis } from '../../support/chains/genesisChain.js'
import { seededRandom } from '../../support/random.js'
import {
  DUMP_WRITERS,
  dumpObjects,
  formatDump,
  randomState,
  rootOfState,
  type WholeAccount,
} from '../../support/sparse/stateDumps.js'
import { temporaryDirectory } from '../../support/temporary.js'

const NUMBER = 1000
const CHAIN = { genesis: createGenesis({}) }

/** A header after whose block the state has that root. */
function headerWith(stateRoot: Uint8Array): Header {
  return { ...genesisOfSource(CHAIN).header, number: NUMBER, stateRoot }
}

interface Target {
  readonly db: Database
  readonly path: string
  importText(text: string | Uint8Array, root: Uint8Array, signal?: AbortSignal): ReturnType<typeof importStateDump>
}

function openTarget(t: TestContext): Target {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => db.close())
  const path = join(datadir, 'dump.jsonl')
  return {
    ...{ db, path },
    importText: (text, root, signal) => {
      writeFileSync(path, text)
      const header = headerWith(root)
      return importStateDump({
        ...{ db, path, batch: 500, chain: CHAIN, progress: noProgress, log: silentLogger, signal },
        block: { header, hash: hashHeader(header) },
        openChain: () => openWritableChain(db, CHAIN, 'sparse', { completesStateDump: true }),
      })
    },
  }
}

for (const writer of DUMP_WRITERS) {
  test(`the ${writer} dump of a random state has its root, and answers what it has`, async (t) => {
    const random = seededRandom(7)
    for (const [accounts, mostSlots] of [
      [1, 0],
      [1, 3],
      [100, 25_000],
    ]) {
      const state = randomState(random, { accounts, mostSlots })
      const { db, importText } = openTarget(t)
      const dump = await importText(formatDump(state, writer), rootOfState(state))
      const slots = state.reduce((sum, each) => sum + each.slots.length, 0)
      assert.deepEqual([dump?.accounts, dump?.slots, dump?.number], [accounts, slots, NUMBER])
      assert.equal(createMetaTable(db).get<{ accounts: number }>(META_STATE_TRIE)?.accounts, accounts)
      compareReads(db, state)
      assert.deepEqual(createStateReader(db).account(random.bytes(20), NUMBER), {
        ...{ addressId: 0, incarnation: 1, account: undefined },
      })
    }
  })
}

test('a dump answers from its block on, up to the last one of its interval', async (t) => {
  const state = randomState(seededRandom(3), { accounts: 5, mostSlots: 5 })
  const { db, importText } = openTarget(t)
  const dump = await importText(formatDump(state, 'snapshot'), rootOfState(state))
  const reader = createStateReader(db)
  const { address, slots } = state[0]
  assert.throws(() => reader.account(address, NUMBER - 1), MissingState)
  createMetaTable(db).set(META_STATE_DUMP, { ...dump, last: NUMBER + 10 })
  const { addressId, incarnation } = reader.account(address, NUMBER + 10)!
  assert.throws(() => reader.account(address, NUMBER + 11), MissingState)
  assert.throws(() => reader.account(address, LATEST), MissingState)
  assert.deepEqual(
    Buffer.from(reader.storage(addressId, incarnation, slots[0].slot, NUMBER + 10)),
    Buffer.from(slots[0].value),
  )
})

test('an interval of states that begins later knows nothing of the dump, which goes with its block', async (t) => {
  const state = randomState(seededRandom(3), { accounts: 5, mostSlots: 5 })
  const { db, importText } = openTarget(t)
  await importText(formatDump(state, 'snapshot'), rootOfState(state))
  const header = headerWith(rootOfState(state))
  const reader = createStateReader(db)
  const intervals = new StateIntervals(db)
  const answersAt = (...numbers: number[]) =>
    numbers.map((number) => isStateKnown(() => reader.account(state[0].address, number)))
  const trie = () => createMetaTable(db).get<{ top: string; accounts: number }>(META_STATE_TRIE)!
  intervals.begin({ hash: hashHeader(header), header })
  assert.equal(intervals.first, NUMBER)
  assert.equal(trie().accounts, 5)
  assert.deepEqual(answersAt(NUMBER - 1, NUMBER, NUMBER + 50, LATEST), [false, true, true, true])
  intervals.close(NUMBER + 10)
  assert.deepEqual(answersAt(NUMBER, NUMBER + 10, NUMBER + 11, LATEST), [true, true, false, false])
  intervals.begin({ hash: Uint8Array.of(1), header: { ...header, number: NUMBER + 20 } })
  assert.equal(trie().accounts, 0)
  assert.deepEqual(answersAt(NUMBER + 10, NUMBER + 20, LATEST), [true, false, false])
  intervals.removeAbove(NUMBER + 5)
  intervals.begin({ hash: Uint8Array.of(2), header: { ...header, number: NUMBER + 8 } })
  assert.deepEqual(answersAt(NUMBER + 5, NUMBER + 8, LATEST), [true, false, false])
  intervals.removeAbove(NUMBER - 1)
  assert.deepEqual(answersAt(NUMBER, NUMBER + 5, LATEST), [false, false, false])
  assert.equal(readStateDump(db), undefined)
  assert.equal(db.prepare('SELECT count(*) FROM hashed_accounts').pluck().get(), 0)
})

/** Accounts in an order that is not that of their hashes are sorted within a batch, batches are not. */
test('a dump in any order has the root of its state', async (t) => {
  const state = randomState(seededRandom(5), { accounts: 500, mostSlots: 10 })
  const { importText } = openTarget(t)
  const lines = formatDump(state, 'snapshot').trimEnd().split('\n')
  assert.equal((await importText(lines.reverse().join('\n'), rootOfState(state)))?.accounts, 500)
})

test('an interrupted import resumes where it was, and no other command uses a part of a dump', async (t) => {
  const state = randomState(seededRandom(9), { accounts: 300, mostSlots: 25_000 })
  const text = formatDump(state, 'snapshot')
  const { db, importText } = openTarget(t)
  let runs = 0
  for (let dump: unknown; dump === undefined; runs++) {
    const abort = new AbortController()
    abort.abort()
    dump = await importText(text, rootOfState(state), runs < 3 ? abort.signal : undefined)
    if (dump !== undefined) break
    assert.equal(readStateDump(db), undefined)
    assert.equal(createMetaTable(db).get(META_STATE_TRIE), undefined)
    await assert.rejects(
      openWritableChain(db, CHAIN, 'sparse'),
      /import of the state dump of block 1000 .* is not complete/,
    )
  }
  assert.ok(runs > 1)
  compareReads(db, state)
})

test('a wrong dump is refused with its line and member, and leaves nothing', async (t) => {
  const state = randomState(seededRandom(4), { accounts: 30, mostSlots: 3 })
  const root = rootOfState(state)
  for (const writer of DUMP_WRITERS) {
    for (const { name, text, expected } of damaged(state, writer)) {
      const { db, importText } = openTarget(t)
      await assert.rejects(importText(text, root), expected, `${writer}: ${name}`)
      requireNothing(db)
    }
  }
})

test('what cannot be a dump is refused by what it is', async (t) => {
  const state = randomState(seededRandom(4), { accounts: 3, mostSlots: 3 })
  const root = rootOfState(state)
  const text = formatDump(state, 'snapshot')
  const cases: [string | Uint8Array, RegExp][] = [
    [gzipSync(text), /it is compressed \(gzip\); expected lines of JSON: gunzip -c /],
    ['', /got 0 accounts with the root 0x56e8/],
    ['[]\n', /line 1: the line: expected a JSON object, got "\["/],
    [`${text}x`, /line 5: the line: expected a JSON object, got "x"/],
    [text.replace('\n', ' {}\n'), /line 1: the line: expected its end after the object, got "\{"/],
    [text.slice(0, -3), /line 4: key: the file ends inside of it: the dump is incomplete/],
    [text.slice(0, text.length - 2), /line 4: the line: invalid JSON: expected \}, got the end of the file/],
    ['{"root":"0x00","accounts":{}}', /line 1: root: expected 32 bytes of hex, got 0x00/],
    ['{"accounts":{}}', /line 1: accounts: expected a line for each account; make the dump with geth snapshot dump/],
    [`{"code":"0x${'00'.repeat(3 * 2 ** 20)}"}`, /line 1: code: expected at most 4194304 bytes of text, got more/],
  ]
  for (const [content, expected] of cases) {
    const { db, importText } = openTarget(t)
    await assert.rejects(importText(content, root), expected)
    requireNothing(db)
  }
})

/** Dumps with one member changed, each in a line with code and storage. */
function* damaged(state: readonly WholeAccount[], writer: 'snapshot' | 'iterative' | 'reth') {
  type Members = { [member: string]: unknown }
  const objects = dumpObjects(state, writer)
  const at = objects.findLastIndex(({ code, storage }) => code && storage)
  const line = at + 1
  const textOf = (changed: readonly (object | string)[]) =>
    changed.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join('')
  const changing = (change: (members: Members) => Members | string) =>
    textOf(objects.map((each, i) => (i === at ? change(structuredClone(each)) : each)))
  const [slot] = Object.keys(objects[at].storage as object)
  const inLine = (field: string, problem: string) => new RegExp(`: line ${line}: ${field}: .*${problem}`)
  const isGeth = writer !== 'reth'
  const rootOr = (field: RegExp) => (isGeth ? inLine('root', 'expected the root of its storage') : field)
  const wrongRoot = /expected a state with the root of block 1000, /
  const storageWith = (value: string) => (members: Members) => ({
    ...members,
    storage: { ...(members.storage as object), [slot]: value },
  })
  yield { name: 'balance', text: changing((each) => ({ ...each, balance: '12345678901' })), expected: wrongRoot }
  yield { name: 'nonce', text: changing((each) => ({ ...each, nonce: 123456 })), expected: wrongRoot }
  yield {
    name: 'large balance',
    text: changing((each) => ({ ...each, balance: `1${'0'.repeat(77)}` })),
    expected: wrongRoot,
  }
  yield {
    name: 'too large',
    text: changing((each) => ({ ...each, balance: `9${'0'.repeat(77)}` })),
    expected: inLine('balance', 'below 2\\^256'),
  }
  yield {
    name: 'no number',
    text: changing((each) => ({ ...each, nonce: '1e3' })),
    expected: inLine('nonce', 'got "1e3"'),
  }
  yield {
    name: 'no balance',
    text: changing(({ balance: _, ...each }) => each),
    expected: inLine('balance', 'missing'),
  }
  yield {
    name: 'no code',
    text: changing(({ code: _, ...each }) => each),
    expected: isGeth ? inLine('code', 'make the dump without --nocode') : wrongRoot,
  }
  yield {
    name: 'other code',
    text: changing((each) => ({ ...each, code: '0x6001' })),
    expected: isGeth ? inLine('code', 'got one with 0x') : wrongRoot,
  }
  yield {
    name: 'odd code',
    text: changing((each) => ({ ...each, code: '0x600' })),
    expected: inLine('code', 'even number of hex digits'),
  }
  yield { name: 'no storage', text: changing(({ storage: _, ...each }) => each), expected: rootOr(wrongRoot) }
  yield { name: 'slot value', text: changing(storageWith('07')), expected: rootOr(wrongRoot) }
  yield {
    name: 'zero',
    text: changing(storageWith(writer === 'snapshot' ? '80' : '00')),
    expected: inLine('storage\\["0x[0-9a-f]{64}"\\]', 'expected'),
  }
  yield {
    name: 'not RLP',
    text: changing(storageWith(`${'11'.repeat(40)}`)),
    expected: inLine('storage\\["0x[0-9a-f]{64}"\\]', 'expected'),
  }
  yield {
    name: 'slot',
    text: changing((each) => ({ ...each, storage: { '0x01': '01' } })),
    expected: inLine('storage', 'expected 32 bytes'),
  }
  yield {
    name: 'slot twice',
    text: changing((each) => JSON.stringify(each).replace('"storage":{', `"storage":{"${slot}":"05",`)),
    expected: inLine('storage', 'appears twice'),
  }
  yield {
    name: 'member twice',
    text: changing((each) => JSON.stringify(each).replace('{', '{"balance":"1",')),
    expected: inLine('balance', 'it appears twice'),
  }
  yield {
    name: 'unknown',
    text: changing((each) => ({ ...each, incarnation: 1 })),
    expected: inLine('incarnation', 'unknown member'),
  }
  yield {
    name: 'no comma',
    text: changing((each) => JSON.stringify(each).replace(',"code"', ' "code"')),
    expected: inLine('the line', 'invalid JSON: expected \\}, got'),
  }
  yield {
    name: 'account twice',
    text: textOf([...objects, objects[at]]),
    expected: /: line 32: key: the account with the hash 0x[0-9a-f]{64} appears twice/,
  }
  yield { name: 'account missing', text: textOf(objects.filter((_, i) => i !== at)), expected: wrongRoot }
  yield {
    name: 'root',
    text: textOf([{ root: formatData(keccak256(Uint8Array.of(1))) }, ...objects.slice(1)]),
    expected: /: line 1: root: expected the state root of block 1000, /,
  }
  const key = formatData(keccak256(Uint8Array.of(2)))
  if (writer === 'snapshot') {
    yield { name: 'key', text: changing((each) => ({ ...each, key })), expected: wrongRoot }
    yield {
      name: 'no key',
      text: changing(({ key: _, ...each }) => each),
      expected: inLine('key', 'expected key or address'),
    }
    yield {
      name: 'address',
      text: changing((each) => ({ ...each, address: formatData(state[0].address) })),
      expected: inLine('address', 'earlier lines have none'),
    }
  } else {
    yield {
      name: 'address',
      text: changing((each) => ({ ...each, address: `0x${'12'.repeat(20)}` })),
      expected: writer === 'iterative' ? inLine('key', 'expected the hash of the address') : wrongRoot,
    }
    yield {
      name: 'no address',
      text: changing(({ address: _, ...each }) => ({ ...each, key })),
      expected: inLine('address', 'use geth snapshot dump'),
    }
  }
}

function requireNothing(db: Database): void {
  for (const table of ['hashed_accounts', 'hashed_storage', 'code', 'state_trie_pages', 'blocks']) {
    assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table)
  }
  const meta = createMetaTable(db)
  for (const key of [META_STATE_DUMP, META_STATE_DUMP_IMPORT, META_STATE_TRIE, 'chain', 'state_mode']) {
    assert.equal(meta.get(key) ?? undefined, undefined, key)
  }
}

function compareReads(db: Database, state: readonly WholeAccount[]): void {
  const reader = createStateReader(db)
  for (const { address, nonce, balance, code, slots } of state) {
    const record = reader.account(address, NUMBER + 5)!
    assert.ok(record.addressId < 0)
    assert.equal(record.incarnation, slots.length > 0 ? 0 : 1)
    const { codeId, ...account } = record.account!
    assert.deepEqual([account.nonce, account.balance], [nonce, balance])
    assert.deepEqual(codeId === undefined ? Buffer.alloc(0) : Buffer.from(reader.code(codeId)), Buffer.from(code))
    for (const { slot, value } of slots.slice(0, 100)) {
      assert.deepEqual(
        Buffer.from(reader.storage(record.addressId, record.incarnation, slot, NUMBER + 5)),
        Buffer.from(value),
      )
    }
    assert.equal(
      reader.storage(record.addressId, record.incarnation, padLeft(keccak256(address), 32), NUMBER).length,
      0,
    )
  }
}
