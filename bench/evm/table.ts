import { formatRatio, printTable } from '../lib/table.js'
import type { CallRun } from './calls.js'
import { FORK_GOAL, type ForkFigures } from './forks.js'
import { IMPORT_GOAL, type ImportFigures, type ImportRun } from './imports.js'
import type { TraceIndexFigures } from './plans.js'
import { GOALS } from './shapes.js'
import type { TraceFigures } from './traces.js'

/** Prints the calls as Markdown tables, in process and over HTTP, and what does not reach its goal. */
export function printCalls({ calls }: CallRun): void {
  printTable(
    ['call, in process', 'calls/s', 'package defaults', 'ratio', '--evm reference', 'ratio'],
    calls.map(({ name, perSecond, referencePerSecond, evmReferencePerSecond }) => [
      name,
      ...[perSecond, referencePerSecond].map(formatRate),
      formatRatio(perSecond / referencePerSecond),
      formatRate(evmReferencePerSecond),
      formatRatio(perSecond / evmReferencePerSecond),
    ]),
  )
  const asked = calls.filter(({ http, anvil }) => Object.keys(http).length + Object.keys(anvil).length > 0)
  const rows = asked.flatMap(({ name, http, anvil }) =>
    [...new Set([...Object.keys(http), ...Object.keys(anvil)])].map((connections) => {
      const [own, other] = [http[Number(connections)], anvil[Number(connections)]]
      const ratio = own && other ? formatRatio(own.perSecond / other.perSecond) : ''
      const latencies = [own?.p50Ms, own?.p99Ms, other?.p50Ms, other?.p99Ms].map(formatMs)
      const cpu = [own?.serverCpuMs, other?.serverCpuMs].map(formatMs)
      return [name, connections, formatRate(own?.perSecond), formatRate(other?.perSecond), ratio, ...cpu, ...latencies]
    }),
  )
  const rates = ['call, over HTTP', 'connections', 'calls/s', 'anvil', 'ratio']
  const heads = [...rates, 'processor ms', 'anvil', 'p50 ms', 'p99 ms']
  if (rows.length > 0) printTable([...heads, 'anvil p50 ms', 'anvil p99 ms'], rows)
  for (const { name, perSecond, referencePerSecond, httpPerSecond, anvilPerSecond } of calls) {
    const { defaults, anvil } = GOALS[name]
    if (perSecond < defaults * referencePerSecond) console.log(`less than ${defaults} times package defaults: ${name}`)
    if (httpPerSecond !== null && anvilPerSecond !== null && httpPerSecond < anvil * anvilPerSecond) {
      console.log(`less than ${anvil} times anvil: ${name}`)
    }
  }
}

/** Prints the traces as a Markdown table. */
export function printTraces(traces: readonly TraceFigures[]): void {
  printTable(
    ['trace of full blocks', 'blocks/s', 'Mgas/s', 'kB each', 'over HTTP, blocks/s', 'anvil', 'ratio'],
    traces.map(({ name, blocksPerSecond, mgasPerSecond, answerBytes, httpPerSecond, anvilPerSecond }) => [
      name,
      ...[blocksPerSecond, mgasPerSecond, answerBytes / 1000, httpPerSecond, anvilPerSecond].map(formatRate),
      httpPerSecond && anvilPerSecond ? formatRatio(httpPerSecond / anvilPerSecond) : '',
    ]),
  )
}

