import type { LogLevel, LogSettings } from '../../lib/logger.js'
import { LOG_LEVELS } from '../../lib/logger.js'
import type { PendingBlockForm } from '../../rpc/core/context.js'
import { PENDING_BLOCK_FORMS } from '../../rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../rpc/core/limits.js'
import type { Option } from './option.js'
import { flag, maybeText, number, oneOf } from './rows.js'

/** Options under the heading "Output". */
export const outputOptions = {
  slowLogs: number('slow-logs', 'MS', DEFAULT_LIMITS.slowLogsMs, ['serve'], {
    min: 0,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Log queries that take at least this long are logged with their trace and advice; 0: never.',
  }),
  pendingBlock: {
    flag: 'pending-block',
    placeholder: PENDING_BLOCK_FORMS.join('|'),
    default: 'specification' as PendingBlockForm,
    doc:
      'How eth_getBlockByNumber shows the pending block: with null number and logsBloom (the API specification), or with ' +
      'its number and a zero logsBloom (geth), which ethers and cast need.',
    commands: ['serve'],
    parse: oneOf('pending-block', PENDING_BLOCK_FORMS),
  },
  logLevel: {
    flag: 'log-level',
    placeholder: 'LEVEL',
    default: 'info' as LogLevel,
    doc: `Log level on standard error: ${LOG_LEVELS.join(', ')}.`,
    commands: ['import', 'sync', 'serve', 'record'],
    parse: oneOf('log-level', LOG_LEVELS),
  },
  logFile: maybeText(
    'log-file',
    'FILE',
    ['import', 'sync', 'serve', 'record'],
    'File that the log is appended to, instead of standard error.',
    'none',
  ),
  accessLog: maybeText(
    'access-log',
    'FILE',
    ['serve'],
    'File that a line for each request is appended to, as JSON; - for standard output. SIGUSR2 opens it again.',
    'none',
  ),
  stopWithParent: flag(
    'stop-with-parent',
    ['serve'],
    'Stop when the process that started the server ends, npm and npx included; --fixture implies it. Not below setsid.',
  ),
  sizes: flag('sizes', ['status'], 'Show what a block, a transaction, a log and other items take on disk.'),
  json: flag('json', ['keys', 'abi', 'status', 'explain-logs', 'snapshot'], 'Print JSON.'),
} as const satisfies { [key: string]: Option<unknown> }

/** What is logged, and where, from the options. */
export function readLogging({ logLevel, logFile }: { logLevel: LogLevel; logFile: string | undefined }): LogSettings {
  return { level: logLevel, file: logFile }
}
