import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { InvalidL2Block } from '../src/chain/starknet/errors.js'
import { getL2Network, L2_NETWORK_NAMES, type L2NetworkName } from '../src/chain/starknet/networks.js'
import {
  formatStarknetBlock,
  formatStarknetPending,
  formatZkBlock,
  formatZkPending,
} from '../src/rpc/starknet/format.js'
import { recogniseL2, UnreadableL2File } from '../src/sources/files/starknetFile.js'
import type { L2Reader } from '../src/store/l2/l2Reader.js'
import { openL2Database } from './support/chains/l2.js'
import { SKIP_SHARED, sharedPath } from './support/shared.js'
import { temporaryDirectory } from './support/temporary.js'
import { THOROUGH } from './support/thorough.js'

/* The folder of recorded layer-2 blocks against its INDEX.md: every recording is imported as its row says, and what is
 * served is what was recorded. All hashes are recomputed; the largest block takes a second. */

type Json = { readonly [name: string]: unknown }

/** A row of INDEX.md. */
interface Recording {
  file: string
  path: string
  network: string
  verify: string
  notes: string
}

const folder = sharedPath('l2')
const skip = SKIP_SHARED
const recordings = folder === undefined ? [] : readIndex(folder)

function readIndex(root: string): Recording[] {
  const paths = listFiles(root)
  const used = new Set<string>()
  return readFileSync(join(root, 'INDEX.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| [^|]+\.(json|ndjson) \|/.test(line))
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim())
      const [file, network, verify, notes] = [cells[1], cells[2], cells[9], cells[11]]
      // A name may be in both folders: the feeder's come first in the index, as they do here.
      const path = paths.find((candidate) => candidate.endsWith(`/${file}`) && !used.has(candidate))
      assert.ok(path, `${file} is in the index, but not in the folder`)
      used.add(path)
      return { file, path, network, verify, notes }
    })
}

function listFiles(root: string): string[] {
  return ['feeder', 'rpc'].flatMap((kind) => readdirSync(join(root, kind)).map((name) => join(root, kind, name)))
}

const isRpc = ({ path }: Recording) => path.includes('/rpc/')

/** Recordings whose index names another network than the hashes of their transactions were made for. */
const OTHER_NETWORK: Readonly<Record<string, L2NetworkName>> = {
  'sepolia-2473486-0.14.0-l2.json': 'integration-sepolia',
  'integration-sepolia-332275-0.13.1-receipts.json': 'integration-goerli',
}

function networkOf({ file, network }: Recording) {
  if (OTHER_NETWORK[file] !== undefined) return OTHER_NETWORK[file]
  return L2_NETWORK_NAMES.find((name) => name === network)
}

/** Recordings that are refused, and the words of the refusal. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  // INDEX: kind state_update, no block.
  'mainnet-su-770-state-update.json': /is a state update without its block/,
  'mainnet-su-833-state-update.json': /is a state update without its block/,
  // INDEX: synthetic; the made-up header says 2 transactions where the list has 5.
  'pathfinder-fixture-0.10.0-latest.json': /transaction count: expected 2, got 5/,
  'pathfinder-fixture-0.10.0-latest_with_tx_hashes.json': /transaction count: expected 2, got 5/,
}

test('the index and the folder name the same 102 recordings', { skip }, () => {
  assert.equal(recordings.length, 102)
  assert.deepEqual(recordings.map(({ path }) => path).toSorted(), listFiles(folder!).toSorted())
})

for (const recording of recordings) {
  const { file, path, verify, notes } = recording
  const kind = isRpc(recording) ? 'rpc' : 'feeder'
  const refusal = REFUSED[file]
  test(`${kind}/${file} is ${refusal ? 'refused' : 'imported'} as its row says`, async (t) => {
    assert.ok(recogniseL2(readFileSync(path)), 'is recognised by its content')
    const database = openL2Database(temporaryDirectory(t))
    t.after(() => database.close())
    const done = database.importFile(path, { network: networkOf(recording) })
    if (refusal) {
      await assert.rejects(done, (error: unknown) => {
        assert.ok(error instanceof InvalidL2Block || error instanceof UnreadableL2File)
        assert.match(error.message, refusal)
        return true
      })
      assert.equal(database.reader.head(), undefined)
      return
    }
    const { outcomes, verified } = await done
    const confirmed = readAll(path).filter((block) => hashOf(block) !== undefined).length
    assert.equal(outcomes.stored, confirmed)
    assert.equal(outcomes.pending, confirmed === 0 ? 1 : 0)
    if (verify.startsWith('MATCH') || notes.includes('hash verifies'))
      assert.equal(verified, 1, 'the hash is recomputed')
  })
}

/** The largest recordings whose rules others have too. Each takes seconds, and is recomputed by its import above. */
const LARGE = ['mainnet-65000-0.11.1.json', 'mainnet-550000-0.13.0.json']

