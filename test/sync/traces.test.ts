import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { auditBlocks } from '../../src/audit/blocks.js'
import { keccak256 } from '../../src/chain/crypto.js'
import { isCreation } from '../../src/chain/eth/callOpcodes.js'
import type { Fork } from '../../src/chain/eth/forks/rules.js'
import { recordCalls, type TracedCall } from '../../src/evm/tracing/callTree.js'
import { precompilesOf } from '../../src/evm/tracing/flatCalls.js'
import { loadTraceService } from '../../src/evm/tracing/traceService.js'
import { concatBytes } from '../../src/lib/bytes.js'
import { noDeadline } from '../../src/lib/deadline.js'
import { formatData } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import type { EthRpc } from '../../src/sources/ethRpc/types.js'
import { createCommitWatch } from '../../src/store/commitWatch.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { createTraceReader } from '../../src/store/rows/traceRows.js'
import { createBlockAppender } from '../../src/sync/blockAppender.js'
import { type OpenChainOptions, openWritableChain } from '../../src/sync/chainState.js'
import { fillTraces, traceGap } from '../../src/sync/fillTraces.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { createUpstreamSource } from '../../src/sync/sparse/stateSource.js'
import { type CallChain, makeCallChain } from '../support/chains/callChain.js'
import { fixtureGenesis, sourceOf } from '../support/chains/fixture.js'
import { seededRandom } from '../support/random.js'
import { openStateServer } from '../support/sparse/stateServer.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The trace index against executions with hooks that copy every input and output. */

const CALLS = new Set([0xf1, 0xf2, 0xf4, 0xfa])

/** The calls of a tree in the order in which they began, as the index has them. */
function* flatten(call: TracedCall, depth: number, isPrecompile: (address: Uint8Array) => boolean): Generator<object> {
  const { opcode, from, to, value, gas, gasUsed, input, output, failure } = call
  const ofPrecompile = CALLS.has(opcode) && isPrecompile(to)
  const hasSelector = CALLS.has(opcode) && !ofPrecompile && input.length >= 4
  yield {
    ...{ opcode, depth, from: formatData(from), to: formatData(to), value, gas, gasUsed },
    isPrecompile: ofPrecompile,
    inputLength: input.length,
    selector: hasSelector ? Buffer.from(input).readUInt32BE() : undefined,
    outputLength: output.length,
    failure,
    codeHash: isCreation(call) && failure === undefined ? formatData(keccak256(output)) : undefined,
  }
  for (const each of call.calls) yield* flatten(each, depth + 1, isPrecompile)
}

