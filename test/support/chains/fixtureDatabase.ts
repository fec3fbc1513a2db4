import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { silentLogger } from '../../../src/lib/logger.js'
import { DATABASE_FILE, packagePath } from '../../../src/store/open.js'
import { temporaryDirectory } from '../temporary.js'
import { FIXTURE_FOLDER } from './fixture.js'

/** Databases of the bundled chain, by the digest of its files. A build that changes anything begins without them. */
const IMPORTED = packagePath('build/fixtureDatabases')
const [GENESIS, ...FILES] = ['genesis.json', 'chain.rlp', 'l2.ndjson'].map((name) => join(FIXTURE_FOLDER, name))

/** Imports the bundled chain and its layer-2 blocks into a data directory; the write-ahead log is empty then. The first
 *  import of a build is kept, and copied into other empty directories. */
export async function importFixture(datadir: string): Promise<void> {
  const database = join(datadir, DATABASE_FILE)
  if (existsSync(database)) return importFixtureFiles(datadir)
  const digest = createHash('sha256')
  for (const path of [GENESIS, ...FILES]) digest.update(readFileSync(path))
  const imported = join(IMPORTED, `${digest.digest('hex')}.db`)
  if (!existsSync(imported)) {
    mkdirSync(IMPORTED, { recursive: true })
    const folder = mkdtempSync(join(IMPORTED, 'import-'))
    await importFixtureFiles(folder)
    renameSync(join(folder, DATABASE_FILE), imported)
    rmSync(folder, { recursive: true })
  }
  mkdirSync(datadir, { recursive: true })
  copyFileSync(imported, database)
}

async function importFixtureFiles(datadir: string): Promise<void> {
  const { importFiles, readGenesisFile } = await import('../../../src/sync/import/importFiles.js')
  const { verifyHere } = await import('./l2.js')
  await importFiles({
    datadir,
    paths: FILES,
    chain: readGenesisFile(GENESIS),
    stateMode: 'execute',
    l2Verify: verifyHere,
    log: silentLogger,
    showProgress: false,
  })
}

/** A copy of the database of a data directory that no process writes. */
export function copyDatabase(t: { after(callback: () => void): void }, datadir: string): string {
  const copy = temporaryDirectory(t)
  copyFileSync(join(datadir, DATABASE_FILE), join(copy, DATABASE_FILE))
  return copy
}
