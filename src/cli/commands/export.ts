import { existsSync, statSync } from 'node:fs'
import type { BlockRange } from '../../chain/eth/types.js'
import type { Dataset } from '../../export/dataset.js'
import type { Format } from '../../export/encoders/rowEncoder.js'
import type { ExportTotals } from '../../export/exportRanges.js'
import type { ExportSource } from '../../export/source.js'
import { CairnError, UsageError } from '../../lib/errors.js'
import { isS3, openObjectStore } from '../../lib/objects/openObjectStore.js'
import { createProgress, type Progress } from '../../lib/progress.js'
import type { Config } from '../config.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printSummary } from '../standardStreams.js'
import { listenForStop, type StopSignal } from '../stopSignal.js'
import { writeNotice } from '../terminal.js'

const POLL_MS = 1_000

/** `cairn export DATASET... --out DIR|s3://BUCKET/PREFIX|FILE|-`. SIGINT and SIGTERM end it with exit codes 130 and
 *  143, and leave complete files and their manifest; with --follow that is the normal end. */
export async function runExport({ config, operands }: ParsedArgs): Promise<number> {
  const { out } = config
  if (out === undefined)
    throw new UsageError("--out is missing: a directory, s3://BUCKET/PREFIX, a file or -; see 'cairn help export'")
  if (config.format === 'ere') return toEre(config, operands, out)
  const { openExportSource } = await import('../../export/source.js')
  const source = openExportSource(config.datadir, {
    addresses: undefinedIfEmpty(config.addresses),
    contracts: undefinedIfEmpty(config.contracts),
    callData: undefinedIfEmpty(config.callData),
  })
  const stop = listenForStop()
  try {
    const { withForms } = await import('../../export/columnForms.js')
    const chosen = await chooseAvailable(source, operands, config)
    if (chosen.some(({ needsState }) => needsState)) await source.loadTraces()
    if (chosen.some(({ calls }) => calls !== undefined)) await source.loadEvm()
    const format = formatOf(out, config.format)
    const datasets = chosen.map((dataset) => withForms(dataset, config, format))
    if (isDirectory(out)) await toRanges(source, datasets, { config, place: out, format, stop })
    else await toOneFile(source, datasets, { config, out, format, stop })
    return 0
  } catch (error) {
    if (!stop.signal.aborted) throw error
    return config.followExport ? 0 : stop.exitCode()
  } finally {
    stop.close()
    source.close()
  }
}

function undefinedIfEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length === 0 ? undefined : values
}

/** Returns the named datasets. `all` omits those that are not available in the database. @throws UsageError */
async function chooseAvailable(source: ExportSource, operands: readonly string[], config: Config): Promise<Dataset[]> {
  const { chooseDatasets, splitNames } = await import('../../export/datasets.js')
  const { whyUnavailable } = await import('../../export/availability.js')
  const names = splitNames(operands)
  const isAll = names.includes('all')
  const namesEvents = names.includes('events')
  if (config.events.length > 0 && !namesEvents)
    throw new UsageError('--event is for the dataset events; name that, too')
  const events = namesEvents ? await listEvents(source, config.events) : []
  const held: Dataset[] = []
  for (const dataset of chooseDatasets(names, () => events)) {
    const reason = whyUnavailable(source, dataset)
    if (reason === undefined) held.push(dataset)
    else if (isAll) writeNotice(`left out: ${reason}`)
    else throw new UsageError(reason)
  }
  if (held.length === 0) throw new UsageError('the database holds nothing of what is to be exported')
  return held
}

async function listEvents(source: ExportSource, wanted: readonly string[]): Promise<Dataset[]> {
  const { eventDatasets } = await import('../../export/datasets/events.js')
  const { openDecoder } = await import('../../decoding/decoder.js')
  return eventDatasets(source, openDecoder(source.db)(), wanted)
}

const ENDING = /\.(parquet|csv|ndjson)$/

/** Returns true for a destination of many files. */
function isDirectory(out: string): boolean {
  if (out === '-') return false
  if (isS3(out)) return true
  return existsSync(out) ? statSync(out).isDirectory() : !ENDING.test(out)
}

function formatOf(out: string, named: Format | undefined): Format {
  const ending = isDirectory(out) ? undefined : (ENDING.exec(out)?.[1] as Format | undefined)
  if (named !== undefined && ending !== undefined && named !== ending) {
    throw new UsageError(`--out ${out} is a file of ${ending}, --format is ${named}; make them agree`)
  }
  return named ?? ending ?? 'parquet'
}

interface Run {
  readonly config: Config
  readonly format: Format
  readonly stop: StopSignal
}

async function toRanges(
  source: ExportSource,
  datasets: readonly Dataset[],
  { config, place, format, stop }: Run & { place: string },
): Promise<void> {
  const { openRangeExport } = await import('../../export/exportRanges.js')
  const { rangeSize, followExport, verifyFiles } = config
  const { from, to } = config.blockRange ?? {}
  if (followExport && to !== undefined) throw new UsageError(`--follow has no end; give --blocks ${from ?? 0}:`)
  if (!followExport) for (const dataset of datasets) await requireRange(source, dataset, config)
  const observer = {
    begin: (blocks: number) => createProgress({ label: 'export', unit: 'blocks', total: blocks }),
  }
  const store = await openObjectStore(place, { endpoint: config.s3Endpoint, region: config.s3Region }, process.env)
  const terms = {
    store,
    directory: isS3(place) ? undefined : place,
    format,
    rangeSize,
    from,
    to,
    verifiesFiles: verifyFiles,
    observer,
  }
  const exported = await openRangeExport(source, datasets, terms)
  try {
    const { signal } = stop
    if (followExport) await follow(source, () => exported.update({ finalOnly: true, signal }), signal)
    else await exported.update({ finalOnly: false, signal })
  } finally {
    exported.close()
    if (config.json) printSummary(JSON.stringify(describeTotals(exported.totals)))
    else for (const [dataset, totals] of exported.totals) printSummary(describe(dataset, totals))
  }
}