/** Compares the index of every block with an execution. Returns how often each kind of call and failure occurred. */
async function compareWithExecution(db: Database): Promise<Map<string, number>> {
  const chain = createChainReader(db)
  const service = await loadTraceService(db, { chain, watch: createCommitWatch(db) })
  const index = createTraceReader(db)
  const seen = new Map<string, number>()
  for (let number = 1; number <= chain.head()!; number++) {
    const block = chain.blockByNumber(number)!
    const expected: object[][] = []
    service.replay(block, { deadline: noDeadline, memoryBytes: Infinity }, (execution) => {
      const isPrecompile = precompilesOf(execution)
      const { hooks, root } = recordCalls(execution.journal.meter)
      execution.run(hooks)
      expected.push([...flatten(root(), 0, isPrecompile)])
    })
    const calls = index.calls(block)!
    const found = calls.map((own) =>
      own.map((call) => ({
        ...call,
        from: formatData(index.addressOf(call.from)),
        to: formatData(index.addressOf(call.to)),
        codeHash: call.codeHash && formatData(call.codeHash),
      })),
    )
    assert.deepEqual(found, expected, `block ${number}`)
    for (const { opcode, failure, isPrecompile } of calls.flat()) {
      const kinds = [
        `${opcode.toString(16)}`,
        `failure ${failure?.split(' ', 2).join(' ')}`,
        `precompile ${isPrecompile}`,
      ]
      for (const kind of kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }
  }
  return seen
}

const KINDS = ['f0', 'f1', 'f2', 'ff', 'failure undefined', 'failure out of', 'precompile true']
const LATER_KINDS = [...KINDS, 'f4', 'fa', 'failure execution reverted']

for (const [fork, kinds] of [
  ['frontier', KINDS],
  ['byzantium', LATER_KINDS],
  ['shanghai', [...LATER_KINDS, 'f5', 'failure insufficient balance']],
  ['osaka', [...LATER_KINDS, 'f5']],
  ['amsterdam', [...LATER_KINDS, 'f5']],
] as const satisfies readonly (readonly [Fork, readonly string[]])[]) {
  test(`the index of a random chain under the rules of ${fork} has the calls of its executions`, async (t) => {
    const seen = new Map<string, number>()
    for (let seed = 1; seed <= 6; seed++) {
      const datadir = temporaryDirectory(t)
      await makeCallChain(datadir, { random: seededRandom(seed), fork, count: 30 }, { traces: true })
      const db = openForReading(datadir)
      for (const [kind, count] of await compareWithExecution(db)) seen.set(kind, (seen.get(kind) ?? 0) + count)
      db.close()
    }
    for (const kind of kinds) assert.ok((seen.get(kind) ?? 0) > 0, `${kind} did not occur`)
  })
}

/** The rows of the index by block, as they are stored. */
function storedTraces(db: Database): unknown[] {
  return db.prepare('SELECT block_number, data FROM traces ORDER BY block_number').all()
}

function openChain(db: Database, { genesis }: CallChain, options: OpenChainOptions) {
  return openWritableChain(db, { genesis }, 'execute', options)
}

async function makeChain(t: TestContext, options?: OpenChainOptions): Promise<CallChain & { datadir: string }> {
  const datadir = temporaryDirectory(t)
  const chain = await makeCallChain(datadir, { random: seededRandom(11), fork: 'shanghai', count: 40 }, options)
  return { ...chain, datadir }
}

test('a database without the index gets that of an import, also where it was interrupted, and keeps it', async (t) => {
  const made = await makeChain(t, { traces: true })
  const expected = storedTracesOf(made.datadir)
  assert.equal(expected.length, 41)

  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const without = await openChain(db, made, {})
  assert.equal(without.keepsTraces, false)
  await importBlocks(without, sourceOf(made.blocks.slice(0, 30)), { progress: noProgress })
  assert.equal(traceGap(db), 31)
  await assert.rejects(
    openChain(db, made, { traces: true }),
    /the database has no trace index; 'cairn reindex --traces'/,
  )
  assert.equal(await fillTraces(db, { progress: noProgress, signal: AbortSignal.abort() }), false)
  assert.equal(traceGap(db), 31)
  assert.equal(await fillTraces(db, { progress: noProgress }), true)
  assert.deepEqual(storedTraces(db), expected.slice(0, 31))
  db.prepare('DELETE FROM traces WHERE block_number > 12').run() // as if it had been killed
  assert.equal(traceGap(db), 18)
  const done: number[] = []
  assert.equal(await fillTraces(db, { progress: { update: (blocks) => done.push(blocks), finish() {} } }), true)
  assert.equal(done.at(-1), 18)
  assert.deepEqual(storedTraces(db), expected.slice(0, 31))
  const kept = await openChain(db, made, {})
  assert.equal(kept.keepsTraces, true)
  await importBlocks(kept, sourceOf(made.blocks), { progress: noProgress })
  assert.deepEqual(storedTraces(db), expected)
  assert.equal(auditBlocks(db).blocks, expected.length)
})

function storedTracesOf(datadir: string): unknown[] {
  const db = openForReading(datadir)
  try {
    return storedTraces(db)
  } finally {
    db.close()
  }
}

test('removed blocks have no rows, and the index that was left off is not resumed with a gap', async (t) => {
  const made = await makeChain(t, { traces: true })
  const expected = storedTracesOf(made.datadir)
  const db = openForWriting(made.datadir)
  t.after(() => db.close())
  const { head } = await openChain(db, made, { traces: false })
  head.rewind(20, { byOperator: true })
  head.commit()
  assert.deepEqual(storedTraces(db), expected.slice(0, 21))

  const off = await openChain(db, made, { traces: false })
  await importBlocks(off, sourceOf(made.blocks.slice(0, 25)), { progress: noProgress })
  assert.deepEqual(storedTraces(db), expected.slice(0, 21))
  assert.equal((await openChain(db, made, {})).keepsTraces, false)
  await assert.rejects(openChain(db, made, { traces: true }), /the trace index ends at block 20 of 25/)

  off.head.rewind(18, { byOperator: true })
  off.head.commit()
  const again = await openChain(db, made, {})
  await importBlocks(again, sourceOf(made.blocks), { progress: noProgress })
  assert.deepEqual(storedTraces(db), expected)
})

test('blocks that are not executed have no index', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const genesis = fixtureGenesis()
  await assert.rejects(openWritableChain(db, { genesis }, 'none', { traces: true }), /--traces on: with --state none/)
  const reference = { traces: true, evm: 'reference' } as const
  await assert.rejects(openWritableChain(db, { genesis }, 'execute', reference), /--evm reference does not report/)
  const chain = await openWritableChain(db, { genesis }, 'none')
  assert.equal(chain.keepsTraces, false)
})

