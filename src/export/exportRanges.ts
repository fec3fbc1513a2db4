import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BlockRange } from '../chain/eth/types.js'
import { formatData } from '../lib/hex.js'
import type { ObjectStore } from '../lib/objects/objectStore.js'
import { holdLock } from '../store/fileLock.js'
import { coverageOf } from './availability.js'
import type { Dataset, ExportedBlock } from './dataset.js'
import { createEncoder } from './encoders/encoder.js'
import type { Format } from './encoders/rowEncoder.js'
import { ChainChanged, ExportLocked, OtherExport } from './errors.js'
import { type ExportControl, exportBlocks } from './exportBlocks.js'
import { createSink, hasDigest } from './exportedFile.js'
import { type FileSeries, fileName, isOfSeries, seriesPrefix } from './fileNames.js'
import {
  type DatasetManifest,
  type DatasetTerms,
  differingTerm,
  fetchManifest,
  MANIFEST,
  type ManifestFile,
  type StoredManifest,
  storeManifest,
} from './manifest.js'
import { clip, type PlannedFile, planFiles } from './plan.js'
import type { ExportSource } from './source.js'

/** Where and how files are written. */
interface RangeTerms {
  /** Receives a file per range, and the manifest. */
  readonly store: ObjectStore
  /** The directory of the store, if it is one; it is created and locked. Without a lock, the manifest is replaced only
   *  if no other process has replaced it. */
  readonly directory?: string
  readonly format: Format
  /** Blocks per file. */
  readonly rangeSize: number
  /** First and last block; default: all available. */
  readonly from?: number
  readonly to?: number
  /** Read existing files and compare their digests, not only their sizes. */
  readonly verifiesFiles: boolean
}

/** An open export. A destination has one process at a time. */
interface RangeExport {
  /** Writes missing files, and rewrites those whose blocks a reorg has replaced. With `finalOnly`, only whole ranges of
   *  final blocks. @throws ChainChanged if reorgs do not stop; the reason of the signal */
  update(options: { finalOnly: boolean } & Omit<ExportControl, 'onProgress'>): Promise<void>
  /** Totals by dataset. */
  readonly totals: ReadonlyMap<Dataset, ExportTotals>
  close(): void
}

/** Work done for a dataset. */
export interface ExportTotals {
  /** Files, rows and bytes written. */
  files: number
  rows: number
  bytes: number
  /** Existing files that are kept. */
  kept: number
}

/** Shows the progress of an export. */
interface ExportObserver {
  /** Begins a pass over this number of blocks, counted once per dataset. */
  begin(blocks: number): { update(blocks: number, note: string): void; finish(): void }
}

const LOCK = '.cairn-export.lock'
const ATTEMPTS = 10

/** Opens or begins an export with one file per range. Removes temporary files of a killed export. @throws OtherExport
 *  if the store contains other files of these names; ExportLocked; as the store */
export async function openRangeExport(
  source: ExportSource,
  datasets: readonly Dataset[],
  terms: RangeTerms & { observer: ExportObserver },
): Promise<RangeExport> {
  const lock = terms.directory === undefined ? undefined : lockDirectory(terms.directory)
  try {
    await terms.store.removeStaged(MANIFEST)
    const stored = await fetchManifest(terms.store)
    const open: OpenSeries[] = []
    const unnamed: string[] = []
    for (const dataset of datasets) open.push(await openSeries(source, dataset, { stored, terms, unnamed }))
    await storeManifest(terms.store, stored)
    for (const name of unnamed) await terms.store.delete(name)
    const exported = new Exporter(source, stored, open, terms)
    return {
      update: (options) => exported.update(options),
      totals: new Map(open.map(({ dataset, totals }) => [dataset, totals])),
      close: () => void lock?.close(),
    }
  } catch (error) {
    lock?.close()
    throw error
  }
}

function lockDirectory(directory: string) {
  mkdirSync(directory, { recursive: true })
  const lock = holdLock(join(directory, LOCK))
  if (lock === undefined) throw new ExportLocked(directory)
  return lock
}

