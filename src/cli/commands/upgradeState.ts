import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { DATABASE_FILE, DatabaseMissing } from '../../store/open.js'
import { openForWriting } from '../../store/openForWriting.js'
import { closeWritten } from '../../store/writeAheadLog.js'
import { upgradeState } from '../../sync/sparse/upgradeState.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printOutcome } from '../standardStreams.js'

/** `cairn upgrade-state`: raises a database without state to sparse state at its newest block. */
export async function runUpgradeState({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help upgrade-state'`)
  const path = join(config.datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const db = openForWriting(config.datadir)
  try {
    const { header } = upgradeState(db)
    printOutcome(
      config,
      `${path} has sparse state from block ${header.number} on; later blocks are executed when they are followed`,
      { path, stateFirst: header.number },
    )
    return 0
  } finally {
    closeWritten(db)
  }
}
