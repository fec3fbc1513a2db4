import { join } from 'node:path'
import { LAKE_DATASETS } from '../../export/datasets/views.js'
import type { DatasetManifest, Manifest, ManifestFile } from '../../export/manifest.js'
import { LAKE_VIEWS, type ViewReader } from '../../store/sql/lakeViews.js'

/** The folder of the lake in the data directory. */
export const LAKE_FOLDER = 'lake'

/** The part of a lake that has the chain of the database. */
export interface Lake {
  /** The newest block whose rows all views have. */
  readonly head: number
  readonly headHash: string
  /** The complete files by view, ascending. */
  readonly files: ReadonlyMap<string, LakeFiles>
  /** True if files have blocks that are not those of the chain any more. */
  readonly isStale: boolean
}

/** The files of a view. */
export interface LakeFiles {
  readonly paths: readonly string[]
  /** True if the last one reaches beyond the head of the lake. */
  readonly isLonger: boolean
}

/** Returns true if the manifest is one of a lake, and not of `cairn export`. */
export function isLake({ datasets }: Manifest): boolean {
  return LAKE_VIEWS.some(({ name }) => datasets[name] !== undefined)
}

/** Returns the files of the lake that hold the chain of the database from its first block on; undefined if none do.
 *  Call it in a snapshot. */
export function lakeOf(reader: ViewReader, directory: string, { datasets }: Manifest): Lake | undefined {
  const parts = LAKE_DATASETS.map(({ fileName: name, columns }) => {
    const isOurs = JSON.stringify(datasets[name]?.columns) === JSON.stringify(columns) // and not of another version
    return { name, files: isOurs ? linked(reader, datasets[name]) : [] }
  })
  const heads = parts.map(({ files }) => files.at(-1)?.to ?? -1)
  const head = Math.min(...heads)
  const headHash = reader.hashAt(head)
  if (headHash === undefined) return undefined
  const paths = parts.map(({ name, files }) => {
    const wanted = files.filter(({ from }) => from <= head)
    const paths = wanted.map(({ file }) => join(directory, file))
    return [name, { paths, isLonger: wanted[wanted.length - 1].to > head }] as const
  })
  const isStale = parts.some(({ name, files }) => files.length < (datasets[name]?.files.length ?? 0))
  return { head, headHash, files: new Map(paths), isStale }
}

/** Returns the files that follow each other from the first block on, up to the last whose last block is in the chain:
 *  its hash implies all blocks below it. */
function linked(reader: ViewReader, dataset: DatasetManifest): ManifestFile[] {
  const first = reader.first()
  if (first === undefined || dataset.firstBlock.number !== first) return []
  const files: ManifestFile[] = []
  for (const file of dataset.files) {
    if (file.from !== (files.at(-1)?.to ?? first - 1) + 1) break
    files.push(file)
  }
  const isCurrent = ({ to, lastBlockHash }: ManifestFile) => lastBlockHash === reader.hashAt(to)
  while (files.length > 0 && !isCurrent(files[files.length - 1])) files.pop()
  return files
}
