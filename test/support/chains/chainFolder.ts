import { join } from 'node:path'
import { silentLogger } from '../../../src/lib/logger.js'
import { importFiles, readGenesisFile } from '../../../src/sync/import/importFiles.js'

/** Imports the chain of a folder with `genesis.json` and `chain.rlp` into a data directory, and executes it. */
export async function importChainFolder(datadir: string, folder: string): Promise<void> {
  await importFiles({
    datadir,
    paths: [join(folder, 'chain.rlp')],
    chain: readGenesisFile(join(folder, 'genesis.json')),
    stateMode: 'execute',
    log: silentLogger,
    showProgress: false,
  })
}
