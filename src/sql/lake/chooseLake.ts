import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import type { Engine, LakeChoice } from '../protocol.js'
import { LAKE_FOLDER } from './lakeFiles.js'
import { duckDbMissing, findDuckDb } from './loadDuckDb.js'

/** What the options say. `lake`: off, auto, or a directory; undefined: the one beside the database, if it is there. */
interface LakeOptions {
  readonly datadir: string
  readonly engine: Engine
  readonly lake: string | undefined
  /** The folder of DuckDB; undefined: the usual places. */
  readonly duckdb: string | undefined
}

/** Returns the directory of the lake that the options mean. */
export function lakeDirectory({ datadir, lake }: Pick<LakeOptions, 'datadir' | 'lake'>): string {
  return lake === undefined || lake === 'auto' || lake === 'off' ? join(datadir, LAKE_FOLDER) : lake
}

/** Returns how DuckDB is used; undefined: not at all. `flag` is the option that asks for an engine. @throws UsageError
 *  if DuckDB is required and not installed */
export function chooseLake(options: LakeOptions, flag: string): LakeChoice | undefined {
  const { engine, lake } = options
  if (engine === 'duckdb' && lake === 'off') throw new UsageError(`${flag} duckdb needs a lake; leave --lake off out`)
  if (engine === 'sqlite' || lake === 'off') return undefined
  const duckdb = findDuckDb(options.duckdb)
  if (duckdb !== undefined) return { directory: lakeDirectory(options), duckdb, engine }
  if (engine === 'duckdb') throw duckDbMissing(`${flag} duckdb`)
  return undefined
}
