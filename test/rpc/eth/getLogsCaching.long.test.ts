import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Block, Header, Log, Receipt } from '../../../src/chain/eth/types.js'
import { EMPTY_BYTES } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { createDispatcher, type RemoteRunner } from '../../../src/rpc/core/dispatch.js'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runCallMessage, runMethod } from '../../../src/rpc/core/runCall.js'
import { getLogs } from '../../../src/rpc/eth/getLogs.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { numberedBytes, seededFractions } from '../../index/logs/randomLogs.js'
import { createMeasuredCache } from '../../support/measuredCache.js'
import { signTransaction } from '../../support/signing.js'
import { temporaryDirectory } from '../../support/temporary.js'

const MAX_LOGS = 12

const transaction = signTransaction(
  { type: 0, nonce: 0n, gasPrice: 1n, gasLimit: 21_000n, to: numberedBytes(8, 20), value: 1n, input: EMPTY_BYTES },
  numberedBytes(1, 32),
)

/** A chain of a database that grows and is cut back, of blocks that all differ. */
function openChain(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const writer = createChainWriter(db)
  const blocks: Block[] = []
  let written = 0
  const append = (logs: Log[]) => {
    const number = blocks.length
    const header = makeHeader(number, blocks.at(-1)?.hash ?? numberedBytes(0, 32), written++)
    const parts = { hash: hashHeader(header), header, uncles: [] }
    // Its own hash, since no transaction may be in two blocks.
    const own = { ...transaction, hash: numberedBytes(1_000_000 + written, 32) }
    const block: Block = {
      ...parts,
      transactions: [own],
      sizeBytes: encodeBlock({ ...parts, transactions: [own] }).length,
    }
    const gas = { gasUsed: 21_000n, cumulativeGasUsed: 21_000n, effectiveGasPrice: 1n }
    const receipt: Receipt = { type: 0, status: 1, ...gas, logs, logsBloom: bloomOf(logs) }
    writer.begin()
    writer.insertBlock(block, [receipt], BigInt(number))
    writer.commit()
    blocks.push(block)
  }
  const cutBack = (count: number) => {
    blocks.length -= count
    writer.begin()
    writer.rewindTo(blocks.length - 1)
    writer.commit()
  }
  return { datadir, blocks, append, cutBack }
}

function makeHeader(number: number, parentHash: Uint8Array, salt: number): Header {
  const empty = numberedBytes(1, 32)
  return {
    parentHash,
    unclesHash: empty,
    miner: numberedBytes(salt, 20),
    stateRoot: empty,
    transactionsRoot: empty,
    receiptsRoot: empty,
    logsBloom: new Uint8Array(256),
    difficulty: 1n,
    number,
    gasLimit: 1_000_000n,
    gasUsed: 21_000n,
    timestamp: BigInt(number * 13),
    extraData: EMPTY_BYTES,
    mixHash: empty,
    nonce: numberedBytes(7, 8),
  }
}

/** A dispatcher with a cache, its calls run over a second connection a turn later, and the same without a cache. */
function openBoth(t: TestContext, datadir: string) {
  const limits = { ...DEFAULT_LIMITS, maxLogs: MAX_LOGS }
  const [main, thread] = [0, 1].map(() => {
    const opened = openContext({ datadir, limits, log: silentLogger })
    t.after(() => opened.close())
    return opened.context
  })
  const cache = createMeasuredCache({ maxBytes: 200_000 })
  const remote: RemoteRunner = {
    run: async (bound) => {
      await new Promise<void>((resolve) => setImmediate(resolve))
      return runCallMessage(methods, structuredClone(bound.toMessage()), thread)
    },
  }
  const methods = new Map([[getLogs.name, getLogs]])
  const dispatcher = createDispatcher({ methods, context: main, remote, log: silentLogger, cache })
  return {
    cache,
    ask: async (filter: object) =>
      textOf(await dispatcher.dispatch({ method: getLogs.name, params: [filter], idText: '1' })),
    askPlain: async (filter: object) => textOf(await runMethod(getLogs, [filter], thread)),
  }
}

