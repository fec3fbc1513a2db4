import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Flushes a file or directory to disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Adds the path of the written file to an error of the system or of SQLite, which do not name it where a write fails.
 *  Returns the error. */
export function withPath(error: unknown, path: string): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    const failed = each as NodeJS.ErrnoException
    if (typeof failed.code !== 'string') continue
    failed.path ??= path
    break
  }
  return error
}

/** Runs `work`, which writes the file, and returns its result. @throws its error, with the path */
export function writing<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw withPath(error, path)
  }
}

/** Renames a written file into place. From then on, whatever happens, the name refers to the complete content. */
export function publishFile(temporary: string, path: string): void {
  syncPath(temporary)
  renameSync(temporary, path)
  syncPath(dirname(path))
}

/** Replaces the content of a file; a crash leaves the old or the new one. */
export function replaceFile(path: string, content: string): void {
  const temporary = `${path}.tmp`
  writeFileSync(temporary, content)
  publishFile(temporary, path)
}
