import { openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { type DestinationStream, pino } from 'pino'
import { messageOf, UsageError } from './errors.js'

/** What Cairn needs of a logger: one line per call, fields first. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What is logged, and where. */
export interface LogSettings {
  readonly level: LogLevel
  /** The file that lines are appended to; undefined: standard error. */
  readonly file?: string
}

/** A logger that writes JSON lines to a file, else to standard error, so that standard output stays for results. Each thread
 *  may have its own. @throws UsageError when the file cannot be opened */
export function createLogger({ level, file }: LogSettings): Logger {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }
  if (file !== undefined) return pino(options, appendTo(file))
  // On a terminal a line may stand in place of a progress line, which is drawn again.
  if (isatty(2)) return pino(options, { write: (line) => void writeSync(2, `\r\x1b[K${line}`) })
  return pino(options, pino.destination({ fd: 2, sync: true }))
}

/** Whole lines, each at the end of the file, also after it was truncated: several threads write, and `copytruncate` works. */
function appendTo(file: string): DestinationStream {
  let fd: number
  try {
    fd = openSync(file, 'a', 0o640)
  } catch (error) {
    throw new UsageError(`--log-file ${file}: ${messageOf(error)}`)
  }
  return {
    write: (line) => {
      try {
        writeSync(fd, line)
      } catch {
        // A full disk must not end the work.
      }
    },
  }
}

/** A logger that drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
