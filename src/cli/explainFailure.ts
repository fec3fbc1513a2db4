import { join } from 'node:path'
import { CairnError, UsageError } from '../lib/errors.js'
import { OutputFailed } from '../lib/writeStream.js'
import { describeDiskFailure, describeFullDisk } from '../store/diskFailure.js'
import { DATABASE_FILE } from '../store/open.js'

/** Explains a failure of the system or of SQLite to the user, with a remedy. Returns other errors unchanged.
 *  @param datadir the data directory of the command */
export function explainFailure(error: unknown, datadir: string): unknown {
  if (!(error instanceof Error) || error instanceof OutputFailed) return error
  if (describeDiskFailure(error, datadir)?.check === 'disk space') return explainFullDisk(error, datadir)
  if (error instanceof CairnError) return error
  const { code, path } = error as NodeJS.ErrnoException
  const explained =
    explainAddon(error) ?? explainSqlite(error, join(datadir, DATABASE_FILE)) ?? explainSystem(code, path)
  if (explained === undefined) return error
  const { message, isUsage } = explained
  return isUsage ? new UsageError(message, { cause: error }) : new CairnError(message, { cause: error })
}

/** Names the path that is full: the file being written if the error or a cause has one, such as that of an export or a
 *  backup, else the database. */
function explainFullDisk(error: Error, datadir: string): CairnError {
  const full = describeFullDisk(writtenPath(error) ?? join(datadir, DATABASE_FILE))
  return new CairnError(`${full}; free some and run the same command again`, { cause: error })
}

/** Returns the file that the system could not write; for a copy, the target and not the source. */
function writtenPath(error: Error): string | undefined {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const { path, dest } = each as NodeJS.ErrnoException & { dest?: string }
    if (path !== undefined) return dest ?? path
  }
  return undefined
}

interface Explanation {
  message: string
  /** True for a usage error: another --datadir or path is needed. */
  isUsage: boolean
}

function explainSqlite({ code = '', message }: NodeJS.ErrnoException, database: string): Explanation | undefined {
  if (code === 'SQLITE_NOTADB') return usage(`${database} is not an SQLite database; choose another --datadir`)
  if (code === 'SQLITE_ERROR' && message.startsWith('no such table')) {
    return usage(`${database} has no chain in it; run 'cairn import' first, or choose another --datadir`)
  }
  if (code === 'SQLITE_CANTOPEN') {
    return usage(`${database} cannot be opened; this user needs to read it and to write files beside it`)
  }
  if (code === 'SQLITE_READONLY' || code.startsWith('SQLITE_READONLY_')) {
    return usage(`${database} cannot be written; this user needs to write it and files beside it`)
  }
  if (code === 'SQLITE_BUSY') return failure(`${database} is locked by another process; try again when it has ended`)
  if (code === 'SQLITE_CORRUPT' || code.startsWith('SQLITE_CORRUPT_')) {
    return failure(`${database} is damaged (${message}); 'cairn verify' says where; restore a copy, or import again`)
  }
  return undefined
}

/** Explains a native package whose binary cannot be loaded or is missing for this platform. */
function explainAddon({ code, message }: NodeJS.ErrnoException): Explanation | undefined {
  const isAddon = code === 'ERR_DLOPEN_FAILED' || (code === 'MODULE_NOT_FOUND' && /better_sqlite3\.node/.test(message))
  if (!isAddon) return undefined
  const platform = `${process.platform} ${process.arch}, Node ${process.versions.node}`
  return failure(
    `a native package cannot be loaded here (${platform}): ${message.split('\n')[0]}; install the packages on this machine again, on a file ` +
      "system that allows execution, or compile SQLite with 'npm rebuild better-sqlite3 --build-from-source'",
  )
}

function explainSystem(code: string | undefined, path: string | undefined): Explanation | undefined {
  if (path === undefined) return undefined
  if (code === 'EACCES' || code === 'EPERM') return usage(`${path}: permission denied for this user`)
  if (code === 'EROFS') return usage(`${path}: the file system is read-only`)
  if (code === 'EEXIST' || code === 'ENOTDIR') return usage(`${path}: expected a directory, it is a file`)
  if (code === 'ENOENT') return usage(`${path}: no such file or directory`)
  return undefined
}

function usage(message: string): Explanation {
  return { message, isUsage: true }
}

function failure(message: string): Explanation {
  return { message, isUsage: false }
}