test('a hash is recomputed without knowing the network, whatever the rules', { skip }, async (t) => {
  let learnt = 0
  const matching = recordings.filter(({ verify }) => verify.startsWith('MATCH'))
  for (const recording of THOROUGH ? matching : matching.filter(({ file }) => !LARGE.includes(file))) {
    const database = openL2Database(temporaryDirectory(t))
    const { verified } = await database.importFile(recording.path)
    assert.equal(verified, 1, recording.file)
    const named = /\((SN_\w+)\)/.exec(recording.verify)?.[1]
    const network = networkOf(recording)
    const chainId = database.reader.chainId()
    if (chainId !== undefined) {
      learnt++
      const expected = named ?? (network && getL2Network(network).chainId)
      assert.equal(Buffer.from(chainId.toString(16), 'hex').toString(), expected, `chain id of ${recording.file}`)
    } else {
      assert.equal(named, undefined, `no chain id from ${recording.file}`)
    }
    database.close()
  }
  assert.ok(learnt >= 30, `${learnt} recordings identify the chain id`)
})

test('transactions identify the network of blocks since 0.7, and blocks of another network are refused', {
  skip,
}, async (t) => {
  const feeder = (name: string) => join(folder!, `feeder/${name}.json`)
  const sepolia = openL2Database(temporaryDirectory(t))
  t.after(() => sepolia.close())
  await sepolia.importFile(feeder('sepolia-6-0.12.3'))
  assert.equal(sepolia.reader.chainId(), 0x534e5f5345504f4c4941n)
  for (const name of ['mainnet-833-nover', 'integration-sepolia-63881-0.13.4', 'integration-goerli-330363-0.13.1']) {
    await assert.rejects(sepolia.importFile(feeder(name)), /refused: network: expected SN_SEPOLIA, got SN_\w+$/)
  }
  assert.equal(sepolia.reader.head()!.number, 6)
  const named = openL2Database(temporaryDirectory(t))
  t.after(() => named.close())
  await assert.rejects(
    named.importFile(feeder('sepolia-6-0.12.3'), { network: 'mainnet' }),
    /refused: network: expected SN_MAIN, got SN_SEPOLIA$/,
  )
})

test('a fuller recording of a block replaces it, in any order', { skip }, async (t) => {
  const names = ['sepolia-3100000-0.14.1', 'sepolia-3100000-0.14.1-txs', 'sepolia-3100000-0.14.1-receipts']
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]
  const rows = []
  for (const order of orders) {
    const database = openL2Database(temporaryDirectory(t))
    let replaced = 0
    for (const i of order)
      replaced += (await database.importFile(join(folder!, `rpc/${names[i]}.json`))).outcomes.replaced
    // How often: each time a recording comes that is longer than all before it.
    assert.equal(replaced, order.filter((i, at) => at > 0 && i > Math.max(...order.slice(0, at))).length)
    const { seen_at: _, ...row } = database.db.prepare('SELECT * FROM l2_blocks').get() as { [name: string]: unknown }
    const hashes = database.db.prepare('SELECT * FROM l2_block_txs').all()
    rows.push({ row, hashes, chainId: database.reader.chainId() })
    database.close()
  }
  for (const row of rows) assert.deepEqual(row, rows[0])
  assert.equal(rows[0].row.verified, 1)
  assert.match(inflateSync(rows[0].row.raw as Uint8Array).toString(), /"receipt"/)
  assert.equal(rows[0].chainId, 0x534e5f5345504f4c4941n)
})

