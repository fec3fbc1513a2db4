import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAbi } from '../../src/cli/commands/abi.js'
import { runExport } from '../../src/cli/commands/export.js'
import { runKeys } from '../../src/cli/commands/keys.js'
import { runMigrate } from '../../src/cli/commands/migrate.js'
import { runSql } from '../../src/cli/commands/sql.js'
import { runStatus } from '../../src/cli/commands/status.js'
import { runVerify } from '../../src/cli/commands/verify.js'
import { readLimits } from '../../src/cli/limits.js'
import { parseArgs } from '../../src/cli/parseArgs.js'
import { silentLogger } from '../../src/lib/logger.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { DatabaseOutdated, openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { leaveAtMigration } from '../support/chains/olderDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

test('whatever reads a database of an older version names the command that migrates it', async (t) => {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  leaveAtMigration(datadir, 8)
  const words = (...operands: string[]) => [...operands, '--datadir', datadir]
  const reads: [string, () => unknown][] = [
    ['status', () => runStatus(parseArgs('status', words(), {}))],
    ['keys list', () => runKeys(parseArgs('keys', words('list'), {}))],
    ['abi list', () => runAbi(parseArgs('abi', words('list'), {}))],
    ['sql', () => runSql(parseArgs('sql', words('SELECT 1'), {}))],
    ['verify', () => runVerify(parseArgs('verify', words(), {}))],
    ['export', () => runExport(parseArgs('export', words('blocks', '--format', 'csv', '--out', '-'), {}))],
    [
      'serve',
      () => openContext({ datadir, limits: readLimits(parseArgs('serve', words(), {}).config), log: silentLogger }),
    ],
  ]
  for (const [name, read] of reads) {
    await assert.rejects(
      async () => void (await read()),
      (error) => error instanceof DatabaseOutdated && /older version; run 'cairn migrate' to/.test(error.message),
      name,
    )
  }
  assert.equal(await runMigrate(parseArgs('migrate', words(), {})), 0)
  openForReading(datadir).close()
})
