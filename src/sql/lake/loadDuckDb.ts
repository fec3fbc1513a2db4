import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as DuckDb from '@duckdb/node-api'
import { messageOf, UsageError } from '../../lib/errors.js'

/** The module of DuckDB for Node. */
export type DuckDbModule = typeof DuckDb

const PACKAGE = '@duckdb/node-api'
/** The release that the tests use. */
const TESTED = '1.5.5-r.5'

/** Returns the path of DuckDB's module: in `folder` or above if given, else beside Cairn, in the working directory, or
 *  in npm's global folder; undefined if it is not installed. Nothing is loaded. */
export function findDuckDb(folder?: string): string | undefined {
  const global = join(process.env.npm_config_prefix ?? dirname(dirname(process.execPath)), 'lib', 'x.js')
  const places =
    folder === undefined ? [fileURLToPath(import.meta.url), resolve('x.js'), global] : [join(resolve(folder), 'x.js')]
  for (const place of places) {
    try {
      return createRequire(place).resolve(PACKAGE)
    } catch {
      // not there
    }
  }
  return undefined
}

/** Returns the error for a user who asked for DuckDB. */
export function duckDbMissing(option: string): UsageError {
  return new UsageError(
    `${option} needs DuckDB, which is not installed; run 'npm install -g ${PACKAGE}@${TESTED}' (or in this directory without -g), or name its folder with --duckdb`,
  )
}

/** Loads the module. @throws UsageError if it does not load */
export function loadDuckDb(path: string): DuckDbModule {
  try {
    return createRequire(path)(path) as DuckDbModule
  } catch (error) {
    throw new UsageError(`DuckDB in ${path} does not load: ${messageOf(error).split('\n')[0]}`, { cause: error })
  }
}