/** The files of a dataset being exported. */
interface OpenSeries {
  readonly dataset: Dataset
  readonly series: FileSeries
  readonly held: DatasetManifest
  readonly totals: ExportTotals
  /** Ranges of dropped files that are not rewritten yet. */
  redo: BlockRange[]
}

async function openSeries(
  source: ExportSource,
  dataset: Dataset,
  { stored: { manifest }, terms, unnamed }: { stored: StoredManifest; terms: RangeTerms; unnamed: string[] },
): Promise<OpenSeries> {
  const { store, format, verifiesFiles } = terms
  const wanted = termsOf(source, dataset, terms)
  const series = { network: wanted.network, dataset: dataset.fileName, format }
  await store.removeStaged(seriesPrefix(series))
  const there = new Map<string, number>()
  for await (const { key, bytes } of store.list(seriesPrefix(series)))
    if (isOfSeries(series, key)) there.set(key, bytes)
  const [first] = there.keys()
  const before = manifest.datasets[dataset.fileName]
  const differing = before && differingTerm(before, wanted)
  if (differing !== undefined) {
    throw new OtherExport(`${store.place} holds ${dataset.name} with ${differing}; use another --out`)
  }
  if (before === undefined && first !== undefined) {
    throw new OtherExport(`${store.place} holds ${first}, which cairn export did not write there; use another --out`)
  }
  const held: DatasetManifest = before ?? { ...wanted, files: [] }
  manifest.datasets[dataset.fileName] = held
  const redo: BlockRange[] = []
  const whole: ManifestFile[] = []
  for (const file of held.files) {
    const isWhole = there.get(file.file) === file.bytes && (!verifiesFiles || (await hasDigest(store, file)))
    if (isWhole) whole.push(file)
    else redo.push(file)
  }
  held.files = whole
  const kept = new Set(whole.map(({ file }) => file))
  unnamed.push(...[...there.keys()].filter((name) => !kept.has(name)))
  return { dataset, series, held, redo, totals: { files: 0, rows: 0, bytes: 0, kept: whole.length } }
}

function termsOf(source: ExportSource, { layer, columns }: Dataset, { format, rangeSize }: RangeTerms): DatasetTerms {
  const { first } = layer.coverage(source)!
  return {
    chainId: layer.chainId(source) ?? null,
    network: layer.network(source),
    firstBlock: { number: first, hash: formatData(layer.hashAt(source, first)!) },
    format,
    rangeSize,
    addresses: source.addresses?.map(formatData).sort() ?? null,
    ...(source.contracts && { contracts: source.contracts.map(formatData).sort() }),
    ...(source.callData && { callData: source.callData.map(formatData).sort() }),
    columns,
  }
}

/** A file to write. */
interface Task {
  readonly own: OpenSeries
  readonly file: PlannedFile
}

class Exporter {
  private readonly source: ExportSource
  private readonly stored: StoredManifest
  private readonly open: readonly OpenSeries[]
  private readonly terms: RangeTerms & { observer: ExportObserver }

  constructor(
    source: ExportSource,
    stored: StoredManifest,
    open: readonly OpenSeries[],
    terms: RangeTerms & { observer: ExportObserver },
  ) {
    this.source = source
    this.stored = stored
    this.open = open
    this.terms = terms
  }

  async update({ finalOnly, signal }: { finalOnly: boolean; signal: AbortSignal }): Promise<void> {
    const ends = this.open.map((own) => this.endOf(own, finalOnly)) // a concurrent import may never end
    for (let attempt = 1; ; attempt++) {
      await this.dropReplaced()
      const tasks = this.plan(finalOnly, ends)
      if (tasks.length === 0) return
      try {
        await this.run(tasks, signal)
        if (finalOnly) return
      } catch (error) {
        if (!(error instanceof ChainChanged) || attempt === ATTEMPTS) throw error
      }
    }
  }

  /** Drops files whose last block is no longer in the chain. Its hash implies all blocks below it. */
  private async dropReplaced(): Promise<void> {
    for (const own of this.open) {
      const { held } = own
      const stale = held.files.filter((file) => !this.isCurrent(own, file))
      if (stale.length === 0) continue
      held.files = held.files.filter((file) => !stale.includes(file))
      own.redo.push(...stale)
      own.totals.kept = Math.max(0, own.totals.kept - stale.length)
      await this.commit(stale)
    }
  }