function textOf(outcome: RpcOutcome): string {
  return 'error' in outcome ? JSON.stringify(outcome.error) : Buffer.from(outcome.result).toString()
}

test('while the chain grows and is cut back, every answer is one that a run without a cache gives', async (t) => {
  const random = seededFractions(61)
  const below = (limit: number) => Math.floor(random() * limit)
  const { datadir, blocks, append, cutBack } = openChain(t)
  const appendRandom = () =>
    append(
      Array.from({ length: below(4) }, () => ({
        address: numberedBytes(below(3), 20),
        topics: Array.from({ length: below(3) }, () => numberedBytes(below(3), 32)),
        data: numberedBytes(below(1_000), 32),
      })),
    )
  for (let i = 0; i < 8; i++) appendRandom()
  const { cache, ask, askPlain } = openBoth(t, datadir)
  const changeChain = () => {
    if (blocks.length < 24 && random() < 0.7) return appendRandom()
    const count = 1 + below(Math.min(5, blocks.length - 2))
    cutBack(count)
    for (let i = below(count + 2); i > 0; i--) appendRandom()
  }
  const bound = () => (random() < 0.3 ? 'latest' : `0x${below(blocks.length + 1).toString(16)}`)
  const randomFilter = () => ({
    ...(random() < 0.2
      ? { blockHash: formatData(blocks[below(blocks.length)].hash) }
      : { fromBlock: random() < 0.5 ? '0x0' : bound(), toBlock: bound() }),
    ...(random() < 0.5 ? {} : { address: formatData(numberedBytes(below(3), 20)) }),
    ...(random() < 0.5 ? {} : { topics: [formatData(numberedBytes(below(3), 32))] }),
  })
  let during = 0
  for (let i = 0; i < 2_500; i++) {
    if (random() < 0.05) changeChain()
    const filters = Array.from({ length: 1 + below(3) }, randomFilter)
    const asked = [...filters, ...filters.slice(0, below(2))]
    const before = await Promise.all(asked.map(askPlain))
    const answers = asked.map(ask)
    const changes = random() < 0.1
    if (changes) changeChain()
    const got = await Promise.all(answers)
    const after = await Promise.all(asked.map(askPlain))
    for (const [n, text] of got.entries()) {
      if (text !== before[n]) assert.equal(text, after[n], JSON.stringify(asked[n]))
      if (before[n] !== after[n]) during++
      else assert.equal(text, before[n])
    }
  }
  const { hits, misses, bytes, maxBytes } = cache.report()
  assert.ok(hits > 1_000 && misses > 500 && during > 50, `${hits} hits, ${misses} misses, ${during} during a change`)
  assert.ok(bytes <= maxBytes)
})

test('a refusal is remembered, a mistake in the filter is not', async (t) => {
  const { datadir, append } = openChain(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [], data: EMPTY_BYTES }
  append(Array(MAX_LOGS).fill(log))
  append([log])
  const { cache, ask } = openBoth(t, datadir)
  const counts = () => [cache.report().hits, cache.report().misses, cache.report().entries]
  const tooMany = `{"code":-32005,"message":"query returned more than ${MAX_LOGS} results","data":{"from":"0x0","to":"0x0"}}`
  assert.equal(await ask({ fromBlock: '0x0' }), tooMany)
  assert.deepEqual(counts(), [0, 1, 1])
  assert.equal(await ask({ fromBlock: 'earliest', toBlock: '0x1', address: [] }), tooMany)
  assert.deepEqual(counts(), [1, 1, 1])
  assert.match(await ask({ fromBlock: '0x1', toBlock: '0x0' }), /-32602.*invalid block range params/)
  assert.match(await ask({ fromBlock: '0x0', address: '0x12' }), /-32602.*filter\.address: expected 20-byte data/)
  assert.deepEqual(counts(), [1, 1, 1])
  append([])
  assert.equal(await ask({ fromBlock: '0x0', toBlock: '0x1' }), tooMany)
  assert.deepEqual(counts(), [2, 1, 1])
})