const RUNS: Readonly<Record<string, string[]>> = {
  'mainnet 0-1-2': ['feeder/mainnet-0-nover.json', 'feeder/mainnet-1-nover-2.json', 'feeder/mainnet-2-nover-su.json'],
  'mainnet 2-1-0': ['feeder/mainnet-2-nover-su.json', 'feeder/mainnet-1-nover.json', 'feeder/mainnet-0-nover-2.json'],
  'mainnet 0 to 9 and then 0-1-2 again': [
    'rpc/mainnet-0-9-derived.ndjson',
    'feeder/mainnet-0-nover.json',
    'feeder/mainnet-1-nover.json',
    'feeder/mainnet-2-nover-su.json',
  ],
  'sepolia 0-1-2': [
    'feeder/sepolia-0-0.12.3-su.json',
    'feeder/sepolia-1-0.12.3.json',
    'feeder/sepolia-2-0.12.3-su.json',
  ],
  'sepolia 6-7': ['feeder/sepolia-6-0.12.3.json', 'feeder/sepolia-7-0.12.3.json'],
}

for (const [name, files] of Object.entries(RUNS)) {
  test(`the linked run ${name} goes into one database`, { skip }, async (t) => {
    const database = openL2Database(temporaryDirectory(t))
    t.after(() => database.close())
    for (const file of files) await database.importFile(join(folder!, file))
    const numbers = new Set(files.flatMap((file) => readAll(join(folder!, file)).map(numberOf)))
    for (const number of numbers) {
      const block = database.reader.blockByNumber(number)
      assert.ok(block, `block ${number}`)
      const parent = database.reader.blockByNumber(number - 1)
      if (parent) assert.equal(block.parentHash, parent.hash)
      const raised = name.includes('again') && number > 2
      assert.equal(block.status, raised ? 'ACCEPTED_ON_L2' : 'ACCEPTED_ON_L1')
    }
  })
}

test('a block recorded again after layer 1 accepted it is promoted', { skip }, async (t) => {
  for (const name of ['goerli-183471-nover', 'goerli-39232-nover']) {
    const database = openL2Database(temporaryDirectory(t))
    await database.importFile(join(folder!, `feeder/${name}-l2.json`))
    assert.equal(database.reader.blockByNumber(database.reader.head()!.number)!.status, 'ACCEPTED_ON_L2')
    const { outcomes } = await database.importFile(join(folder!, `feeder/${name}.json`))
    // One of the two recordings also has more data.
    assert.equal(outcomes.promoted + outcomes.replaced, 1)
    assert.equal(database.reader.blockByNumber(database.reader.head()!.number)!.status, 'ACCEPTED_ON_L1')
    database.close()
  }
})

test('a block of another network is refused once the chain id is known', { skip }, async (t) => {
  const database = openL2Database(temporaryDirectory(t))
  t.after(() => database.close())
  await database.importFile(join(folder!, 'feeder/mainnet-770-nover.json'))
  await assert.rejects(database.importFile(join(folder!, 'feeder/goerli-1716-nover.json')), /network: expected SN_MAIN/)
})

/** Members of a recording that are served otherwise, by file: why. */
const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  // Its header says 2 transactions and events, its lists have others: the lists count.
  'pathfinder-fixture-0.10.0-latest.json': ['event_count', 'transaction_count'],
  'pathfinder-fixture-0.10.0-latest_with_tx_hashes.json': ['transaction_count'],
  // Its publisher put zeros in the place of all commitments and counts; those are not taken.
  'sepolia-1833335-0.14.0-receipts.json': [
    'transaction_commitment',
    'event_commitment',
    'receipt_commitment',
    'state_diff_commitment',
    'transaction_count',
    'event_count',
    'state_diff_length',
  ],
}

for (const recording of recordings.filter((candidate) => isRpc(candidate))) {
  test(`rpc/${recording.file} is served as it was recorded`, async (t) => {
    const database = openL2Database(temporaryDirectory(t))
    t.after(() => database.close())
    await database.importFile(recording.path, { network: networkOf(recording), verify: 'off' })
    for (const recorded of readAll(recording.path)) {
      const { starknet, zk } = serve(database.reader, hashOf(recorded) as string | undefined)
      const different = compareMembers(withHashesOnly(recorded), { ...zk, ...starknet })
      assert.deepEqual(different.toSorted(), (DIFFERENT[recording.file] ?? []).toSorted())
      checkZk(zk, starknet)
    }
  })
}

