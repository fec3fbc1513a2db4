import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { publishFile } from '../lib/durableFiles.js'
import { formatData } from '../lib/hex.js'
import { holdLock } from '../store/fileLock.js'
import type { Dataset, ExportedBlock } from './dataset.js'
import { createEncoder } from './encoders/encoder.js'
import type { Format } from './encoders/rowEncoder.js'
import { ChainChanged, ExportLocked, OtherExport } from './errors.js'
import { type ExportControl, exportBlocks } from './exportBlocks.js'
import { createSink, isWhole } from './exportedFile.js'
import { type BlockRange, type FileSeries, fileName, isOfSeries, temporaryName } from './fileNames.js'
import {
  type DatasetManifest,
  type DatasetTerms,
  differingTerm,
  type Manifest,
  type ManifestFile,
  readManifest,
  writeManifest,
} from './manifest.js'
import { clip, type PlannedFile, planFiles } from './plan.js'
import type { ExportSource } from './source.js'

/** Where and how files are written. */
export interface DirectoryTerms {
  readonly directory: string
  readonly format: Format
  /** Blocks of a file. */
  readonly rangeSize: number
  /** First block, and last one; default: all that are held. */
  readonly from?: number
  readonly to?: number
  /** Read the files that are there and compare their digests, not only their sizes. */
  readonly verifiesFiles: boolean
}

/** An open export: one process at a time has a directory. */
export interface DirectoryExport {
  /** Writes the files that are missing, and anew those whose blocks a reorg has replaced. With `finalOnly`, only whole ranges of
   *  final blocks. @throws ChainChanged when reorgs do not end; the reason of the signal */
  update(options: { finalOnly: boolean } & Omit<ExportControl, 'onProgress'>): Promise<void>
  /** By dataset. */
  readonly totals: ReadonlyMap<Dataset, ExportTotals>
  close(): void
}

/** What was done for a dataset. */
export interface ExportTotals {
  /** Files, rows and bytes written. */
  files: number
  rows: number
  bytes: number
  /** Files that were there and stay. */
  kept: number
}

/** Shows what an export does. */
export interface ExportObserver {
  /** Begins a pass over so many blocks, counted once for each dataset. */
  begin(blocks: number): { update(blocks: number, note: string): void; finish(): void }
}

const LOCK = '.cairn-export.lock'
const ATTEMPTS = 10

/** Opens or begins an export to a directory. Temporary files of one that was killed are removed. @throws OtherExport when the
 *  directory holds other files of these names; ExportLocked */
