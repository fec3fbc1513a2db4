import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DecodedErrorJson } from '../../../src/decoding/formatDecoded.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { createQueryRunner } from '../../../src/sql/queryRunner.js'
import { createAddedAbiTable } from '../../../src/store/addedAbis.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { runCairnOk } from '../../support/cairn.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { callMethod } from '../../support/compare/traces.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Block 21 of the bundled chain calls a contract that fails in every way: with a text, a panic, an error of its own,
 * nothing, and an invalid opcode. */

interface Failure {
  error: string | null
  data: string | null
  decoded: DecodedErrorJson | null
  reason: string | null
}

const datadir = temporaryDirectory({ after })
let opened: OpenContext
let hashes: string[]
let caller: string
before(async () => {
  await importFixture(datadir)
  opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const block = opened.context.chain.blockByNumber(21)!
  const transactions = opened.context.chain.transactions(block)
  hashes = transactions.map(({ hash }) => formatData(hash))
  caller = formatData(transactions[2].from)
  const db = openForWriting(datadir)
  // Bound to another contract than the one that fails: tried last, and found.
  const inputs = [
    { name: 'who', type: 'address' },
    { name: '', type: 'uint256' },
  ]
  const json = JSON.stringify([{ type: 'error', name: 'NotAllowed', inputs }])
  createAddedAbiTable(db).add({ name: 'rules', address: parseHex(`0x${'77'.repeat(20)}`), json })
  db.close()
})
after(() => opened.close())

const failureOf = async (hash: string) => {
  const decoded = await callMethod<{ failure: Failure | null }>(opened.context, 'cairn_getDecodedTransaction', [hash])
  return decoded.failure
}

/** Lower case: a reason has addresses with checksums. */
const reasonOf = (failure: Failure | null) => failure?.decoded?.reason.toLowerCase()

test('a failed transaction says why: a text, a panic, an error of an added ABI, or nothing', async () => {
  const failures = await Promise.all(hashes.map(failureOf))
  assert.deepEqual(failures.map(reasonOf), [
    'not allowed',
    'arithmetic underflow or overflow',
    `notallowed(who: ${caller}, 42)`,
    undefined,
    undefined,
  ])
  assert.deepEqual(
    failures.map((failure) => failure?.error),
    [...Array(4).fill('execution reverted'), 'invalid opcode: INVALID'],
  )
  assert.deepEqual(
    failures.map((failure) => failure?.decoded?.signature),
    ['Error(string)', 'Panic(uint256)', 'NotAllowed(address,uint256)', undefined, undefined],
  )
  assert.deepEqual(
    failures.map((failure) => failure?.reason?.toLowerCase()),
    [
      'not allowed',
      'arithmetic underflow or overflow',
      `notallowed(who: ${caller}, 42)`,
      'execution reverted',
      'invalid opcode: invalid',
    ],
  )
  assert.deepEqual([failures[3]?.data, failures[4]?.data], ['0x', '0x'])
  const [succeeded] = opened.context.chain.transactions(opened.context.chain.blockByNumber(61)!)
  assert.equal(await failureOf(formatData(succeeded.hash)), null)
})

test('frames of calls have the decoded error beside what geth says', async () => {
  const options = { tracer: 'callTracer' }
  for (const hash of hashes) {
    const traced = await callMethod<object>(opened.context, 'debug_traceTransaction', [hash, options])
    const {
      decodedError,
      function: input,
      ...frame
    } = await callMethod<{
      decodedError: DecodedErrorJson | null
      function: unknown
    }>(opened.context, 'cairn_getDecodedCalls', [hash])
    assert.deepEqual(frame, traced)
    assert.equal(input, null)
    assert.deepEqual(decodedError, (await failureOf(hash))?.decoded ?? null)
  }
})

test('SQL has the reason of a failed transaction', async (t) => {
  const runner = createQueryRunner({ datadir, memoryBytes: 600 * 2 ** 20 })
  t.after(runner.close)
  const read = async (sql: string) => {
    const rows: unknown[][] = []
    for await (const { values } of runner.run({ sql, format: 'values' })) rows.push(...values.map((row) => [...row]))
    return rows.flat()
  }
  const reasons = await read(
    `SELECT cairn_revert_reason(transaction_hash) FROM v_receipts WHERE block_number = 21 ORDER BY transaction_index`,
  )
  assert.deepEqual(reasons, [
    'not allowed',
    'arithmetic underflow or overflow',
    `NotAllowed(who: ${caller}, 42)`,
    'execution reverted',
    'invalid opcode: INVALID',
  ])
  const others = await read(
    `SELECT cairn_revert_reason(hash) FROM v_transactions WHERE block_number = 61 AND transaction_index = 0
     UNION ALL SELECT cairn_revert_reason('0x12') UNION ALL SELECT cairn_revert_reason(x'${'00'.repeat(32)}')`,
  )
  assert.deepEqual(others, [null, null, null])
})

test('abi add and list count errors', async () => {
  assert.match(await runCairnOk(['abi', 'list', '--datadir', datadir]), /ERRORS[^\n]*\n.* rules .* 0 +0 +1 /)
})
