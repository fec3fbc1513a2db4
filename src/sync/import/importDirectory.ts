import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { readHead } from '../../sources/files/fileBytes.js'
import { recogniseL2 } from '../../sources/files/starknetFile.js'
import { RECORDED_STATE } from '../sparse/recordedState.js'
import { FIXTURE_MANIFEST } from './recordedFixture.js'

/** The importable files of a directory. */
export interface ImportDirectory {
  /** The path of its genesis.json. */
  readonly genesis?: string
  /** The path of the manifest of a recorded fixture, beside its genesis.json. */
  readonly manifest?: string
  /** The path of the proved state of a recorded fixture, beside its manifest. */
  readonly recordedState?: string
  /** Block files in import order. */
  readonly paths: readonly string[]
}

const GENESIS = 'genesis.json'
const FIXTURE_CHAIN = ['chain.rlp', 'chain.rlp.gz']
const FIXTURE_L2 = ['l2.ndjson', 'l2.ndjson.gz']
const BLOCK_FILE = /\.(rlp|blocks|era1|ere|json|ndjson)(\.gz)?$/i
/** Other e2store formats: the consensus layer's, and those of the Portal Network. */
const UNREADABLE_FILE = /\.(era|e2hs|e2ss)(\.gz)?$/i
const JSON_FILE = /json(\.gz)?$/i

/** Selects the files to import from a directory. A fixture with genesis.json and chain.rlp: the chain, and l2.ndjson if
 *  present; each may be gzipped. Any other directory: its files ending in .rlp, .blocks, .era1, .ere, .json or .ndjson,
 *  optionally with .gz, ordered by name with numbers compared by value. JSON without layer-2 blocks is skipped.
 *  @throws UsageError when the directory cannot be read or has neither a genesis nor a block file */
export function readImportDirectory(directory: string): ImportDirectory {
  const names = listFiles(directory)
  const genesis = names.includes(GENESIS) ? join(directory, GENESIS) : undefined
  const manifest = genesis && names.includes(FIXTURE_MANIFEST) ? join(directory, FIXTURE_MANIFEST) : undefined
  const recordedState = manifest && names.includes(RECORDED_STATE) ? join(directory, RECORDED_STATE) : undefined
  const chain = FIXTURE_CHAIN.find((name) => names.includes(name))
  const chosen = genesis && chain ? [chain, FIXTURE_L2.find((name) => names.includes(name))] : names.filter(isBlockFile)
  const paths = chosen.filter((name) => name !== undefined).map((name) => join(directory, name))
  const importable = paths.filter((path) => !JSON_FILE.test(path) || recogniseL2(readHead(path)))
  if (genesis === undefined && importable.length === 0) {
    const other = names.find((name) => UNREADABLE_FILE.test(name))
    throw new UsageError(
      `${directory}: nothing to import; expected genesis.json, or files that end in .rlp, .blocks, .era1, .ere, .json or .ndjson` +
        (other === undefined ? '' : `; files such as ${other} have no blocks that can be read`),
    )
  }
  return { genesis, ...(manifest && { manifest }), ...(recordedState && { recordedState }), paths: importable }
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

/** Expands files and directories to block files, and to the genesis of a directory among them. @throws UsageError for a
 *  missing path, a directory with nothing to import, and two directories with a genesis */
export function gatherImport(operands: readonly string[]): ImportDirectory & { readonly paths: string[] } {
  const found = operands.map((path) => {
    if (!existsSync(path)) throw new UsageError(`no such file or directory: ${path}`)
    const directory: ImportDirectory = statSync(path).isDirectory() ? readImportDirectory(path) : { paths: [path] }
    return directory
  })
  const [fixture, other] = found.filter(({ genesis }) => genesis !== undefined)
  if (other) {
    throw new UsageError(
      `${fixture.genesis} and ${other.genesis}: a database has one genesis; import one directory at a time`,
    )
  }
  return { ...fixture, paths: found.flatMap(({ paths }) => paths) }
}
