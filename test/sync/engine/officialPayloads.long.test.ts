import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { DecodeError } from '../../../src/chain/eth/rlp.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { EngineChain } from '../../../src/sync/engine/engineChain.js'
import { callEngine } from '../../../src/sync/engine/engineMethods.js'
import { EngineRefusal } from '../../../src/sync/engine/errors.js'
import {
  type BlockchainTest,
  genesisOf,
  readBlockchainTests,
  type TestBlock,
} from '../../support/chains/blockchainTest.js'
import { forkChoiceOf, hasNoRequests, payloadOf } from '../../support/engine/payloads.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

const EVERY = THOROUGH ? 1 : 12
const ZERO = `0x${'00'.repeat(32)}`

type OfficialBlock = TestBlock & { requests?: string[] }

/** Opens a chain on the genesis of an official test; `call` answers methods of the Engine API. It ends with the test.
 *  */
async function openEngineChain(t: TestContext, official: Parameters<typeof genesisOf>[0]) {
  const db = openForWriting(temporaryDirectory(t))
  const chain = await openWritableChain(db, { genesis: genesisOf(official) }, 'execute')
  chain.head.finalize({ safe: 0, finalized: 0 })
  const engine = new EngineChain(chain, { log: silentLogger, onGap: () => assert.fail('a gap') })
  t.after(() => {
    engine.release()
    db.close()
  })
  const context = { chain: engine, reader: chain.reader, version: '' }
  return { chain, call: (method: string, params: readonly unknown[]) => callEngine(context, method, params) }
}

/** Sends the blocks of a test as payloads. Returns how many were valid, how many invalid, and how many no payload can
 *  express: those that cannot be decoded, and those with work, uncles or requests that are not listed. */
async function sendBlocks(t: TestContext, blockchainTest: BlockchainTest) {
  const { chain, call } = await openEngineChain(t, blockchainTest)
  const counts = { valid: 0, invalid: 0, inexpressible: 0 }
  for (const official of blockchainTest.blocks as OfficialBlock[]) {
    const { blockAccessListRLP: list, requests, expectException } = official
    const block = decodeOrUndefined(official)
    const isPayload = block && isExpressible(block, requests)
    if (!isPayload) {
      counts.inexpressible++
      if (expectException === undefined) return counts // the blocks after it have no parent
      continue
    }
    const payload = payloadOf(block, list === undefined ? undefined : parseHex(list), requests)
    const answer = await call(payload.method, payload.params).catch((error: unknown) => {
      if (error instanceof EngineRefusal) return { status: error.reason, latestValidHash: null }
      throw error
    })
    const { status, latestValidHash } = answer as { status: string; latestValidHash: string | null }
    if (expectException !== undefined) {
      // A parent that is not known may come yet.
      const isOrphan = expectException.includes('UNKNOWN_PARENT')
      assert.match(status, isOrphan ? /^SYNCING$/ : /^(INVALID|unsupported fork|invalid params)$/, expectException)
      counts.invalid++
      continue
    }
    assert.deepEqual([status, latestValidHash], ['VALID', payload.hash])
    const state = { headBlockHash: payload.hash, safeBlockHash: ZERO, finalizedBlockHash: ZERO }
    const chosen = (await call(forkChoiceOf(payload), [state, null])) as { payloadStatus: { status: string } }
    assert.equal(chosen.payloadStatus.status, 'VALID')
    counts.valid++
  }
  assert.equal(formatData(chain.head.newest!.hash), blockchainTest.lastblockhash)
  return counts
}

function decodeOrUndefined({ rlp }: TestBlock): Block | undefined {
  try {
    return decodeBlock(parseHex(rlp))
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

function isExpressible(block: Block, requests: readonly string[] | undefined): boolean {
  const { difficulty, baseFeePerGas } = block.header
  const isStaked = difficulty === 0n && block.uncles.length === 0 && baseFeePerGas !== undefined
  return isStaked && (requests !== undefined || hasNoRequests(block))
}

const FOLDERS = [
  { folder: 'blockchain-tests', every: THOROUGH ? 1 : 4, least: { valid: 60, invalid: 40 } },
  { folder: 'amsterdam-tests', every: EVERY, least: { valid: 30, invalid: 10 } },
]

for (const { folder, every, least } of FOLDERS) {
  test(`${folder}: each block is answered as a payload with what it is`, { skip: SKIP_SHARED }, async (t) => {
    const sum = { valid: 0, invalid: 0, inexpressible: 0 }
    let index = 0
    for (const { name, test: blockchainTest } of readBlockchainTests(sharedPath(folder)!)) {
      const isInvalid = blockchainTest.blocks.some((block) => block.expectException !== undefined)
      if (!isInvalid && index++ % every !== 0) continue
      await t.test(name, async (child) => {
        const counts = await sendBlocks(child, blockchainTest)
        for (const key of ['valid', 'invalid', 'inexpressible'] as const) sum[key] += counts[key]
      })
    }
    t.diagnostic(JSON.stringify(sum))
    assert.ok(sum.valid >= least.valid && sum.invalid >= least.invalid, JSON.stringify(sum))
  })
}

/* The public engine fixtures of execution-specs: a folder blockchain_tests_engine of a release, for example
 * benchmark/blockchain_tests_engine of the repository erigontech/eest-fixtures. */

const FIXTURES = process.env.CAIRN_ENGINE_FIXTURES
const SKIP_FIXTURES = FIXTURES !== undefined && existsSync(FIXTURES) ? false : 'CAIRN_ENGINE_FIXTURES names no folder'

interface EngineFixture extends Omit<BlockchainTest, 'blocks'> {
  engineNewPayloads: {
    params: unknown[]
    newPayloadVersion: string
    forkchoiceUpdatedVersion: string
    validationError?: string
    errorCode?: string
  }[]
}

test('public engine fixtures: each payload is answered with what it is', { skip: SKIP_FIXTURES }, async (t) => {
  const sum = { fixtures: 0, valid: 0, invalid: 0, refused: 0 }
  for (const { name, test: fixture } of readBlockchainTests(FIXTURES!)) {
    await t.test(name, async (child) => {
      sum.fixtures++
      const { engineNewPayloads, lastblockhash } = fixture as unknown as EngineFixture
      const { chain, call } = await openEngineChain(child, fixture)
      for (const { params, validationError, errorCode, ...versions } of engineNewPayloads) {
        const sending = call(`engine_newPayloadV${versions.newPayloadVersion}`, params)
        if (errorCode !== undefined) {
          await assert.rejects(sending, EngineRefusal)
          sum.refused++
          continue
        }
        const { status } = (await sending) as { status: string }
        assert.equal(status, validationError === undefined ? 'VALID' : 'INVALID', validationError)
        if (validationError !== undefined) {
          sum.invalid++
          continue
        }
        const { blockHash: headBlockHash } = params[0] as { blockHash: string }
        const state = { headBlockHash, safeBlockHash: ZERO, finalizedBlockHash: ZERO }
        const chosen = await call(`engine_forkchoiceUpdatedV${versions.forkchoiceUpdatedVersion}`, [state, null])
        assert.equal((chosen as { payloadStatus: { status: string } }).payloadStatus.status, 'VALID')
        sum.valid++
      }
      assert.equal(formatData(chain.head.newest!.hash), lastblockhash)
    })
  }
  t.diagnostic(JSON.stringify(sum))
  assert.ok(sum.valid > 0)
})
