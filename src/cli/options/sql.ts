import { DEFAULT_SQL_LIMITS } from '../../server/sql/sqlLimits.js'
import { ROW_FORMATS } from '../../sql/formats.js'
import type { Option } from './option.js'
import { choice, flag, maybeText, number } from './rows.js'

const SQL_FORMATS = ['table', ...ROW_FORMATS] as const

/** Options under the heading "SQL". */
export const sqlOptions = {
  sqlFormat: choice('format', SQL_FORMATS, ['sql'], 'How rows are printed.', 'table on a terminal, else csv'),
  lake: maybeText(
    'lake',
    'DIR',
    ['sql'],
    'Query the Parquet files of this directory, written by cairn export, in DuckDB instead of the database.',
    'none',
  ),
  sql: flag('sql', ['serve'], 'Answer read-only SQL at POST /sql/<API_KEY>.'),
  sqlTimeout: number('sql-timeout', 'SECONDS', DEFAULT_SQL_LIMITS.timeoutMs / 1000, ['serve'], {
    min: 1,
    max: 86_400,
    unit: 'seconds',
    doc: 'Longest query at /sql, with the reading of its rows.',
  }),
  sqlMaxRows: number('sql-max-rows', 'N', DEFAULT_SQL_LIMITS.maxRows, ['serve'], {
    min: 1,
    max: 1_000_000_000,
    doc: 'Most rows of a query at /sql.',
  }),
  sqlMemory: number('sql-memory', 'MB', DEFAULT_SQL_LIMITS.memoryBytes / 2 ** 20, ['serve'], {
    min: 128,
    max: 65_536,
    unit: 'MiB',
    doc: 'Memory of the process of each query at /sql; a query that needs more fails.',
  }),
  sqlProcesses: number('sql-processes', 'N', DEFAULT_SQL_LIMITS.processes, ['serve'], {
    min: 1,
    max: 64,
    doc: 'Queries at /sql that run at a time, each in a process of its own; further ones get 503.',
  }),
} as const satisfies { [key: string]: Option<unknown> }
