import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../lib/errors.js'
import { readHead } from './sources/fileBytes.js'
import { recogniseL2 } from './sources/starknetFile.js'

/** What an import takes of a directory. */
export interface ImportDirectory {
  /** The path of its genesis.json. */
  readonly genesis?: string
  /** Block files, in the order in which they are imported. */
  readonly paths: readonly string[]
}

const GENESIS = 'genesis.json'
const FIXTURE_CHAIN = ['chain.rlp', 'chain.rlp.gz']
const FIXTURE_L2 = ['l2.ndjson', 'l2.ndjson.gz']
const BLOCK_FILE = /\.(rlp|blocks|era1|json|ndjson)(\.gz)?$/i
const JSON_FILE = /json(\.gz)?$/i

/** What is imported of a directory. Of a fixture, which has genesis.json and chain.rlp: the chain and l2.ndjson, where
 *  there is one; each may be gzipped. Of any other: the files right in it that end in .rlp, .blocks, .era1, .json or
 *  .ndjson, or one of these with .gz, in the order of their names, numbers in them by their value. JSON that holds no
 *  layer-2 block is passed over.
 *  @throws UsageError when it cannot be read or has neither a genesis nor a block file. */
export function readImportDirectory(directory: string): ImportDirectory {
  const names = listFiles(directory)
  const genesis = names.includes(GENESIS) ? join(directory, GENESIS) : undefined
  const chain = FIXTURE_CHAIN.find((name) => names.includes(name))
  const chosen = genesis && chain ? [chain, FIXTURE_L2.find((name) => names.includes(name))] : names.filter(isBlockFile)
  const paths = chosen.filter((name) => name !== undefined).map((name) => join(directory, name))
  const importable = paths.filter((path) => !JSON_FILE.test(path) || recogniseL2(readHead(path)))
  if (genesis === undefined && importable.length === 0) {
    throw new UsageError(
      `${directory}: nothing to import; expected genesis.json, or files that end in .rlp, .blocks, .era1, .json or .ndjson`,
    )
  }
  return { genesis, paths: importable }
}

const byName = new Intl.Collator('en', { numeric: true })

function listFiles(directory: string): string[] {
  const names = readdirSync(directory).filter((name) => !name.startsWith('.'))
  return names
    .filter((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.isFile())
    .sort((a, b) => byName.compare(a, b) || (a < b ? -1 : 1))
}

function isBlockFile(name: string): boolean {
  return BLOCK_FILE.test(name) && name !== GENESIS
}

/** The block files that paths of files and directories stand for, and the genesis of a directory among them.
 *  @throws UsageError for a path that is not there, a directory with nothing to import, and two directories with a
 *    genesis. */
export function gatherImport(operands: readonly string[]): { genesis?: string; paths: string[] } {
  const found = operands.map((path) => {
    if (!existsSync(path)) throw new UsageError(`no such file or directory: ${path}`)
    return statSync(path).isDirectory() ? readImportDirectory(path) : { paths: [path] }
  })
  const geneses = found.map(({ genesis }) => genesis).filter((genesis) => genesis !== undefined)
  if (geneses.length > 1) {
    throw new UsageError(`${geneses[0]} and ${geneses[1]}: a database has one genesis; import one directory at a time`)
  }
  return { genesis: geneses[0], paths: found.flatMap(({ paths }) => paths) }
}