export async function openDirectoryExport(
  source: ExportSource,
  datasets: readonly Dataset[],
  terms: DirectoryTerms & { observer: ExportObserver },
): Promise<DirectoryExport> {
  const { directory } = terms
  mkdirSync(directory, { recursive: true })
  const lock = holdLock(join(directory, LOCK))
  if (lock === undefined) throw new ExportLocked(directory)
  try {
    const manifest = readManifest(directory)
    const open: OpenSeries[] = []
    for (const dataset of datasets) open.push(await openSeries(source, dataset, { manifest, terms }))
    writeManifest(directory, manifest)
    const exported = new Exporter(source, manifest, open, terms)
    return {
      update: (options) => exported.update(options),
      totals: new Map(open.map(({ dataset, totals }) => [dataset, totals])),
      close: () => void lock.close(),
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

/** The files of a dataset under way. */
interface OpenSeries {
  readonly dataset: Dataset
  readonly series: FileSeries
  readonly held: DatasetManifest
  readonly totals: ExportTotals
  /** Ranges of dropped files that were not written anew yet. */
  redo: BlockRange[]
}

async function openSeries(
  source: ExportSource,
  dataset: Dataset,
  { manifest, terms }: { manifest: Manifest; terms: DirectoryTerms },
): Promise<OpenSeries> {
  const { directory, format, verifiesFiles } = terms
  const wanted = termsOf(source, dataset, terms)
  const series = { network: wanted.network, dataset: dataset.fileName, format }
  const names = readdirSync(directory).filter((name) => isOfSeries(series, name))
  const before = manifest.datasets[dataset.fileName]
  const differing = before && differingTerm(before, wanted)
  if (differing !== undefined) {
    throw new OtherExport(`${directory} holds ${dataset.name} with ${differing}; use another --out`)
  }
  if (before === undefined && names.length > 0) {
    throw new OtherExport(`${directory} holds ${names[0]}, which cairn export did not write there; use another --out`)
  }
  const held: DatasetManifest = before ?? { ...wanted, files: [] }
  manifest.datasets[dataset.fileName] = held
  const redo: BlockRange[] = []
  const whole: ManifestFile[] = []
  for (const file of held.files) {
    if (await isWhole(join(directory, file.file), file, verifiesFiles)) whole.push(file)
    else redo.push(file)
  }
  held.files = whole
  const kept = new Set(whole.map(({ file }) => file))
  for (const name of names) if (!kept.has(name)) rmSync(join(directory, name))
  return { dataset, series, held, redo, totals: { files: 0, rows: 0, bytes: 0, kept: whole.length } }
}

function termsOf(
  source: ExportSource,
  { layer, columns }: Dataset,
  { format, rangeSize }: DirectoryTerms,
): DatasetTerms {
  const { first } = layer.coverage(source)!
  return {
    chainId: layer.chainId(source) ?? null,
    network: layer.network(source),
    firstBlock: { number: first, hash: formatData(layer.hashAt(source, first)!) },
    format,
    rangeSize,
    addresses: source.addresses?.map(formatData).sort() ?? null,
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
  private readonly manifest: Manifest
  private readonly open: readonly OpenSeries[]
  private readonly terms: DirectoryTerms & { observer: ExportObserver }

  constructor(
    source: ExportSource,
    manifest: Manifest,
    open: readonly OpenSeries[],
    terms: DirectoryTerms & { observer: ExportObserver },
  ) {
    this.source = source
    this.manifest = manifest
    this.open = open
    this.terms = terms
  }

  async update({ finalOnly, signal }: { finalOnly: boolean; signal: AbortSignal }): Promise<void> {
    const ends = this.open.map((own) => this.endOf(own, finalOnly)) // an import beside may never end
    for (let attempt = 1; ; attempt++) {
      this.dropReplaced()
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

  /** Drops files whose last block is not in the chain any more. Its hash stands for all blocks below it. */
  private dropReplaced(): void {
    for (const own of this.open) {
      const { held } = own
      const stale = held.files.filter((file) => !this.isCurrent(own, file))
      if (stale.length === 0) continue
      held.files = held.files.filter((file) => !stale.includes(file))
      own.redo.push(...stale)
      own.totals.kept = Math.max(0, own.totals.kept - stale.length)
      this.commit(stale)
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
      const { first } = own.dataset.layer.coverage(this.source)!
      const bounds = { from: first, to: Math.min(ends[i], this.endOf(own, finalOnly)) }
      const files = planFiles({
        wanted: clip({ from, to }, bounds),
        redo: own.redo.flatMap((range) => clip(range, bounds) ?? []),
        held: own.held.files,
        rangeSize,
        wholeOnly: finalOnly,
      })
      return files.map((file) => ({ own, file }))
    })
    return tasks.sort((a, b) => a.file.from - b.file.from)
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
    const { directory, format } = this.terms
    const { dataset, series, held, totals } = own
    const name = fileName(series, file)
    const temporary = join(directory, temporaryName(name))
    const sink = createSink(temporary)
    try {
      const encoder = await createEncoder(format, dataset.columns)
      const target = { encoder, write: sink.write }
      const { rows, first, last } = await exportBlocks(this.source, dataset, { range: file, target, control })
      const { bytes, sha256 } = sink.close()
      publishFile(temporary, join(directory, name))
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
      this.commit(replaced)
    } catch (error) {
      sink.close()
      rmSync(temporary, { force: true })
      throw error
    }
  }

  /** Writes the manifest, and then removes files that it does not name any more. */
  private commit(dropped: readonly ManifestFile[]): void {
    const { directory } = this.terms
    writeManifest(directory, this.manifest)
    for (const { file } of dropped) rmSync(join(directory, file), { force: true })
  }
}

function hashOrNull(block: ExportedBlock | undefined): string | null {
  return block === undefined ? null : formatData(block.hash)
}