/** Updates after each commit of another process, until aborted. */
async function follow(source: ExportSource, update: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let seen: number | undefined
  while (!signal.aborted) {
    const now = source.watch.version()
    if (now !== seen) await update()
    seen = now
    await waitFor(POLL_MS, signal)
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(end, ms)
    function end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end)
  })
}

function describeTotals(totals: ReadonlyMap<Dataset, ExportTotals>) {
  return { datasets: [...totals].map(([{ name }, done]) => ({ dataset: name, ...done })) }
}

function describe({ name }: Dataset, { files, rows, bytes, kept }: ExportTotals): string {
  const written = `${files} ${files === 1 ? 'file' : 'files'} written`
  const size = `${rows.toLocaleString('en')} rows, ${formatMegabytes(bytes)}`
  return `${name}: ${files === 0 ? written : `${written} (${size})`}, ${kept} kept`
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`
}

async function toOneFile(
  source: ExportSource,
  datasets: readonly Dataset[],
  { config, out, format, stop }: Run & { out: string },
): Promise<void> {
  const { exportToFile, exportToStream } = await import('../../export/exportStream.js')
  const [dataset, second] = datasets
  if (second !== undefined) throw new UsageError(`${out} takes one dataset; name one, or a directory as --out`)
  if (config.followExport) throw new UsageError('--follow needs a directory as --out')
  if (out === '-' && format === 'parquet' && process.stdout.isTTY) {
    throw new UsageError('Parquet is not for a terminal; use --format csv or ndjson, or name a file')
  }
  if (out === '-' && config.json) throw new UsageError('--json prints what was written; with --out - that is the rows')
  const range = await requireRange(source, dataset, config)
  const progress = createProgress({ label: 'export', unit: 'blocks', total: range.to - range.from + 1 })
  const control = { signal: stop.signal, onProgress: countInto(progress) }
  const terms = { dataset, format, range, control }
  try {
    if (out === '-') await exportToStream(source, process.stdout, terms)
    else await exportToFile(source, out, terms)
  } finally {
    progress.finish()
  }
  if (config.json) printSummary(JSON.stringify({ dataset: dataset.name, out, format, blocks: range }))
}

/** Writes whole blocks to ere files of a directory. @throws UsageError for options that do not fit */
async function toEre(config: Config, operands: readonly string[], out: string): Promise<number> {
  if (operands.length > 0) throw new UsageError(`--format ere exports whole blocks; leave '${operands[0]}' out`)
  if (out === '-' || isS3(out)) throw new UsageError(`--format ere needs a directory as --out, got ${out}`)
  if (config.followExport) throw new UsageError('--format ere does not follow; run the command again for new blocks')
  const { openExportSource } = await import('../../export/source.js')
  const { exportEre } = await import('../../export/ere/exportEre.js')
  const source = openExportSource(config.datadir)
  const stop = listenForStop()
  try {
    const coverage = source.chain.coverage()
    if (coverage === undefined) throw new CairnError('the database has no Ethereum block')
    const { family } = source.chain.spec()
    if ((family ?? 'ethereum') !== 'ethereum')
      throw new UsageError(`--format ere has blocks of Ethereum, this chain is of ${family}`)
    const range = boundRange(config, coverage, 'the database')
    const progress = createProgress({ label: 'export', unit: 'blocks', total: range.to - range.from + 1 })
    const control = { signal: stop.signal, onProgress: countInto(progress) }
    const totals = await exportEre(source, out, { range, control }).finally(() => progress.finish())
    if (config.json) printSummary(JSON.stringify({ format: 'ere', out, range, ...totals }))
    else
      printSummary(
        `${totals.files} ere ${totals.files === 1 ? 'file' : 'files'} written (${totals.blocks.toLocaleString('en')} blocks, ${formatMegabytes(totals.bytes)})`,
      )
    return 0
  } catch (error) {
    if (!stop.signal.aborted) throw error
    return stop.exitCode()
  } finally {
    stop.close()
    source.close()
  }
}

function countInto(progress: Progress): (blocks: number, rows: number) => void {
  let [blocks, rows] = [0, 0]
  return (moreBlocks, moreRows) => {
    blocks += moreBlocks
    rows += moreRows
    progress.update(blocks, `${rows.toLocaleString('en')} rows`)
  }
}

/** Returns the blocks of `--blocks`. @throws UsageError if they are not available */
async function requireRange(source: ExportSource, dataset: Dataset, { blockRange = {} }: Config): Promise<BlockRange> {
  const { coverageOf } = await import('../../export/availability.js')
  const { name, layer, calls } = dataset
  const held = coverageOf(source, dataset)
  if (held === undefined) throw new CairnError(`${name}: the database holds no ${layer.name} block`)
  // cryo: datasets of calls are of the newest block by default.
  const first = calls && blockRange.to === undefined ? held.head : held.first
  return boundRange({ blockRange: { from: blockRange.from ?? first, to: blockRange.to } }, held, name)
}

/** Returns the blocks of `--blocks`; by default all that are available. @throws UsageError if they are not available */
function boundRange(
  { blockRange = {} }: Pick<Config, 'blockRange'>,
  { first, head }: { first: number; head: number },
  name: string,
): BlockRange {
  const { from = first, to = head } = blockRange
  for (const number of [from, to]) {
    if (number < first || number > head) {
      throw new UsageError(`--blocks: block ${number} is not available; ${name} has ${first} to ${head}`)
    }
  }
  return { from, to }
}
