import type { L2NetworkName } from '../../../src/chain/starknet/networks.js'
import type { L2Block } from '../../../src/chain/starknet/types.js'
import { createL2BlockVerifier } from '../../../src/chain/starknet/verifier.js'
import type { L2VerifyFunction } from '../../../src/chain/starknet/verify.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { openL2File } from '../../../src/sources/files/starknetFile.js'
import type { Database } from '../../../src/store/database.js'
import { createL2EventWriter } from '../../../src/store/l2/l2EventRows.js'
import { createL2Finality } from '../../../src/store/l2/l2Finality.js'
import { createL2Reader, type L2Reader } from '../../../src/store/l2/l2Reader.js'
import { L2Writer } from '../../../src/store/l2/l2Writer.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { importL2, type L2ImportSummary } from '../../../src/sync/import/l2Import.js'

const verifyBlock = createL2BlockVerifier()

/** Verification on the test's own thread. */
export const verifyHere: L2VerifyFunction = async (block, network) => verifyBlock(block, network)

/** An open database with both ends of the layer-2 column. */
export interface L2Database {
  db: Database
  reader: L2Reader
  writer: L2Writer
  /** Imports a file with verification, or without for `'off'`. */
  importFile(path: string, options?: { network?: L2NetworkName; verify?: 'off' }): Promise<L2ImportSummary>
  close(): void
}

/** Replaces the canonical blocks above `ancestor`, in one transaction. */
export function replaceL2Branch({ db, writer }: L2Database, ancestor: number, branch: readonly L2Block[]): void {
  writer.transaction(() => {
    db.prepare('UPDATE l2_blocks SET canonical = 0, orphaned_at = 1 WHERE canonical = 1 AND number > ?').run(ancestor)
    createL2EventWriter(db).removeAbove(ancestor)
    createL2Finality(db).blocksChanged(ancestor + 1, Number.MAX_SAFE_INTEGER)
    for (const block of branch) writer.importBlock(block, { kind: 'unchecked' })
  })
}

/** A layer-2 database in the directory. */
export function openL2Database(directory: string): L2Database {
  const db = openForWriting(directory)
  const writer = new L2Writer(db)
  return {
    db,
    writer,
    reader: createL2Reader(db),
    importFile: (path, { network, verify } = {}) =>
      importL2(openL2File(path), writer, {
        verify: verify === 'off' ? undefined : verifyHere,
        network,
        log: silentLogger,
        progress: noProgress,
      }),
    close: () => void db.close(),
  }
}
