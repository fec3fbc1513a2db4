import assert from 'node:assert/strict'
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

/** Sends the blocks of a test as payloads. Returns how many were valid, how many invalid, and how many no payload can
 *  express: those that cannot be decoded, and those with work, uncles or requests that are not listed. */
async function sendBlocks(t: TestContext, blockchainTest: BlockchainTest) {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const chain = await openWritableChain(db, { genesis: genesisOf(blockchainTest) }, 'execute')
  chain.head.finalize({ safe: 0, finalized: 0 })
  const engine = new EngineChain(chain, { log: silentLogger, onGap: () => assert.fail('a gap') })
  t.after(() => engine.release())
  const context = { chain: engine, reader: chain.reader, version: '' }
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
    const call = (method: string, params: readonly unknown[]) => callEngine(context, method, params)
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