/** The calls of every block with addresses in hex; undefined for a block that the index has without calls. */
function readableTraces(db: Database): unknown[] {
  const chain = createChainReader(db)
  const index = createTraceReader(db)
  const { first, head } = chain.coverage()!
  return Array.from({ length: head - first + 1 }, (_, i) =>
    index.calls(chain.blockByNumber(first + i)!)?.map((calls) =>
      calls.map((call) => ({
        ...call,
        from: formatData(index.addressOf(call.from)),
        to: formatData(index.addressOf(call.to)),
        codeHash: call.codeHash && formatData(call.codeHash),
      })),
    ),
  )
}

test('with sparse state the index has the calls of every block after the first', async (t) => {
  const datadir = temporaryDirectory(t)
  const { genesis } = await makeCallChain(
    datadir,
    { random: seededRandom(21), fork: 'osaka', count: 20 },
    { traces: true },
  )
  const complete = openForReading(datadir)
  const reader = createChainReader(complete)
  const server = await openStateServer(t, datadir)
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => {
    complete.close()
    db.close()
  })
  const first = Array.from({ length: 17 }, (_, i) => 3 + i).find((number) => reader.blockByNumber(number)!.txCount > 0)!
  const chain = await openWritableChain(db, { genesis }, 'sparse', { traces: true })
  chain.sparse!.connect(createUpstreamSource(server as unknown as EthRpc, { mode: 'proofs' }))
  chain.sparse!.setAncestors(concatBytes(...Array.from({ length: first }, (_, i) => reader.blockHash(first - 1 - i)!)))
  const appender = createBlockAppender(chain)
  for (let number = first; number <= reader.head()!; number++) {
    const stored = reader.blockByNumber(number)!
    const { hash, header, sizeBytes, withdrawals, totalDifficulty } = stored
    const transactions = reader.transactions(stored)
    const block = { hash, header, sizeBytes, withdrawals, transactions, uncles: [] }
    const receipts = reader.receipts(stored).map(({ receipt }) => receipt)
    await appender.take({ block, ...(number === first ? { totalDifficulty, receipts } : {}) }, 1)
    await appender.flush()
    chain.head.commit()
  }
  const expected = [undefined, ...readableTraces(complete).slice(first + 1)]
  assert.deepEqual(readableTraces(db), expected)
  const kept = storedTraces(db)
  db.prepare('DELETE FROM traces').run()
  assert.equal(await fillTraces(db, { progress: noProgress }), true)
  assert.deepEqual(storedTraces(db), kept)
})
