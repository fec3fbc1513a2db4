import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { createProgress, type Progress } from '../../lib/progress.js'
import type { CopyOptions } from '../../store/backup.js'
import { requireKnownSchema } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printOutcome, printSummary } from '../standardStreams.js'
import { listenForStop } from '../stopSignal.js'

/** `cairn backup FILE`. SIGINT and SIGTERM end it with exit codes 130 and 143, and leave no file. */
export async function runBackup({ config, operands }: ParsedArgs): Promise<number> {
  const target = oneOperand(operands, 'backup', 'the file to write')
  const { backUp } = await import('../../store/backup.js')
  return copy((options) => backUp(config.datadir, resolve(target), options), {
    ...{ label: 'backup', place: target, json: config.json },
    describe: ({ held, size }) => `${held}, ${size}: checked and written to ${target}`,
  })
}

/** `cairn restore FILE`. SIGINT and SIGTERM end it with exit codes 130 and 143, and leave no database. */
export async function runRestore({ config, operands }: ParsedArgs): Promise<number> {
  const backup = oneOperand(operands, 'restore', 'a backup')
  const { datadir } = config
  const { restoreBackup } = await import('../../store/backup.js')
  mkdirSync(datadir, { recursive: true, mode: 0o700 })
  const exitCode = await copy((options) => restoreBackup(resolve(backup), datadir, options), {
    ...{ label: 'restore', place: datadir, json: config.json },
    describe: ({ held, size, keys }) => `${held}, ${size}: checked and restored to ${datadir}${keys}`,
  })
  if (exitCode !== 0) return exitCode
  // Migrates an older schema, and sets the journal mode that servers need.
  const { openForWriting } = await import('../../store/openForWriting.js')
  openForWriting(datadir).close()
  return 0
}

function oneOperand(operands: readonly string[], command: string, what: string): string {
  const [operand, second] = operands
  if (operand === undefined) throw new UsageError(`FILE is missing: ${what}; see 'cairn help ${command}'`)
  if (second !== undefined) throw new UsageError(`unexpected operand '${second}'; see 'cairn help ${command}'`)
  return operand
}

/** Where a copy is written, and how it is reported. */
interface Target {
  /** Name of the progress. */
  readonly label: string
  readonly place: string
  readonly json: boolean
  describe(words: { held: string; size: string; keys: string }): string
}

async function copy(
  run: (options: CopyOptions) => Promise<number>,
  { label, place, json, describe }: Target,
): Promise<number> {
  const { auditFile, checkIntegrity } = await import('../../audit/file.js')
  const { blockRange, CopyExists, countApiKeys, NoBackup } = await import('../../store/backup.js')
  const stop = listenForStop()
  let progress: Progress | undefined
  let blocks: { first: number; last: number } | undefined
  let apiKeys = 0
  let leftOut: readonly string[] = []
  try {
    const bytes = await run({
      signal: stop.signal,
      onProgress(done, total) {
        progress ??= createProgress({ label, unit: 'MB', total: megabytes(total) })
        progress.update(megabytes(done))
      },
      check(db, dropped) {
        progress?.finish()
        const { found, known } = requireKnownSchema(db)
        if (found === known) auditFile(db)
        else checkIntegrity(db)
        blocks = blockRange(db)
        leftOut = dropped
        apiKeys = countApiKeys(db)
      },
    })
    const size = `${megabytes(bytes).toLocaleString('en')} MB`
    const text = describe({ held: describeBlocks(blocks), size, keys: describeKeys(apiKeys) })
    printOutcome({ json }, text, { place, blocks: blocks ?? null, bytes, apiKeys, leftOut })
    if (leftOut.length > 0 && !json) printSummary(`left out of it: ${leftOut.join(', ')}`)
    return 0
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode()
    if (error instanceof CopyExists || error instanceof NoBackup) throw new UsageError(error.message, { cause: error })
    throw error
  } finally {
    stop.close()
  }
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1e6)

function describeKeys(count: number): string {
  return count === 0 ? '' : `, with ${count} API ${count === 1 ? 'key' : 'keys'}`
}

function describeBlocks(range: { first: number; last: number } | undefined): string {
  return range === undefined ? 'no blocks' : `blocks ${range.first} to ${range.last}`
}