/** Prints the imports as a Markdown table, and what does not reach its goal. */
export function printImports({ imports, leftOut }: ImportRun): void {
  if (imports.length > 0) {
    const others = ['package defaults', 'ratio', '--evm reference', 'ratio']
    printTable(
      ['import', 'blocks', 'blocks/s', 'Mgas/s', 'first import, blocks/s', ...others],
      imports.map((each) => [
        each.name,
        String(each.blocks),
        ...[each.blocksPerSecond, each.mgasPerSecond, each.firstBlocksPerSecond].map(formatRate),
        ...formatOther(each, each.referenceBlocksPerSecond),
        ...formatOther(each, each.evmReferenceBlocksPerSecond),
      ]),
    )
  }
  for (const name of leftOut) console.log(`left out, its file is not there: ${name}`)
  for (const { name, reference, evmReference } of imports) {
    for (const [engine, outcome] of Object.entries({
      'package defaults': reference,
      '--evm reference': evmReference,
    })) {
      if ('failure' in outcome) console.log(`${engine} cannot execute: ${name}: ${outcome.failure}`)
    }
  }
  for (const { name, blocksPerSecond, mgasPerSecond, referenceBlocksPerSecond } of imports) {
    const { defaults, mgasPerSecond: least } = IMPORT_GOAL
    if (name === 'contract calls' && mgasPerSecond < least) console.log(`less than ${least} Mgas/s: ${name}`)
    if (blocksPerSecond < defaults * (referenceBlocksPerSecond ?? 0)) {
      console.log(`less than ${defaults} times package defaults: ${name}`)
    }
  }
}

/** Cells of another engine: its rate, and how many times as fast our interpreter is. */
function formatOther({ blocksPerSecond }: ImportFigures, rate: number | null): [string, string] {
  return rate === null ? ['cannot execute', ''] : [formatRate(rate), formatRatio(blocksPerSecond / rate)]
}

/** Prints the same transactions as blocks of Osaka and of Amsterdam as a Markdown table, and what does not reach its
 *  goal. */
export function printForks(forks: readonly ForkFigures[]): void {
  const lists = ['lists stored, blocks/s', 'ratio', 'list bytes/block', 'stored bytes/block', 'database bytes/block']
  printTable(
    ['import', 'blocks', 'Osaka blocks/s', 'Amsterdam blocks/s', 'ratio', ...lists],
    forks.map((each) => [
      each.name,
      String(each.blocks),
      ...[each.osakaBlocksPerSecond, each.amsterdamBlocksPerSecond].map(formatRate),
      formatRatio(each.amsterdamBlocksPerSecond / each.osakaBlocksPerSecond),
      formatRate(each.storedBlocksPerSecond),
      formatRatio(each.storedBlocksPerSecond / each.amsterdamBlocksPerSecond),
      ...[each.listBytesPerBlock, each.storedBytesPerBlock, each.databaseBytesPerBlock].map(formatRate),
    ]),
  )
  for (const { name, osakaBlocksPerSecond, amsterdamBlocksPerSecond } of forks) {
    if (amsterdamBlocksPerSecond < FORK_GOAL * osakaBlocksPerSecond)
      console.log(`less than ${FORK_GOAL} of Osaka: ${name}`)
  }
}

/** Prints imports and requests with and without the trace index as Markdown tables. */
export function printTraceIndex(figures: readonly TraceIndexFigures[]): void {
  const sizes = ['transactions/block', 'calls/block', 'index bytes/block', 'bytes/call']
  const alone = ['execution alone', 'recorded', 'row']
  printTable(
    ['import', 'blocks', 'without, CPU ms/block', 'with', 'ratio', ...alone, ...sizes],
    figures.map((each) => [
      each.name,
      String(each.blocks),
      ...[each.withoutMsPerBlock, each.withMsPerBlock].map(formatMs),
      (each.withMsPerBlock / each.withoutMsPerBlock).toFixed(3),
      ...[each.executionMs, each.recordedMs, each.rowMs].map(formatMs),
      ...[each.transactionsPerBlock, each.callsPerBlock, each.bytesPerBlock, each.bytesPerCall].map(formatRate),
    ]),
  )
  printTable(
    ['request', 'blocks of', 'without, CPU ms', 'with'],
    figures.flatMap(({ name, requests }) =>
      requests.map((each) => [each.name, name, formatMs(each.withoutMs), formatMs(each.withMs)]),
    ),
  )
}

function formatRate(rate: number | undefined): string {
  if (rate === undefined) return ''
  return rate < 100 ? rate.toPrecision(3) : Math.round(rate).toLocaleString('en')
}

function formatMs(ms: number | undefined): string {
  return ms === undefined ? '' : ms.toPrecision(3)
}