  private isCurrent({ dataset }: OpenSeries, file: ManifestFile): boolean {
    if (file.lastBlockHash === null) return true
    const hash = dataset.layer.hashAt(this.source, file.to)
    return hash !== undefined && formatData(hash) === file.lastBlockHash
  }

  private endOf({ dataset }: OpenSeries, finalOnly: boolean): number {
    const { head, final } = dataset.layer.coverage(this.source)!
    return finalOnly ? final : head
  }

  private plan(finalOnly: boolean, ends: readonly number[]): Task[] {
    const { from = 0, to = Number.MAX_SAFE_INTEGER, rangeSize } = this.terms
    const tasks = this.open.flatMap((own, i) => {
      const { first } = coverageOf(this.source, own.dataset)!
      const bounds = { from: first, to: Math.min(ends[i], this.endOf(own, finalOnly)) }
      // cryo: datasets of calls are of the newest block by default.
      const start = own.dataset.calls && !finalOnly && this.isWhole() ? bounds.to : from
      const files = planFiles({
        wanted: clip({ from: start, to }, bounds),
        redo: own.redo.flatMap((range) => clip(range, bounds) ?? []),
        held: own.held.files,
        rangeSize,
        wholeOnly: finalOnly,
      })
      return files.map((file) => ({ own, file }))
    })
    return tasks.sort((a, b) => a.file.from - b.file.from)
  }

  /** True if neither end of the range is named. */
  private isWhole(): boolean {
    return this.terms.from === undefined && this.terms.to === undefined
  }

  private async run(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const shown = this.terms.observer.begin(tasks.reduce((sum, { file }) => sum + file.to - file.from + 1, 0))
    const done = { blocks: 0, rows: 0 }
    try {
      for (const task of tasks) {
        const onProgress = (blocks: number, rows: number) => {
          done.blocks += blocks
          done.rows += rows
          shown.update(done.blocks, `${task.own.dataset.name}, ${done.rows.toLocaleString('en')} rows`)
        }
        await this.write(task, { signal, onProgress })
      }
    } finally {
      shown.finish()
    }
  }

  private async write({ own, file }: Task, control: ExportControl): Promise<void> {
    const { store, format } = this.terms
    const { dataset, series, held, totals } = own
    const name = fileName(series, file)
    const temporary = store.stagingPath(name)
    const sink = createSink(temporary)
    try {
      const encoder = await createEncoder(format, dataset.columns)
      const target = { encoder, write: sink.write }
      const { rows, first, last } = await exportBlocks(this.source, dataset, { range: file, target, control })
      const { bytes, sha256 } = sink.close()
      await store.putFile(name, temporary, { sha256, signal: control.signal })
      const { from, to } = file
      const hashes = { firstBlockHash: hashOrNull(first), lastBlockHash: hashOrNull(last) }
      const replaced = held.files.filter((other) => file.replaces.some((range) => range.from === other.from))
      const entry: ManifestFile = { file: name, from, to, rows, bytes, sha256, ...hashes }
      held.files = [...held.files.filter((other) => !replaced.includes(other)), entry].sort((a, b) => a.from - b.from)
      own.redo = own.redo.filter((range) => range.from < from || range.to > to)
      totals.files++
      totals.rows += rows
      totals.bytes += bytes
      totals.kept = Math.max(0, totals.kept - replaced.length)
      await this.commit(replaced)
    } catch (error) {
      sink.close()
      rmSync(temporary, { force: true })
      throw error
    }
  }

  /** Writes the manifest, then removes files that it no longer names. */
  private async commit(dropped: readonly ManifestFile[]): Promise<void> {
    const { store } = this.terms
    await storeManifest(store, this.stored)
    for (const { file } of dropped) await store.delete(file)
  }
}

function hashOrNull(block: ExportedBlock | undefined): string | null {
  return block === undefined ? null : formatData(block.hash)
}
