import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { DATABASE_FILE, DatabaseMissing, openAnySchema, requireKnownSchema } from '../../store/open.js'
import { openForWriting } from '../../store/openForWriting.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printOutcome } from '../standardStreams.js'

/** `cairn migrate`: migrates the schema, as the next import would. */
export async function runMigrate({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help migrate'`)
  const path = join(config.datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const reader = openAnySchema(config.datadir)
  const { found, known } = requireKnownSchema(reader)
  reader.close()
  openForWriting(config.datadir).close()
  const applied = known - found
  const words = applied === 0 ? 'was up to date' : `is up to date: ${applied} of ${known} migrations were applied`
  printOutcome(config, `the schema of ${path} ${words}`, { path, applied, known })
  return 0
}
