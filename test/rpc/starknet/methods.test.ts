import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatFelt } from '../../../src/chain/starknet/felt.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { STARKNET_METHODS } from '../../../src/rpc/starknet/methods.js'
import { openL2Database } from '../../support/chains/l2.js'
import { makeBlock, makeChain, makePending, toRpcJson, UNCHECKED } from '../../support/chains/l2Blocks.js'
import { temporaryDirectory } from '../../support/temporary.js'

type Answer = { result: unknown } | { error: { code: number; message: string } }

function open(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const database = openL2Database(datadir)
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => {
    close()
    database.close()
  })
  const ask = async (name: string, params: unknown = []): Promise<Answer> => {
    const method = STARKNET_METHODS.find((candidate) => candidate.name === name)!
    const outcome = await runMethod(method, params, context)
    return 'error' in outcome ? outcome : { result: JSON.parse(Buffer.from(outcome.result).toString()) }
  }
  return { ...database, ask }
}

/** Blocks 1 to 3, the first two accepted on layer 1, one that was given up, and an unconfirmed one. */
function fill({ writer }: ReturnType<typeof open>) {
  const [a, b, c] = makeChain(1, 3)
  const rejected = makeBlock({ number: 3, status: 'REJECTED', newRoot: 5n })
  writer.importBlock(a, UNCHECKED)
  writer.importBlock({ ...b, status: 'ACCEPTED_ON_L1' }, UNCHECKED)
  writer.importBlock(c, UNCHECKED)
  writer.importBlock(rejected, UNCHECKED)
  writer.importBlock(makePending({ parentHash: c.hash, version: '0.14.1', sequencer: 3n }), UNCHECKED)
  return { a, b, c, rejected }
}

const zkObject = (block: ReturnType<typeof makeBlock>, status: string) => ({
  status,
  block_hash: formatFelt(block.hash!),
  parent_hash: formatFelt(block.parentHash!),
  block_number: block.number,
  new_root: formatFelt(block.newRoot!),
  timestamp: block.timestamp,
  sequencer_address: '0xabc',
  l1_gas_price: { price_in_fri: '0x2', price_in_wei: '0x1' },
  zk_version: '0.14.0',
  transactions: block.transactionHashes.map(formatFelt),
})

test('zk_getBlockWithTxHashes answers the exact object, by hash, number and tag, named or positional', async (t) => {
  const database = open(t)
  const { a, c } = fill(database)
  const padded = `0x${c.hash!.toString(16).toUpperCase().padStart(64, '0')}`
  const ids = [
    'latest',
    { block_tag: 'latest' },
    { block_number: 3 },
    { block_hash: formatFelt(c.hash!) },
    { block_hash: padded },
  ]
  for (const block_id of ids) {
    for (const params of [{ block_id }, [block_id]]) {
      assert.deepEqual(await database.ask('zk_getBlockWithTxHashes', params), { result: zkObject(c, 'ACCEPTED_ON_L2') })
    }
  }
  const below = await database.ask('zk_getBlockWithTxHashes', { block_id: { block_number: 1 } })
  assert.deepEqual(below, { result: zkObject(a, 'ACCEPTED_ON_L1') })
})

test('zk_: the pending block has no hash, number and root', async (t) => {
  const database = open(t)
  const { c } = fill(database)
  const result = {
    status: 'PENDING',
    parent_hash: formatFelt(c.hash!),
    timestamp: 1_700_000_999,
    sequencer_address: '0x3',
    l1_gas_price: { price_in_fri: '0x0', price_in_wei: '0x7' },
    zk_version: '0.14.1',
    transactions: ['0x47', '0x48'],
  }
  for (const block_id of ['pending', { block_tag: 'pending' }]) {
    assert.deepEqual(await database.ask('zk_getBlockWithTxHashes', { block_id }), { result })
  }
})

test('zk_: a block that was given up is found by its hash', async (t) => {
  const database = open(t)
  const { rejected } = fill(database)
  const block_id = { block_hash: formatFelt(rejected.hash!) }
  assert.deepEqual(await database.ask('zk_getBlockWithTxHashes', { block_id }), {
    result: zkObject(rejected, 'REJECTED'),
  })
})

test('nothing found is null for zk_ and an error of the specification for starknet_', async (t) => {
  const { ask } = open(t)
  const data = "the database holds no layer-2 blocks; import some with 'cairn import PATH...'"
  for (const block_id of ['latest', 'pending', { block_number: 9 }, { block_hash: '0x9' }]) {
    assert.deepEqual(await ask('zk_getBlockWithTxHashes', { block_id }), { result: null })
    for (const name of ['starknet_getBlockWithTxHashes', 'starknet_getBlockTransactionCount']) {
      assert.deepEqual(await ask(name, { block_id }), { error: { code: 24, message: 'Block not found', data } })
    }
  }
  for (const block_id of ['l1_accepted', 'pre_confirmed']) {
    const answer = await ask('starknet_getBlockWithTxHashes', { block_id })
    assert.deepEqual(answer, { error: { code: 24, message: 'Block not found', data } })
  }
  for (const name of ['starknet_blockNumber', 'starknet_blockHashAndNumber']) {
    assert.deepEqual(await ask(name), { error: { code: 32, message: 'There are no blocks', data } })
  }
})

