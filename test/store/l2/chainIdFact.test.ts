import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { findChainId } from '../../../src/chain/starknet/chainIdWitness.js'
import { encodeShortString, formatFelt } from '../../../src/chain/starknet/felt.js'
import { hashChains } from '../../../src/chain/starknet/hash.js'
import { createPedersenHasher } from '../../../src/chain/starknet/pedersen.js'
import { readL2Recording } from '../../../src/chain/starknet/recording/recording.js'
import { createL2Reader } from '../../../src/store/l2/l2Reader.js'
import { createL2Writer } from '../../../src/store/l2/l2Writer.js'
import { createMetaTable, META_L2_CHAIN_ID, META_L2_NETWORK } from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { makeFullBlock } from '../../support/chains/l2Blocks.js'
import { toRpcReceiptsJson } from '../../support/chains/l2Json.js'
import { leaveAtMigration } from '../../support/chains/olderDatabase.js'
import { temporaryDirectory } from '../../support/temporary.js'

const pedersenPairs = createPedersenHasher()

/** A recording whose transaction hash commits to the chain id. */
function recordingOf(block: ReturnType<typeof makeFullBlock>, chainId: string): object {
  const [sender, fee, nonce, calldata] = [0x5en, 7n, 3n, [1n, 2n]]
  const [inner] = hashChains([calldata], pedersenPairs)
  const preimage = [encodeShortString('invoke'), 1n, sender, 0n, inner, fee, encodeShortString(chainId), nonce]
  const [hash] = hashChains([preimage], pedersenPairs)
  const transaction = {
    type: 'INVOKE',
    version: '0x1',
    transaction_hash: formatFelt(hash),
    sender_address: formatFelt(sender),
    max_fee: formatFelt(fee),
    nonce: formatFelt(nonce),
    calldata: calldata.map(formatFelt),
    signature: [],
  }
  const json = toRpcReceiptsJson(block, 10) as { transactions: { transaction: object; receipt: object }[] }
  const [first, ...others] = json.transactions
  const receipt = { ...first.receipt, transaction_hash: formatFelt(hash) }
  return { ...json, transactions: [{ transaction, receipt }, ...others] }
}

/** A database that stored the block without the chain id, as older versions did. */
function olderDatabase(t: TestContext, raw: Uint8Array, isVerified: boolean): string {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const verdict = isVerified ? ({ kind: 'match', inputs: {} } as const) : ({ kind: 'unchecked' } as const)
  createL2Writer(db).importBlock(makeFullBlock({ number: 0 }), verdict, raw)
  assert.equal(createMetaTable(db).get(META_L2_CHAIN_ID), undefined)
  db.close()
  return datadir
}

function chainIdOf(t: TestContext, datadir: string): bigint | undefined {
  const db = openForWriting(datadir)
  t.after(() => db.close())
  return createL2Reader(db).chainId()
}

const block = makeFullBlock({ number: 0 })
const proving = recordingOf(block, 'SN_SEPOLIA')

test('the chain id of the layer 2 is derived from a stored block where an older version left it out', (t) => {
  const witness = readL2Recording(proving).chainIdWitness
  assert.equal(witness && findChainId(witness, pedersenPairs), 'SN_SEPOLIA')
  const raw = deflateSync(JSON.stringify(proving))
  assert.equal(chainIdOf(t, olderDatabase(t, raw, true)), encodeShortString('SN_SEPOLIA'))
  const migrated = olderDatabase(t, raw, true)
  leaveAtMigration(migrated, 13)
  assert.equal(chainIdOf(t, migrated), encodeShortString('SN_SEPOLIA'))
})

test('the chain id of the layer 2 stays unknown where nothing proves it', (t) => {
  assert.equal(chainIdOf(t, olderDatabase(t, deflateSync(JSON.stringify(proving)), false)), undefined)
  assert.equal(chainIdOf(t, olderDatabase(t, deflateSync('{}'), true)), undefined)
  assert.equal(chainIdOf(t, olderDatabase(t, Buffer.from('damaged'), true)), undefined)
})

test('the chain id of a named layer-2 network is known', (t) => {
  const datadir = olderDatabase(t, Buffer.from('damaged'), true)
  const db = openForWriting(datadir)
  createMetaTable(db).set(META_L2_NETWORK, 'mainnet')
  db.close()
  assert.equal(chainIdOf(t, datadir), encodeShortString('SN_MAIN'))
})