test('a feeder recording is served as RPC nodes served the same block', { skip }, async (t) => {
  let compared = 0
  for (const rpc of recordings.filter((candidate) => isRpc(candidate))) {
    const blocks = new Map(readAll(rpc.path).flatMap((block) => (hashOf(block) ? [[hashOf(block), block]] : [])))
    for (const feeder of recordings.filter((candidate) => !isRpc(candidate) && candidate.verify.startsWith('MATCH'))) {
      const [own] = readAll(feeder.path)
      const recorded = blocks.get(`0x${BigInt(hashOf(own) as string).toString(16)}`)
      if (recorded === undefined) continue
      const database = openL2Database(temporaryDirectory(t))
      await database.importFile(feeder.path)
      const different = compareMembers(
        withHashesOnly(recorded),
        serve(database.reader, hashOf(recorded) as string).starknet,
      )
      assert.deepEqual(
        different.filter((name) => !isExplained(name, own, rpc)),
        [],
        `${feeder.file} and ${rpc.file}`,
      )
      database.close()
      compared++
    }
  }
  assert.ok(compared >= 10, `${compared} pairs`)
})

/** Differences between a feeder recording and an RPC recording of its block that neither is wrong in. */
function isExplained(name: string, feeder: Json, rpc: Recording): boolean {
  const isDerived = rpc.file === 'mainnet-0-9-derived.ndjson'
  // Derived from a database that did not know layer 1.
  if (name === 'status') return isDerived
  // Old gateways named no such prices; the database they were derived from holds what newer ones say, 0x1.
  if (name === 'l2_gas_price' || name === 'l1_data_gas_price') return isDerived && feeder[name] === undefined
  return false
}

function serve(reader: L2Reader, hash: string | undefined): { starknet: Json; zk: Json } {
  if (hash === undefined) {
    const pending = reader.pending()!
    return { starknet: plain(formatStarknetPending(pending)), zk: plain(formatZkPending(pending)) }
  }
  const block = reader.blockByHash(BigInt(hash))!
  return { starknet: plain(formatStarknetBlock(reader, block)), zk: plain(formatZkBlock(reader, block)) }
}

function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

/** Names of the members that differ. What is served may have more members, never fewer. */
function compareMembers(recorded: Json, served: Json): string[] {
  return Object.keys(recorded).filter((name) => {
    try {
      assert.deepEqual(served[name], recorded[name])
      return false
    } catch {
      return true
    }
  })
}

const ZK_MEMBERS = [
  'status',
  'block_hash',
  'parent_hash',
  'block_number',
  'new_root',
  'timestamp',
  'sequencer_address',
  'l1_gas_price',
  'zk_version',
  'transactions',
]
const PENDING_LACKS = ['block_hash', 'block_number', 'new_root']

function checkZk(zk: Json, starknet: Json): void {
  const isPending = zk.status === 'PENDING'
  assert.deepEqual(Object.keys(zk), isPending ? ZK_MEMBERS.filter((name) => !PENDING_LACKS.includes(name)) : ZK_MEMBERS)
  assert.equal(zk.zk_version, starknet.starknet_version)
  assert.deepEqual(zk.transactions, starknet.transactions)
  assert.deepEqual(Object.keys(zk.l1_gas_price as Json).toSorted(), ['price_in_fri', 'price_in_wei'])
}

function readAll(path: string): Json[] {
  const text = readFileSync(path, 'utf8')
  const texts = path.endsWith('.ndjson') ? text.trim().split('\n') : [text]
  return texts.map((line) => {
    const value = JSON.parse(line) as Json
    return (value.result ?? value.block ?? value) as Json
  })
}

const hashOf = (block: Json) => block.block_hash
const numberOf = (block: Json) => block.block_number as number

/** The recording as getBlockWithTxHashes gives it. */
function withHashesOnly(block: Json): Json {
  const transactions = (block.transactions as (string | Json)[]).map((entry) => {
    if (typeof entry === 'string') return entry
    const { transaction = entry, receipt } = entry as { transaction?: Json; receipt?: Json }
    return transaction.transaction_hash ?? receipt?.transaction_hash
  })
  return { ...block, transactions }
}
