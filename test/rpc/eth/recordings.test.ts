import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { measureRlp } from '../../../src/chain/eth/rlp.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { ALL_METHODS } from '../../../src/rpc/methods.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { readRecordings } from '../../support/chains/recordings.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'
import { temporaryDirectory } from '../../support/temporary.js'

const suite = sharedPath('conformance', 'execution-apis')
/** Recorded by the official suite for a server that accepts it. */
const ACCEPTED_ELSEWHERE = 'eth_sendRawTransaction'
/** Methods of the suite that are served, so that a missing folder fails. */
const RECORDED_METHODS = 39

test('answers as recorded in the official suite', { skip: SKIP_SHARED }, async (t) => {
  const datadir = await importChain(t, suite!)
  const opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => opened.close())
  const recorded = ALL_METHODS.filter(({ name }) => name !== ACCEPTED_ELSEWHERE && existsSync(`${suite}/${name}`))
  assert.ok(recorded.length >= RECORDED_METHODS, `${recorded.length} methods`)
  for (const method of recorded) {
    for (const { name, kindOnly, exchanges } of readRecordings(suite!, method.name)) {
      await t.test(name, async () => {
        for (const { request, expected } of exchanges) {
          const outcome = await runMethod(method, request.params, opened.context)
          const answer = 'error' in outcome ? outcome : { result: JSON.parse(Buffer.from(outcome.result).toString()) }
          if (expected.error) {
            assert.ok('error' in answer, JSON.stringify(answer))
            assert.equal(answer.error.code, expected.error.code)
            if (expected.error.data) assert.equal(answer.error.data, expected.error.data)
            if (expected.error.data) assert.equal(answer.error.message, expected.error.message)
          } else if (kindOnly) {
            assert.ok('result' in answer, JSON.stringify(answer))
            assert.equal(typeof answer.result, typeof expected.result)
          } else {
            assert.ok('result' in answer, JSON.stringify(answer))
            assert.deepEqual(onlyMembersOf(expected.result, answer.result), expected.result)
          }
        }
      })
    }
  }
})

async function importChain(t: TestContext, folder: string): Promise<string> {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const genesis = JSON.parse(readFileSync(`${folder}/genesis.json`, 'utf8'))
  const chain = await openWritableChain(db, { genesis }, 'execute')
  const bytes = new Uint8Array(readFileSync(`${folder}/chain.rlp`))
  async function* blocks() {
    for (let at = 0; at < bytes.length; ) {
      const { end } = measureRlp(bytes, at)!
      yield { block: decodeBlock(bytes.subarray(at, end)) }
      at = end
    }
  }
  await importBlocks(chain, { kind: 'test', path: 'chain.rlp', blocks }, { progress: noProgress })
  db.close()
  return datadir
}

/** The answer without members that the recording lacks: a newer answer may say more. */
function onlyMembersOf(expected: unknown, actual: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual)) return actual.map((item, i) => onlyMembersOf(expected[i], item))
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return actual
  const members = Object.entries(actual).filter(([name]) => name in expected)
  return Object.fromEntries(members.map(([name, value]) => [name, onlyMembersOf((expected as never)[name], value)]))
}
