import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { decodeBlock, encodeBlock } from '../../src/chain/eth/block.js'
import { bigIntToFixedBytes, bytesToBigInt } from '../../src/lib/bytes.js'
import { formatData, formatQuantity, parseHex } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createStateReads } from '../../src/store/state/stateReader.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { type ChainBuilder, createChainBuilder, createSender } from '../../tools/fixture/chainBuilder.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { sourceOf } from '../support/chains/fixture.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Timestamps of up to 64 bits, as EIP-4788's official tests have them (test_beacon_root_contract_timestamps): through
 * execution, held to the reference interpreter, and through every answer that names a time. */

const BEACON_ROOTS = '0x000f3df6d732807ef1319fb7b8bb8522d0beac02'
const BEACON_ROOTS_CODE =
  '0x3373fffffffffffffffffffffffffffffffffffffffe14604d57602036146024575f5ffd5b5f35801560495762001fff810690815414603c' +
  '575f5ffd5b62001fff01545f5260205ff35b5f5ffd5b62001fff42064281555f359062001fff015500'
const RING = 8191n // EIP-4788, HISTORY_BUFFER_LENGTH

const PROBE = `0x${'ee'.repeat(20)}`
/** Stores TIMESTAMP at NUMBER, logs it, asks for the beacon root of this time, stores that at NUMBER + 256; returns
 *  both. */
const PROBE_CODE = `0x424355425f52425f5fa16020602060205f73${BEACON_ROOTS.slice(2)}5afa5060205143610100015560405ff3`

const TIMES = [
  1000n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 2n,
  2n ** 64n - 1n,
]
const CANCUN_TIME = 2n ** 53n + 1n
const sender = () => createSender('wide timestamps')

const genesis = {
  config: {
    ...{ chainId: 1, homesteadBlock: 0, eip150Block: 0, eip155Block: 0, eip158Block: 0, byzantiumBlock: 0 },
    ...{ constantinopleBlock: 0, petersburgBlock: 0, istanbulBlock: 0, berlinBlock: 0, londonBlock: 0 },
    ...{ terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: String(CANCUN_TIME) },
  },
  gasLimit: '0x1c9c380',
  alloc: {
    [formatData(sender().address)]: { balance: '0xde0b6b3a7640000' },
    [BEACON_ROOTS]: { balance: '0x0', nonce: '0x1', code: BEACON_ROOTS_CODE },
    [PROBE]: { balance: '0x0', code: PROBE_CODE },
  },
}

function openDatabase(t: TestContext): Database {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  return db
}

/** A block at each of the times, with a call of the probe. */
async function build(t: TestContext): Promise<ChainBuilder> {
  const builder = await createChainBuilder(openDatabase(t), genesis)
  const from = sender()
  let last = 0n
  for (const time of TIMES) {
    await builder.add({ afterSeconds: time - last, transactions: [{ sender: from, to: parseHex(PROBE) }] })
    last = time
  }
  return builder
}

for (const evm of ['cairn', 'reference'] as const) {
  test(`blocks up to the last second of 64 bits are executed alike by ${evm}, forks and ring buffer by their time`, async (t) => {
    const { blocks } = await build(t)
    const db = openDatabase(t)
    const chain = await openWritableChain(db, { genesis }, 'execute', { evm })
    // Through the codec; what it computes must have the header's roots.
    await importBlocks(chain, sourceOf(blocks.map((block) => decodeBlock(encodeBlock(block)))), {
      progress: noProgress,
    })
    const state = createStateReads(db)
    const slot = (address: string, key: bigint) =>
      bytesToBigInt(state.storage(parseHex(address), bigIntToFixedBytes(key, 32), TIMES.length))
    for (const [i, time] of TIMES.entries()) {
      const block = chain.reader.blockByNumber(i + 1)!
      assert.equal(block.header.timestamp, time)
      assert.equal(slot(PROBE, BigInt(i + 1)), time)
      const root = bytesToBigInt(block.header.parentBeaconBlockRoot ?? new Uint8Array(0))
      assert.equal(slot(PROBE, BigInt(i + 1) + 256n), root)
      assert.equal(chain.reader.rulesOf(block).fork, time >= CANCUN_TIME ? 'cancun' : 'shanghai')
      if (time < CANCUN_TIME) continue
      assert.equal(slot(BEACON_ROOTS, time % RING), time)
      assert.equal(slot(BEACON_ROOTS, (time % RING) + RING), root)
    }
  })
}

test('every answer and view that names a time has all of its digits', async (t) => {
  const builder = await build(t)
  const folder = temporaryDirectory(t)
  writeFileSync(join(folder, 'genesis.json'), JSON.stringify(genesis))
  writeFileSync(join(folder, 'chain.rlp'), builder.encode())
  const datadir = join(folder, 'data')
  const files = ['--genesis', join(folder, 'genesis.json'), join(folder, 'chain.rlp')]
  await runCairnOk(['import', '--datadir', datadir, ...files])
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  const times = TIMES.map(formatQuantity)
  type Timed = { blockTimestamp: string; timestamp: string; hash: string; logs: Timed[] }
  const logs = await resultOf<Timed[]>(url, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
  assert.deepEqual(
    logs.map((log) => log.blockTimestamp),
    times,
  )
  for (const [i, time] of TIMES.entries()) {
    const number = formatQuantity(i + 1)
    const topic = `0x${time.toString(16).padStart(64, '0')}`
    const [found] = await resultOf<Timed[]>(url, 'eth_getLogs', [{ fromBlock: '0x0', topics: [topic] }])
    assert.equal(found.blockTimestamp, times[i])
    assert.equal((await resultOf<Timed>(url, 'eth_getBlockByNumber', [number, false])).timestamp, times[i])
    const place = [number, '0x0']
    const transaction = await resultOf<Timed>(url, 'eth_getTransactionByBlockNumberAndIndex', place)
    assert.equal(transaction.blockTimestamp, times[i])
    const receipt = await resultOf<Timed>(url, 'eth_getTransactionReceipt', [transaction.hash])
    assert.equal(receipt.logs[0].blockTimestamp, times[i])
    const output = await resultOf<string>(url, 'eth_call', [{ to: PROBE }, number])
    assert.equal(output.slice(0, 66), topic)
  }
  const pending = await resultOf<Timed>(url, 'eth_getBlockByNumber', ['pending', false])
  assert.equal(pending.timestamp, times.at(-1))
  await resultOf(url, 'eth_feeHistory', ['0x8', 'latest', [50]])
  const db = openForReading(datadir)
  t.after(() => void db.close())
  const stored = TIMES.map((time) => (time < 2n ** 53n ? Number(time) : time.toString()))
  for (const view of ['v_blocks WHERE number > 0', 'v_transactions', 'v_receipts', 'v_logs']) {
    assert.deepEqual(db.prepare(`SELECT timestamp FROM ${view}`).pluck().all(), stored)
  }
  assert.match(await runCairnOk(['status', '--datadir', datadir]), /18446744073709551615 s/)
  assert.match(await runCairnOk(['status', '--datadir', datadir, '--json']), /"timestamp": ?"18446744073709551615"/)
})
