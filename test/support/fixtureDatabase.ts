import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { importFiles, readGenesisFile } from '../../src/ingest/importFiles.js'
import { silentLogger } from '../../src/lib/logger.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { FIXTURE_FOLDER } from './fixture.js'
import { verifyHere } from './l2.js'
import { temporaryDirectory } from './temporary.js'

/** Imports the bundled chain and its layer-2 blocks into a data directory; the write-ahead log is empty then. */
export async function importFixture(datadir: string): Promise<void> {
  await importFiles({
    datadir,
    paths: ['chain.rlp', 'l2.ndjson'].map((name) => join(FIXTURE_FOLDER, name)),
    chain: readGenesisFile(join(FIXTURE_FOLDER, 'genesis.json')),
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
