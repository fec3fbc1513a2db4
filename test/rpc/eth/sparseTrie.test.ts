import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { translateError } from '../../../src/rpc/core/errors.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import type { Method } from '../../../src/rpc/core/method.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { executionWitness } from '../../../src/rpc/debug/executionWitness.js'
import { getProof } from '../../../src/rpc/eth/getProof.js'
import { simulateV1 } from '../../../src/rpc/eth/simulateV1.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createStateTrieTable } from '../../../src/store/state/stateTrieTable.js'
import { MissingTrieNode, MissingTrieNodes } from '../../../src/trie/missingNodes.js'
import { unknownStateHead } from '../../../src/trie/partialState.js'
import { ALICE } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../../support/temporary.js'

/** The fixture, of whose tries only the root of the head is known. */
async function openWithoutTries(t: TestContext) {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const db = openForWriting(datadir)
  const chain = createChainReader(db)
  const { hash, header } = chain.blockByNumber(chain.head()!)!
  const table = createStateTrieTable(db)
  db.exec('BEGIN IMMEDIATE')
  table.setHead(unknownStateHead(header.stateRoot, { number: header.number, hash: formatData(hash) }))
  db.exec('DELETE FROM trie_page_versions')
  db.exec('COMMIT')
  db.close()
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(close)
  const fail = async (method: Method, ...params: unknown[]) => {
    const outcome = await runMethod(method, params, context)
    assert.ok('error' in outcome, `${method.name} answered`)
    return outcome.error
  }
  return fail
}

test('methods that read an unknown trie name the account', async (t) => {
  const fail = await openWithoutTries(t)
  const transfer = { from: ALICE, to: ALICE, value: '0x1' }
  for (const { code, message } of [
    await fail(getProof, ALICE, [], 'latest'),
    await fail(simulateV1, { blockStateCalls: [{ calls: [transfer] }] }, 'latest'),
    await fail(executionWitness, 'latest'),
  ]) {
    assert.equal(code, -32000)
    assert.match(
      message,
      /^the trie node of 0x[0-9a-f]{40}(, slot 0x[0-9a-f]{64},)? is not known: it was never needed before, and this server follows no --upstream/,
    )
  }
})

test('a missing node that no account names is an error with its hash', () => {
  const hash = new Uint8Array(32).fill(1)
  assert.deepEqual(translateError(new MissingTrieNode(hash), 'm'), {
    code: -32000,
    message: `the state trie is not known there (sparse state): the node 0x${'01'.repeat(32)} is missing`,
  })
})

test('the error for missing nodes names at most four accounts', () => {
  const accounts = Array.from({ length: 6 }, (_, i) => ({ address: new Uint8Array(20).fill(i), slots: [] }))
  const listOf = (...bytes: string[]) => bytes.map((byte) => `0x${byte.repeat(20)}`).join(', ')
  const messageOf = (error: Error) => translateError(error, 'm')?.message
  const prefix = 'the state trie is not known there (sparse state): nodes of'
  const [after, before] = [[], []]
  assert.equal(
    messageOf(new MissingTrieNodes({ before: accounts, after })),
    `${prefix} ${listOf('00', '01', '02', '03')} and 2 more accounts are missing`,
  )
  assert.equal(
    messageOf(new MissingTrieNodes({ before, after: accounts.slice(4) })),
    `${prefix} ${listOf('04', '05')} are missing`,
  )
})