test('starknet_getBlockWithTxHashes answers the object of the specification', async (t) => {
  const database = open(t)
  const { b, c, rejected } = fill(database)
  const ask = (block_id: unknown) => database.ask('starknet_getBlockWithTxHashes', { block_id })
  assert.deepEqual(await ask('latest'), { result: toRpcJson(c) })
  assert.deepEqual(await ask('l1_accepted'), { result: toRpcJson({ ...b, status: 'ACCEPTED_ON_L1' }) })
  const unknown = { error: { code: 24, message: 'Block not found' } }
  assert.deepEqual(await ask({ block_hash: formatFelt(rejected.hash!) }), unknown, 'it has no status for such')
  assert.deepEqual(
    await database.ask('starknet_getBlockTransactionCount', [{ block_hash: formatFelt(rejected.hash!) }]),
    unknown,
  )
  const zero = { price_in_fri: '0x0', price_in_wei: '0x0' }
  const preConfirmed = {
    block_number: 4,
    timestamp: 1_700_000_999,
    sequencer_address: '0x3',
    l1_gas_price: { price_in_fri: '0x0', price_in_wei: '0x7' },
    l1_data_gas_price: zero,
    l2_gas_price: zero,
    l1_da_mode: 'CALLDATA',
    starknet_version: '0.14.1',
    transactions: ['0x47', '0x48'],
  }
  for (const block_id of ['pre_confirmed', 'pending']) assert.deepEqual(await ask(block_id), { result: preConfirmed })
})

test('what was not recorded is served as zero, empty or CALLDATA, and unknown commitments not at all', async (t) => {
  const { ask, writer } = open(t)
  const bare = makeBlock({ number: 0, hash: 5n })
  const absent = {
    sequencer: undefined,
    version: '',
    prices: { l1Wei: 9n },
    daMode: undefined,
    commitments: {},
    counts: {},
  }
  writer.importBlock({ ...bare, ...absent }, UNCHECKED)
  const zero = { price_in_fri: '0x0', price_in_wei: '0x0' }
  assert.deepEqual(await ask('starknet_getBlockWithTxHashes', ['latest']), {
    result: {
      status: 'ACCEPTED_ON_L2',
      block_hash: '0x5',
      parent_hash: '0x0',
      block_number: 0,
      new_root: '0x3e8',
      timestamp: 1_700_000_000,
      sequencer_address: '0x0',
      l1_gas_price: { price_in_fri: '0x0', price_in_wei: '0x9' },
      l1_data_gas_price: zero,
      l2_gas_price: zero,
      l1_da_mode: 'CALLDATA',
      starknet_version: '',
      transaction_count: 2,
      transactions: ['0x1', '0x2'],
    },
  })
})

test('the short reads', async (t) => {
  const database = open(t)
  const { c } = fill(database)
  const { ask } = database
  assert.deepEqual(await ask('starknet_blockNumber'), { result: 3 })
  const head = { block_hash: formatFelt(c.hash!), block_number: 3 }
  assert.deepEqual(await ask('starknet_blockHashAndNumber'), { result: head })
  assert.deepEqual(await ask('starknet_getBlockTransactionCount', [{ block_number: 1 }]), { result: 2 })
  assert.deepEqual(await ask('starknet_getBlockTransactionCount', { block_id: 'pre_confirmed' }), { result: 2 })
  assert.deepEqual(await ask('starknet_syncing'), { result: false })
  assert.deepEqual(await ask('starknet_specVersion'), { result: '0.9.0' })
  assert.deepEqual(await ask('starknet_chainId'), { result: '0x0' }, 'no network was set')
  database.writer.setNetwork('mainnet')
  assert.deepEqual(await ask('starknet_chainId'), { result: '0x534e5f4d41494e' })
})

test('a bad block_id is -32602 with its place and value', async (t) => {
  const { ask } = open(t)
  const cases: [unknown, RegExp][] = [
    [undefined, /^missing value for required argument 0$/],
    [5, /block_id: expected an object, got 5$/],
    ['earliest', /block_id: expected one of latest, pending, got "earliest"$/],
    [{}, /block_id: expected exactly one of block_hash, block_number, block_tag, got none of them$/],
    [{ block_hash: '0x1', block_number: 1 }, /got block_hash and block_number$/],
    [{ block_number: 1, block_tag: 'latest' }, /got block_number and block_tag$/],
    [{ block_number: '0x1' }, /block_id\.block_number: expected a JSON integer .*, got "0x1"$/],
    [{ block_number: -1 }, /block_id\.block_number: .*, got -1$/],
    [{ block_number: 1.5 }, /block_id\.block_number: .*, got 1\.5$/],
    [{ block_hash: '1' }, /block_id\.block_hash: expected a felt .*, got "1"$/],
    [{ block_hash: `0x${'1'.padStart(65, '0')}` }, /block_id\.block_hash: /],
    [{ block_hash: `0x${'f'.repeat(64)}` }, /block_id\.block_hash: /],
    [{ block_tag: 'newest' }, /block_id\.block_tag: expected one of latest, pending, got "newest"$/],
  ]
  for (const [block_id, message] of cases) {
    const answer = await ask('zk_getBlockWithTxHashes', { block_id })
    assert.ok('error' in answer, JSON.stringify(block_id))
    assert.equal(answer.error.code, -32602)
    assert.match(answer.error.message, message)
  }
  const tagged = await ask('starknet_getBlockWithTxHashes', { block_id: { block_tag: 'latest' } })
  assert.ok('error' in tagged && /got none of them/.test(tagged.error.message), 'the specification has no such object')
})
