import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { LAKE_DATASETS } from '../../export/datasets/views.js'
import { OtherExport } from '../../export/errors.js'
import { openRangeExport } from '../../export/exportRanges.js'
import { MANIFEST, readManifest } from '../../export/manifest.js'
import { type ExportSource, sourceOf } from '../../export/source.js'
import { createDirectoryStore } from '../../lib/objects/directoryStore.js'
import { createViewReader } from '../../store/sql/lakeViews.js'
import { openForQueries } from '../../store/sql/queryDatabase.js'
import { lakeOf } from './lakeFiles.js'

/** Blocks of a whole file. */
const RANGE_BLOCKS = 10_000

/** New final blocks for which the last file, which is partial, is written again. */
const STEP_BLOCKS = 1_000

/** Control of an extension. */
interface LakeControl {
  readonly signal: AbortSignal
  readonly observer: LakeObserver
  /** Default: `STEP_BLOCKS`. */
  readonly stepBlocks?: number
}

/** Shows the progress: blocks are counted once for each view. */
interface LakeObserver {
  begin(blocks: number): { update(blocks: number, note: string): void; finish(): void }
}

/** Extends the lake in `directory` up to the newest final block, when at least `stepBlocks` are missing or it does not
 *  match the chain. Files above a rewind are replaced, and a
 *  lake of another chain or version is. A process that is killed leaves complete files only. Returns
 *  false if there was nothing to do. @throws UnfitForLake; ExportLocked while another process extends it; OtherExport;
 *  ChainChanged; the reason of the signal */
export async function extendLake(
  datadir: string,
  directory: string,
  { signal, observer, stepBlocks = STEP_BLOCKS }: LakeControl,
): Promise<boolean> {
  const source = sourceOf(openForQueries(datadir, () => []))
  try {
    const final = finalOf(source)
    if (final === undefined || !isDue(source, directory, final - stepBlocks)) return false
    const open = () =>
      openRangeExport(source, LAKE_DATASETS, {
        store: createDirectoryStore(directory),
        directory,
        format: 'parquet',
        rangeSize: RANGE_BLOCKS,
        to: final,
        verifiesFiles: false,
        observer,
      })
    const exported = await open().catch((error: unknown) => {
      if (!(error instanceof OtherExport && removeLake(directory))) throw error
      return open()
    })
    try {
      await exported.update({ finalOnly: false, signal })
    } finally {
      exported.close()
    }
    return true
  } finally {
    source.close()
  }
}

/** Removes the files of a lake of another chain or version. Returns false, and keeps all, if the directory has another
 *  export too. */
function removeLake(directory: string): boolean {
  const { datasets } = readManifest(directory)
  const isLakeOnly = Object.keys(datasets).every((name) => LAKE_DATASETS.some(({ fileName }) => fileName === name))
  if (!isLakeOnly) return false
  const files = Object.values(datasets).flatMap((dataset) => dataset.files.map(({ file }) => file))
  for (const file of [MANIFEST, ...files]) rmSync(join(directory, file), { force: true })
  return true
}

/** Returns the newest final block; undefined if no stored block is final. */
function finalOf({ chain }: ExportSource): number | undefined {
  const covered = chain.coverage()
  const final = chain.finality()?.finalized
  return covered === undefined || final === undefined || final < covered.first ? undefined : final
}

/** True if the lake does not match the chain, or ends at block `last` or below. */
function isDue({ db }: ExportSource, directory: string, last: number): boolean {
  const lake = lakeOf(createViewReader(db), directory, readManifest(directory))
  return lake === undefined || lake.isStale || lake.head <= last
}
