import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadTraceService } from '../../../src/evm/tracing/traceService.js'
import { TraceRecorder } from '../../../src/evm/transition/traceRecorder.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { SenderRecovery } from '../../../src/sources/senders/senderRecovery.js'
import { createCommitWatch } from '../../../src/store/commitWatch.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { type CallTrace, decodeCallTraces } from '../../../src/store/rows/callTraces.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createTraceWriter } from '../../../src/store/rows/traceRows.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { openChainFile, sourceOfChain } from '../importEngines.js'
import type { TraceIndexFigures, TraceIndexPlan } from '../plans.js'

/* Imports a chain with and without the trace index in turn, and asks methods of the last database of each. */

/** Imports that compile the code, at most: none where a single round counts. */
const WARM_ROUNDS = 2
const REQUESTS = 20

process.once('message', async (plan: TraceIndexPlan) => {
  process.send!(await measure(plan))
  process.disconnect()
})

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measure({ name, chain, directory, rounds }: TraceIndexPlan): Promise<TraceIndexFigures> {
  const times: { [kind in Kind]: number[] } = { without: [], with: [] }
  const warmRounds = Math.min(WARM_ROUNDS, rounds - 1)
  const last: { [kind in Kind]?: string } = {}
  for (let round = 0; round < warmRounds + rounds; round++) {
    // Each kind is first in every other round.
    const kinds: Kind[] = round % 2 === 0 ? ['without', 'with'] : ['with', 'without']
    for (const kind of kinds) {
      const datadir = mkdtempSync(join(directory, 'import-'))
      const time = await importOnce(chain, datadir, kind === 'with')
      if (round >= warmRounds) times[kind].push(time)
      if (last[kind] !== undefined) rmSync(last[kind], { recursive: true, force: true })
      last[kind] = datadir
    }
  }
  const [without, indexed] = [last.without!, last.with!]
  return {
    name,
    rounds,
    withoutMsPerBlock: median(times.without),
    withMsPerBlock: median(times.with),
    ...measureRows(indexed),
    ...(await measureAlone(indexed)),
    requests: await measureRequests(without, indexed),
  }
}

type Kind = 'without' | 'with'

/** Processor time of all threads in milliseconds per block. */
async function importOnce(chain: TraceIndexPlan['chain'], datadir: string, traces: boolean): Promise<number> {
  const db = openForWriting(datadir)
  const senderRecovery = new SenderRecovery()
  try {
    const writable = await openWritableChain(db, sourceOfChain(chain), 'execute', { traces })
    db.pragma('wal_checkpoint(TRUNCATE)')
    const before = cpuMs()
    const options = { progress: noProgress, rootInterval: 1, senderRecovery }
    const { imported } = await importBlocks(writable, openChainFile(chain), options)
    db.pragma('wal_checkpoint(TRUNCATE)')
    return (cpuMs() - before) / imported
  } finally {
    await senderRecovery.close()
    db.close()
  }
}

function measureRows(datadir: string) {
  const { db, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const rows = db.prepare<[], Uint8Array>('SELECT data FROM traces WHERE length(data) > 0').pluck().all()
  const bytes = rows.reduce((sum, data) => sum + data.length, 0)
  const transactions = rows.map(decodeCallTraces)
  close()
  const count = (of: (calls: (typeof transactions)[number][number]) => number) =>
    transactions.flat().reduce((sum, calls) => sum + of(calls), 0)
  return {
    blocks: rows.length,
    callsPerBlock: count(({ length }) => length) / rows.length,
    transactionsPerBlock: count(() => 1) / rows.length,
    bytesPerBlock: bytes / rows.length,
    bytesPerCall: bytes / count(({ length }) => length),
  }
}

const ALONE_ROUNDS = 20

/** Execution of the blocks without and with the recorder, and the encoding and writing of their rows, each by
 *  itself. */
async function measureAlone(datadir: string) {
  const db = openForWriting(datadir)
  const chain = createChainReader(db)
  const service = await loadTraceService(db, { chain, watch: createCommitWatch(db) })
  const writer = createTraceWriter(db)
  const blocks = Array.from({ length: chain.head()! }, (_, i) => chain.blockByNumber(i + 1)!)
  const execute = (isRecorded: boolean) =>
    blocks.map((block) => {
      const calls: CallTrace[][] = []
      service.replay(block, { deadline: noDeadline, memoryBytes: Number.POSITIVE_INFINITY }, (execution) => {
        const recorder = isRecorded ? new TraceRecorder(execution.machine) : undefined
        execution.run(recorder)
        if (recorder !== undefined) calls.push(...recorder.transactions)
      })
      return calls
    })
  const write = db.transaction((all: readonly CallTrace[][][]) => {
    db.exec('DELETE FROM traces')
    for (const [i, calls] of all.entries()) writer.put(i + 1, calls)
  })
  const times = { plain: [] as number[], recorded: [] as number[], rows: [] as number[] }
  const measured = <T>(into: number[], work: () => T): T => {
    const before = cpuMs()
    const result = work()
    into.push((cpuMs() - before) / blocks.length)
    return result
  }
  for (let round = 0; round < ALONE_ROUNDS; round++) {
    measured(times.plain, () => execute(false))
    const calls = measured(times.recorded, () => execute(true))
    measured(times.rows, () => write(calls))
  }
  db.close()
  const [executionMs, recordedMs, rowMs] = [times.plain, times.recorded, times.rows].map((all) =>
    median(all.slice(ALONE_ROUNDS / 4)),
  )
  return { executionMs, recordedMs, rowMs }
}

async function measureRequests(without: string, indexed: string): Promise<TraceIndexFigures['requests']> {
  const opened = [without, indexed].map((datadir) =>
    openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger }),
  )
  const { chain } = opened[0].context
  const head = chain.head()!
  const block = chain.blockByNumber(head)!
  const transactions = chain.transactions(block)
  const range = { fromBlock: '0x1', toBlock: formatQuantity(head) }
  const unknown = `0x${'77'.repeat(20)}`
  const recipient = formatData(transactions[transactions.length - 1].to!)
  const asks: [name: string, method: string, params: unknown[]][] = [
    ['trace_filter of all blocks, no match', 'trace_filter', [{ ...range, fromAddress: [unknown] }]],
    [
      'trace_filter of all blocks, first 10 to one address',
      'trace_filter',
      [{ ...range, toAddress: [recipient], count: 10 }],
    ],
    [
      'ots_getInternalOperations, last transaction',
      'ots_getInternalOperations',
      [formatData(transactions.at(-1)!.hash)],
    ],
    ['ots_getTransactionError, last transaction', 'ots_getTransactionError', [formatData(transactions.at(-1)!.hash)]],
  ]
  const figures: TraceIndexFigures['requests'][number][] = []
  for (const [name, method, params] of asks) {
    const answers: string[] = []
    const ms: number[] = []
    for (const { context } of opened) {
      answers.push(await ask(context, method, params))
      const times: number[] = []
      for (let i = 0; i < REQUESTS; i++) {
        const before = cpuMs()
        await ask(context, method, params)
        times.push(cpuMs() - before)
      }
      ms.push(median(times))
    }
    if (answers[0] !== answers[1]) throw new Error(`${name}: the answers differ`)
    figures.push({ name, withoutMs: ms[0], withMs: ms[1] })
  }
  for (const { close } of opened) close()
  return figures
}

async function ask(context: RpcContext, method: string, params: unknown[]): Promise<string> {
  const outcome = await runMethod(METHODS.get(method)!, params, context)
  if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
  return Buffer.from(outcome.result).toString()
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
